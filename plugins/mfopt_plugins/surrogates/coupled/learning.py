"""Hyper-parameters of the coupled process, by maximising its log marginal likelihood under weak priors.

θ = (log ℓ_1..d, log of the K − 1 steps, log scale, log noise_1..K, mean) with the priors of priors.py, and

    log step ~ N(log 4, 1)   neighbouring fidelities differ by a quarter of their deviation, give or take a factor e

Noise is each fidelity's own, but the log noises of two differ by N(0, 2²): with a few target values, noise would
otherwise be an easy explanation for whatever does not fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mfopt.hooks import Rows
from mfopt.protocols import Array
from mfopt_plugins.surrogates.given import Given
from mfopt_plugins.surrogates.gp.process import GaussianProcess, Hyper, MakeGP
from mfopt_plugins.surrogates.priors import lengthscale_part, mean_part, noise_part, scale_part
from mfopt_plugins.surrogates.rows import stack
from mfopt_plugins.surrogates.theta import Layout, Part

_NOISES_APART = 2.0  # deviation of the difference between the log noises of two fidelities
_STEP, _STEP_SIGMA = 4.0, 1.0  # length-scale of a step: centre, and deviation of its logarithm


@dataclass(frozen=True)
class CoupledHyper:
    """Hyper-parameters of the coupled process: those of the kernel, over (u, c), and one noise per fidelity."""

    kernel: Hyper  # its own noise is 0
    noises: Array


def lay_out(given: Given, noises: Sequence[float | None]) -> Layout:
    """θ; what is given and the known noise (or None) per fidelity are not learnt."""
    return Layout(
        [
            lengthscale_part("lengthscale", given.groups, given.lengthscale),
            Part("step", np.full(len(noises) - 1, _STEP), _STEP_SIGMA),
            scale_part("scale", given.scale),
            noise_part("noise", noises, difference=_NOISES_APART**2),
            mean_part("mean", [given.mean]),
        ]
    )


def unpack(layout: Layout, theta: Array) -> CoupledHyper:
    """The hyper-parameters for this θ, in standard units."""
    values = layout.unpack(theta)
    lengthscale = np.concatenate([values["lengthscale"], values["step"]])
    return CoupledHyper(
        Hyper(lengthscale, float(values["scale"][0]), 0.0, float(values["mean"][0])),
        values["noise"],
    )


def learn(make: MakeGP[GaussianProcess], rows: Sequence[Rows], layout: Layout, starts: Sequence[Array]) -> Array:
    """The maximum a posteriori for rows of coded points, one (u, y) per fidelity, in standard units."""
    u, level, y = stack(rows)
    count = len(rows)
    dim = u.shape[1] - (count - 1)

    def likelihood(theta: Array) -> list[tuple[float, Array]]:
        hyper = unpack(layout, theta)
        gp = make(hyper.kernel)
        gp.extend(u, y, hyper.noises[level])
        value, own, by_row = gp.log_marginal_likelihood(grad=True, rows=True)
        # `own` is in (log ℓ_1..d, log steps, log scale, log noise, mean); the noise is not the process's but the rows'.
        slope = np.zeros(len(layout))
        slope[layout["lengthscale"]] = layout.add_up("lengthscale", own[:dim])
        slope[layout["step"]] = own[dim:-3]
        slope[layout["scale"]], slope[layout["mean"]] = own[-3], own[-1]
        slope[layout["noise"]] = np.bincount(level, by_row, count)
        return [(value, slope)]

    return layout.maximise_posterior(likelihood, starts)
