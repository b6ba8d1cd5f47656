"""Figures of the paper that are more than curves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from os import PathLike
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from mfopt import problems
from mfopt.bench.plots.curves import describe_problem, draw_panel
from mfopt.bench.plots.files import save
from mfopt.bench.report import Series
from mfopt.protocols import Array

_FIDELITIES = ("#ccaa33", "#4477aa", "#cc3311")  # the target is the last, whatever their number


def plot_histogram(edges: Array, counted: Mapping[str, Array], paths: Iterable[str | PathLike[str]]) -> None:
    """Bars of the number of queries by the target's value, a colour per fidelity, a panel per method.

    Counts are (M, 2, bins): queries of the initial design, drawn pale, and queries that the method chose, on top.
    """
    figure = Figure(figsize=(7.6 * len(counted), 4.0), layout="constrained")
    panels: Any = figure.subplots(1, len(counted), squeeze=False).ravel()
    for axes, (label, counts) in zip(panels, counted.items(), strict=True):
        _draw_bars(axes, edges, counts, f"hartmann3: {counts.sum():.0f} queries of {label}")
    save(figure, paths)


def _draw_bars(axes: Any, edges: Array, counts: Array, title: str) -> None:
    fidelities, _, bins = counts.shape
    width = 0.8 / fidelities
    for m, (initial, chosen) in enumerate(counts):
        at = np.arange(bins) + (m - (fidelities - 1) / 2) * width
        colour = _FIDELITIES[m - fidelities]
        axes.bar(at, initial, width, color=colour, alpha=0.35)
        axes.bar(at, chosen, width, bottom=initial, color=colour, label=f"fidelity {m + 1}")
    axes.set_xticks(np.arange(bins), [f"{low:.3g}–{high:.3g}" for low, high in pairwise(edges)])
    axes.set_xlabel(rf"$f^{{({fidelities})}}(x)$ of the query")
    axes.set_ylabel("queries (pale: initial design)" if counts[:, 0].any() else "queries")
    axes.set_ylim(0, 1.06 * counts.sum(axis=1).max(initial=1.0))
    axes.set_title(title, fontsize=10)
    axes.grid(alpha=0.25, axis="y")
    axes.legend()


def plot_bad_approximation(
    problem: problems.Benchmark,
    found: Sequence[Series],
    paths: Iterable[str | PathLike[str]],
    mean: bool,
    styles: dict[str, tuple[str, str]],
) -> None:
    """Two functions of two variables side by side, and the simple regret of the methods."""
    figure = Figure(figsize=(14, 4.6), layout="constrained")
    *maps, regret = figure.subplots(1, 3, width_ratios=[1, 1, 1.35])
    axis = np.linspace(0, 1, 101)
    points = np.array(np.meshgrid(axis, axis)).reshape(2, -1).T
    for m, axes in enumerate(maps):
        values = problem.functions[m](points).reshape(101, 101)
        shown = axes.contourf(axis, axis, values, 20, cmap="cividis")
        figure.colorbar(shown, ax=axes, shrink=0.85)
        best = points[int(values.argmax())]
        axes.plot(*best, marker="*", markersize=13, color="white", markeredgecolor="black", clip_on=False)
        axes.set_title(rf"$f^{{({m + 1})}}$, its maximum at the star", fontsize=10)
        axes.set_aspect("equal")
        axes.set_xlabel(r"$x_1$")
        axes.set_ylabel(r"$x_2$")
    handles: dict[str, Any] = {}
    draw_panel(regret, [one for one in found if one.cells], mean, styles, handles)
    regret.set_title(describe_problem(found[0].problem), fontsize=10)
    regret.set_ylabel(r"simple regret $S(\Lambda)$")
    regret.legend(handles.values(), handles.keys(), fontsize=8, loc="center left", bbox_to_anchor=(1.01, 0.5))
    save(figure, paths)


def plot_kde(h: Array, values: Array, paths: Iterable[str | PathLike[str]]) -> None:
    """Likelihood against bandwidth for 300 and 3,000 points; crosses are maxima, the box is where to look closer."""
    figure = Figure(figsize=(6.2, 4.2), layout="constrained")
    axes: Any = figure.subplots()
    for row, name, colour in zip(values, ("n = 300", "n = 3000"), (_FIDELITIES[0], _FIDELITIES[-1]), strict=True):
        axes.plot(h, row, color=colour, linewidth=2, label=name)
        best = int(row.argmax())
        axes.plot(h[best], row[best], marker="x", markersize=11, markeredgewidth=3, color=colour)
    near = h[values[0] >= values[0].max() - 0.15 * np.ptp(values[0])]
    low, high = values.max() - 0.42 * np.ptp(values), values.max() + 0.04 * np.ptp(values)
    axes.fill_between([near[0], near[-1]], low, high, color="black", alpha=0.07, linewidth=0)
    axes.set_xscale("log")
    axes.set_xlabel("bandwidth h")
    axes.set_ylabel("cross-validated log-likelihood per point")
    axes.set_title("300 points say where 3,000 are worth their price (shaded)", fontsize=10)
    axes.grid(alpha=0.25)
    axes.legend(loc="lower center")
    save(figure, paths)
