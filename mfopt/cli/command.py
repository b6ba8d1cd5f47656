"""What a command of `mfopt` is: a module with the functions `add` and `run`."""

from __future__ import annotations

import argparse
from enum import IntEnum
from typing import Protocol, TypeAlias

Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"


class ExitCode(IntEnum):
    """What `mfopt` tells the shell; argparse itself ends with 2 when the usage is wrong."""

    DONE = 0
    FAILED = 1
    EXHAUSTED = 3  # there is nothing left to ask for
    INTERRUPTED = 130  # what a shell reports for a program that Ctrl-C ended
    UNREAD = 141  # and for one that ended because nobody reads what it prints


class Command(Protocol):
    """A module of this package."""

    def add(self, commands: Subparsers) -> None:
        """Add the command's own parser to those of `mfopt`."""

    def run(self, arguments: argparse.Namespace) -> ExitCode:
        """Carry the command out; errors are raised."""
