"""Orphans: what was started here ends when this process does, even if it is killed and can do nothing about it.

Guard           a process beside ours that kills groups of processes when ours is gone (POSIX)
die_with_parent for a process of ours: be killed with the thread that started it (Linux)
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress

_PR_SET_PDEATHSIG = 1

# Reads lines from its stdin, "+ group" and "- group". At the end of the file, which comes with the end of the process
# that holds the other end of the pipe, it kills the groups that are left.
_PROGRAM = """
import os, signal, sys
groups = set()
for line in sys.stdin:
    sign, group = line.split()
    (groups.add if sign == "+" else groups.discard)(int(group))
for group in groups:
    try:
        os.killpg(group, signal.SIGKILL)
    except OSError:
        pass
"""


class Guard:
    """Groups of processes that must not outlive this one. Its process is started with the first of them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._owner = 0

    def prepare(self) -> None:
        """Start the process, so that a group is added as soon as it is there: one that is not would be left behind."""
        self._write("")

    def add(self, group: int) -> None:
        """Have the group killed when this process ends."""
        self._write(f"+ {group}\n")

    def discard(self, group: int) -> None:
        """The group has ended; its number may come to stand for another."""
        self._write(f"- {group}\n")

    def _write(self, line: str) -> None:
        if os.name != "posix" or not sys.executable:
            return
        with self._lock:
            if self._process is None or self._owner != os.getpid():  # a fork has a guard of its own
                self._process, self._owner = _start(), os.getpid()
            assert self._process.stdin is not None
            with suppress(OSError):  # somebody killed it: what runs is as safe as without it
                self._process.stdin.write(line)
                self._process.stdin.flush()


def _start() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", _PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,  # what ends us, Ctrl-C or a group's signal, must not end it first
    )


def die_with_parent(parent: int) -> None:
    """Let Linux kill this process with the thread of process `parent` that started it, whatever code runs then."""
    if not sys.platform.startswith("linux"):
        return
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it was gone already
        os._exit(1)
