"""The command `mfopt check`: a preflight of a table of evaluations, or of a synthetic problem."""

from __future__ import annotations

import argparse
import csv
import json
from collections.abc import Sequence
from dataclasses import asdict
from math import nan
from types import SimpleNamespace

import numpy as np

from mfopt import problems
from mfopt.analysis.preflight import Preflight, preflight
from mfopt.cli.command import ExitCode, Subparsers
from mfopt.domains.box import Box
from mfopt.errors import InputError
from mfopt.run.history import RESERVED


def add(commands: Subparsers) -> None:
    parser = commands.add_parser(
        "check",
        help="say which cheap fidelities are worth using, from paired evaluations",
        description="Judge each cheap fidelity from points that were evaluated at it and at the target: use it, use it "
        "after an affine correction, or drop it.",
    )
    parser.add_argument("source", help="a CSV file with columns for x, fidelity and y, or a synthetic problem's name")
    parser.add_argument("--costs", type=float, nargs="+", help="one per fidelity (default: the mean costs in the file)")
    parser.add_argument("--minimize", action="store_true", help="the values are to be minimised")
    parser.add_argument("--pairs", type=int, help="points evaluated of a problem (default: 5 + 3 per dimension)")
    parser.add_argument("--seed", type=int, default=0, help="default: %(default)s")
    parser.add_argument("--json", action="store_true", help="as JSON")


def run(arguments: argparse.Namespace) -> ExitCode:
    source, costs, seed = arguments.source, arguments.costs, arguments.seed
    if source in problems.names():
        problem = problems.get(source)
        found = preflight(problem.functions, problem.domain, costs or problem.costs, pairs=arguments.pairs, rng=seed)
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
