"""The command `mfopt`.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 nothing left to ask, 130 interrupted; errors go to stderr.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import mfopt
from mfopt.checks import escape
from mfopt.cli import (
    ask,
    bench,
    best,
    check,
    create,
    demo,
    fail,
    history,
    new_plugin,
    plot,
    plugins,
    run,
    studies,
    tell,
)
from mfopt.cli.command import Command, ExitCode

_DESCRIPTION = """\
Find the best point of an expensive function with the help of cheaper versions of it, at a low total cost."""
_EPILOG = """\
New here? `mfopt demo` shows a run, and `mfopt run --help` says how to optimise a function or a program of your own.
Each command has a --help."""

_COMMANDS: dict[str, Command] = {  # in the order of --help
    "demo": demo,
    "run": run,
    "create": create,
    "ask": ask,
    "tell": tell,
    "fail": fail,
    "best": best,
    "history": history,
    "plot": plot,
    "studies": studies,
    "check": check,
    "bench": bench,
    "plugins": plugins,
    "new-plugin": new_plugin,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Carry out a command line, by default that of this process; the exit code."""
    arguments = _make_parser().parse_args(argv)
    try:
        return _COMMANDS[arguments.command].run(arguments)
    except (mfopt.MfoptError, OSError) as error:
        print(f"mfopt: error: {_printable(error)}", file=sys.stderr)
        return ExitCode.FAILED
    except KeyboardInterrupt:
        print("mfopt: error: interrupted", file=sys.stderr)
        return ExitCode.INTERRUPTED


def _make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="mfopt", description=_DESCRIPTION, epilog=_EPILOG)
    parser.add_argument("--version", action="version", version=f"mfopt {mfopt.__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    for command in _COMMANDS.values():
        command.add(commands)
    return parser


def _printable(error: Exception) -> str:
    """Its lines; names in it may come from a foreign file and hold control characters."""
    return "\n".join(escape(line) for line in str(error).split("\n"))
