"""Outliers: values that are not taken at their word.

A value is one if it lies far below the rest of its fidelity (tails.py), or far above the rest of a cheap fidelity while
a higher one refutes it next to it. It counts as a failure (observations.py): the models do not see it, and the method
keeps away (failures.py). A stationary process cannot follow a cliff, the height of one is of no use, and any value in
the place of a wrong one teaches that the fidelities have little in common.

Of few values it is hard to tell whether some lie far below. Another fidelity with more values, whose range is known,
may: of some values the nearest of its own are within its range, while all others are more than HOLD ranges below
theirs. As it may have a unit and a sign of its own, its values next to the former must take up TYPICAL of its range,
and the latter must be HOLD times as deep as a straight line through the former leads to within that range; unless they
are deeper than a unit explains, or one and the same value where those of the other fidelity differ. Or it has values
far below itself: those next to one of them that are as low lie far below, too. A first value that is deeper than a unit
explains lies far below, until another one says that it is an offset.

A function may well have peaks, so values far above are believed as long as nothing speaks against them, and those of
the target always.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mfopt.hooks import Rows
from mfopt.protocols import Array, BoolArray
from mfopt_plugins.method.tails import GAP, HOLD, Tail, have_one_value, measure_distances

AGREEING = 2  # values that must be within another fidelity's range before it tells which ones lie far below
TYPICAL = 1.0 / 3.0  # of another fidelity's range: what values must take up to tell its unit
UNITS = 100.0  # ranges of another fidelity: values that are deeper are not put down to its unit
MOSTLY = 0.5  # of the range of a cheap fidelity: by how much its values must be refuted, so that the highest are wrong
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

    def note(self, k: int, y: float, rows: Sequence[Rows], near: Sequence[BoolArray]) -> None:
        """Note a value that comes after these rows; `near` tells which of them are within NEXT_TO of its point."""
        self._suspect[k] |= self._low[k].is_suspect(y)
        for other, ((_, values), close) in enumerate(zip(rows, near, strict=True)):
            if other < k and close.any():
                self._refuted[other] = max(self._refuted[other], float(values[close].max()) - y)
            elif other > k and close.any():
                self._refuted[k] = max(self._refuted[k], y - float(values[close].min()))

    def judge(self, rows: Sequence[Rows]) -> bool:
        """Look for outliers; True if what is one has changed."""
        changed = False
        for k, (u, y) in enumerate(rows):
            if self._suspect[k]:
                if self._low[k].judge(u, y, self._find_spread(k, rows), self._find_lowest(k, rows)):
                    changed = True
                    for j, (_, others) in enumerate(rows):  # what is open there may be known by this
                        self._suspect[j] |= len(others) > 0 and not self._low[j].decided
                self._suspect[k] = False
            if self._may_be_wrong(k, rows):
                rest = ~self.find_far(k, y)
                changed |= self._high[k].judge(u[rest], -y[rest], level_gap=HOLD)
        return changed

    def find_far(self, k: int, y: Array) -> BoolArray:
        """Which of these values at position k lie far below the rest."""
        return np.asarray(y < self._low[k].bottom)

    def find_out(self, k: int, y: Array) -> BoolArray:
        """Which of these values at position k are outliers: far below the rest, or far above it and refuted."""
        return np.asarray((y < self._low[k].bottom) | (-y < self._high[k].bottom))

    def _find_spread(self, k: int, rows: Sequence[Rows]) -> float:
        """The largest range of another fidelity that has as many values as position k, or more."""
        others = [y[~self.find_out(j, y)] for j, (_, y) in enumerate(rows) if j != k and len(y) >= len(rows[k][1])]
        return max((float(np.ptp(y)) for y in others if len(y)), default=0.0)

    def _find_lowest(self, k: int, rows: Sequence[Rows]) -> float | None:
        """The lowest of position k's values that do not lie far below those of another fidelity; None: all or none."""
        for j, (points, values) in enumerate(rows):
            if j == k or not self._low[j].decided:
                continue
            far = self.find_far(j, values)
            lowest = _find_above(rows[k], (points, values), far)
            if lowest is None:
                lowest = _find_within(rows[k], (points[~far], values[~far]))
            if lowest is not None:
                return lowest
        return None

    def _may_be_wrong(self, k: int, rows: Sequence[Rows]) -> bool:
        """Whether a higher fidelity says that values of position k are wrong by more than its own range explains."""
        if self._refuted[k] == 0.0:
            return False
        y = rows[k][1]
        kept = y[~self.find_far(k, y)]
        if len(kept) == 0 or self._refuted[k] <= MOSTLY * float(np.ptp(kept)):
            return False
        higher = [y[~self.find_out(j, y)] for j, (_, y) in enumerate(rows) if j > k]
        return self._refuted[k] > GAP * max((float(np.ptp(y)) for y in higher if len(y)), default=np.inf)


def _find_above(row: Rows, other: Rows, far: BoolArray) -> float | None:
    """The lowest value that is not next to a value of another fidelity that is `far` below, and as low; None: open."""
    (u, y), (points, values) = row, other
    if not far.any():
        return None
    low = far[np.argmin(measure_distances(u, points), axis=1)] & (y <= values[far].max())
    if low.all() or not low.any():
        return None
    top, lowest = float(y.max()), float(y[~low].min())
    return lowest if top - float(y[low].max()) > HOLD * (top - lowest) else None


def _find_within(row: Rows, other: Rows) -> float | None:
    """The lowest value within the range of another fidelity, where all others lie far below it; None: open.

    Where all lie far below it is higher than any of them.
    """
    (u, y), (points, values) = row, other
    if len(values) < len(y):  # asked where it is good, it knows less of the range than this fidelity itself
        return None
    others, size = values[np.argmin(measure_distances(u, points), axis=1)], float(np.ptp(values))
    near, below = np.abs(y - others) <= size, y - others < -HOLD * size
    if not ((near | below).all() and below.any()):
        return None
    told = len(np.unique(others[below])) > 1 and have_one_value(y[below])
    if not near.any():  # an offset may explain that, but not that they are the same
        certain = told or (have_one_value(y) and float((others - y).min()) > UNITS * size > 0.0)
        return float((others - HOLD * size).min()) if certain else None
    depth, rise, span = y[near].max() - y[below].max(), np.ptp(y[near]), np.ptp(others[near])
    if near.sum() < AGREEING:  # one may be within that range by chance, whatever the unit
        certain = told or depth > UNITS**2 * size
    else:
        certain = told or depth > UNITS * size or (span > TYPICAL * size and depth > HOLD * size * rise / span)
    return float(y[near].min()) if certain else None
