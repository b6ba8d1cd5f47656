"""The priors of the hyper-parameters that all built-in surrogates have, on standardised values (units.py).

Values have mean 0 and variance 1 there, so that a prior means the same for every function:

    log ℓ_j     ~ N(log(0.5 √d), 1.2²)   in unit coordinates; typical distances in [0, 1]^d grow like √d. d counts
                                         parameters: a category has several coordinates but one ℓ, and two
                                         different choices are as far apart as the ends of an interval
    log scale   ~ N(log 2, 2²)
    log noise   ~ N(log 1e-5, 4²), and noise ≥ NOISE_FLOOR: deterministic functions are nearly interpolated
    mean        ~ N(0, 1)

Where values of one point differ there is noise, and then few values say little about the rest: one lucky pair makes the
noise small and every other value a peak of its own, one unlucky pair makes everything noise and the function flat. So
the priors of ℓ, scale and noise are others there, and narrower:

    log ℓ_j ~ N(log(0.25 √d), 0.5²),   log scale ~ N(0, 1),   log noise ~ N(log 0.1, 2²)

A shorter ℓ extrapolates less, and a scale that stays near the variance of the values keeps what is not known uncertain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from mfopt.protocols import Array
from mfopt_plugins.surrogates.gp.process import Hyper
from mfopt_plugins.surrogates.theta import Name, Part

NOISE_FLOOR = 1e-9
_MOST_NOISE = 2.0
_UNLIKELY = 2.0  # deviations below the centre at which a learnt noise is no guide any more


@dataclass(frozen=True)
class Expectation:
    """The priors of ℓ, scale and noise: each with its centre and the deviation of its logarithm; ℓ in units of √d."""

    lengthscale: tuple[float, float]
    scale: tuple[float, float]
    noise: tuple[float, float]

    def doubts(self, noises: npt.ArrayLike) -> bool:
        """Whether one of these noise variances, in standard units, is far below what is expected."""
        centre, sigma = self.noise
        return bool(np.min(noises) < centre * np.exp(-_UNLIKELY * sigma))


QUIET = Expectation((0.5, 1.2), (2.0, 2.0), (1e-5, 4.0))
NOISY = Expectation((0.25, 0.5), (1.0, 1.0), (0.1, 2.0))


def central_hyper(groups: Sequence[int]) -> Hyper:
    """The centre of the priors, with little noise; coordinates of one group have one length-scale."""
    lengthscale = _central_lengthscale(groups, QUIET)
    return Hyper(np.full(len(groups), lengthscale), QUIET.scale[0], QUIET.noise[0], 0.0)


def lengthscale_part(
    name: Name,
    groups: Sequence[int],
    given: Array | None = None,
    isotropic: bool = False,
    expected: Expectation = QUIET,
) -> Part:
    """ℓ_1..d, one entry of θ per group of coordinates; where they are given, each coordinate is its own group.

    An `isotropic` kernel has one entry for all of them.
    """
    centre = np.full(1 if isotropic else max(groups) + 1, _central_lengthscale(groups, expected))
    entries = [0] * len(groups) if isotropic else groups
    return Part(name, centre, expected.lengthscale[1], given=None if given is None else given.tolist(), groups=entries)


def _central_lengthscale(groups: Sequence[int], expected: Expectation) -> float:
    return float(expected.lengthscale[0] * np.sqrt(max(groups) + 1))


def scale_part(
    name: Name, given: float | None = None, centre: float | None = None, expected: Expectation = QUIET
) -> Part:
    """k(x, x)."""
    return Part(name, np.array([expected.scale[0] if centre is None else centre]), expected.scale[1], given=[given])


def noise_part(
    name: Name, given: Sequence[float | None], difference: float | None = None, expected: Expectation = QUIET
) -> Part:
    """As many noise variances as `given` has entries; the logarithms of two differ with variance `difference`."""
    centre, sigma = expected.noise
    limits = (NOISE_FLOOR, _MOST_NOISE)
    return Part(name, np.full(len(given), centre), sigma, difference=difference, limits=limits, given=given)


def mean_part(name: Name, given: Sequence[float | None], difference: float | None = None) -> Part:
    """As many prior means as `given` has entries; two of them differ with variance `difference`."""
    return Part(name, np.zeros(len(given)), 1.0, positive=False, difference=difference, given=given)
