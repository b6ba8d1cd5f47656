"""The command `mfopt`.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 nothing left to ask, 130 interrupted, 141 nobody reads what is printed;
errors go to stderr.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import cast

import mfopt
from mfopt.checks import escape
from mfopt.cli.command import Command, ExitCode
from mfopt.cli.parser import Parser
from mfopt.cli.warned import brief_warnings

_DESCRIPTION = """\
Find the best point of an expensive function with the help of cheaper versions of it, at a low total cost."""
_EPILOG = """\
New here? `mfopt demo` shows a run, and `mfopt run --help` says how to optimise a function or a program of your own.
Each command has a --help."""

_COMMANDS = (  # in the order of --help; each is a module of this package
    "demo",
    "run",
    "create",
    "ask",
    "tell",
    "fail",
    "best",
    "history",
    "plot",
    "studies",
    "verify",
    "check",
    "bench",
    "plugins",
    "new-plugin",
)


def main(argv: Sequence[str] | None = None) -> int:
    """Carry out a command line, by default that of this process; the exit code.

    Where its reader goes away, as `head` does after a few lines, a command ends without a word.
    """
    try:
        try:
            with brief_warnings():
                _write_any_letter()
                return _carry_out(sys.argv[1:] if argv is None else argv)
        finally:
            _flush()  # what cannot be printed fails here, not when the interpreter ends
    except BrokenPipeError:
        _drop_output()
        return ExitCode.UNREAD
    except (mfopt.MfoptError, OSError) as error:
        _drop_output()
        print(f"mfopt: error: {_printable(error)}", file=sys.stderr)
        return ExitCode.FAILED
    except KeyboardInterrupt:
        print("mfopt: error: interrupted", file=sys.stderr)
        return ExitCode.INTERRUPTED


def _carry_out(words: Sequence[str]) -> int:
    # One command is all that most command lines need, and to load the others takes time.
    commands = _load(word for word in words[:1] if word in _COMMANDS) or _load(_COMMANDS)
    arguments = _make_parser(commands).parse_args(words)
    return commands[arguments.command].run(arguments)


def _write_any_letter() -> None:
    """Let a letter that the terminal does not know be written by its code, in place of an error."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # as it is where the caller has closed it
            stream.flush()


def _drop_output() -> None:
    """Let what cannot be printed go nowhere: the interpreter would complain of it at its end."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except OSError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, stream.fileno())
            os.close(nowhere)


def _load(names: Iterable[str]) -> dict[str, Command]:
    return {name: cast(Command, import_module(f"{__name__}.{name.replace('-', '_')}")) for name in names}


def _make_parser(commands: Mapping[str, Command]) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = Parser(prog="mfopt", description=_DESCRIPTION, epilog=_EPILOG)
    parser.add_argument("--version", action="version", version=f"mfopt {mfopt.__version__}")
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="command")
    for command in commands.values():
        command.add(subparsers)
    return parser


def _printable(error: Exception) -> str:
    """Its lines; names in it may come from a foreign file and hold control characters."""
    return "\n".join(escape(line) for line in str(error).split("\n"))
