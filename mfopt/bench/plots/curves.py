"""Curves of the simple regret against capital."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import ceil, floor, log10
from os import PathLike
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogFormatterSciNotation

from mfopt import problems
from mfopt.bench.plots.files import save
from mfopt.bench.report import Series
from mfopt.errors import DataMissing, InputError
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
    styles = styles or choose_styles(found)
    panels: Any = figure.subplots(lines, columns, squeeze=False).ravel() if names else []
    handles: dict[str, Any] = {}
    for axes, name in zip(panels, names, strict=False):
        own = [one for one in found if one.problem == name and one.cells]
        draw_panel(axes, own, mean, styles, handles)
        axes.set_title(describe_problem(name), fontsize=10)
    for axes in panels[len(names) :]:
        axes.set_axis_off()
    for row in range(lines):
        panels[row * columns].set_ylabel(r"simple regret $S(\Lambda)$")
    across = max(1, int(0.45 * width))  # as many as fit
    figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=across, fontsize=9)
    save(figure, paths)


def make_ramp(count: int) -> list[tuple[str, str]]:
    """Styles for a parameter that rises: from dark to light (viridis)."""
    from matplotlib import colormaps
    from matplotlib.colors import to_hex

    return [(to_hex(colormaps["viridis"](share)), "-") for share in np.linspace(0.0, 0.88, count)]


def draw_panel(axes: Any, own: Sequence[Series], mean: bool, styles: dict[str, tuple[str, str]], handles: Any) -> None:
    """One problem: a curve per series; each new label is added to `handles`, for the legend."""
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
        # With many decades not each has a tick, but this one must, or curves seem to end at a small regret.
        axes.set_yticks([bottom, *(tick for tick in axes.get_yticks() if 3 * bottom < tick <= 2 * top)])
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


def _find_problem(name: str) -> problems.Benchmark | None:
    """The problem, unless it or its data cannot be had here (the cells may come from elsewhere)."""
    try:
        return problems.get(name)
    except (InputError, DataMissing):
        return None


def _scale(own: Sequence[Series]) -> float:
    problem = _find_problem(own[0].problem) if own else None
    return (abs(problem.optimum) if problem else 0.0) or 1.0


def describe_problem(name: str) -> str:
    """The title of a panel: name, dimension, number of fidelities, costs."""
    problem = _find_problem(name)
    if problem is None:
        return name
    plain, options = parse_options(name)
    shown = ", ".join(f"{key} {value}" for key, value in options.items() if key != "costs")
    costs = " : ".join(f"{cost:g}" for cost in problem.costs)
    if len(problem.costs) > 3:  # the title of a panel has no room for all of them
        costs = f"{problem.costs[0]:g} … {problem.costs[-1]:g}"
    about = f"d = {problem.domain.dim}, M = {len(problem.costs)}, costs {costs}"
    return f"{plain}{f' ({shown})' if shown else ''}, {about}"


def choose_styles(found: Sequence[Series]) -> dict[str, tuple[str, str]]:
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
