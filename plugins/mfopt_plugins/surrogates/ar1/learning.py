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

import mfopt_core
from mfopt.hooks import Rows
from mfopt.protocols import Array
from mfopt_plugins.method.kept import finite, group, many
from mfopt_plugins.surrogates.ar1.process import Relation
from mfopt_plugins.surrogates.gp.process import Hyper
from mfopt_plugins.surrogates.priors import central_hyper, lengthscale_part, mean_part, noise_part, scale_part
from mfopt_plugins.surrogates.rows import stack, thin
from mfopt_plugins.surrogates.theta import Layout, LogLikelihood, Name, Optimum, Part

_DRAW_WIDTH = 0.5  # of the deviations of the priors, for the start that is drawn
_DISCREPANCY = 0.1  # centre of the prior of a discrepancy's scale
_RHO, _RHO_SIGMA, _RHO_LIMIT = 1.0, 3.0, 30.0


@dataclass(frozen=True)
class Scales:
    """All hyper-parameters: one Hyper per level and ρ_1..ρ_{K−1}."""

    hypers: tuple[Hyper, ...]
    rhos: tuple[float, ...]

    def is_same(self, other: Scales) -> bool:
        """Whether the other has the same numbers, to the bit."""
        return self.rhos == other.rhos and all(map(Hyper.is_same, self.hypers, other.hypers))

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


def lay_out(groups: Sequence[int], noises: Sequence[float | None], rho: float | None) -> Layout:
    """θ for standardised noises (None: to be learnt) and a given ρ (or None)."""
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


def learn(
    kernel: str,
    nu: float | None,
    rows: Sequence[Rows],
    layout: Layout,
    groups: Sequence[int],
    noises: Sequence[float | None],
    previous: Array | None,
    inverse: Array | None,
    rng: np.random.Generator,
) -> Optimum:
    """The maximum a posteriori for standardised rows, one (u, y) per level; known noises and a given ρ stay.

    The search starts from the `previous` optimum alone where there is one, with the H found there (`inverse`). The
    first one starts from both signs of ρ: there is a maximum on either side.
    """
    likelihood = log_likelihood(kernel, nu, rows, layout, noises)
    if previous is not None:
        return layout.search(likelihood, previous, inverse, False, rng)
    central = central_scales(len(rows), groups)
    turned = pack(layout, replace(central, rhos=tuple(-one for one in central.rhos)))
    return layout.find_maximum(likelihood, [*layout.choose_starts(None, False, rng, _DRAW_WIDTH), turned])


def log_likelihood(
    kernel: str, nu: float | None, rows: Sequence[Rows], layout: Layout, noises: Sequence[float | None]
) -> LogLikelihood:
    """That of θ for standardised rows, (u, y) per level, and the noises that are known."""
    u, level, y = stack(thin(rows))
    count = len(rows)
    compiled = mfopt_core.LevelLikelihood(np.column_stack([u, level]), level, y, count)
    dim = u.shape[1]

    def likelihood(theta: Array) -> list[tuple[float, Array]]:
        scales = unpack(layout, theta, noises)
        relation = Relation(scales.hypers, scales.rhos)
        mixture = relation.mixture(kernel, nu, scales.hypers)
        value, own, by_noise, _, by_shift = compiled(mixture, 0.0, relation.noises, relation.factors, relation.shifts)
        by_scale, by_mean, by_rho = relation.differentiate(own[count * dim :].reshape(count, count), by_shift)
        slope = np.empty(len(layout))
        slope[layout["rho"]] = by_rho
        for j in range(count):
            slope[layout["lengthscale", j]] = layout.add_up(("lengthscale", j), own[j * dim : (j + 1) * dim])
            slope[layout["scale", j]], slope[layout["noise", j]] = by_scale[j], by_noise[j]
            slope[layout["mean", j]] = by_mean[j]
        return [(value, slope)]

    return likelihood


def pack(layout: Layout, scales: Scales) -> Array:
    """θ for these hyper-parameters, in standard units."""
    values: dict[Name, Array] = {"rho": np.array(scales.rhos)}
    for j, hyper in enumerate(scales.hypers):
        values["lengthscale", j] = hyper.lengthscale
        values["scale", j] = np.array([hyper.scale])
        values["noise", j] = np.array([hyper.noise])
        values["mean", j] = np.array([hyper.mean])
    return layout.pack(values)


def unpack(layout: Layout, theta: Array, noises: Sequence[float | None]) -> Scales:
    """The hyper-parameters; a noise that is known to be 0 has no logarithm, so it is taken as it is."""
    values = layout.unpack(theta)
    hypers = []
    for j, known in enumerate(noises):
        scale, noise, mean = (float(values[name, j][0]) for name in ("scale", "noise", "mean"))
        hypers.append(Hyper(values["lengthscale", j], scale, noise if known is None else known, mean))
    return Scales(tuple(hypers), tuple(values["rho"].tolist()))
