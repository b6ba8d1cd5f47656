"""The command `mfopt check`: a preflight of a table of evaluations, or of a synthetic problem."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import nan
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from mfopt import problems
from mfopt.analysis.fidelities import Preflight, preflight
from mfopt.checks import find_closest, real_array, show
from mfopt.cli.command import ExitCode, Subparsers
from mfopt.cli.csv_file import read_cells, read_csv
from mfopt.domains.dimensions import Real
from mfopt.domains.discrete import Categorical
from mfopt.domains.space import Space
from mfopt.errors import InputError
from mfopt.protocols import Array, Domain
from mfopt.run.history import RESERVED

_EPILOG = """\
The CSV file has a header. Its columns are fidelity (0 is the cheapest, the largest number is the target), y, one for
each parameter, of numbers or of words (an empty cell: it does not count there), and cost, which may be missing if
--costs is given. Each fidelity needs at least four points that were
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
        close = find_closest(source, problems.names())
        hint = "" if close is None else f"; did you mean {close}?"
        raise InputError(f"SOURCE must be a CSV file that exists or a test problem, got {source}{hint}")
    else:
        found = _check_table(source, costs, "minimize" if arguments.minimize else "maximize", seed)
    print(json.dumps([asdict(one) for one in found.checks], indent=2) if arguments.json else found)
    return ExitCode.DONE


def _check_table(path: str, costs: Sequence[float] | None, direction: str, seed: int) -> Preflight:
    header, rows = read_csv(path)
    names = [name for name in header if name not in RESERVED]
    if not rows or not names or not {"fidelity", "y"} <= set(header):
        raise InputError(f"{path} must have a header with fidelity, y and at least one coordinate, got {header}")
    table = {name: read_cells([row[j] for row in rows]) for j, name in enumerate(header)}
    if any(not isinstance(m, int) or isinstance(m, bool) for m in table["fidelity"]):
        raise InputError(f"{path} must hold the number of a fidelity in every row, got {show(table['fidelity'])}")
    fidelity = np.array(table["fidelity"])
    y = _read_numbers(path, "y", table["y"], nan)
    cost = _read_numbers(path, "cost", table.get("cost", [None] * len(rows)), 0.0)
    domain, x = _read_points(path, {name: table[name] for name in names})
    history = SimpleNamespace(x=x, fidelity=fidelity, y=y, cost=cost)
    return preflight(history, domain, costs, direction=direction, rng=seed)


def _read_numbers(path: str, name: str, values: Sequence[Any], missing: float) -> Array:
    try:
        return real_array([missing if value is None else value for value in values], name)
    except InputError as error:
        raise InputError(f"{path} must hold numbers, got {error}") from None


def _read_points(path: str, columns: Mapping[str, list[Any]]) -> tuple[Domain, Array]:
    """A space with the values of these columns, and its points; an empty cell is a parameter that does not count."""
    parameters: dict[str, Real | Categorical] = {}
    for name, values in columns.items():
        numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
        known = [value for value in values if value is not None]
        if numbers and len(numbers) == len(known):
            low, high = min(numbers), max(numbers)
            if not low < high:
                raise InputError(f"{path} must hold coordinates that vary, got {name} constant")
            parameters[name] = Real(low, high)
            values[:] = [0.5 * (low + high) if value is None else value for value in values]  # at rest
        else:
            parameters[name] = Categorical(list(dict.fromkeys(values)))
    space = Space(parameters)
    rows = zip(*columns.values(), strict=True)
    return space, np.array([space.validate(dict(zip(columns, row, strict=True))) for row in rows])
