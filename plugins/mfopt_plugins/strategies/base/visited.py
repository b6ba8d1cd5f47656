"""Which points were queried at which fidelity, for every rule that asks "was this point here before?"."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mfopt.protocols import Array, BoolArray, Query
from mfopt_plugins.method.softening import Softening

SAME = 1e-9  # two points of a box closer than this in every coordinate are one point
RECENT = 10  # a failed point is avoided until so many outcomes were told after it


class Visited:
    """Queries told, by position of the fidelity; on a finite set points are also known by their row."""

    def __init__(self, positions: int, dim: int, points: Array | None) -> None:
        self._points = points
        self._dim = dim
        self._u: list[list[Array]] = [[] for _ in range(positions)]
        self._y: list[list[float | None]] = [[] for _ in range(positions)]
        self._failed: list[tuple[Array, int, int]] = []  # point, position, outcomes told before
        self._outcomes = 0
        self._row_of: dict[bytes, int] = {}

    def add(self, u: Array, k: int, y: float | None) -> None:
        """Take an outcome at position k; None for a failed one."""
        self._u[k].append(u)
        self._y[k].append(y)
        if y is None:
            self._failed.append((u, k, self._outcomes))
        self._outcomes += 1

    def soften(self, softening: Softening) -> None:
        """See all values told so far through `softening`."""
        self._y = [[None if y is None else softening.value(y) for y in values] for values in self._y]

    def asked_at(self, k: int) -> int:
        """Number of outcomes at position k, failed ones included."""
        return len(self._u[k])

    def value(self, u: Array, k: int) -> float | None:
        """The last value told for this point at position k."""
        for i in reversed(_near(self._u[k], u, SAME)):
            if self._y[k][i] is not None:
                return self._y[k][i]
        return None

    def count(self, u: Array, k: int, within: float = SAME) -> int:
        """How often this point has a value at position k."""
        return sum(self._y[k][i] is not None for i in _near(self._u[k], u, within))

    def failed_recently(self) -> list[tuple[Array, int]]:
        """Failed points that are still avoided, with the number of outcomes told since."""
        since = [(u, self._outcomes - before - 1) for u, _, before in self._failed]
        return [(u, age) for u, age in since if age < RECENT]

    def rows(self, points: Sequence[Array]) -> list[int]:
        """The rows of a finite set that these points are."""
        if self._points is None:
            return []
        found = []
        for u in points:
            key = u.tobytes()
            if key not in self._row_of:
                self._row_of[key] = int(np.argmin(np.abs(self._points - u).max(axis=1)))
            found.append(self._row_of[key])
        return found

    def finished(self, k: int, pending: Sequence[Query], fidelity: int) -> BoolArray:
        """Rows of a finite set that need no further query at position k if it is noiseless.

        They have a value or are pending there, or failed twice: a failure may be bad luck once.
        """
        size = 0 if self._points is None else len(self._points)
        mask = np.zeros(size, dtype=np.bool_)
        mask[self.rows([u for u, y in zip(self._u[k], self._y[k], strict=True) if y is not None])] = True
        mask[self.rows([q.u for q in pending if q.fidelity == fidelity])] = True
        failures = np.bincount(self.rows([u for u, j, _ in self._failed if j == k]), minlength=size)
        return np.asarray(mask | (failures >= 2))

    def queried(self, k: int) -> Array:
        """All points with an outcome at position k, (n, dim)."""
        return np.array(self._u[k]) if self._u[k] else np.empty((0, self._dim))


def _near(points: Sequence[Array], u: Array, within: float) -> list[int]:
    if not points:
        return []
    return [int(i) for i in np.flatnonzero(np.abs(np.array(points) - u).max(axis=1) <= within)]
