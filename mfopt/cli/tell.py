"""The command `mfopt tell`: values of trials."""

from __future__ import annotations

import argparse
import math

from mfopt.checks import one_each
from mfopt.cli._shared import add_storage, open_study
from mfopt.cli.command import ExitCode, Subparsers
from mfopt.errors import InputError


def add(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "tell",
        help="record the values of trials",
        description="Record values: all that are given or, if one is refused, none. They are on the disk when the "
        "command ends with exit code 0.",
    )
    add_storage(parser)
    parser.add_argument(
        "--cost", type=float, action="append", metavar="C", help="what a trial really cost; once for each value"
    )
    parser.add_argument("outcomes", nargs="+", metavar="ID VALUE", help="a trial's number and its value; or several")


def run(arguments: argparse.Namespace) -> ExitCode:
    words = arguments.outcomes
    if len(words) % 2:
        raise InputError(f"values must come as pairs ID VALUE, got {' '.join(words)}")
    told = [_read_outcome(id, y) for id, y in zip(words[::2], words[1::2], strict=True)]
    costs = one_each(arguments.cost or [None] * len(told), len(told), "--cost, once for each value,")
    open_study(arguments).tell_many([(id, y, "ok", cost) for (id, y), cost in zip(told, costs, strict=True)])
    return ExitCode.DONE


def _read_outcome(id: str, y: str) -> tuple[int, float]:
    rule = f"a trial's number and a finite value must be given, got {id} {y}; where there is no value use mfopt fail"
    try:
        number, value = int(id), float(y)
    except ValueError:
        raise InputError(rule) from None
    if not math.isfinite(value):
        raise InputError(rule)
    return number, value
