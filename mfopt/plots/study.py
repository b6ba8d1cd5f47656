"""The picture of a study (needs `mfopt[plot]`): how it went, and what is believed at its end.

    top      best value at the target, queries per fidelity, ζ and γ, each against the capital spent
    middle   slices of the posterior along one parameter through the best point, with the bounds φ_m
    bottom   slices along two parameters: the target's mean, the bound φ, and the deviation of the target

What is believed is rebuilt from the history with the study's own kind of model, all fidelities as one process where it
can be; β and ζ are those of the last reason. Values are not softened here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from os import PathLike
from typing import Any

import numpy as np

from mfopt.errors import InputError
from mfopt.hooks import blocks_of
from mfopt.optimizer import Optimizer
from mfopt.plots.axis import Axis
from mfopt.plots.belief import Belief, rebuild_belief
from mfopt.plots.run import draw_counts, draw_progress, fidelity_colour, fidelity_names
from mfopt.plots.slices import centre, draw_maps, draw_slice
from mfopt.run.reason import Reason

_SLICES = 4  # parameters that are shown at most
_MARGIN = 1.02  # of the capital spent: what stands at its end is not cut off


def plot_study(
    optimizer: Optimizer,
    path: str | PathLike[str],
    reasons: Mapping[int, Any],
    dims: Sequence[str] | None = None,
) -> None:
    """Draw a run into a PNG, SVG or PDF file.

    reasons   why each trial was chosen, by its id (Study.reasons)
    dims      names of the parameters for the slices; by default those along which a fidelity's mean varies most
    """
    from matplotlib.figure import Figure

    if len(optimizer.history) == 0:
        raise InputError("a study must have values to be drawn, got none")
    shown = [one for one in reasons.values() if isinstance(one, Reason) and one.fidelities]
    belief = rebuild_belief(optimizer, shown)
    axes_of = _choose_parameters(optimizer, belief, dims)
    height = 1 + min(len(axes_of), 2)  # one coordinate has no map
    figure = Figure(figsize=(15, 4.2 * height), layout="constrained")
    rows = figure.subfigures(height, 1, squeeze=False)[:, 0]
    found, counts, levels = rows[0].subplots(1, 3)
    draw_progress(found, optimizer, None)
    draw_counts(counts, optimizer)
    _draw_levels(levels, optimizer, reasons)
    for axes in (found, counts, levels):
        axes.set_xlim(0.0, _MARGIN * float(optimizer.history.cost.sum()) or 1.0)
    if axes_of:
        panels = rows[1].subplots(1, len(axes_of), squeeze=False)[0]
        for k, (panel, j) in enumerate(zip(panels, axes_of, strict=True)):
            draw_slice(panel, optimizer, belief, j, k == 0)
    if len(axes_of) > 1:
        draw_maps(rows[2], optimizer, belief, axes_of[0], axes_of[1])
    figure.savefig(path, dpi=100)


def _choose_parameters(optimizer: Optimizer, belief: Belief, dims: Sequence[str] | None) -> list[int]:
    """The parameters that are shown, at most _SLICES, in their order; none where the domain does not tell of them."""
    domain = optimizer.domain
    names = domain.names
    if dims is not None:
        unknown = [name for name in dims if name not in names]
        if unknown:
            raise InputError(f"coordinates must be among {', '.join(names)}, got {', '.join(unknown)}")
        return [names.index(name) for name in dims][:_SLICES]
    if len(blocks_of(domain)) != len(names):
        return []
    best = centre(optimizer)
    counts = np.flatnonzero(~np.isnan(domain.decode(best[None])[0])).tolist()
    ranges = {}
    for j in counts:
        axis = Axis(domain, j)
        values = axis.values(33)
        u = np.repeat(best[None], len(values), axis=0)
        axis.put(u, values)
        ranges[j] = float(np.ptp(belief.at(u)[0], axis=1).max())
    return sorted(sorted(counts, key=lambda j: -ranges[j])[:_SLICES])


def _draw_levels(axes: Any, optimizer: Optimizer, reasons: Mapping[int, Any]) -> None:
    """ζ_m and γ_m as each query found them, against the capital in the order asked: values may come in another."""
    history = optimizer.history.snapshot()
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
