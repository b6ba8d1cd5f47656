"""The command `mfopt tell`: values of trials."""

from __future__ import annotations

import argparse
from typing import Any

from mfopt.cli._storage import add_storage, opened
from mfopt.errors import InputError


def add(commands: Any) -> None:
    parser = commands.add_parser(
        "tell",
        help="the values of trials",
        description="Record values: all that are given or, if one is refused, none. They are on the disk when the "
        "command ends with exit code 0.",
    )
    add_storage(parser)
    parser.add_argument("outcomes", nargs="+", metavar="ID VALUE", help="a trial's number and its value; or several")


def run(arguments: argparse.Namespace) -> None:
    words = arguments.outcomes
    if len(words) % 2:
        raise InputError(f"values must come as pairs ID VALUE, got {' '.join(words)}")
    opened(arguments).tell_many([_outcome(id, y) for id, y in zip(words[::2], words[1::2], strict=True)])


def _outcome(id: str, y: str) -> tuple[int, float]:
    try:
        return int(id), float(y)
    except ValueError:
        raise InputError(f"a trial's number and a value must be given, got {id} {y}; see mfopt fail") from None
