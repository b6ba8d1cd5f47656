"""Illustrations in one dimension: MF-GP-UCB step by step (six panels, or an animation), GP-UCB, challenges."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from mfopt.bench.illustration import Challenge, Step
from mfopt.bench.plots.files import save
from mfopt.protocols import Array

_FIDELITIES = ("#ccaa33", "#4477aa")


def plot_steps(shown: Sequence[Step], paths: Iterable[str | PathLike[str]]) -> None:
    """Steps of the illustration: above the bounds and the choice of x_t, below that of m_t."""
    columns = 3
    figure = Figure(figsize=(4.6 * columns, 4.9 * ceil(len(shown) / columns)), layout="constrained")
    grid = figure.add_gridspec(ceil(len(shown) / columns), columns)
    for i, step in enumerate(shown):
        inner = grid[divmod(i, columns)].subgridspec(2, 1, height_ratios=[3, 1], hspace=0.05)
        above = figure.add_subplot(inner[0])
        below = figure.add_subplot(inner[1], sharex=above)
        _draw_step(above, below, step, good=i == len(shown) - 1)
    handles, labels = figure.axes[-2].get_legend_handles_labels()
    more, words = figure.axes[-1].get_legend_handles_labels()
    figure.legend([*handles, *more], [*labels, *words], loc="outside lower center", ncols=5, fontsize=9)
    save(figure, paths)


def animate_steps(every: Sequence[Step], path: str | PathLike[str]) -> None:
    """The steps one after the other as a GIF (needs pillow, which matplotlib brings)."""
    from matplotlib.animation import FuncAnimation, PillowWriter
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    figure = Figure(figsize=(6.4, 5.0))
    FigureCanvasAgg(figure)
    above, below = figure.subplots(2, 1, height_ratios=[3, 1], sharex=True)
    figure.subplots_adjust(left=0.09, right=0.98, top=0.94, bottom=0.1, hspace=0.08)

    def draw(i: int) -> list[Any]:
        above.clear()
        below.clear()
        _draw_step(above, below, every[i], good=True)
        above.legend(fontsize=7, loc="upper left", ncols=3)
        return []

    FuncAnimation(figure, draw, frames=len(every), blit=False).save(Path(path), writer=PillowWriter(fps=2), dpi=70)


def plot_single_step(step: Step, paths: Iterable[str | PathLike[str]]) -> None:
    """GP-UCB: f, its upper bound, the queries so far (crosses), and the next (a star)."""
    figure = Figure(figsize=(5.6, 3.6), layout="constrained")
    axes: Any = figure.subplots()
    f, bound = step.functions[1], step.bounds[1]
    axes.plot(step.grid, f, color="black", linewidth=1.8, label="$f$")
    axes.plot(
        step.grid, bound, "--", color=_FIDELITIES[1], label=r"$\varphi_t = \mu_{t-1} + \beta_t^{1/2}\sigma_{t-1}$"
    )
    values = np.interp(step.queries[1], step.grid, f)
    axes.plot(step.queries[1], values, "kx", markersize=7, markeredgewidth=2, label=f"queries before t = {step.t}")
    axes.plot(step.x, bound.max(), "*", color="#cc3311", markersize=14, label=r"$x_t$")
    axes.set_xlabel("x")
    axes.set_xlim(0, 1)
    axes.grid(alpha=0.25)
    axes.legend(fontsize=8)
    save(figure, paths)


def plot_challenges(x: Array, panels: Sequence[Challenge], paths: Iterable[str | PathLike[str]]) -> None:
    """f⁽¹⁾, f⁽²⁾ with their maxima, and a set to be searched (green), a panel each."""
    figure = Figure(figsize=(9.6, 6.4), layout="constrained")
    every: Any = figure.subplots(2, 2, sharex=True).ravel()
    for axes, panel in zip(every, panels, strict=True):
        for m, colour in enumerate(_FIDELITIES):
            values = panel.functions[m]
            axes.plot(x, values, color=colour, linewidth=1.8, label=rf"$f^{{({m + 1})}}$")
            best = int(values.argmax())
            axes.plot(x[best], values[best], "*", color=colour, markersize=13, markeredgecolor="black")
        axes.fill_between(x, 0, 1.1, where=panel.inside, color="#117733", alpha=0.18, linewidth=0, label="searched")
        axes.set_title(panel.title, fontsize=10)
        axes.set_ylim(0, 1.1)
        axes.grid(alpha=0.25)
    every[0].legend(fontsize=9)
    for axes in every[2:]:
        axes.set_xlabel("x")
    save(figure, paths)


def _draw_step(above: Any, below: Any, step: Step, good: bool) -> None:
    for m, colour in enumerate(_FIDELITIES):
        above.plot(step.grid, step.functions[m], color=colour, linewidth=1.6, label=rf"$f^{{({m + 1})}}$")
        above.plot(step.grid, step.bounds[m], "--", color=colour, linewidth=1.2, label=rf"$\varphi^{{({m + 1})}}_t$")
        values = np.interp(step.queries[m], step.grid, step.functions[m])
        above.plot(step.queries[m], values, "x", color=colour, markersize=5, markeredgewidth=1.6, zorder=5)
    least = r"$\varphi_t = \min_m \varphi^{(m)}_t$"
    above.plot(step.grid, step.phi, color="#117733", linewidth=2.4, alpha=0.75, label=least)
    top = float(np.interp(step.x, step.grid, step.phi))
    above.plot(step.x, top, "*", color="#cc3311", markersize=13, zorder=6, clip_on=False, label=r"$x_t$")
    above.axvline(step.argmax, color="#aa3377", linewidth=1, linestyle=":", label=r"$x_*$")
    if good:
        inside = step.good
        above.fill_between(
            step.grid, -0.3, 1.7, where=inside, color="#33bbee", alpha=0.18, linewidth=0, label="good set"
        )
    above.set_ylim(-0.3, 1.7)
    above.set_xlim(0, 1)
    above.tick_params(labelbottom=False)
    above.set_title(rf"$t = {step.t}$: query at fidelity {step.fidelity + 1}", fontsize=10)
    below.plot(step.grid, step.width, color="#ee7733", linewidth=1.6, label=r"$\beta_t^{1/2}\sigma^{(1)}_{t-1}$")
    below.axhline(step.gamma, color="black", linestyle="--", linewidth=1.1, label=r"$\gamma^{(1)}$")
    below.plot(step.x, step.width_at_x, "*", color="#cc3311", markersize=10, zorder=6, clip_on=False)
    below.set_ylim(0, 1.1)
    below.set_xlabel("x")
