"""The command `mfopt check`: a preflight of a table of evaluations, or of a synthetic problem."""

from __future__ import annotations

import argparse
import csv
import difflib
import json
from collections.abc import Sequence
from dataclasses import asdict
from math import nan
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from mfopt import problems
from mfopt.analysis.fidelities import Preflight, preflight
from mfopt.cli.command import ExitCode, Subparsers
from mfopt.domains.box import Box
from mfopt.errors import InputError
from mfopt.run.history import RESERVED

_EPILOG = """\
The CSV file has a header. Its columns are fidelity (0 is the cheapest, the largest number is the target), y, one for
each coordinate, and cost, which may be missing if --costs is given. Each fidelity needs at least four points that were
evaluated at the target too. `mfopt history --csv` and History.to_dataframe write such files.

examples:
  mfopt check pairs.csv --costs 1 20
  mfopt check borehole"""


def add(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "check",
        help="say which cheap fidelities are worth using, from paired evaluations",
        description="Compare each cheap fidelity with the target, at points where both were evaluated, and say what\n"
        "to do with it: use it, use it after an affine correction, or drop it.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("source", metavar="SOURCE", help="a CSV file, or the name of a test problem such as currin")
    parser.add_argument(
        "--costs", type=float, nargs="+", metavar="C", help="one per fidelity (default: the mean costs in the file)"
    )
    parser.add_argument("--minimize", action="store_true", help="the values are to be minimised")
    parser.add_argument(
        "--pairs",
        type=int,
        metavar="N",
        help="points at which a test problem is evaluated (default: 5 + 3 per dimension)",
    )
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(arguments: argparse.Namespace) -> ExitCode:
    source, costs, seed = arguments.source, arguments.costs, arguments.seed
    if source in problems.names():
        problem = problems.get(source)
        found = preflight(problem.functions, problem.domain, costs or problem.costs, pairs=arguments.pairs, rng=seed)
    elif not Path(source).exists():
        close = difflib.get_close_matches(source.lower(), problems.names(), n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise InputError(f"SOURCE must be a CSV file that exists or a test problem, got {source}{hint}")
    else:
        found = _check_table(source, costs, "minimize" if arguments.minimize else "maximize", seed)
    print(json.dumps([asdict(one) for one in found.checks], indent=2) if arguments.json else found)
    return ExitCode.DONE


def _check_table(path: str, costs: Sequence[float] | None, direction: str, seed: int) -> Preflight:
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    header = list(rows[0]) if rows else []
    names = [name for name in header if name not in RESERVED]
    if not names or not {"fidelity", "y"} <= set(header):
        raise InputError(f"{path} must have a header with fidelity, y and at least one coordinate, got {header}")
    try:
        x = np.array([[float(row[name]) for name in names] for row in rows])
        fidelity = np.array([int(row["fidelity"]) for row in rows])
        y = np.array([float(row["y"] or nan) for row in rows])
        cost = np.array([float(row.get("cost") or 0.0) for row in rows])
    except (TypeError, ValueError) as error:
        raise InputError(f"{path} must hold numbers, got {error}") from None
    low, high = x.min(axis=0), x.max(axis=0)
    if not (low < high).all():
        raise InputError(f"{path} must hold coordinates that vary, got {names[int(np.argmin(high - low))]} constant")
    history = SimpleNamespace(x=x, fidelity=fidelity, y=y, cost=cost)
    return preflight(history, Box(list(zip(low, high, strict=True))), costs, direction=direction, rng=seed)
