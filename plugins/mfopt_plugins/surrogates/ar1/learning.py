"""Hyper-parameters of the autoregressive process by maximising its log marginal likelihood under weak priors.

Everything here is on standardised values (see _joint). θ is, per level, (log ℓ_1..d, log scale, log noise, mean) of δ_j
and the level's noise, then ρ_1..ρ_{K−1}. The priors of ℓ, noise and mean are those of single models (_learning), and so
is that of δ_0's scale. A discrepancy is expected to be small, log scale ~ N(log 0.1, 2²), and ρ ~ N(1, 3²).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mfopt.protocols import Array
from mfopt_plugins.surrogates.ar1.process import Autoregression, Levels
from mfopt_plugins.surrogates.gp.learning import LEARNING_ROWS, NOISE_FLOOR, ascend, default_hyper, subsets
from mfopt_plugins.surrogates.gp.process import Hyper

_MAX_ITERATIONS, _MAX_WARM = 60, 25  # of an ascent from the priors, of one from the previous optimum
_DISCREPANCY = 0.1  # centre of the prior of a discrepancy's scale
_RHO_SIGMA, _RHO_LIMIT = 3.0, 30.0


@dataclass(frozen=True)
class Scales:
    """All hyper-parameters: one Hyper per level and ρ_1..ρ_{K−1}."""

    hypers: tuple[Hyper, ...]
    rhos: tuple[float, ...]


def default_scales(levels: int, dim: int) -> Scales:
    """The centre of the priors, with little noise."""
    first = default_hyper(dim)
    later = Hyper(first.lengthscale, _DISCREPANCY, first.noise, first.mean)
    return Scales((first, *[later] * (levels - 1)), (1.0,) * (levels - 1))


def learn_scales(
    kernel: str,
    nu: float | None,
    rows: Sequence[tuple[Array, Array]],
    noises: Sequence[float | None],
    rho: float | None,
    start: Scales | None,
    rng: np.random.Generator,
) -> Scales:
    """The maximum a posteriori for standardised rows, one (u, y) per level; known noises and a given ρ stay."""
    levels, dim = len(rows), rows[0][0].shape[1]
    centre = _pack(default_scales(levels, dim))
    sigma = np.concatenate([*[np.array([*[1.2] * dim, 2.0, 4.0, 1.0])] * levels, np.full(levels - 1, _RHO_SIGMA)])
    low, high = centre - 4 * sigma, centre + 4 * sigma
    for j, noise in enumerate(noises):
        at = j * (dim + 3) + dim + 1
        low[at], high[at] = np.log(NOISE_FLOOR), np.log(2.0)
        if noise is not None:
            low[at] = high[at] = np.log(max(noise, NOISE_FLOOR))
    if levels > 1:
        low[1 - levels :] = -_RHO_LIMIT if rho is None else rho
        high[1 - levels :] = _RHO_LIMIT if rho is None else rho
    u, level, y = stacked(subsets(rows, LEARNING_ROWS, rng))

    def posterior(theta: Array) -> tuple[float, Array]:
        scales = _unpack(theta, levels, dim, noises)
        process = Autoregression(kernel, nu, scales.hypers, scales.rhos)
        process.condition(u, level, y)
        value, slope = process.log_marginal_likelihood(grad=True)
        pull = (theta - centre) / sigma
        return value - 0.5 * float(pull @ pull), slope - pull / sigma

    starts = [centre, centre + 0.5 * sigma * rng.standard_normal(len(sigma))] if start is None else [_pack(start)]
    theta = ascend(posterior, starts, low, high, _MAX_ITERATIONS if start is None else _MAX_WARM)
    return _unpack(theta, levels, dim, noises)


def stacked(rows: Sequence[tuple[Array, Array]]) -> tuple[Array, Levels, Array]:
    """All rows below each other, with their levels."""
    level = np.repeat(np.arange(len(rows), dtype=np.int64), [len(y) for _, y in rows])
    return np.vstack([u for u, _ in rows]), level, np.concatenate([y for _, y in rows])


def _pack(scales: Scales) -> Array:
    parts = [
        np.array([*np.log(h.lengthscale), np.log(h.scale), np.log(max(h.noise, NOISE_FLOOR)), h.mean])
        for h in scales.hypers
    ]
    return np.concatenate([*parts, np.array(scales.rhos)])


def _unpack(theta: Array, levels: int, dim: int, noises: Sequence[float | None]) -> Scales:
    hypers = []
    for part, noise in zip(theta[: levels * (dim + 3)].reshape(levels, dim + 3), noises, strict=True):
        # A noise that is known to be 0 has no logarithm, so the known value is taken as it is.
        known = float(np.exp(part[dim + 1])) if noise is None else noise
        hypers.append(Hyper(np.exp(part[:dim]), float(np.exp(part[dim])), known, float(part[dim + 2])))
    return Scales(tuple(hypers), tuple(theta[levels * (dim + 3) :].tolist()))
