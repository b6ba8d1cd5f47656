"""ζ as a contract: where ζ_m was given, every pair of values at one point tests it.

|f⁽ˡ⁾ − f⁽ᵐ⁾| ≤ |f⁽ˡ⁾ − f⁽ᴹ⁾| + |f⁽ᴹ⁾ − f⁽ᵐ⁾| ≤ ζ_l + ζ_m at every point. Noise may stretch a difference: some standard
deviations of it are taken off first, three in the first comparison of a run. The theorems assume A2, so from the first
violation on they promise nothing: the guarantee is void.

Where values are noisy, points are asked again. So the means of all values of a point are compared, and the n-th
comparison allows √(9 + 4 log n) deviations: a normal deviate exceeds that with a probability of at most e^−4.5 n^−2,
which sums up to less than 0.02. Three deviations each time would void every long run sooner or later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import Protocol

import numpy as np
import numpy.typing as npt

from mfopt.errors import InputError
from mfopt.protocols import SAME, Array, Domain

NOISE_DEVIATIONS = 3  # of one difference that are put down to noise


class Rows(Protocol):
    """The columns of a history that the contract needs, in the order told."""

    @property
    def x(self) -> Array:
        """The points (n, d)."""

    @property
    def fidelity(self) -> npt.NDArray[np.int64]:
        """The fidelity of each query, 0-based."""

    @property
    def y(self) -> Array:
        """The values; NaN where the evaluation failed."""


@dataclass(frozen=True)
class Violation:
    """Two values at one point that differ by more than the given ζ allow."""

    n: int  # how many values had been told, with the one that showed it
    x: Array
    low: int
    high: int
    difference: float  # what noise does not explain of it
    allowed: float  # ζ_low + ζ_high

    def __str__(self) -> str:
        return (
            f"value {self.n}: fidelities {self.low} and {self.high} differ by {self.difference:.6g} at "
            f"{np.round(self.x, 6).tolist()}, the zetas given allow {self.allowed:.6g}"
        )


def allowed_difference(zeta_low: float, zeta_high: float) -> float:
    """How far two fidelities may differ: ζ_l + ζ_m, with room for rounding."""
    return (zeta_low + zeta_high) * (1 + 1e-9)


def excess(difference: float, noise: float, comparison: int = 1) -> float:
    """The part of a difference that noise does not explain; `noise` is the variance of the difference.

    `comparison` is the number of this one among all that may give a false alarm, from 1.
    """
    return max(0.0, abs(difference) - sqrt((NOISE_DEVIATIONS**2 + 4 * log(comparison)) * noise))


def violations(
    history: Rows,
    zetas: Sequence[float | None],
    noises: Sequence[float] | None = None,
    domain: Domain | None = None,
) -> list[Violation]:
    """Every pair of a history that contradicts the ζ given, in the order told.

    `zetas` has one entry per fidelity, None where nothing was given (such pairs test nothing); `noises` are the
    variances of the values, 0 by default. With each value the mean at its point is compared with that of every other
    fidelity there. With a `domain` points are the same as they are for a strategy (protocols.SAME), without one if they
    are equal.
    """
    noise = [0.0] * len(zetas) if noises is None else list(noises)
    if len(noise) != len(zetas):
        raise InputError(f"noises must have one entry per zeta, {len(zetas)}, got {len(noise)}")
    bounds = [*zetas[:-1], 0.0]
    found: list[Violation] = []
    points = _number_points(history.x, domain)
    means: dict[int, dict[int, tuple[float, int]]] = {}  # by point and fidelity, with the number of values
    comparisons = 0
    rows = zip(points, history.x, history.fidelity.tolist(), history.y.tolist(), strict=True)
    for n, (point, x, m, y) in enumerate(rows, start=1):
        if not np.isfinite(y):
            continue
        here = means.setdefault(point, {})
        before, count = here.get(m, (0.0, 0))
        mean, count = before + (y - before) / (count + 1), count + 1
        here[m] = (mean, count)
        for other, (value, number) in sorted(here.items()):
            low, high = min(m, other), max(m, other)
            zeta_low, zeta_high = bounds[low], bounds[high]
            if low == high or zeta_low is None or zeta_high is None:
                continue
            comparisons += 1
            difference = excess(mean - value, noise[m] / count + noise[other] / number, comparisons)
            if difference > allowed_difference(zeta_low, zeta_high):
                found.append(Violation(n, x, low, high, difference, zeta_low + zeta_high))
    return found


def _number_points(x: Array, domain: Domain | None) -> list[int]:
    """For each row the number of the first one that is the same point."""
    u = x if domain is None else domain.encode(x)
    nearest = SAME if domain is not None and domain.points is None else 0.0
    return [int(np.argmax(np.abs(u[: n + 1] - u[n]).max(axis=1, initial=0.0) <= nearest)) for n in range(len(u))]
