"""Pictures of a run (needs `mfopt[plot]`). Drawn without a display and without global state."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from mfopt.errors import InputError
from mfopt.optimizer import Optimizer
from mfopt.plots.axis import Axis
from mfopt.protocols import Array
from mfopt.regret import best_observed, simple_regret
from mfopt.run.history import History

COLOURS = ("#4477aa", "#ccbb44", "#66ccee", "#228833", "#aa3377")  # cheap fidelities, cheapest first
TARGET = "#ee6677"


def plot_run(optimizer: Optimizer, path: str | PathLike[str], optimum: float | None = None) -> None:
    """Draw where a run queried, what it found and what that cost, into a PNG, SVG or PDF file.

    Left: the queries, in the domain when it has two dimensions, otherwise as value against capital. Middle: the simple
    regret against capital when the optimum is known and values may be f (they are neither noisy nor pass it), otherwise
    the best value observed. Right: queries per fidelity.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13, 4), layout="constrained")
    where, found, counts = figure.subplots(1, 3)
    _draw_queries(where, optimizer)
    draw_progress(found, optimizer, optimum)
    draw_counts(counts, optimizer)
    figure.savefig(path, dpi=110)


def fidelity_colour(m: int, fidelities: int) -> str:
    """The target has one colour, however many fidelities there are."""
    return TARGET if m == fidelities - 1 else COLOURS[m % len(COLOURS)]


def fidelity_names(optimizer: Optimizer) -> list[str]:
    """What legends call the fidelities, with what a query costs: as given, or as learnt where others were told."""
    return [
        f"{fidelity.name} (cost {cost:g})" if cost == fidelity.cost else f"{fidelity.name} (cost ≈ {cost:.3g})"
        for fidelity, cost in zip(optimizer.fidelities, optimizer.costs, strict=True)
    ]


def _draw_queries(axes: Any, optimizer: Optimizer) -> None:
    history = optimizer.history.snapshot()
    names = fidelity_names(optimizer)
    two = len(optimizer.domain.names) == 2
    capital = np.cumsum(history.cost)
    sides = [Axis(optimizer.domain, j) for j in range(2)] if two else []
    for m, name in enumerate(names):
        rows = history.fidelity == m
        x, y = (side.place(history.x[rows, side.j]) for side in sides) if two else (capital[rows], history.y[rows])
        worked = history.status[rows] == "ok"
        target = m == len(names) - 1
        axes.scatter(
            x[worked],
            y[worked],
            s=36 if target else 14,
            marker="o" if target else ".",
            color=fidelity_colour(m, len(names)),
            label=name,
            zorder=2 + m,
        )
    places = [side.place(history.x[:, side.j]) for side in sides]
    draw_failures(axes, optimizer, *(places if two else [capital, None]))
    best = optimizer.best
    if two and best is not None:
        here = [side.place(best.x[side.j : side.j + 1]) for side in sides]
        axes.scatter(*here, marker="*", s=260, color="black", zorder=20, label=f"best: {best.y:.6g}")
    recommended = optimizer.recommend_if_noisy()
    if two and recommended is not None:
        label = f"recommended: {recommended.mean:.6g} ± {recommended.std:.2g}"
        here = [side.place(recommended.x[side.j : side.j + 1]) for side in sides]
        axes.scatter(*here, marker="D", s=90, color="white", edgecolor="black", zorder=21, label=label)
    axes.set_title("Where it queried" if two else "Values")
    if two:
        sides[0].label(axes, "x")
        sides[1].label(axes, "y")
    else:
        axes.set(xlabel="capital spent", ylabel="value")
    axes.legend(fontsize=8)


def draw_failures(axes: Any, optimizer: Optimizer, x: Array, y: Array | None) -> None:
    """Failed trials as crosses in the colour of their fidelity, at y, or without it along the lower edge."""
    from matplotlib.patheffects import withStroke

    history, count = optimizer.believed_history(), len(optimizer.fidelities)
    label: str | None = "failed"
    for m in range(count):
        rows = (history.fidelity == m) & (history.status == "failed")
        if not rows.any():
            continue
        # With y in units of the axes a cross stays at the edge, whatever is drawn later.
        transform = axes.transData if y is not None else axes.get_xaxis_transform()
        axes.scatter(
            x[rows], np.full(rows.sum(), 0.02) if y is None else y[rows], marker="x", s=30, linewidths=1.2,
            color=fidelity_colour(m, count), transform=transform, label=label, zorder=10,
            path_effects=[withStroke(linewidth=2.8, foreground="white")],
        )  # fmt: skip
        label = None  # one entry of the legend for all of them


def draw_progress(axes: Any, optimizer: Optimizer, optimum: float | None) -> None:
    """The simple regret against capital when the optimum is known, otherwise the best value observed.

    Noisy values are not f, nor are those that pass the optimum, so they show no regret: the optimum is a line then.
    """
    history, recommended = optimizer.believed_history(), optimizer.recommend_if_noisy()
    target = len(optimizer.fidelities) - 1
    capital, best = best_observed(history, optimizer.direction, target)
    regret = None
    if optimum is not None and recommended is None:
        regret = _find_regret(history, optimum, optimizer.direction, target)
    if regret is not None:
        axes.step(capital, np.maximum(regret, 1e-16), where="post", color=TARGET)
        axes.set_yscale("log")
        axes.set_ylabel("simple regret S(Λ)")
    else:
        usable = (history.fidelity == target) & (history.status == "ok")
        axes.plot(capital[usable], history.y[usable], ".", color=TARGET, alpha=0.4, label="target values")
        axes.step(capital, best, where="post", color=TARGET, label="best observed value")
        if optimum is not None:
            axes.axhline(optimum, color="grey", linewidth=1, label="optimum")
        if recommended is not None:  # the values are noisy, so that the best of them is mostly luck
            label = f"recommended: {recommended.mean:.6g} ± {recommended.std:.2g}"
            axes.errorbar(capital[-1], recommended.mean, recommended.std, fmt="D", color="black", label=label)
        axes.legend(fontsize=8)
        axes.set_ylabel("value at the target")
    axes.set_xlabel("capital spent Λ")
    axes.set_title("What it found")
    axes.grid(alpha=0.3)


def _find_regret(history: History, optimum: float, direction: str, target: int) -> Array | None:
    """S(Λ) after each query; None where the values told cannot be f."""
    try:
        return simple_regret(history, optimum, direction, target)[1]
    except InputError:
        return None


def draw_counts(axes: Any, optimizer: Optimizer) -> None:
    """The number of queries of each fidelity against capital."""
    history = optimizer.history.snapshot()
    names = fidelity_names(optimizer)
    capital = np.cumsum(history.cost)
    for m, name in enumerate(names):
        axes.step(
            capital, np.cumsum(history.fidelity == m), where="post", color=fidelity_colour(m, len(names)), label=name
        )
    axes.set_xlabel("capital spent Λ")
    axes.set_ylabel("queries")
    axes.set_title("Queries per fidelity")
    axes.legend(fontsize=8)
    axes.grid(alpha=0.3)
