"""The picture of a study (needs `mfopt[plot]`): how it went, and what is believed at its end.

    top      best value at the target, queries per fidelity, ζ and γ, each against the capital spent
    middle   slices of the posterior along one coordinate through the best point, with the bounds φ_m
    bottom   slices along two coordinates: the target's mean, the bound φ, and the deviation of the target

What is believed is rebuilt from the history with the study's own kind of model, all fidelities as one process where it
can be; β and ζ are those of the last reason. Values are not softened here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite, sqrt
from os import PathLike
from typing import Any

import numpy as np

from mfopt.analysis.beliefs import Beliefs, believed
from mfopt.errors import InputError
from mfopt.optimizer import Optimizer
from mfopt.plots.run import draw_counts, draw_progress, fidelity_colour, fidelity_names
from mfopt.protocols import Array
from mfopt.run.reason import Reason

_LINE = 201  # points of a slice along one coordinate
_SIDE = 61  # of each side of a slice along two
_SLICES = 4  # coordinates that are shown at most
_CANDIDATES = 2000  # of a finite X that are shown at most


@dataclass(frozen=True)
class Belief:
    """The posterior in the user's unit; `side` is +1 for upper bounds, −1 for lower ones."""

    models: Beliefs
    root_beta: float
    zetas: tuple[float, ...]  # NaN where no ζ is known, and so no bound
    side: float

    def at(self, u: Array) -> tuple[Array, Array, Array]:
        """Means, deviations and bounds φ_m, each (M, q)."""
        mean, var = np.array([model.posterior(u) for model in self.models.models]).transpose(1, 0, 2)
        sigma = np.sqrt(var)
        bounds = mean + self.root_beta * sigma + np.array(self.zetas)[:, None]
        for m in range(len(bounds)):
            if self.models.count(m) == 0:
                bounds[m] = np.nan
        return self.side * mean, sigma, self.side * bounds

    def tightest(self, bounds: Array) -> Array:
        """φ, from the φ_m."""
        worst = self.side * inf
        known = np.where(np.isnan(bounds), worst, bounds)
        phi = known.min(axis=0) if self.side > 0 else known.max(axis=0)
        return np.where(np.isfinite(phi), phi, np.nan)


def plot_study(
    optimizer: Optimizer,
    path: str | PathLike[str],
    reasons: Mapping[int, Any],
    dims: Sequence[str] | None = None,
) -> None:
    """Draw a run into a PNG, SVG or PDF file.

    reasons   why each trial was chosen, by its id (Study.reasons)
    dims      names of the coordinates for the slices; by default those along which a fidelity's mean varies most
    """
    from matplotlib.figure import Figure

    if len(optimizer.history) == 0:
        raise InputError("a study must have values to be drawn, got none")
    shown = [one for one in reasons.values() if isinstance(one, Reason) and one.fidelities]
    belief = _belief(optimizer, shown)
    axes_of = _coordinates(optimizer, belief, dims)
    height = 1 + min(len(axes_of), 2)  # one coordinate has no map
    figure = Figure(figsize=(15, 4.2 * height), layout="constrained")
    rows = figure.subfigures(height, 1, squeeze=False)[:, 0]
    found, counts, levels = rows[0].subplots(1, 3)
    draw_progress(found, optimizer, None)
    draw_counts(counts, optimizer)
    _draw_levels(levels, optimizer, reasons)
    for axes in (found, counts, levels):
        axes.set_xlim(0.0, float(optimizer.history.cost.sum()) or 1.0)
    if axes_of:
        panels = rows[1].subplots(1, len(axes_of), squeeze=False)[0]
        for k, (panel, j) in enumerate(zip(panels, axes_of, strict=True)):
            _draw_slice(panel, optimizer, belief, j, k == 0)
    if len(axes_of) > 1:
        _draw_maps(rows[2], optimizer, belief, axes_of[0], axes_of[1])
    figure.savefig(path, dpi=100)


def _belief(optimizer: Optimizer, reasons: Sequence[Reason]) -> Belief:
    count = len(optimizer.costs)
    zetas, beta = [np.nan] * count, 4.0  # without a reason: two deviations and no bound
    if reasons:
        beta = reasons[-1].beta
        for m, zeta in zip(reasons[-1].fidelities, reasons[-1].zeta, strict=True):
            zetas[m] = zeta
    side = 1.0 if optimizer.direction == "maximize" else -1.0
    return Belief(believed(optimizer, optimizer.surrogates, coupled=True), sqrt(beta), tuple(zetas), side)


def _centre(optimizer: Optimizer) -> Array:
    """The point that slices go through, in unit coordinates: the best one."""
    best = optimizer.best
    x = optimizer.history.x[-1] if best is None else best.x
    return np.asarray(optimizer.domain.encode(x[None])[0])


