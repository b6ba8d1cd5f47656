"""The hyper-rectangles of DIRECT: a partition of the unit cube that is trisected where it pays.

    rectangle  centre c (dim,), levels l (dim,): its sides are 3^−l_j, its size is half its diagonal
    value      of the centre, to be maximised, known from outside and allowed to change

Potentially optimal (Jones et al., 1993, definition 4.1, for maximisation): for some K > 0 a rectangle j has the largest
value_j + K size_j, and it exceeds the best value by at least ε times the spread of values. Geometrically these are
corners of the upper right hull of the points (size, value).

Not mfopt_core.Direct, which searches a bound: that is told whole rounds of exact values, while here values come one by
one, may change (pending queries are guessed) and may fail. The spread is taken from the median, not from the worst
value: a user's function may have a penalty somewhere, which must not make every gain look small; a bound has none.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mfopt.protocols import Array

EPSILON = 1e-4


class Rectangles:
    """The partition; one rectangle, the cube itself, at first."""

    def __init__(self, dim: int) -> None:
        self.centres: list[Array] = [np.full(dim, 0.5)]
        self._levels: list[Array] = [np.zeros(dim)]
        self._sizes = [_size(self._levels[0])]

    def optimal(self, values: Array) -> list[int]:
        """Potentially optimal rectangles, large ones first; of equal ones that which was there first."""
        sizes = np.array(self._sizes)
        best: dict[float, int] = {}  # by size, the first of the best
        for i, size in enumerate(self._sizes):
            if size not in best or values[i] > values[best[size]]:
                best[size] = i
        corners: list[int] = []
        for i in (best[size] for size in sorted(best, reverse=True)):
            while len(corners) > 1 and _below(sizes, values, corners[-2], corners[-1], i):
                corners.pop()
            if not corners or values[i] > values[corners[-1]]:
                corners.append(i)
        top = float(values.max())
        wanted = top + EPSILON * (top - float(np.median(values)))
        chosen = corners[:1]  # K may grow without limit: the largest always is
        for i, larger in zip(corners[1:], corners, strict=False):
            # The largest K for which i still beats the larger one is the slope between them.
            slope = (values[i] - values[larger]) / (sizes[larger] - sizes[i])
            if values[i] + slope * sizes[i] >= wanted:
                chosen.append(i)
        return chosen

    def samples(self, i: int) -> list[tuple[int, Array, Array]]:
        """For each longest side of rectangle i: its coordinate and the centres of its outer thirds."""
        level, centre = self._levels[i], self.centres[i]
        thirds = []
        for j in np.flatnonzero(level == level.min()):
            step = np.zeros(len(centre))
            step[j] = 3.0 ** -(level[j] + 1)
            thirds.append((int(j), centre - step, centre + step))
        return thirds

    def divide(self, i: int, thirds: Sequence[tuple[int, Array, Array]]) -> None:
        """Trisect rectangle i along the coordinates of `thirds` in this order; earlier ones get larger rectangles."""
        for j, low, high in thirds:
            level = self._levels[i].copy()
            level[j] += 1
            self._levels[i] = level
            for centre in (low, high):
                self.centres.append(centre)
                self._levels.append(level)
                self._sizes.append(_size(level))
        self._sizes[i] = _size(self._levels[i])


def _size(level: Array) -> float:
    """Half the diagonal. Sorted, so that rectangles of one shape have one size to the last bit."""
    return 0.5 * float(np.linalg.norm(3.0 ** -np.sort(level)))


def _below(sizes: Array, values: Array, a: int, b: int, c: int) -> bool:
    """Whether corner b lies on or below the line from a to c (sizes fall from a to c)."""
    return bool((values[b] - values[a]) * (sizes[a] - sizes[c]) <= (values[c] - values[a]) * (sizes[a] - sizes[b]))
