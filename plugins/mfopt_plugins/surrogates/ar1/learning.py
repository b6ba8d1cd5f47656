"""Hyper-parameters of the autoregressive process by maximising its log marginal likelihood under weak priors.

Everything here is in standard units (units.py). θ is, per level, (log ℓ_1..d, log scale, log noise, mean) of δ_j and
the level's noise, then ρ_1..ρ_{K−1}. The priors of ℓ, noise and mean are those of priors.py, and so is that of δ_0's
scale. A discrepancy is expected to be small, log scale ~ N(log 0.1, 2²), and ρ ~ N(1, 3²).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mfopt.hooks import Rows
from mfopt.protocols import Array
from mfopt_plugins.method.kept import finite, group, many
from mfopt_plugins.surrogates.ar1.process import Autoregression
from mfopt_plugins.surrogates.gp.process import Hyper
from mfopt_plugins.surrogates.priors import central_hyper, lengthscale_part, mean_part, noise_part, scale_part
from mfopt_plugins.surrogates.rows import stack, thin
from mfopt_plugins.surrogates.theta import Layout, Name, Part

_ITERATIONS, _WARM_ITERATIONS = 60, 25  # of a search from the priors, of one from the previous optimum
_DRAW_WIDTH = 0.5  # of the deviations of the priors, for the start that is drawn
_DISCREPANCY = 0.1  # centre of the prior of a discrepancy's scale
_RHO, _RHO_SIGMA, _RHO_LIMIT = 1.0, 3.0, 30.0


@dataclass(frozen=True)
class Scales:
    """All hyper-parameters: one Hyper per level and ρ_1..ρ_{K−1}."""

    hypers: tuple[Hyper, ...]
    rhos: tuple[float, ...]

    def state(self) -> list[Any]:
        """As plain values."""
        return [[hyper.state() for hyper in self.hypers], list(self.rhos)]

    @classmethod
    def read(cls, state: object, levels: int, dim: int) -> Scales:
        """From the state of another one; a ValueError where it cannot be one of these levels and dimensions."""
        hypers, rhos = group(many(Hyper.read, levels), many(finite, levels - 1))(state)
        if any(len(hyper.lengthscale) != dim for hyper in hypers):
            raise ValueError(f"there must be {dim} length-scales at every level, got others")
        return cls(tuple(hypers), tuple(rhos))


def central_scales(levels: int, groups: Sequence[int]) -> Scales:
    """The centre of the priors, with little noise."""
    first = central_hyper(groups)
    later = replace(first, scale=_DISCREPANCY)
    return Scales((first, *[later] * (levels - 1)), (_RHO,) * (levels - 1))


def learn(
    kernel: str,
    nu: float | None,
    groups: Sequence[int],
    rows: Sequence[Rows],
    noises: Sequence[float | None],
    rho: float | None,
    previous: Scales | None,
    rng: np.random.Generator,
) -> Scales:
    """The maximum a posteriori for standardised rows, one (u, y) per level; known noises and a given ρ stay.

    The search starts from the `previous` optimum alone where there is one. The first one starts from both signs of ρ:
    there is a maximum on either side.
    """
    layout = _lay_out(groups, noises, rho)
    u, level, y = stack(thin(rows))

    def likelihood(theta: Array) -> list[tuple[float, Array]]:
        scales = _unpack(layout, theta, noises)
        process = Autoregression(kernel, nu, scales.hypers, scales.rhos)
        process.condition(u, level, y)
        value, slope = process.log_marginal_likelihood(grad=True)
        return [(value, _add_up(layout, slope, len(groups), len(rows)))]

    starts = layout.choose_starts(None if previous is None else _pack(layout, previous), False, rng, _DRAW_WIDTH)
    if previous is None:
        central = central_scales(len(rows), groups)
        starts.append(_pack(layout, replace(central, rhos=tuple(-one for one in central.rhos))))
    iterations = _ITERATIONS if previous is None else _WARM_ITERATIONS
    return _unpack(layout, layout.maximise_posterior(likelihood, starts, iterations), noises)


def _lay_out(groups: Sequence[int], noises: Sequence[float | None], rho: float | None) -> Layout:
    """θ; its parts have the order of the derivatives of Autoregression.log_marginal_likelihood."""
    parts = []
    for j, (hyper, noise) in enumerate(zip(central_scales(len(noises), groups).hypers, noises, strict=True)):
        parts += [
            lengthscale_part(("lengthscale", j), groups),
            scale_part(("scale", j), centre=hyper.scale),
            noise_part(("noise", j), [noise]),
            mean_part(("mean", j), [None]),
        ]
    steps = len(noises) - 1
    limits = (-_RHO_LIMIT, _RHO_LIMIT)
    return Layout(
        [*parts, Part("rho", np.full(steps, _RHO), _RHO_SIGMA, positive=False, limits=limits, given=[rho] * steps)]
    )


def _add_up(layout: Layout, slope: Array, dim: int, levels: int) -> Array:
    """The derivatives in θ from those of Autoregression, which have its order but one length-scale per coordinate."""
    each = dim + 3
    parts = []
    for j in range(levels):
        own = slope[j * each : (j + 1) * each]
        parts += [layout.add_up(("lengthscale", j), own[:dim]), own[dim:]]
    return np.concatenate([*parts, slope[levels * each :]])


def _pack(layout: Layout, scales: Scales) -> Array:
    values: dict[Name, Array] = {"rho": np.array(scales.rhos)}
    for j, hyper in enumerate(scales.hypers):
        values["lengthscale", j] = hyper.lengthscale
        values["scale", j] = np.array([hyper.scale])
        values["noise", j] = np.array([hyper.noise])
        values["mean", j] = np.array([hyper.mean])
    return layout.pack(values)


def _unpack(layout: Layout, theta: Array, noises: Sequence[float | None]) -> Scales:
    """The hyper-parameters; a noise that is known to be 0 has no logarithm, so it is taken as it is."""
    values = layout.unpack(theta)
    hypers = []
    for j, known in enumerate(noises):
        scale, noise, mean = (float(values[name, j][0]) for name in ("scale", "noise", "mean"))
        hypers.append(Hyper(values["lengthscale", j], scale, noise if known is None else known, mean))
    return Scales(tuple(hypers), tuple(values["rho"].tolist()))
