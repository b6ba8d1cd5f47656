"""Record: what a process did to the files of a directory, as a list of operations in their order."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

_HEAD = struct.Struct("=iiqii")
_ROOT = Path(__file__).parents[3]


class Operation(NamedTuple):
    """One of O(pen), W(rite), S(ync), T(runcate), C(lose), L(ink), R(ename), U(nlink)."""

    kind: str
    file: int  # the descriptor
    place: int  # offset of a write, size after a truncation, flags of an opening
    first: bytes  # data of a write, or a path
    second: bytes  # the new path of a link or a renaming


def compiler():
    """A C compiler that can make the recorder; None where LD_PRELOAD is not known or there is no compiler."""
    return (shutil.which("gcc") or shutil.which("cc")) if sys.platform == "linux" else None


def build(directory):
    """The recorder as a shared library."""
    library = directory / "recorder.so"
    source = Path(__file__).with_name("recorder.c")
    subprocess.run([compiler(), "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl", "-lpthread"], check=True)
    return library


def record(library, directory, *scenario):
    """The operations of `python -m tests.storage.disk.scenario` on files in `directory`, which is empty."""
    trace = directory.with_name(f"{directory.name}.trace")
    environment = {
        **os.environ,
        "LD_PRELOAD": str(library),
        "MFOPT_DISK": str(directory),
        "MFOPT_TRACE": str(trace),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-m", "tests.storage.disk.scenario", str(directory), *scenario]
    done = subprocess.run(command, env=environment, cwd=_ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return parse(trace.read_bytes())


def parse(data):
    operations, at = [], 0
    while at < len(data):
        kind, file, place, n, m = _HEAD.unpack_from(data, at)
        at += _HEAD.size
        operations.append(Operation(chr(kind), file, place, data[at : at + n], data[at + n : at + n + m]))
        at += n + m
    return operations
