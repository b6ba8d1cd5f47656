"""The command `mfopt fail`: trials without a value."""

from __future__ import annotations

import argparse

from mfopt.checks import one_each
from mfopt.cli._shared import add_storage, open_study
from mfopt.cli.command import ExitCode, Subparsers


def add(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "fail",
        help="record that evaluations failed",
        description="Record that trials have no value. They cost as much as any others, or what is told with --cost.",
    )
    add_storage(parser)
    parser.add_argument("--bound", type=float, metavar="Y", help="their values are known to be no better than this")
    parser.add_argument(
        "--cost", type=float, action="append", metavar="C", help="what a trial really cost; once for each ID"
    )
    parser.add_argument("ids", nargs="+", type=int, metavar="ID", help="a trial's number")


def run(arguments: argparse.Namespace) -> ExitCode:
    ids = arguments.ids
    costs = one_each(arguments.cost or [None] * len(ids), len(ids), "--cost, once for each ID,")
    failed = [(id, arguments.bound, "failed", cost) for id, cost in zip(ids, costs, strict=True)]
    open_study(arguments).tell_many(failed)
    return ExitCode.DONE
