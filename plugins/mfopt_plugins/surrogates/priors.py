"""The priors of the hyper-parameters that all built-in surrogates have, on standardised values (units.py).

Values have mean 0 and variance 1 there, so that a prior means the same for every function:

    log ℓ_j     ~ N(log(0.5 √d), 1.2²)   in unit coordinates; typical distances in [0, 1]^d grow like √d
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


def central_hyper(dim: int) -> Hyper:
    """The centre of the priors, with little noise."""
    return Hyper(np.full(dim, 0.5 * np.sqrt(dim)), 2.0, 1e-5, 0.0)


def lengthscale_part(name: Name, dim: int, given: Array | None = None) -> Part:
    """ℓ_1..d."""
    return Part(name, central_hyper(dim).lengthscale, 1.2, given=None if given is None else given.tolist())


def scale_part(name: Name, given: float | None = None, centre: float = central_hyper(1).scale) -> Part:
    """k(x, x)."""
    return Part(name, np.array([centre]), 2.0, given=[given])


def noise_part(name: Name, given: Sequence[float | None], difference: float | None = None) -> Part:
    """As many noise variances as `given` has entries; the logarithms of two differ with variance `difference`."""
    centre = np.full(len(given), central_hyper(1).noise)
    return Part(name, centre, 4.0, difference=difference, limits=(NOISE_FLOOR, _MOST_NOISE), given=given)


def mean_part(name: Name, given: Sequence[float | None], difference: float | None = None) -> Part:
    """As many prior means as `given` has entries; two of them differ with variance `difference`."""
    centre = np.full(len(given), central_hyper(1).mean)
    return Part(name, centre, 1.0, positive=False, difference=difference, given=given)
