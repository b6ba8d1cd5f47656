"""Slices of a belief, along one parameter or along two, through the best point."""

from __future__ import annotations

from typing import Any

import numpy as np

from mfopt.checks import direction_sign
from mfopt.hooks import SnapsPoints
from mfopt.optimizer import Optimizer
from mfopt.plots.axis import Axis
from mfopt.plots.belief import Belief
from mfopt.plots.run import draw_failures, fidelity_colour
from mfopt.protocols import Array

_SIDE = 61  # points of each side of a slice along two parameters
_CANDIDATES = 2000  # of a finite X that are shown at most


def centre(optimizer: Optimizer, *along: int) -> Array:
    """The point that slices go through, in unit coordinates: the best one, of those where the parameters `along` count.

    Where there is none at the target, the last one; where they never counted, the best one of all.
    """
    history = optimizer.history.snapshot()
    counts = ~np.isnan(history.x[:, list(along)]).any(axis=1)
    rows = np.flatnonzero(counts) if counts.any() else np.arange(len(history))
    target = rows[(history.fidelity[rows] == len(optimizer.costs) - 1) & np.isfinite(history.y[rows])]
    best = rows[-1]
    if len(target):
        y = direction_sign(optimizer.direction) * history.y[target]
        best = target[int(np.argmax(y))]
    return np.asarray(optimizer.domain.encode(history.x[best][None])[0])


def draw_slice(axes: Any, optimizer: Optimizer, belief: Belief, j: int, first: bool) -> None:
    """Posterior and bounds along parameter j through the best point; the `first` slice has a legend."""
    history, count, axis = optimizer.believed_history(), len(optimizer.costs), Axis(optimizer.domain, j)
    u, x = _sample_line(optimizer, axis)
    mean, sigma, bounds = belief.at(u)
    target = fidelity_colour(count - 1, count)
    kind = "upper" if belief.side > 0 else "lower"
    scattered = _is_list(optimizer) and len(optimizer.domain.names) > 1
    style: dict[str, Any] = {"linestyle": "none", "marker": ".", "markersize": 2} if scattered else {"linewidth": 1.2}
    if axis.discrete and not scattered:
        style = {"linestyle": ":", "linewidth": 0.8, "marker": "o", "markersize": 4}
    for m in range(count):
        if not np.isnan(bounds[m]).all():
            label = f"{kind} bound φ, {optimizer.fidelities[m].name}"
            axes.plot(x, bounds[m], color=fidelity_colour(m, count), alpha=0.8, label=label, zorder=3, **style)
    phi = belief.tightest(bounds)
    if not np.isnan(phi).all():
        thick = style if scattered or axis.discrete else {"linestyle": "--", "linewidth": 2.2}
        axes.plot(x, phi, color="black", label="φ, the tightest", zorder=4, **thick)
    half = belief.root_beta * sigma[-1]
    if axis.discrete and not scattered:
        axes.errorbar(x, mean[-1], half, color=target, fmt="s", markersize=4, capsize=4, label="μ ± β½σ at the target")
    elif not scattered:
        low, high = mean[-1] - half, mean[-1] + half
        axes.fill_between(x, low, high, color=target, alpha=0.18, linewidth=0, label="μ ± β½σ at the target")
        axes.plot(x, mean[-1], color=target, linewidth=1.0, linestyle="-.", label="μ at the target", zorder=3)
    best = optimizer.best
    if best is not None:
        here = axis.place(best.x[j : j + 1])
        axes.plot(here, best.y, marker="*", markersize=13, color="black", linestyle="none", zorder=9, label="best")
    told = np.isfinite(history.y)
    for m in range(count):
        rows = told & (history.fidelity == m)
        if not rows.any():
            continue
        at = axes.get_ylim()[0]
        axes.plot(axis.place(history.x[rows, j]), np.full(rows.sum(), at), marker="|", markersize=7, linestyle="none",
                  color=fidelity_colour(m, count), alpha=0.6, clip_on=False, zorder=8)  # fmt: skip
    draw_failures(axes, optimizer, axis.place(history.x[:, j]), None)
    axes.set_title(f"{'Candidates by' if scattered else 'Through the best point, along'} {optimizer.domain.names[j]}")
    axis.label(axes, "x")
    axes.grid(alpha=0.3)
    if first:
        axes.set_ylabel("value")
        axes.legend(fontsize=7)


