"""Slices of a belief, along one coordinate or along two, through the best point."""

from __future__ import annotations

from typing import Any

import numpy as np

from mfopt.domains.box import Box
from mfopt.domains.dimensions import Real
from mfopt.optimizer import Optimizer
from mfopt.plots.belief import Belief
from mfopt.plots.run import draw_failures, fidelity_colour
from mfopt.protocols import Array

_LINE = 201  # points of a slice along one coordinate
_SIDE = 61  # of each side of a slice along two
_CANDIDATES = 2000  # of a finite X that are shown at most


def centre(optimizer: Optimizer) -> Array:
    """The point that slices go through, in unit coordinates: the best one."""
    best = optimizer.best
    x = optimizer.history.x[-1] if best is None else best.x
    return np.asarray(optimizer.domain.encode(x[None])[0])


def draw_slice(axes: Any, optimizer: Optimizer, belief: Belief, j: int, first: bool) -> None:
    """Posterior and bounds along coordinate j through the best point; the `first` slice has a legend."""
    history, count = optimizer.history, len(optimizer.costs)
    u, x = _sample_line(optimizer, j)
    mean, sigma, bounds = belief.at(u)
    target = fidelity_colour(count - 1, count)
    kind = "upper" if belief.side > 0 else "lower"
    scattered = optimizer.domain.points is not None and len(optimizer.domain.names) > 1
    style: dict[str, Any] = {"linestyle": "none", "marker": ".", "markersize": 2} if scattered else {"linewidth": 1.2}
    for m in range(count):
        if not np.isnan(bounds[m]).all():
            label = f"{kind} bound φ, {optimizer.fidelities[m].name}"
            axes.plot(x, bounds[m], color=fidelity_colour(m, count), alpha=0.8, label=label, zorder=3, **style)
    phi = belief.tightest(bounds)
    if not np.isnan(phi).all():
        thick = style if scattered else {"linestyle": "--", "linewidth": 2.2}
        axes.plot(x, phi, color="black", label="φ, the tightest", zorder=4, **thick)
    if not scattered:
        low, high = mean[-1] - belief.root_beta * sigma[-1], mean[-1] + belief.root_beta * sigma[-1]
        axes.fill_between(x, low, high, color=target, alpha=0.18, linewidth=0, label="μ ± β½σ at the target")
        axes.plot(x, mean[-1], color=target, linewidth=1.0, linestyle="-.", label="μ at the target", zorder=3)
    best = optimizer.best
    if best is not None:
        axes.plot(best.x[j], best.y, marker="*", markersize=13, color="black", linestyle="none", zorder=9, label="best")
    told = np.isfinite(history.y)
    for m in range(count):
        rows = told & (history.fidelity == m)
        if not rows.any():
            continue
        at = axes.get_ylim()[0]
        axes.plot(history.x[rows, j], np.full(rows.sum(), at), marker="|", markersize=7, linestyle="none",
                  color=fidelity_colour(m, count), alpha=0.6, clip_on=False, zorder=8)  # fmt: skip
    draw_failures(axes, optimizer, history.x[:, j], None)
    axes.set_title(f"{'Candidates by' if scattered else 'Through the best point, along'} {optimizer.domain.names[j]}")
    _label_axis(axes, optimizer, j, "x")
    axes.grid(alpha=0.3)
    if first:
        axes.set_ylabel("value")
        axes.legend(fontsize=7)


def draw_maps(figure: Any, optimizer: Optimizer, belief: Belief, i: int, j: int) -> None:
    """Slices along two coordinates through the best point; a finite X as the points it is."""
    domain, history, count = optimizer.domain, optimizer.history, len(optimizer.costs)
    finite = domain.points is not None
    if finite:
        u = _sample_line(optimizer, i)[0]
    else:
        side = np.linspace(0.0, 1.0, _SIDE)
        u = np.repeat(centre(optimizer)[None], _SIDE**2, axis=0)
        u[:, i], u[:, j] = (grid.reshape(-1) for grid in np.meshgrid(side, side))
    mean, sigma, bounds = belief.at(u)
    kind = "upper" if belief.side > 0 else "lower"
    phi = belief.tightest(bounds)
    maps = [(mean[-1], "mean μ at the target", "viridis"), (sigma[-1], "deviation σ at the target", "magma")]
    if not np.isnan(phi).all():
        maps.insert(1, (phi, f"{kind} bound φ", "viridis"))
    panels = figure.subplots(1, len(maps), squeeze=False)[0]
    x = domain.decode(u)
    inside = domain.contains(u)
    for panel, (values, title, colours) in zip(panels, maps, strict=True):
        if finite:
            drawn = panel.scatter(x[:, i], x[:, j], c=values, cmap=colours, s=8)
        else:
            shape = (_SIDE, _SIDE)
            drawn = panel.pcolormesh(
                x[:, i].reshape(shape), x[:, j].reshape(shape), np.where(inside, values, np.nan).reshape(shape),
                cmap=colours, shading="gouraud" if inside.all() else "nearest", rasterized=True,
            )  # fmt: skip
        figure.colorbar(drawn, ax=panel)
        for m in range(count):
            rows = (history.fidelity == m) & (history.status == "ok")
            panel.scatter(
                history.x[rows, i], history.x[rows, j], s=10 if m < count - 1 else 22, linewidths=0.5,
                edgecolors="white", color=fidelity_colour(m, count), zorder=3 + m,
                label=optimizer.fidelities[m].name,
            )  # fmt: skip
        draw_failures(panel, optimizer, history.x[:, i], history.x[:, j])
        best = optimizer.best
        if best is not None:
            panel.scatter(best.x[i], best.x[j], marker="*", s=170, color="white", edgecolors="black", zorder=20)
        panel.set_title(title)
        _label_axis(panel, optimizer, i, "x")
        _label_axis(panel, optimizer, j, "y")
    panels[0].legend(fontsize=7, loc="best")


def _sample_line(optimizer: Optimizer, j: int) -> tuple[Array, Array]:
    """Points of X along coordinate j, unit and user coordinates; of a finite X all points in the order of j."""
    domain = optimizer.domain
    if domain.points is not None:
        u = domain.points[:: max(1, len(domain.points) // _CANDIDATES)]
        x = domain.decode(u)[:, j]
        order = np.argsort(x, kind="stable")
        return u[order], x[order]
    u = np.repeat(centre(optimizer)[None], _LINE, axis=0)
    u[:, j] = np.linspace(0.0, 1.0, _LINE)
    u = u[domain.contains(u)]
    return u, domain.decode(u)[:, j]


def _label_axis(axes: Any, optimizer: Optimizer, j: int, which: str) -> None:
    """Name and scale of coordinate j on the axis `which`, "x" or "y"."""
    domain = optimizer.domain
    axes.set(**{f"{which}label": domain.names[j]})
    dimension = domain.dimensions[j] if isinstance(domain, Box) else None
    if isinstance(dimension, Real) and dimension.log:
        axes.set(**{f"{which}scale": "log"})
