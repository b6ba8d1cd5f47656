"""The command `mfopt fail`: trials without a value."""

from __future__ import annotations

import argparse
from typing import Any

from mfopt.cli._storage import add_storage, opened


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "fail",
        help="trials whose evaluation failed",
        description="Record that trials have no value. They cost as much as any other.",
    )
    add_storage(parser)
    parser.add_argument("ids", nargs="+", type=int, metavar="ID", help="a trial's number")


def run(arguments: argparse.Namespace) -> None:
    opened(arguments).tell_many([(id, None, "failed") for id in arguments.ids])
