"""Outliers: values that are not taken at their word, and what they are seen as instead.

Far below the rest of its fidelity (tails.py)   as low as the slope of the rest allows: "bad" stays bad, but there is no
                                                cliff, which a stationary process cannot follow
Far above the rest of a cheap fidelity, and     halfway between the lowest and the highest that the slope allows: the
refuted by a higher fidelity next to it         cheap fidelity is wrong there

A function may well have peaks, so values far above are believed as long as nothing speaks against them, and those of
the target always. The slope is SLOPE ranges of the rest over the diagonal of the unit cube; the two seen values are
the Lipschitz extensions of the rest (McShane, 1934) and their mean. None of them exceeds the best of the rest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mfopt.hooks import Rows
from mfopt.protocols import Array, BoolArray
from mfopt_plugins.method.tails import GAP, Tail, distances

SLOPE = 3.0
REACH = 0.25  # of the range of the rest: how far below it a value is seen at most
NEXT_TO = 0.01  # of the unit cube, in every coordinate: how close a value is that may refute another


class Outliers:
    """Which values of the positions 0..count−1 (the last being the target) are outliers.

    Rows are those of all positions, (u, y) each, with the values as they were told.
    """

    def __init__(self, count: int) -> None:
        self._low = [Tail() for _ in range(count)]
        self._high = [Tail() for _ in range(count)]  # of the negated values
        self._suspect = [False] * count  # whether the low tail is to be judged
        self._refuted = [0.0] * count  # by how much a higher fidelity was below a value next to it, at most

    def note(self, u: Array, k: int, y: float, rows: Sequence[Rows]) -> None:
        """Note a value that comes after these rows."""
        self._suspect[k] |= self._low[k].is_suspect(y)
        for other, (points, values) in enumerate(rows):
            near = np.abs(points - u).max(axis=1, initial=0.0) <= NEXT_TO
            if other < k and near.any():
                self._refuted[other] = max(self._refuted[other], float(values[near].max()) - y)
            elif other > k and near.any():
                self._refuted[k] = max(self._refuted[k], y - float(values[near].min()))

    def judge(self, rows: Sequence[Rows]) -> bool:
        """Look for outliers; True if what is one has changed."""
        changed = False
        for k, (u, y) in enumerate(rows):
            if self._suspect[k]:
                changed |= self._low[k].judge(u, y)
                self._suspect[k] = False
            if self._may_be_wrong(k, rows):
                rest = ~self.find_far(k, y)
                changed |= self._high[k].judge(u[rest], -y[rest])
        return changed

    def find_far(self, k: int, y: Array) -> BoolArray:
        """Which of these values at position k lie far below the rest."""
        return np.asarray(y < self._low[k].bottom)

    def find(self, k: int, y: Array) -> BoolArray:
        """Which of these values at position k are outliers."""
        return np.asarray((y < self._low[k].bottom) | (-y < self._high[k].bottom))

    def see(self, k: int, u: Array, y: Array, row: Rows) -> Array:
        """The values y at the rows of u as they are seen, where position k has these rows."""
        out, far = self.find(k, y), self.find_far(k, y)
        if not out.any():
            return y
        points, values = row
        rest = ~self.find(k, values)
        away, values, seen = distances(u[out], points[rest]), values[rest], y.copy()
        reach = SLOPE * float(np.ptp(values)) / np.sqrt(u.shape[1]) * away
        lowest, highest = (values - reach).max(axis=1), (values + reach).min(axis=1)
        low = np.maximum(lowest, values.min() - REACH * np.ptp(values))
        seen[out] = np.where(far[out], low, 0.5 * (lowest + highest))
        return seen

    def _may_be_wrong(self, k: int, rows: Sequence[Rows]) -> bool:
        """Whether a higher fidelity says that values of position k are wrong by more than its own range explains."""
        if self._refuted[k] == 0.0:
            return False
        higher = [y[~self.find(j, y)] for j, (_, y) in enumerate(rows) if j > k and len(y)]
        return self._refuted[k] > GAP * max(float(np.ptp(y)) for y in higher)
