"""What was measured: one line of JSON per run, and the figures made of it. The tables are in report.py."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypedDict

import numpy as np

RESOLVED = 1e-8  # of the largest regret in a problem; smaller ones count as that in differences
Rows = Mapping[tuple[str, int], Mapping[str, float]]  # by problem and seed: a figure of each method


class Run(TypedDict):
    """A method on a problem with one seed.

    code          of mfopt, a digest or a label, or the versions of a peer's packages
    best          by mark, the target at the best point evaluated so far, without noise; None before the first
    recommended   by mark, the target at the point that the method recommended; marks without one are left out
    noisy         whether values had noise, so that what is recommended counts
    first         what had been spent when the first target value was there, in λ_M; None if there was none
    seconds       CPU time
    """

    problem: str
    method: str
    seed: int
    capital: float
    code: str
    best: dict[str, float | None]
    recommended: dict[str, float]
    noisy: bool
    first: float | None
    optimum: float
    seconds: float


def load(path: Path) -> list[Run]:
    """Every run recorded so far; a last line that was cut off does not count."""
    runs = []
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            runs.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return runs


def append(path: Path, run: Run) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps(run) + "\n")


def regret(run: Run, mark: float) -> float:
    """The regret that counts: of the recommended point where values are noisy, otherwise of the best one evaluated."""
    name = f"{mark:g}"
    if run["noisy"] and name in run["recommended"]:
        return _regret(run, run["recommended"][name])
    best = run["best"][name]
    return float("inf") if best is None else _regret(run, best)


def recommended_regret(run: Run, mark: float) -> float | None:
    """The regret of the recommended point; None if there was none."""
    value = run["recommended"].get(f"{mark:g}")
    return None if value is None else _regret(run, value)


def _regret(run: Run, value: float) -> float:
    return float("inf") if np.isnan(value) else max(run["optimum"] - value, 0.0)


def regrets(runs: Iterable[Run], mark: float) -> dict[tuple[str, int], dict[str, float]]:
    """By problem and seed, the regret of each method at this mark; inf before the first target value."""
    table: dict[tuple[str, int], dict[str, float]] = defaultdict(dict)
    for run in runs:
        if f"{mark:g}" in run["best"]:
            table[run["problem"], run["seed"]][run["method"]] = regret(run, mark)
    return table


def mean_ranks(rows: Rows, methods: Sequence[str]) -> tuple[dict[str, float], int]:
    """The mean rank of each method over the runs that all of them have, ties sharing their ranks; and their number."""
    complete = [row for row in rows.values() if all(method in row for method in methods)]
    if not complete:
        return {}, 0
    values = np.array([[row[method] for method in methods] for row in complete])
    better = (values[:, None, :] < values[:, :, None]).sum(axis=2)
    equal = (values[:, None, :] == values[:, :, None]).sum(axis=2)
    ranks = better + 0.5 * (equal + 1)
    return dict(zip(methods, ranks.mean(axis=0).tolist(), strict=True)), len(complete)


class Difference(NamedTuple):
    """Mean over problems, its standard error (NaN for one problem), and how many problems."""

    mean: float
    error: float
    problems: int


def paired_difference(rows: Rows, method: str, rivals: Sequence[str], resolved: float = RESOLVED) -> Difference | None:
    """log₁₀ of the regret of `method` over that of the best of `rivals`; None where no problem has runs of all.

    Problems are the units: logarithms are averaged over the seeds of a problem first, and the rival is the one that is
    best on this average. An infinite regret counts as the largest finite one of the problem, and one below `resolved`
    of that as `resolved` of it.
    """
    differences = []
    for problem in dict.fromkeys(problem for problem, _ in rows):
        own = [row for (name, _), row in rows.items() if name == problem and {method, *rivals} <= set(row)]
        if own:
            values = np.array([[row[name] for name in (method, *rivals)] for row in own])
            mine, *theirs = _logarithms(values, resolved).mean(axis=0)
            differences.append(mine - min(theirs))
    if not differences:
        return None
    n = len(differences)
    error = float(np.std(differences, ddof=1) / np.sqrt(n)) if n > 1 else float("nan")
    return Difference(float(np.mean(differences)), error, n)


def _logarithms(values: np.ndarray, resolved: float) -> np.ndarray:
    finite = values[np.isfinite(values)]
    largest = finite.max() if finite.size else 0.0
    if largest == 0.0:  # all of them are at the optimum, or have no target value yet
        return np.where(np.isfinite(values), np.log10(resolved), 0.0)
    return np.log10(np.clip(values / largest, resolved, 1.0))
