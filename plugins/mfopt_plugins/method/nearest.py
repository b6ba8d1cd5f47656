"""NearestRow: the row of a finite set that a point is, found without looking at all of them.

A point comes back as it was handed out but for rounding, by at most SAME in every coordinate. Then the weighted sum of
its coordinates has hardly changed either: rows are kept in the order of their sums, and a bisection leaves a few.
"""

from __future__ import annotations

import numpy as np

from mfopt.protocols import SAME, Array

_LEAST, _MOST = 0.5, 0.9  # weights of coordinates; below 1, so that rounding of the sums does not matter


class NearestRow:
    """The rows of `points` (n, dim) by their sums; what was found is remembered."""

    def __init__(self, points: Array) -> None:
        self._points = points
        self._weights = np.random.default_rng(0).uniform(_LEAST, _MOST, points.shape[1])  # hardly any sums are equal
        sums = points @ self._weights
        self._order = np.argsort(sums, kind="stable")
        self._sums = sums[self._order]
        self._found: dict[bytes, int] = {}

    def find(self, u: Array) -> int:
        """The row that is nearest to u (dim,) in its farthest coordinate, the first among equals."""
        key = u.tobytes()
        if key not in self._found:
            self._found[key] = self._look_up(u)
        return self._found[key]

    def _look_up(self, u: Array) -> int:
        reach = SAME * len(u)
        first, end = np.searchsorted(self._sums, u @ self._weights + np.array([-reach, reach]))
        near = np.sort(self._order[first:end])
        away = np.abs(self._points[near] - u).max(axis=1)
        if len(near) and away.min() <= SAME:
            return int(near[np.argmin(away)])
        return int(np.argmin(np.abs(self._points - u).max(axis=1)))