def _coordinates(optimizer: Optimizer, belief: Belief, dims: Sequence[str] | None) -> list[int]:
    """The coordinates that are shown, at most _SLICES, in their order; none where they are not those of the models."""
    names = optimizer.domain.names
    if dims is not None:
        unknown = [name for name in dims if name not in names]
        if unknown:
            raise InputError(f"coordinates must be among {', '.join(names)}, got {', '.join(unknown)}")
        return [names.index(name) for name in dims][:_SLICES]
    if optimizer.domain.dim != len(names):
        return []
    centre = _centre(optimizer)
    ranges = []
    for j in range(len(names)):
        u = np.repeat(centre[None], 33, axis=0)
        u[:, j] = np.linspace(0.0, 1.0, 33)
        ranges.append(float(np.ptp(belief.at(u)[0], axis=1).max()))
    return sorted(sorted(range(len(names)), key=lambda j: -ranges[j])[:_SLICES])


def _draw_levels(axes: Any, optimizer: Optimizer, reasons: Mapping[int, Any]) -> None:
    """ζ_m and γ_m as each query found them, against the capital in the order asked: values may come in another."""
    history = optimizer.history
    order = np.argsort(history.id)
    capital = dict(zip(history.id[order].tolist(), np.cumsum(history.cost[order]).tolist(), strict=True))
    names = fidelity_names(optimizer)
    drawn = False
    for m in range(len(names) - 1):
        for what, style in (("ζ", "-"), ("γ", ":")):
            points = []
            for id, reason in reasons.items():
                if isinstance(reason, Reason) and m in reason.fidelities and id in capital:
                    k = reason.fidelities.index(m)
                    value = (reason.zeta if what == "ζ" else reason.gamma)[k]
                    if isfinite(value) and value > 0.0:
                        points.append((capital[id], value))
            if points:
                spent, values = np.array(sorted(points)).T
                colour = fidelity_colour(m, len(names))
                axes.step(
                    spent, values, style, where="post", color=colour, label=f"{what}, {optimizer.fidelities[m].name}"
                )
                drawn = True
    axes.set_title("ζ and γ")
    axes.set_xlabel("capital spent Λ")
    if not drawn:
        axes.text(0.5, 0.5, "no ζ or γ in this run", ha="center", va="center", transform=axes.transAxes, color="gray")
        return
    axes.set_yscale("log")
    axes.legend(fontsize=8)
    axes.grid(alpha=0.3)


def _axis(axes: Any, optimizer: Optimizer, j: int, which: str) -> None:
    """Name and scale of a coordinate."""
    getattr(axes, f"set_{which}label")(optimizer.domain.names[j])
    dimensions = getattr(optimizer.domain, "dimensions", None)
    if dimensions is not None and getattr(dimensions[j], "log", False):
        getattr(axes, f"set_{which}scale")("log")


def _line(optimizer: Optimizer, j: int) -> tuple[Array, Array]:
    """Points of X along coordinate j, unit and user coordinates; of a finite X all points in the order of j."""
    domain = optimizer.domain
    if domain.points is not None:
        u = domain.points[:: max(1, len(domain.points) // _CANDIDATES)]
        x = domain.decode(u)[:, j]
        order = np.argsort(x, kind="stable")
        return u[order], x[order]
    u = np.repeat(_centre(optimizer)[None], _LINE, axis=0)
    u[:, j] = np.linspace(0.0, 1.0, _LINE)
    u = u[domain.contains(u)]
    return u, domain.decode(u)[:, j]


def _draw_slice(axes: Any, optimizer: Optimizer, belief: Belief, j: int, first: bool) -> None:
    history, count = optimizer.history, len(optimizer.costs)
    u, x = _line(optimizer, j)
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
    axes.set_title(f"{'Candidates by' if scattered else 'Through the best point, along'} {optimizer.domain.names[j]}")
    _axis(axes, optimizer, j, "x")
    axes.grid(alpha=0.3)
    if first:
        axes.set_ylabel("value")
        axes.legend(fontsize=7)


def _draw_maps(figure: Any, optimizer: Optimizer, belief: Belief, i: int, j: int) -> None:
    """Slices along two coordinates through the best point; a finite X as the points it is."""
    domain, history, count = optimizer.domain, optimizer.history, len(optimizer.costs)
    finite = domain.points is not None
    if finite:
        u = _line(optimizer, i)[0]
    else:
        side = np.linspace(0.0, 1.0, _SIDE)
        u = np.repeat(_centre(optimizer)[None], _SIDE**2, axis=0)
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
            rows = history.fidelity == m
            panel.scatter(
                history.x[rows, i], history.x[rows, j], s=10 if m < count - 1 else 22, linewidths=0.5,
                edgecolors="white", color=fidelity_colour(m, count), zorder=3 + m,
                label=optimizer.fidelities[m].name,
            )  # fmt: skip
        best = optimizer.best
        if best is not None:
            panel.scatter(best.x[i], best.x[j], marker="*", s=170, color="white", edgecolors="black", zorder=20)
        panel.set_title(title)
        _axis(panel, optimizer, i, "x")
        _axis(panel, optimizer, j, "y")
    panels[0].legend(fontsize=7, loc="best")
