"""The tables of the arena, in Markdown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from arena import results
from arena.problem import MARKS
from arena.results import Run

BASELINES = ("gp-ucb", "gp-ei")


def write(groups: dict[str, list[Run]], methods: Sequence[str], resolved: float = results.RESOLVED) -> list[str]:
    """Ranks and differences for each group and for all of them together, then the regrets of every problem."""
    everything = [run for runs in groups.values() for run in runs]
    parts = {**groups, "all groups": everything} if len(groups) > 1 else groups
    lines: list[str] = []
    for name, runs in parts.items():
        differences = difference_table(runs, methods, resolved)
        lines += [*_heading(name, runs), "", *rank_table(runs, methods), "", *differences, ""]
    for name, runs in groups.items():
        lines += [f"### Regret: {name}", "", *regret_table(runs, methods, results.regret), ""]
        advised = [method for method in methods if any(run["recommended"] for run in _of(runs, method))]
        if advised:
            lines += [f"### Regret of the recommended point: {name}", ""]
            lines += [*regret_table(runs, advised, results.recommended_regret), ""]
    return lines[:-1]


def _heading(name: str, runs: Sequence[Run]) -> list[str]:
    problems, seeds = {run["problem"] for run in runs}, sorted({run["seed"] for run in runs})
    return [f"## {name}: {len(problems)} problems, seeds {', '.join(map(str, seeds))}"]


def _of(runs: Iterable[Run], method: str) -> list[Run]:
    return [run for run in runs if run["method"] == method]


def rank_table(runs: Sequence[Run], methods: Sequence[str]) -> list[str]:
    """Mean ranks by mark over the runs that all methods have, and when the last method had its first target value."""
    found = {mark: results.mean_ranks(results.regrets(runs, mark), methods) for mark in MARKS}
    shown = [mark for mark in MARKS if found[mark][1]]
    lines = [_row("mean rank at", *(f"{mark:g} λ_M" for mark in shown), "first target value by"), _rule(len(shown) + 2)]
    for method in methods:
        cells = [_bold_best(found[mark][0], method) for mark in shown]
        lines.append(_row(method, *cells, _first(_of(runs, method))))
    return [*lines, _row("runs", *(str(found[mark][1]) for mark in shown), "")]


def _first(runs: Sequence[Run]) -> str:
    """What the latest of these runs had spent when it had its first target value."""
    firsts = [run["first"] for run in runs]
    known = [first for first in firsts if first is not None]
    never = len(firsts) - len(known)
    return ("–" if not known else f"{max(known):.2g} λ_M") + (f" ({never} never)" if never else "")


def _bold_best(ranks: dict[str, float], method: str) -> str:
    text = f"{ranks[method]:.2f}"
    return f"**{text}**" if ranks[method] == min(ranks.values()) else text


def difference_table(runs: Sequence[Run], methods: Sequence[str], resolved: float = results.RESOLVED) -> list[str]:
    """Every method against each baseline and against the better of them in each problem."""
    rows = {mark: results.regrets(runs, mark) for mark in MARKS}
    shown = [mark for mark in MARKS if rows[mark]]
    head = "log₁₀ regret, difference to"
    lines = [_row("method", head, *(f"{mark:g} λ_M" for mark in shown), "problems"), _rule(len(shown) + 3)]
    for method in methods:
        for title, rivals in (*((one, (one,)) for one in BASELINES), ("the better of both", BASELINES)):
            found = [results.paired_difference(rows[mark], method, rivals, resolved) for mark in shown]
            if method not in rivals and any(found):
                cells = ["–" if one is None else f"{one.mean:+.2f} ± {one.error:.2f}" for one in found]
                count = max(one.problems for one in found if one)
                lines.append(_row(method, title, *cells, str(count)))
    return lines


def regret_table(
    runs: Sequence[Run], methods: Sequence[str], measure: Callable[[Run, float], float | None]
) -> list[str]:
    """By problem, the median over seeds with the quartiles, one cell for all marks."""
    marks = [mark for mark in MARKS if any(f"{mark:g}" in run["best"] for run in runs)]
    title = f"problem, at {' / '.join(f'{mark:g}' for mark in marks)} λ_M"
    lines = [_row(title, *methods), _rule(len(methods) + 1)]
    for problem in dict.fromkeys(run["problem"] for run in runs):
        cells = []
        for method in methods:
            own = [run for run in _of(runs, method) if run["problem"] == problem]
            cells.append(" / ".join(_quartiles(own, mark, measure) for mark in marks))
        lines.append(_row(problem, *cells))
    return lines


def _quartiles(runs: Sequence[Run], mark: float, measure: Callable[[Run, float], float | None]) -> str:
    """median (first quartile to third); quartiles are values that occurred, since ∞ may be one of them."""
    found = [measure(run, mark) for run in runs if f"{mark:g}" in run["best"]]
    values = [value for value in found if value is not None]
    if not values:
        return "–"
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75], method="closest_observation")
    return f"{_short(middle)} ({_short(low)} to {_short(high)})"


def _short(value: float) -> str:
    return "∞" if np.isinf(value) else f"{value:.2g}"


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def _rule(columns: int) -> str:
    return "|---" * columns + "|"
