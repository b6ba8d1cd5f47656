"""What was measured: one line of JSON per run, and tables made of it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

MARKS = (5.0, 10.0, 20.0, 30.0, 50.0)


class Run(TypedDict):
    """A method on a problem with one seed; `best` is the best target value at each mark, None before the first."""

    problem: str
    method: str
    seed: int
    capital: float
    best: dict[str, float | None]
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


def regrets(runs: Iterable[Run], mark: float) -> dict[tuple[str, int], dict[str, float]]:
    """By problem and seed, the regret of each method at this mark; inf before the first target value."""
    table: dict[tuple[str, int], dict[str, float]] = defaultdict(dict)
    for run in runs:
        if run["capital"] >= mark:
            best = run["best"][f"{mark:g}"]
            value = float("inf") if best is None else max(run["optimum"] - best, 0.0)
            table[run["problem"], run["seed"]][run["method"]] = value
    return table


def mean_ranks(runs: Sequence[Run], methods: Sequence[str], mark: float) -> tuple[dict[str, float], int]:
    """The mean rank of each method over the runs that all of them have, ties sharing their ranks; and their number."""
    rows = [row for row in regrets(runs, mark).values() if all(method in row for method in methods)]
    if not rows:
        return {}, 0
    values = np.array([[row[method] for method in methods] for row in rows])
    better = (values[:, None, :] < values[:, :, None]).sum(axis=2)
    equal = (values[:, None, :] == values[:, :, None]).sum(axis=2)
    ranks = better + 0.5 * (equal + 1)
    return dict(zip(methods, ranks.mean(axis=0).tolist(), strict=True)), len(rows)


def rank_table(runs: Sequence[Run], methods: Sequence[str], marks: Sequence[float] = MARKS) -> list[str]:
    """Mean ranks by mark, in Markdown."""
    found = {mark: mean_ranks(runs, methods, mark) for mark in marks}
    shown = [mark for mark in marks if found[mark][1]]
    lines = [
        "| mean rank at | " + " | ".join(f"{mark:g} λ_M" for mark in shown) + " |",
        "|---" * (len(shown) + 1) + "|",
    ]
    for method in methods:
        cells = [_best_bold(found[mark][0], method) for mark in shown]
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    lines.append("| runs | " + " | ".join(str(found[mark][1]) for mark in shown) + " |")
    return lines


def _best_bold(ranks: dict[str, float], method: str) -> str:
    text = f"{ranks[method]:.2f}"
    return f"**{text}**" if ranks[method] == min(ranks.values()) else text


def regret_table(runs: Sequence[Run], methods: Sequence[str], marks: Sequence[float] = MARKS) -> list[str]:
    """Medians of the regret by problem, one cell for all marks, in Markdown."""
    problems = list(dict.fromkeys(run["problem"] for run in runs))
    lines = ["| problem | " + " | ".join(methods) + " |", "|---" * (len(methods) + 1) + "|"]
    for problem in problems:
        own: list[Any] = [run for run in runs if run["problem"] == problem]
        cells = []
        for method in methods:
            medians = []
            for mark in marks:
                values = [row[method] for row in regrets(own, mark).values() if method in row]
                if values:
                    medians.append(_short(float(np.median(values))))
            cells.append(" / ".join(medians))
        lines.append(f"| {problem} | " + " | ".join(cells) + " |")
    return lines


def _short(value: float) -> str:
    return "∞" if np.isinf(value) else f"{value:.2g}"


def paired_difference(runs: Sequence[Run], method: str, others: Sequence[str], mark: float) -> tuple[float, float, int]:
    """log₁₀ of the regret of `method` over that of the best of `others`: mean, standard error, number of pairs.

    `others` counts with the one of them that is better at this mark on the median of each problem. Regrets below 1e-8
    of the largest in a problem are taken as that.
    """
    differences = []
    rows = regrets(runs, mark)
    for problem in {problem for problem, _ in rows}:
        mine = {key: row for key, row in rows.items() if key[0] == problem and {method, *others} <= set(row)}
        finite = [value for row in mine.values() for value in row.values() if np.isfinite(value)]
        if not mine or not finite:
            continue
        floor, roof = 1e-8 * max(max(finite), 1e-300), max(max(finite), 1e-300)
        rival = min(others, key=lambda other: float(np.median([row[other] for row in mine.values()])))
        for row in mine.values():
            pair = np.clip([row[method], row[rival]], floor, roof)
            differences.append(float(np.log10(pair[0] / pair[1])))
    if not differences:
        return float("nan"), float("nan"), 0
    spread = float(np.std(differences, ddof=1) / np.sqrt(len(differences))) if len(differences) > 1 else float("nan")
    return float(np.mean(differences)), spread, len(differences)
