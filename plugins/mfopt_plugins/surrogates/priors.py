"""The priors of the hyper-parameters that all built-in surrogates have, on standardised values (units.py).

Values have mean 0 and variance 1 there, so that a prior means the same for every function:

    log ℓ_j     ~ N(log(0.5 √d), 1.2²)   in unit coordinates; typical distances in [0, 1]^d grow like √d. d counts
                                         parameters: a category has several coordinates but one ℓ, and two
                                         different choices are as far apart as the ends of an interval
    log scale   ~ N(log 2, 2²)
    log noise   ~ N(log 1e-5, 4²), and noise ≥ NOISE_FLOOR: deterministic functions are nearly interpolated
    mean        ~ N(0, 1)
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mfopt.protocols import Array
from mfopt_plugins.surrogates.gp.process import Hyper
from mfopt_plugins.surrogates.theta import Name, Part

NOISE_FLOOR = 1e-9
_MOST_NOISE = 2.0


def central_hyper(groups: Sequence[int]) -> Hyper:
    """The centre of the priors, with little noise; coordinates of one group have one length-scale."""
    return Hyper(np.full(len(groups), _central_lengthscale(groups)), 2.0, 1e-5, 0.0)


def lengthscale_part(name: Name, groups: Sequence[int], given: Array | None = None, isotropic: bool = False) -> Part:
    """ℓ_1..d, one entry of θ per group of coordinates; where they are given, each coordinate is its own group.

    An `isotropic` kernel has one entry for all of them.
    """
    centre = np.full(1 if isotropic else max(groups) + 1, _central_lengthscale(groups))
    entries = [0] * len(groups) if isotropic else groups
    return Part(name, centre, 1.2, given=None if given is None else given.tolist(), groups=entries)


def _central_lengthscale(groups: Sequence[int]) -> float:
    return float(0.5 * np.sqrt(max(groups) + 1))


_ONE = central_hyper([0])  # scale, noise and mean do not depend on the dimension


def scale_part(name: Name, given: float | None = None, centre: float = _ONE.scale) -> Part:
    """k(x, x)."""
    return Part(name, np.array([centre]), 2.0, given=[given])


def noise_part(name: Name, given: Sequence[float | None], difference: float | None = None) -> Part:
    """As many noise variances as `given` has entries; the logarithms of two differ with variance `difference`."""
    centre = np.full(len(given), _ONE.noise)
    return Part(name, centre, 4.0, difference=difference, limits=(NOISE_FLOOR, _MOST_NOISE), given=given)


def mean_part(name: Name, given: Sequence[float | None], difference: float | None = None) -> Part:
    """As many prior means as `given` has entries; two of them differ with variance `difference`."""
    centre = np.full(len(given), _ONE.mean)
    return Part(name, centre, 1.0, positive=False, difference=difference, given=given)
