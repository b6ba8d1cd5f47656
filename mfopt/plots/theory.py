"""Pictures of the theory (needs matplotlib: `mfopt[plot]`). Drawn without a display and without global state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from mfopt.errors import InputError
from mfopt.protocols import Array
from mfopt.theory.goodsets import Labels, gaps

# H⁽¹⁾, H⁽²⁾, .. from cheap to expensive as in the paper's figure: green, blue, yellow, and red for the target.
SETS = ("#a8d5a2", "#8fb8de", "#f4e08a", "#f2b6a0", "#c9b3d9")
TARGET = "#ee6677"


@dataclass(frozen=True)
class RatioCurve:
    """vol(H⁽²⁾)/vol(X) of samples at each ζ_1: `ratios` is (len(zetas), samples)."""

    title: str
    zetas: Array
    ratios: Array


def plot_ratios(curves: Sequence[RatioCurve], path: str | PathLike[str]) -> None:
    """The figure of vol(H⁽²⁾)/vol(X) against ζ_1 (fig. (zetaHmIllus)), a panel per curve.

    The line is the mean over the samples, the band goes from the lower to the upper quartile.
    """
    from matplotlib.figure import Figure

    if len(curves) == 0:
        raise InputError("curves must hold at least one curve, got none")
    figure = Figure(figsize=(5.2 * len(curves), 3.8), layout="constrained")
    panels = figure.subplots(1, len(curves), sharey=True, squeeze=False)[0]
    for axes, curve in zip(panels, curves, strict=True):
        low, high = np.quantile(curve.ratios, [0.25, 0.75], axis=1)
        axes.fill_between(curve.zetas, low, high, color="#4477aa", alpha=0.2, linewidth=0, label="quartiles")
        axes.plot(curve.zetas, curve.ratios.mean(axis=1), color="#4477aa", marker="o", markersize=3, label="mean")
        axes.set_xscale("log")
        axes.set_ylim(0, 1.02)
        axes.set_xlabel("ζ₁")
        axes.set_title(curve.title)
        axes.grid(alpha=0.3)
        axes.legend(loc="upper left")
    panels[0].set_ylabel("vol(H⁽²⁾) / vol(X)")
    figure.savefig(path, dpi=110)


def plot_partition(
    values: Array,
    labels: Labels,
    zetas: Sequence[float],
    gammas: Sequence[float],
    path: str | PathLike[str],
    queries: Array | None = None,
) -> None:
    """The partition H⁽¹⁾..H⁽ᴹ⁾ of a square, with the boundary of each J⁽ᵐ⁾_{3γ} (fig. (Xcalms)).

    values   (M, side²) on a square grid of [0, 1]² in row-major order, the first coordinate running fastest
    labels   the partition of the same grid
    queries  target queries to be shown on top, (n, 2)
    """
    from matplotlib.colors import ListedColormap
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    fidelities, size = values.shape
    side = round(size**0.5)
    if side**2 != size:
        raise InputError(f"values must be on a square grid, got {size} points")
    colours = [*SETS[: fidelities - 1], TARGET]
    axis = np.linspace(0, 1, side)
    figure = Figure(figsize=(7.2, 5.4), layout="constrained")
    axes: Any = figure.subplots()
    axes.pcolormesh(
        axis, axis, labels.reshape(side, side), cmap=ListedColormap(colours), vmin=-0.5, vmax=fidelities - 0.5,
        shading="nearest", rasterized=True,
    )  # fmt: skip
    excess = gaps(values, zetas)
    for m in range(fidelities - 1):
        margin = excess[m] - 3 * gammas[m]
        if margin.min() < 0 < margin.max():
            lines = axes.contour(axis, axis, margin.reshape(side, side), levels=[0.0], colors="black", linewidths=1.1)
            axes.clabel(lines, fmt={0.0: f"J({m + 1})"}, fontsize=10)
    best = int(values[-1].argmax())
    axes.plot(axis[best % side], axis[best // side], marker="*", markersize=15, color="black", linestyle="none")
    if queries is not None:
        axes.plot(queries[:, 0], queries[:, 1], marker=".", color="black", linestyle="none", markersize=5)
    parts = [float(np.mean(labels == m)) for m in range(fidelities)]
    patches = [
        Patch(color=colour, label=f"H({m + 1}): {part:.0%} of X")
        for m, (colour, part) in enumerate(zip(colours, parts, strict=True))
    ]
    axes.legend(handles=patches, loc="upper left", bbox_to_anchor=(1.01, 1.0), borderaxespad=0.0)
    axes.set_aspect("equal")
    axes.set_xlabel("x₁")
    axes.set_ylabel("x₂")
    axes.set_title(f"The partition for M = {fidelities}; ★ the optimum of f({fidelities})")
    figure.savefig(path, dpi=110)
