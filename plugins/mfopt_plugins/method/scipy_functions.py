"""Functions of SciPy in modules that take long to import, most runs of which need none: imported when first called."""

from __future__ import annotations

import numpy as np

from mfopt.protocols import Array


def cdist(points: Array, others: Array) -> Array:
    """The distances between the rows of two arrays."""
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(points, others))


def ndtr(z: Array) -> Array:
    """Φ(z), the normal distribution function."""
    from scipy.special import ndtr

    return np.asarray(ndtr(z))


def log_ndtr(z: Array) -> Array:
    """log Φ(z)."""
    from scipy.special import log_ndtr

    return np.asarray(log_ndtr(z))


def erfcx(z: Array) -> Array:
    """exp(z²) erfc(z)."""
    from scipy.special import erfcx

    return np.asarray(erfcx(z))
