"""Hyper-parameters of the coupled process, by maximising its log marginal likelihood under weak priors.

θ = (log ℓ_1..d, log of the K − 1 steps, log scale, log noise_1..K, mean, and where fidelities are calibrated the
logarithms of |a_1|..|a_{K−1}| and b_1..b_{K−1}) with the priors of priors.py, and

    log step ~ N(log 4, 1)   neighbouring fidelities differ by a quarter of their deviation, give or take a factor e
    log |a|  ~ N(0, 1)       values that were brought into the target's unit are in it, give or take a factor e
    b        ~ N(0, 1)       and a deviation

The values of fidelity k are a_k z + b_k with z the process (calibration.py), so that

    log p(y) = log p(z) − Σ_k n_k log |a_k|,   ∂ log p(z)/∂z = −(weights of the process).

The signs of a are not learnt here: `signs` are those assumed.

Noise is each fidelity's own, but the log noises of two differ by N(0, 2²): with a few target values, noise would
otherwise be an easy explanation for whatever does not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from mfopt.hooks import Rows
from mfopt.protocols import Array
from mfopt_plugins.method.kept import array, group
from mfopt_plugins.surrogates.coupled.calibration import Calibration
from mfopt_plugins.surrogates.given import Given
from mfopt_plugins.surrogates.gp.process import GaussianProcess, Hyper, MakeGP
from mfopt_plugins.surrogates.priors import QUIET, Expectation, lengthscale_part, mean_part, noise_part, scale_part
from mfopt_plugins.surrogates.rows import Levels, stack
from mfopt_plugins.surrogates.theta import Layout, LogLikelihood, Part

# From hyper-parameters: log p(y), and its derivatives in (log ℓ_1..d, log steps, log scale, mean), and per fidelity in
# the log noise, log |a| and b.
Evaluate: TypeAlias = Callable[["CoupledHyper"], tuple[float, Array, Array, Array, Array]]

_NOISES_APART = 2.0  # deviation of the difference between the log noises of two fidelities
_STEP, _STEP_SIGMA = 4.0, 1.0  # length-scale of a step: centre, and deviation of its logarithm
_FACTOR_SIGMA, _SHIFT_SIGMA = 1.0, 1.0  # deviations of log |a| and of b


@dataclass(frozen=True)
class CoupledHyper:
    """Hyper-parameters of the coupled process: those of the kernel, over (u, c), and one noise per fidelity."""

    kernel: Hyper  # its own noise is 0
    noises: Array  # of the values told
    calibration: Calibration

    def state(self) -> list[Any]:
        """As plain values."""
        return [self.kernel.state(), self.noises.copy(), self.calibration.a.copy(), self.calibration.b.copy()]

    @classmethod
    def read(cls, state: object, dim: int, fidelities: int) -> CoupledHyper:
        """From the state of another one; a ValueError where it cannot be one for these dimensions and fidelities."""
        kernel, noises, a, b = group(Hyper.read, array, array, array)(state)
        if kernel.lengthscale.shape != (dim + fidelities - 1,) or not noises.shape == a.shape == b.shape == (
            fidelities,
        ):
            raise ValueError(f"hyper-parameters must be those of {fidelities} fidelities, got other shapes")
        if not (noises >= 0.0).all() or not a.all():
            raise ValueError(f"noises must not be negative and factors not 0, got {noises} and {a}")
        return cls(kernel, noises, Calibration(a, b))

    def is_same(self, other: CoupledHyper) -> bool:
        """Whether the other has the same numbers, to the bit."""
        ours, theirs = ((one.noises, one.calibration.a, one.calibration.b) for one in (self, other))
        return self.kernel.is_same(other.kernel) and bool(np.array_equal(ours, theirs))


def lay_out(
    given: Given, noises: Sequence[float | None], calibrated: bool = False, expected: Expectation = QUIET
) -> Layout:
    """θ; what is given and the known noise (or None) per fidelity are not learnt, a and b only if `calibrated`."""
    below = len(noises) - 1
    plain = Calibration.none(below)
    return Layout(
        [
            lengthscale_part("lengthscale", given.groups, given.lengthscale, given.isotropic, expected),
            Part("step", np.full(below, _STEP), _STEP_SIGMA),
            scale_part("scale", given.scale, expected=expected),
            noise_part("noise", noises, _NOISES_APART**2, expected),
            mean_part("mean", [given.mean]),
            Part("factor", plain.a, _FACTOR_SIGMA, given=None if calibrated else plain.a.tolist()),
            Part("shift", plain.b, _SHIFT_SIGMA, positive=False, given=None if calibrated else plain.b.tolist()),
        ],
        flat=given.flat,
    )


def pack(layout: Layout, hyper: CoupledHyper) -> Array:
    """θ for these hyper-parameters, in standard units; the signs of a are not in it."""
    dim = len(hyper.kernel.lengthscale) - len(hyper.noises) + 1
    return layout.pack(
        {
            "lengthscale": hyper.kernel.lengthscale[:dim],
            "step": hyper.kernel.lengthscale[dim:],
            "scale": [hyper.kernel.scale],
            "noise": hyper.noises,
            "mean": [hyper.kernel.mean],
            "factor": np.abs(hyper.calibration.a[:-1]),
            "shift": hyper.calibration.b[:-1],
        }
    )


def unpack(layout: Layout, theta: Array, signs: Array) -> CoupledHyper:
    """The hyper-parameters for this θ and these signs of a_1..a_K, in standard units."""
    values = layout.unpack(theta)
    lengthscale = np.concatenate([values["lengthscale"], values["step"]])
    return CoupledHyper(
        Hyper(lengthscale, float(values["scale"][0]), 0.0, float(values["mean"][0])),
        values["noise"],
        Calibration(signs * np.append(values["factor"], 1.0), np.append(values["shift"], 0.0)),
    )


def log_likelihood(evaluate: Evaluate, dim: int, layout: Layout, signs: Array) -> LogLikelihood:
    """That of θ for points of `dim` coordinates, by what `evaluate` says of hyper-parameters in standard units."""

    def likelihood(theta: Array) -> list[tuple[float, Array]]:
        value, own, by_noise, by_factor, by_shift = evaluate(unpack(layout, theta, signs))
        slope = np.zeros(len(layout))
        slope[layout["lengthscale"]] = layout.add_up("lengthscale", own[:dim])
        slope[layout["step"]] = own[dim:-2]
        slope[layout["scale"]], slope[layout["mean"]] = own[-2], own[-1]
        slope[layout["noise"]] = by_noise
        slope[layout["shift"]], slope[layout["factor"]] = by_shift[:-1], by_factor[:-1]
        return [(value, slope)]

    return likelihood


def evaluate_with(make: MakeGP[GaussianProcess], rows: Sequence[Rows]) -> Evaluate:
    """The log likelihood of rows of coded points, (u, y) per fidelity, step by step with any process.

    mfopt_core.LevelLikelihood does the same in one call.
    """
    u, level, y = stack(rows)
    count = len(rows)
    counts = np.bincount(level, minlength=count)

    def evaluate(hyper: CoupledHyper) -> tuple[float, Array, Array, Array, Array]:
        gp = make(hyper.kernel)
        a, b = hyper.calibration.a[level], hyper.calibration.b[level]
        z = (y - b) / a
        gp.extend(u, z, hyper.noises[level] / a**2)
        value, own, by_row = gp.log_marginal_likelihood(grad=True, rows=True)
        weights = gp.weights
        return (
            value - float(counts @ np.log(np.abs(hyper.calibration.a))),
            np.delete(own, -2),  # the noise is not the process's but the rows'
            _add_up(level, by_row, count),
            _add_up(level, weights * z - 2 * by_row, count) - counts,
            _add_up(level, weights / a, count),
        )

    return evaluate


def _add_up(level: Levels, numbers: Array, count: int) -> Array:
    """The sum of the numbers of each of `count` levels."""
    return np.bincount(level, numbers, count).astype(np.float64)
