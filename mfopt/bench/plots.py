"""Pictures of experiments (needs `mfopt[plot]`). Drawn without a display and without global state."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import ceil, floor, log10
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatterSciNotation

from mfopt import problems
from mfopt.bench.illustration import Step
from mfopt.bench.report import Series
from mfopt.errors import InputError
from mfopt.options import parse_options
from mfopt.protocols import Array

# A colour per strategy, the same in every picture, safe for the colour-blind (after Paul Tol). Lines differ in style:
# solid for methods with several fidelities, dashed for models of the target alone, dotted without a model.
STYLES: dict[str, tuple[str, str]] = {
    "mf-gp-ucb": ("#cc3311", "-"),
    "gp-ucb": ("#0077bb", "--"),
    "gp-ei": ("#33bbee", "--"),
    "gp-pi": ("#117733", "--"),
    "direct": ("#444444", ":"),
    "random": ("#bbbbbb", ":"),
    "mf-naive": ("#ee7733", "-"),
    "mf-naive-random": ("#ddcc55", "-"),
    "mf-sko": ("#cc6699", "-"),
    "co-kriging": ("#332288", "-"),
}
_OTHERS = ("#882255", "#44aa99", "#999933", "#6699cc", "#661100", "#ddaa99")
_FIDELITIES = ("#ccaa33", "#4477aa", "#cc3311")  # the target is the last, whatever their number
_POINTS = 400  # of a curve
_EXACT = 1e-13  # a regret below this share of the optimum is rounding


def plot_regret(
    found: Sequence[Series],
    paths: Iterable[str | PathLike[str]],
    mean: bool = False,
    styles: dict[str, tuple[str, str]] | None = None,
) -> None:
    """Simple regret (log) against capital, a panel per problem: medians with quartiles, or means with standard errors.

    A regret of 0 stands on the lowest line of its panel. Curves begin at the first target query.
    """
    names = list(dict.fromkeys(one.problem for one in found))
    columns = 2 if len(names) == 4 else min(3, max(len(names), 1))
    lines = ceil(len(names) / columns)
    width = 7.0 if columns == 1 else 4.4 * columns
    figure = Figure(figsize=(width, 3.4 * lines + 0.8), layout="constrained")
    styles = styles or _styles(found)
    panels: Any = figure.subplots(lines, columns, squeeze=False).ravel() if names else []
    handles: dict[str, Any] = {}
    for axes, name in zip(panels, names, strict=False):
        own = [one for one in found if one.problem == name and one.cells]
        _panel(axes, own, mean, styles, handles)
        axes.set_title(_title(name), fontsize=10)
    for axes in panels[len(names) :]:
        axes.set_axis_off()
    for row in range(lines):
        panels[row * columns].set_ylabel(r"simple regret $S(\Lambda)$")
    across = max(1, int(0.45 * width))  # as many as fit
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=across, fontsize=9)
    save(figure, paths)


def rising(count: int) -> list[tuple[str, str]]:
    """Styles for a parameter that rises: from dark to light (viridis)."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return [(to_hex(colormaps["viridis"](share)), "-") for share in np.linspace(0.0, 0.88, count)]


def plot_histogram(edges: Array, counts: Array, title: str, paths: Iterable[str | PathLike[str]]) -> None:
    """Bars of the number of queries by the target's value, a colour per fidelity.

    `counts` is (M, 2, bins): queries of the initial design, drawn pale, and queries that the method chose, on top.
    """
    figure = Figure(figsize=(7.6, 4.0), layout="constrained")
    axes: Any = figure.subplots()
    fidelities, _, bins = counts.shape
    width = 0.8 / fidelities
    for m, (initial, chosen) in enumerate(counts):
        at = np.arange(bins) + (m - (fidelities - 1) / 2) * width
        colour = _FIDELITIES[m - fidelities]
        axes.bar(at, initial, width, color=colour, alpha=0.35)
        axes.bar(at, chosen, width, bottom=initial, color=colour, label=f"fidelity {m + 1}")
    axes.set_xticks(np.arange(bins), [f"{low:.3g}–{high:.3g}" for low, high in pairwise(edges)])
    axes.set_xlabel(rf"$f^{{({fidelities})}}(x)$ of the query")
    axes.set_ylabel("queries (pale: initial design)")
    axes.set_ylim(0, 1.06 * counts.sum(axis=1).max(initial=1.0))
    axes.set_title(title, fontsize=10)
    axes.grid(alpha=0.25, axis="y")
    axes.legend()
    save(figure, paths)


