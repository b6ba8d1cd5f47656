"""The command `mfopt fail`: trials without a value."""

from __future__ import annotations

import argparse

from mfopt.cli._shared import add_storage, open_study
from mfopt.cli.command import ExitCode, Subparsers


def add(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "fail",
        help="record that evaluations failed",
        description="Record that trials have no value. They cost as much as any others.",
    )
    add_storage(parser)
    parser.add_argument("--bound", type=float, metavar="Y", help="their values are known to be no better than this")
    parser.add_argument("ids", nargs="+", type=int, metavar="ID", help="a trial's number")


def run(arguments: argparse.Namespace) -> ExitCode:
    open_study(arguments).tell_many([(id, arguments.bound, "failed") for id in arguments.ids])
    return ExitCode.DONE
