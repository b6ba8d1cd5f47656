"""Tails: which values of a fidelity lie far below the rest, such as −1e6 for "bad".

With y₁ > y₂ > ... the distinct values, everything below y_j lies far below if there is a gap

    y₁ − y_{j+1} > K_j (y₁ − y_j),   K_j = max(GAP, CHANCE^(−2/(j−1)))

and a cliff: the way from those values to the nearest of the rest is GAP times as steep as any among the rest. Near a
maximum in one dimension the chance that values are less than d below it grows like √d, so chance alone makes such a gap
below j uniform points with a probability of CHANCE or less. Points that a method chose crowd around a maximum; that is
what the cliff is for, and why points that are close to earlier ones do not count.

Once ENOUGH values show no gap, or the gap is found, the range of the rest never shrinks: it takes in what lies within
GAP, or once there are values far below, within HOLD times itself.
"""

from __future__ import annotations

import numpy as np

from mfopt.protocols import Array

GAP = 10.0  # by which the depth of values must jump, at least
HOLD = 3.0  # the same for values that a gap keeps out
CHANCE = 1e-3
ENOUGH = 8  # values without a gap that may be taken for all there is
MOST = 200  # values from which a gap must be seen, unless all others have been found to have none
ROUNDING = 1e-12  # of the largest value: differences that may be rounding
CLOSE = 0.05  # of the unit cube, in every coordinate: points that count once


class Tail:
    """What lies far below the rest of one fidelity's values: those below `bottom`."""

    def __init__(self) -> None:
        self.bottom = -np.inf
        self._top = np.inf  # the highest value when values far below were last looked for
        self._lowest: float | None = None  # value that does not lie far below; None as long as that is open

    def is_suspect(self, y: float) -> bool:
        """Whether this value may change what is far below."""
        # With a higher value the rest has a larger range, which may take in some of what lay far below.
        return self._lowest is None or y < self._lowest or (self.bottom > -np.inf and y > self._top)

    @property
    def decided(self) -> bool:
        """Whether the range of the rest is known."""
        return self._lowest is not None

    def judge(self, u: Array, y: Array, known: float | None = None) -> bool:
        """Judge all values y told so far, at the points u; True if other values lie far below now.

        As long as that is open, `known` is the lowest value of the rest, where something else tells.
        """
        lowest, limit = self._lowest, GAP if self.bottom == -np.inf else HOLD
        if lowest is None and known is not None:
            lowest, limit = known, HOLD
        elif lowest is None:
            lowest = _find_lowest(u, y)
        if lowest is None:
            return False
        top = self._top = float(y.max())
        below = np.sort(y[y < lowest])[::-1].tolist()
        while below and top - below[0] <= limit * (top - lowest):
            lowest = below.pop(0)
        self._lowest = lowest
        if not below or lowest == self.bottom:
            return False
        self.bottom = lowest
        return True


def _find_lowest(u: Array, y: Array) -> float | None:
    """The lowest value above the first gap; the lowest of all where there is none; None while that is open."""
    ratios, values = _find_gaps(y)
    if (ratios > GAP).any():  # else there is none: the usual case
        kept = _thin(u[:MOST])
        ratios, values = _find_gaps(y[kept])
        for j in np.flatnonzero(ratios > np.maximum(GAP, CHANCE ** (-2.0 / np.arange(1, len(ratios) + 1)))):
            lowest = float(values[j + 1])
            if _is_cliff(u[kept], y[kept], lowest):
                return lowest
        if (ratios > GAP).any() and len(y) < MOST:
            return None
    return float(y.min()) if len(values) >= ENOUGH else None


def _find_gaps(y: Array) -> tuple[Array, Array]:
    """(y₁ − y_{j+1})/(y₁ − y_j) for j = 2, 3, ..., and the distinct values y₁ > y₂ > ..."""
    values = np.unique(y)[::-1]
    values = np.concatenate([values[:1], values[values < values[:1] - ROUNDING * np.abs(values[:1])]])
    depths = values[:1] - values[1:]
    return depths[1:] / depths[:-1], values


def _is_cliff(u: Array, y: Array, lowest: float) -> bool:
    """Whether the way from values below `lowest` to the nearest of the rest is far steeper than any among the rest."""
    far = y < lowest
    away = distances(u, u[~far])
    away[away == 0.0] = np.inf
    slopes = np.abs(y[:, None] - y[None, ~far]) / away
    nearest = np.argmin(away[far], axis=1)
    return bool(np.median(np.take_along_axis(slopes[far], nearest[:, None], 1)) > GAP * slopes[~far].max())


def distances(u: Array, points: Array) -> Array:
    """Between the rows of u and the points."""
    return np.asarray(np.sqrt(((u[:, None, :] - points[None, :, :]) ** 2).sum(axis=2)))


def _thin(u: Array) -> list[int]:
    """Rows that are not close to an earlier one of them."""
    close = np.abs(u[:, None, :] - u[None, :, :]).max(axis=2) <= CLOSE
    kept = np.zeros(len(u), dtype=np.bool_)
    for i, near in enumerate(close):
        kept[i] = not (near & kept).any()
    return np.flatnonzero(kept).tolist()
