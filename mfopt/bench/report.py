"""Tables of an experiment: the simple regret of every method on every problem at a few capitals."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from mfopt.bench.cells import Cell
from mfopt.errors import InputError
from mfopt.protocols import Array
from mfopt.regret import Aggregate, Curve, aggregate
from mfopt.run.tables import align

CAPITALS = (20.0, 50.0, 100.0)
_ROUNDING = 1 + 1e-9  # sums of costs are rounded: a query that ends at 20.000000000001 λ_M was paid by 20


@dataclass(frozen=True)
class Series:
    """The cells of one method on one problem."""

    problem: str
    method: str
    label: str
    capital: float  # of each run, in λ_M
    cells: tuple[Cell, ...]
    failed: int

    @property
    def cut(self) -> int:
        """How many runs were ended by a time limit; their last value stands for the rest."""
        return sum(cell.status == "cut" for cell in self.cells)

    def at(self, capitals: Array) -> Aggregate:
        """The statistics over the runs at these capitals (λ_M)."""
        curves: list[Curve] = [(np.array(cell.spent), np.array(cell.regret)) for cell in self.cells]
        return aggregate(curves, np.asarray(capitals) * _ROUNDING)


def series(
    cells: Sequence[Cell], problems: Sequence[str] | None = None, methods: Sequence[str] | None = None
) -> list[Series]:
    """The cells by problem and method, in the order of their first appearance.

    `problems` and `methods` (by label or as written) select and order. Of cells that differ only in the code of mfopt
    the last is taken. A method that was run with several capitals makes a series each.
    """
    latest = {(cell.task.problem, cell.task.method, cell.task.capital, cell.task.seed): cell for cell in cells}
    groups: dict[tuple[str, str, float], list[Cell]] = {}
    for (problem, method, capital, _), cell in latest.items():
        groups.setdefault((problem, method, capital), []).append(cell)
    many = {key[:2] for key in groups if sum(key[:2] == other[:2] for other in groups) > 1}
    found = []
    for (problem, method, capital), members in groups.items():
        label = members[-1].label
        if (problem, method) in many:
            label += f" (Λ = {capital:g})"
        good = tuple(cell for cell in members if cell.status != "failed")
        found.append(Series(problem, method, label, capital, good, len(members) - len(good)))
    order = _order(problems, [one.problem for one in found], "problem")
    ranks = _order(methods, [name for one in found for name in (one.label, one.method)], "method")
    kept = [one for one in found if one.problem in order and (one.label in ranks or one.method in ranks)]
    return sorted(
        kept, key=lambda one: (order[one.problem], min(ranks.get(n, len(ranks)) for n in (one.label, one.method)))
    )


def _order(wanted: Sequence[str] | None, there: Sequence[str], what: str) -> dict[str, int]:
    known = list(dict.fromkeys(there))
    for name in wanted or ():
        if name not in known:
            raise InputError(f"a {what} must be one of {', '.join(known) or 'none'}, got {name!r}")
    return {name: rank for rank, name in enumerate(wanted or known)}


@dataclass(frozen=True)
class Row:
    """One line of the table of all."""

    problem: str
    method: str
    capital: float
    median: float
    lower: float  # quartiles
    upper: float
    mean: float
    error: float  # standard error of the mean
    runs: int
    cut: int
    failed: int


def rows(found: Sequence[Series], capitals: Sequence[float] = CAPITALS) -> list[Row]:
    """The statistics of every series at those of the capitals that its runs reached; at their end if they reached none.

    A series whose runs all failed has none.
    """
    out = []
    for one in found:
        if not one.cells:
            continue
        reached = [capital for capital in capitals if capital <= one.capital] or [one.capital]
        at = one.at(np.array(reached))
        for i, capital in enumerate(reached):
            columns = (at.median, at.lower, at.upper, at.mean, at.error)
            median, lower, upper, mean, error = (float(column[i]) for column in columns)
            counts = (at.runs, one.cut, one.failed)
            out.append(Row(one.problem, one.label, capital, median, lower, upper, mean, error, *counts))
    return out


def as_csv(lines: Sequence[Row]) -> str:
    """The table of all, for other programs."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    names = list(Row.__dataclass_fields__)
    writer.writerow(names)
    writer.writerows([getattr(line, name) for name in names] for line in lines)
    return text.getvalue()


def as_markdown(lines: Sequence[Row]) -> str:
    """A table per problem, in Markdown."""
    parts = []
    for problem, head, body in _tables(lines):
        parts += [f"**{problem}**", "", _pipe(head), "|---" * len(head) + "|", *map(_pipe, body), ""]
    return "\n".join(parts)


def as_text(lines: Sequence[Row]) -> str:
    """A table per problem, for a terminal."""
    parts = []
    for problem, head, body in _tables(lines):
        parts += [problem, *(f"  {line}" for line in align([head, *body])), ""]
    return "\n".join(parts)


def _pipe(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _tables(lines: Sequence[Row]) -> list[tuple[str, list[str], list[list[str]]]]:
    """(problem, header, body) for each problem: a row per method, the median and the mean at each capital."""
    tables = []
    for problem in dict.fromkeys(line.problem for line in lines):
        own = [line for line in lines if line.problem == problem]
        capitals = sorted({line.capital for line in own})
        head = ["method", "runs"]
        for capital in capitals:
            head += [f"median [quartiles] at {capital:g}", "mean ± s.e."]
        body = []
        for method in dict.fromkeys(line.method for line in own):
            at = {line.capital: line for line in own if line.method == method}
            cells = [method, _runs(next(iter(at.values())))]
            for capital in capitals:
                cells += _statistics(at[capital]) if capital in at else ["–", "–"]
            body.append(cells)
        tables.append((problem, head, body))
    return tables


def _runs(line: Row) -> str:
    notes = [f"{count} {word}" for count, word in ((line.cut, "cut"), (line.failed, "failed")) if count]
    return f"{line.runs} ({', '.join(notes)})" if notes else str(line.runs)


def _statistics(line: Row) -> list[str]:
    error = "" if np.isnan(line.error) else f" ± {line.error:.1g}"
    return [f"{line.median:.2g} [{line.lower:.2g}, {line.upper:.2g}]", f"{line.mean:.2g}{error}"]


def write(
    found: Sequence[Series], into: str | PathLike[str], capitals: Sequence[float] = CAPITALS, mean: bool = False
) -> list[Path]:
    """Write table.md, table.csv and curves.csv, with matplotlib also regret.png and regret.svg; gives their paths.

    With `mean` the pictures show means with one standard error, as in the paper, instead of medians and quartiles.
    """
    directory = Path(into)
    directory.mkdir(parents=True, exist_ok=True)
    lines, curves = rows(found, capitals), rows(found, _grid(found))
    texts = {"table.md": as_markdown(lines), "table.csv": as_csv(lines), "curves.csv": as_csv(curves)}
    for name, text in texts.items():
        (directory / name).write_text(text, encoding="utf-8")
    written = [directory / name for name in texts]
    try:
        from mfopt.bench.plots import plot_regret
    except ImportError:
        return written
    pictures = [directory / "regret.png", directory / "regret.svg"]
    plot_regret(found, pictures, mean=mean)
    return written + pictures


def _grid(found: Sequence[Series]) -> list[float]:
    """Half a λ_M apart."""
    longest = max((one.capital for one in found), default=0.0)
    return [float(capital) for capital in np.arange(1, 2 * longest + 1) / 2]
