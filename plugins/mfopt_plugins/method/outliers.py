"""Outliers: values that are not taken at their word.

Far below the rest of its fidelity (tails.py)   counts as a failure (observations.py): the models do not see it, and the
                                                method keeps away (failures.py). A stationary process cannot follow a
                                                cliff, nor is the height of one of any use
Far above the rest of a cheap fidelity, and     seen halfway between the lowest and the highest that the slope of the
refuted by a higher fidelity next to it         rest allows: the cheap fidelity is wrong there

Of few values it is hard to tell whether some lie far below. Another fidelity with more values, whose range is known,
may: of some values the nearest of its own are within its range, while all others are more than HOLD ranges below
theirs. As it may have a unit and a sign of its own, its values next to the former must take up TYPICAL of its range,
and the latter must be HOLD times as deep as a straight line through the former leads to within that range; unless they
are deeper than a unit explains.

A function may well have peaks, so values far above are believed as long as nothing speaks against them, and those of
the target always. The slope is SLOPE ranges of the rest over the diagonal of the unit cube; the lowest and the highest
are the Lipschitz extensions of the rest (McShane, 1934).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial.distance import cdist

from mfopt.hooks import Rows
from mfopt.protocols import Array, BoolArray
from mfopt_plugins.method.tails import GAP, HOLD, Tail

SLOPE = 3.0
AGREEING = 2  # values that must be within another fidelity's range before it tells which ones lie far below
TYPICAL = 1.0 / 3.0  # of another fidelity's range: what values must take up to tell its unit
UNITS = 100.0  # ranges of another fidelity: values that are deeper are not put down to its unit
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
                changed |= self._low[k].judge(u, y, self._find_spread(k, rows), self._find_lowest(k, rows))
                self._suspect[k] = False
            if self._may_be_wrong(k, rows):
                rest = ~self.find_far(k, y)
                changed |= self._high[k].judge(u[rest], -y[rest])
        return changed

    def find_far(self, k: int, y: Array) -> BoolArray:
        """Which of these values at position k lie far below the rest."""
        return np.asarray(y < self._low[k].bottom)

    def find_refuted(self, k: int, y: Array) -> BoolArray:
        """Which of these values at position k lie far above the rest, and are refuted."""
        return np.asarray(-y < self._high[k].bottom)

    def see(self, k: int, u: Array, y: Array, row: Rows) -> Array:
        """The values y at the rows of u as they are seen, where position k has these rows."""
        out = self.find_refuted(k, y)
        if not out.any():
            return y
        points, values = row
        rest = self._find_rest(k, values)
        away, values, seen = cdist(u[out], points[rest]), values[rest], y.copy()
        reach = SLOPE * float(np.ptp(values)) / np.sqrt(u.shape[1]) * away
        seen[out] = 0.5 * ((values - reach).max(axis=1) + (values + reach).min(axis=1))
        return seen

    def _find_spread(self, k: int, rows: Sequence[Rows]) -> float:
        """The largest range of another fidelity that has as many values as position k, or more."""
        others = [y[self._find_rest(j, y)] for j, (_, y) in enumerate(rows) if j != k and len(y) >= len(rows[k][1])]
        return max((float(np.ptp(y)) for y in others if len(y)), default=0.0)

    def _find_rest(self, k: int, y: Array) -> BoolArray:
        """Which of these values at position k are no outliers."""
        return ~(self.find_refuted(k, y) | self.find_far(k, y))

    def _find_lowest(self, k: int, rows: Sequence[Rows]) -> float | None:
        """The lowest of position k's values that do not lie far below those of another fidelity; None: all or none."""
        u, y = rows[k]
        for j, (points, values) in enumerate(rows):
            if j == k or not self._low[j].decided:
                continue
            rest = ~self.find_far(j, values)
            points, values = points[rest], values[rest]
            if len(values) < len(y):  # asked where it is good, it knows less of the range than this fidelity itself
                continue
            others, size = values[np.argmin(cdist(u, points), axis=1)], float(np.ptp(values))
            near, below = np.abs(y - others) <= size, y - others < -HOLD * size
            if not ((near | below).all() and below.any() and near.sum() >= AGREEING):
                continue
            depth, rise, span = y[near].max() - y[below].max(), np.ptp(y[near]), np.ptp(others[near])
            if depth > UNITS * size or (span > TYPICAL * size and depth > HOLD * size * rise / span):
                return float(y[near].min())
        return None

    def _may_be_wrong(self, k: int, rows: Sequence[Rows]) -> bool:
        """Whether a higher fidelity says that values of position k are wrong by more than its own range explains."""
        if self._refuted[k] == 0.0:
            return False
        higher = [y[self._find_rest(j, y)] for j, (_, y) in enumerate(rows) if j > k and len(y)]
        return self._refuted[k] > GAP * max(float(np.ptp(y)) for y in higher)