def draw_maps(figure: Any, optimizer: Optimizer, belief: Belief, i: int, j: int) -> None:
    """Slices along two parameters through the best point; a list of candidates as the points it is."""
    domain = optimizer.domain
    across, up = Axis(domain, i), Axis(domain, j)
    grid, shape = _sample_plane(optimizer, across, up)
    u = _snap(optimizer, grid)
    mean, sigma, bounds = belief.at(u)
    kind = "upper" if belief.side > 0 else "lower"
    phi = belief.tightest(bounds)
    maps = [(mean[-1], "mean μ at the target", "viridis"), (sigma[-1], "deviation σ at the target", "magma")]
    if not np.isnan(phi).all():
        maps.insert(1, (phi, f"{kind} bound φ", "viridis"))
    panels = figure.subplots(1, len(maps), squeeze=False)[0]
    x = domain.decode(u)
    inside = domain.contains(u) & ~np.isnan(x[:, [i, j]]).any(axis=1)
    at = across.fill(grid, x), up.fill(grid, x)
    for panel, (values, title, colours) in zip(panels, maps, strict=True):
        if shape is None:
            drawn = panel.scatter(*at, c=values, cmap=colours, s=8)
        else:
            smooth = inside.all() and not across.discrete and not up.discrete
            drawn = panel.pcolormesh(
                *(one.reshape(shape) for one in at), np.where(inside, values, np.nan).reshape(shape),
                cmap=colours, shading="gouraud" if smooth else "nearest", rasterized=True,
            )  # fmt: skip
        figure.colorbar(drawn, ax=panel)
        _draw_points(panel, optimizer, across, up)
        panel.set_title(title)
        across.label(panel, "x")
        up.label(panel, "y")
    panels[0].legend(fontsize=7, loc="best")


def _draw_points(panel: Any, optimizer: Optimizer, across: Axis, up: Axis) -> None:
    """Where was queried, and the best point."""
    history, count, best = optimizer.believed_history(), len(optimizer.costs), optimizer.best
    for m in range(count):
        x = history.x[(history.fidelity == m) & (history.status == "ok")]
        panel.scatter(
            across.place(x[:, across.j]), up.place(x[:, up.j]), s=10 if m < count - 1 else 22, linewidths=0.5,
            edgecolors="white", color=fidelity_colour(m, count), zorder=3 + m, label=optimizer.fidelities[m].name,
        )  # fmt: skip
    draw_failures(panel, optimizer, across.place(history.x[:, across.j]), up.place(history.x[:, up.j]))
    if best is not None:
        here = across.place(best.x[across.j : across.j + 1]), up.place(best.x[up.j : up.j + 1])
        panel.scatter(*here, marker="*", s=170, color="white", edgecolors="black", zorder=20)


def _sample_plane(optimizer: Optimizer, across: Axis, up: Axis) -> tuple[Array, tuple[int, int] | None]:
    """Points along two parameters, and how many rows and columns of them; None where they are those of a list."""
    if _is_list(optimizer):
        return _sample_line(optimizer, across)[0], None
    columns, rows = across.values(_SIDE), up.values(_SIDE)
    u = np.repeat(centre(optimizer, across.j, up.j)[None], len(columns) * len(rows), axis=0)
    across.put(u, np.tile(columns, (len(rows), 1)))
    up.put(u, np.repeat(rows, len(columns), axis=0))
    return u, (len(rows), len(columns))


def _sample_line(optimizer: Optimizer, axis: Axis) -> tuple[Array, Array]:
    """Points of X along a parameter and where they lie on the axis; of a list all points in that order."""
    domain = optimizer.domain
    if domain.points is not None and _is_list(optimizer):
        u = domain.points[:: max(1, len(domain.points) // _CANDIDATES)]
    else:
        values = axis.values()
        u = np.repeat(centre(optimizer, axis.j)[None], len(values), axis=0)
        axis.put(u, values)
        u = _snap(optimizer, u)
        u = u[domain.contains(u)]
    x = axis.place(domain.decode(u)[:, axis.j])
    order = np.argsort(x, kind="stable")
    return u[order], x[order]


def _is_list(optimizer: Optimizer) -> bool:
    """Whether X is a list of candidates, and not parameters whose values can be combined."""
    return optimizer.domain.points is not None and not isinstance(optimizer.domain, SnapsPoints)


def _snap(optimizer: Optimizer, u: Array) -> Array:
    """Parameters that begin to count, or no longer do, at the values that they have then."""
    return optimizer.domain.snap(u) if isinstance(optimizer.domain, SnapsPoints) else u