def plot_bad_approximation(
    problem: problems.Benchmark, found: Sequence[Series], paths: Iterable[str | PathLike[str]]
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
    _panel(regret, [one for one in found if one.cells], False, _styles(found), handles)
    regret.set_title(_title(found[0].problem), fontsize=10)
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


def _draw_step(above: Any, below: Any, step: Step, good: bool) -> None:
    for m, colour in enumerate((_FIDELITIES[0], _FIDELITIES[1])):
        above.plot(step.grid, step.functions[m], color=colour, linewidth=1.6, label=rf"$f^{{({m + 1})}}$")
        above.plot(step.grid, step.bounds[m], "--", color=colour, linewidth=1.2, label=rf"$\varphi^{{({m + 1})}}_t$")
        values = np.interp(step.queries[m], step.grid, step.functions[m])
        above.plot(step.queries[m], values, "x", color=colour, markersize=5, markeredgewidth=1.6, zorder=5)
    least = r"$\varphi_t = \min_m \varphi^{(m)}_t$"
    above.plot(step.grid, step.phi, color="#117733", linewidth=2.4, alpha=0.75, label=least)
    top = float(np.interp(step.x, step.grid, step.phi))
    above.plot(step.x, top, "*", color="#cc3311", markersize=13, zorder=6, label=r"$x_t$")
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
    below.plot(step.x, step.width_at_x, "*", color="#cc3311", markersize=10, zorder=6)
    below.set_ylim(0, 1.1)
    below.set_xlabel("x")


def save(figure: Any, paths: Iterable[str | PathLike[str]]) -> None:
    """Into every one of the files; nothing in them depends on when they were drawn."""
    import matplotlib

    for path in paths:
        metadata = {"Date": None} if str(path).endswith(".svg") else None
        with matplotlib.rc_context({"svg.hashsalt": "mfopt"}):
            figure.savefig(path, dpi=120, metadata=metadata)


def _panel(axes: Any, own: Sequence[Series], mean: bool, styles: dict[str, tuple[str, str]], handles: Any) -> None:
    curves = []
    for one in own:
        grid = np.linspace(0, one.capital, _POINTS + 1)[1:]
        at = one.at(grid)
        middle, low, high = at.median, at.lower, at.upper
        if mean:
            error = np.nan_to_num(at.error)
            middle, low, high = at.mean, at.mean - error, at.mean + error
        curves.append((one, grid, middle, low, high))
    bottom = _floor([curve[2] for curve in curves], [curve[3] for curve in curves], _scale(own))
    top = max((curve[2][np.isfinite(curve[2])].max(initial=bottom) for curve in curves), default=1.0)
    for one, grid, middle, low, high in curves:
        colour, line = styles[one.label]
        main = one.method.partition(":")[0] == "mf-gp-ucb"
        shown = np.maximum(np.where(np.isfinite(middle), middle, np.nan), bottom)
        (handle,) = axes.step(
            grid, shown, line, where="post", color=colour, linewidth=2.2 if main else 1.4, zorder=3 if main else 2
        )
        handles.setdefault(one.label, handle)
        known = np.isfinite(middle)
        axes.fill_between(
            grid[known], np.maximum(low, bottom)[known], np.clip(high, bottom, 10 * top)[known],
            color=colour, alpha=0.14, linewidth=0, step="post",
        )  # fmt: skip
    axes.set_yscale("log")
    axes.set_ylim(bottom / 1.6, 2 * top)
    axes.set_xlim(0, max((one.capital for one in own), default=1.0))
    if any((np.where(np.isfinite(curve[3]), curve[3], 1.0) <= bottom).any() for curve in curves):
        axes.axhline(bottom, color="black", linewidth=0.6, alpha=0.5)
        axes.yaxis.set_major_formatter(_ZeroFormatter(bottom))
    axes.set_xlabel(r"capital $\Lambda\,/\,\lambda_M$")
    axes.grid(alpha=0.25)


class _ZeroFormatter(LogFormatterSciNotation):
    """Powers of ten, and 0 for the lowest line."""

    def __init__(self, zero: float) -> None:
        super().__init__()
        self._zero = zero

    def __call__(self, x: float, pos: Any = None) -> str:
        return "0" if abs(x / self._zero - 1) < 1e-6 else str(super().__call__(x, pos))


def _floor(middles: Sequence[Array], lows: Sequence[Array], scale: float) -> float:
    """Where a regret of 0 is drawn: a decade below the smallest that is more than rounding."""
    values = np.concatenate([*middles, *lows, [1.0 * scale]])
    least = values[np.isfinite(values) & (values > _EXACT * scale)].min(initial=scale)
    return float(10.0 ** (floor(log10(least)) - 1))


def _known(name: str) -> problems.Benchmark | None:
    """The problem, unless it cannot be had here (the cells may come from elsewhere)."""
    try:
        return problems.get(name)
    except InputError:
        return None


def _scale(own: Sequence[Series]) -> float:
    problem = _known(own[0].problem) if own else None
    return (abs(problem.optimum) if problem else 0.0) or 1.0


def _title(name: str) -> str:
    problem = _known(name)
    if problem is None:
        return name
    plain, options = parse_options(name)
    shown = ", ".join(f"{key} {value}" for key, value in options.items() if key != "costs")
    costs = " : ".join(f"{cost:g}" for cost in problem.costs)
    about = f"d = {problem.domain.dim}, M = {len(problem.costs)}, costs {costs}"
    return f"{plain}{f' ({shown})' if shown else ''}, {about}"


def _styles(found: Sequence[Series]) -> dict[str, tuple[str, str]]:
    """By label: a strategy without options has its own style, all others take the next free one."""
    out: dict[str, tuple[str, str]] = {}
    taken = 0
    for one in found:
        if one.label not in out:
            if one.method in STYLES and STYLES[one.method] not in out.values():
                out[one.label] = STYLES[one.method]
            else:
                out[one.label] = (_OTHERS[taken % len(_OTHERS)], ("-", "--", "-.", ":")[taken // len(_OTHERS) % 4])
                taken += 1
    return out
