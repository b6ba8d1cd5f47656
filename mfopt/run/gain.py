"""Gain: by how much the best value at the target may still rise with what the capital pays for.

Let n be the number of target queries that the remaining capital pays for, and C the n points, of many in X, whose
expected improvement over the incumbent is largest. The estimate is what one query of each point of C would gain,

    E max_C (f − best)⁺ = ∫_0^∞ 1 − Π_C P(f(x) ≤ best + t) dt,

with values taken as independent: neighbouring points are not, so for these points it is rather too large. It is too
small where the model is wrong: a peak that no value has shown is no part of it.
"""

from __future__ import annotations

import math

import numpy as np

from mfopt.protocols import Array

LOOK = 2000  # points of X that are looked at
NEAR = 0.02  # standard deviation, in unit coordinates, of points around the incumbent
_STEPS = 400  # of the integral
_FAR = 30.0  # standard deviations: beyond them nothing changes
_TAIL = 5.0  # standard deviations above the highest mean up to which it goes


def expected_maximum_gain(mean: Array, std: Array, best: float, queries: float) -> float:
    """The integral above over the `queries` points that promise most, of those with these posteriors."""
    from scipy.special import ndtr  # slow to import

    std = np.maximum(std, np.finfo(np.float64).tiny)
    z = np.clip((mean - best) / std, -_FAR, _FAR)
    improvement = std * (z * ndtr(z) + np.exp(-0.5 * z**2) / math.sqrt(2.0 * math.pi))
    count = int(min(queries, len(mean)))
    if count == 0:
        return 0.0
    chosen = np.argsort(-improvement, kind="stable")[:count]
    mean, std = mean[chosen], std[chosen]
    end = float(np.max(mean + _TAIL * std)) - best
    if end <= 0.0:
        return 0.0
    t = np.linspace(0.0, end, _STEPS)
    below = np.array([np.prod(ndtr((best + step - mean) / std)) for step in t])
    return float(np.trapezoid(1.0 - below, t))
