"""Observations: every outcome of a run, by fidelity, and the one meaning of "the same point".

The fidelities that a method uses are numbered by position k = 0..K−1, the last one being the target. Points are in unit
coordinates. On a finite set a point is one of its rows; on a box two points that differ by at most SAME
(mfopt/protocols.py) in every coordinate are the same point.

Outliers count as failures (outliers.py), and values are not seen as they were told where the method asks for a
softening.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from math import inf, nan
from typing import Any

import numpy as np

from mfopt.hooks import Rows, Softening
from mfopt.protocols import SAME, Array, BoolArray, Domain, Query
from mfopt_plugins.method.kept import flag, mapping, maybe
from mfopt_plugins.method.nearest import NearestRow
from mfopt_plugins.method.outliers import NEXT_TO, Outliers
from mfopt_plugins.method.softening import AsinhSoftening

AGREE = 1e-4  # of the spread: values at the same point that differ by more disagree
APART = 0.01  # see `apart`
SMALLEST = 1e-160  # values below it, of either sign, are seen as 0: their squares, in variances, are not numbers
RECENT = 10  # a failed point is avoided until so many outcomes were told after it

NEAR, JUMP = 0.02, 0.25  # points so near in unit coordinates hardly differ by so much of the range without noise
LATEST = 10  # values that are compared with all others


class Told:
    """Values by position, as they were told and as they are seen; `counts` holds the number of those seen."""

    def __init__(self, used: Sequence[int], dim: int) -> None:
        self.used = tuple(used)
        self.counts = [0] * len(self.used)
        self._dim = dim
        self._outcomes = 0
        self._size = [0] * len(self.used)  # rows of each of the following
        self._u = [np.empty((16, self._dim)) for _ in self.used]
        self._y = [np.empty(16) for _ in self.used]  # as they are seen
        self._told = [np.empty(16) for _ in self.used]
        self._out = [np.zeros(16, dtype=np.bool_) for _ in self.used]  # values that count as failures
        self._when: list[list[int]] = [[] for _ in self.used]  # outcomes told before
        self._any_out = False
        self._outliers = Outliers(len(self.used))
        self._outdated = False  # whether other values are outliers than when all were last seen
        self._any_outliers = False
        self._softening: Softening | None = None

    def _append(self, u: Array, k: int, y: float) -> None:
        n = self._size[k]
        if n == len(self._y[k]):  # capacity doubles, so that a row costs O(1) amortised
            self._u[k] = np.concatenate([self._u[k], np.empty_like(self._u[k])])
            self._y[k] = np.concatenate([self._y[k], np.empty_like(self._y[k])])
            self._told[k] = np.concatenate([self._told[k], np.empty_like(self._told[k])])
            self._out[k] = np.concatenate([self._out[k], np.zeros_like(self._out[k])])
        rows = self._rows_told()
        self._outliers.note(k, y, rows, [find_within(points, u, NEXT_TO) for points, _ in rows])
        seen = self.see(k, y)
        self._u[k][n], self._told[k][n], self._y[k][n], self._out[k][n] = u, y, seen or 0.0, seen is None
        self._when[k].append(self._outcomes)
        self._any_out |= seen is None
        self._size[k] = n + 1
        self.counts[k] += seen is not None
        self._outdated |= self._outliers.judge(self._rows_told())

    def see(self, k: int, y: float) -> float | None:
        """A value told at position k, as it is seen; None where it counts as a failure."""
        if self._any_outliers and self._outliers.find_out(k, np.array([y]))[0]:
            return None
        return y if self._softening is None else self._softening.value(y)

    def soften(self, softening: Softening | None) -> None:
        """See all values through `softening` from now on; None: no more."""
        self._softening = softening
        self._see_all()

    def update_outliers(self) -> bool:
        """See all values anew if there are other outliers now; True if so. Then values are not softened any more."""
        if not self._outdated:
            return False
        self._outdated, self._any_outliers = False, True
        for k, n in enumerate(self._size):
            self._out[k][:n] = self._outliers.find_out(k, self._told[k][:n])
        self._count()
        self.soften(None)  # a softening was chosen for the values as they were seen
        return True

    def count_far(self, k: int) -> int:
        """Number of values at position k that lie far below the rest."""
        return int(self._outliers.find_far(k, self._told[k][: self._size[k]]).sum()) if self._any_outliers else 0

    def _count(self) -> None:
        """Count what is seen, after other values are outliers than before."""
        out = [int(self._out[k][:n].sum()) for k, n in enumerate(self._size)]
        self.counts[:] = [n - count for n, count in zip(self._size, out, strict=True)]
        self._any_out = any(out)

    def lowest(self, k: int) -> float:
        """The lowest value at position k that is no outlier, as it was told; NaN without any."""
        n = self._size[k]
        return float(self._told[k][:n][~self._out[k][:n]].min()) if self.counts[k] else nan

    # ----------------------------------------------------------------------------------------------- state

    def state(self) -> dict[str, Any] | None:
        """How values are seen, beyond what tells alone say; None where the softening cannot be written down."""
        softening = self._softening
        if softening is not None and not isinstance(softening, AsinhSoftening):
            return None
        return {
            "outliers": self._any_outliers,
            "softening": None if softening is None else [softening.location, softening.unit, softening.strength],
            "rows": self._checksums(),
        }

    def restore(self, state: object) -> None:
        """See the values that were told as another one did that was told the same."""
        given = mapping(state, "outliers", "softening", "rows")
        if given["rows"] != self._checksums():  # which bounds become rows depends on how values were seen at the time
            raise ValueError("rows must be those that the state is about, got others")
        softening = maybe(AsinhSoftening.read)(given["softening"])
        self._any_outliers = flag(given["outliers"])
        self._outdated = self._outdated and not self._any_outliers
        for k, n in enumerate(self._size):
            self._out[k][:n] = self._outliers.find_out(k, self._told[k][:n]) if self._any_outliers else False
        self._count()
        self.soften(softening)

    def _checksums(self) -> list[int]:
        """By position, one of all points and values in their order."""
        return [zlib.crc32(y.tobytes(), zlib.crc32(u.tobytes())) for u, y in self._rows_told()]

    def _rows_told(self) -> list[Rows]:
        return [(self._u[k][:n], self._told[k][:n]) for k, n in enumerate(self._size)]

    def _see_all(self) -> None:
        for k, n in enumerate(self._size):
            told = self._told[k][:n]
            seen = told if self._softening is None else self._softening(told)
            self._y[k] = np.concatenate([np.where(self._out[k][:n], 0.0, seen), self._y[k][n:]])

    def rows(self, k: int) -> tuple[Array, Array]:
        """Points (n, dim) and values (n,) of position k as they are seen, in the order told; bounds among them."""
        n = self._size[k]
        if n == self.counts[k]:
            return self._u[k][:n], self._y[k][:n]
        kept = ~self._out[k][:n]
        return self._u[k][:n][kept], self._y[k][:n][kept]


class Observations(Told):
    """The outcomes at the fidelities `used`, in the order told; `counts` holds the number of values by position."""

    def __init__(self, used: Sequence[int], domain: Domain) -> None:
        super().__init__(used, domain.dim)
        self._points = domain.points
        self._nearest = SAME if domain.points is None else 0.0
        self._failed: list[tuple[Array, int, int]] = []  # point, position, outcomes told before
        self._bounds: list[tuple[Array, int, float]] = []  # point, position, what its value cannot exceed
        self._bounded: list[set[int]] = [set() for _ in self.used]  # rows that are no values but bounds
        self._repeats: list[list[tuple[int, int]]] = [[] for _ in self.used]  # rows with an earlier row at their point
        self._nearest_row: NearestRow | None = None

    def add(self, u: Array, k: int, y: float | None, bound: float | None = None) -> None:
        """Take an outcome at position k; None for a failed one, whose value may be known to be at most `bound`."""
        if y is None:
            self._failed.append((u, k, self._outcomes))
            if bound is not None:
                self._bounds.append((u, k, bound))
        else:
            known = self._values_at(u, k)
            if known:
                self._repeats[k].append((known[0], self._size[k]))
            self._append(u, k, y if abs(y) >= SMALLEST else 0.0)
        self._outcomes += 1
        self._use_bounds(k)

    def _use_bounds(self, k: int) -> None:
        """Bounds between the lowest and the best value of position k become rows: the models see no more there.

        A bound above the best says nothing. One below all values says that the point failed, as one does by giving a
        penalty: the model of failures knows that, and for the models of values it would be a cliff.
        """
        if not self._bounds or self.counts[k] == 0:
            return
        lowest, best = self.lowest(k), float(self._told[k][: self._size[k]].max())
        entering = [one for one in self._bounds if one[1] == k and lowest < one[2] < best]
        self._bounds = [one for one in self._bounds if not (one[1] == k and lowest < one[2] < best)]
        for u, _, bound in entering:
            self._bounded[k].add(self._size[k])
            self._append(u, k, bound)

    # ---------------------------------------------------------------------------------------------- values

    def spread(self) -> float:
        """The largest range of values within one fidelity."""
        return max(self.ranges())

    def highest(self) -> float:
        """The largest value of all; −∞ without any."""
        return max(float(self.rows(k)[1].max(initial=-inf)) for k in range(len(self.used)))

    def ranges(self) -> list[float]:
        """The range of the values of each position; 0 where there are none."""
        return [float(np.ptp(self.rows(k)[1])) if n else 0.0 for k, n in enumerate(self.counts)]

    def value(self, u: Array, k: int) -> float | None:
        """The last value told for this point at position k, as it is seen."""
        known = self._values_at(u, k)
        return float(self._y[k][known[-1]]) if known else None

    def values(self, u: Array, k: int) -> Array:
        """All values told for this point at position k, as they are seen, in the order told."""
        return self._y[k][self._values_at(u, k)].copy()

    def _values_at(self, u: Array, k: int) -> list[int]:
        """Which of all that was told at position k are values at this point."""
        here = np.flatnonzero(self.same(self._u[k][: self._size[k]], u)).tolist()
        return [i for i in here if not self._out[k][i] and i not in self._bounded[k]]

    def worked(self, k: int) -> tuple[Array, Array]:
        """The rows of position k without bounds: points that have a value."""
        if not self._bounded[k]:
            return self.rows(k)
        kept = ~self._out[k][: self._size[k]]
        kept[sorted(self._bounded[k])] = False
        return self._u[k][: len(kept)][kept], self._y[k][: len(kept)][kept]

    def is_repeatable(self, k: int) -> bool | None:
        """Whether values of position k told for the same point agree; None where no point was told twice."""
        y, far = self._y[k], self._out[k]
        repeats = [(i, j) for i, j in self._repeats[k] if not (far[i] or far[j])]
        if not repeats:
            return None
        limit = AGREE * float(np.ptp(self.rows(k)[1]))
        return all(abs(y[i] - y[j]) <= limit for i, j in repeats)

    def jumps(self, k: int) -> bool:
        """Whether one of the latest values of position k differs much from that of a near point."""
        u, y = self.rows(k)
        apart = np.abs(u[-LATEST:, None, :] - u[None, :, :]).max(axis=2)
        return bool((np.abs(y[-LATEST:, None] - y[None, :])[apart < NEAR] > JUMP * np.ptp(y)).any())

    # ---------------------------------------------------------------------------------------------- points

    def same(self, points: Array, u: Array) -> BoolArray:
        """Which rows of `points` are the point u."""
        return find_within(points, u, self._nearest)

    def queried_points(self, k: int, pending: Sequence[Query] = ()) -> Array:
        """All points (n, dim) with an outcome at position k, failed ones included, and those pending there."""
        failed = [u[None] for u, j, _ in self._failed if j == k]
        return np.vstack([self._u[k][: self._size[k]], *failed, self.pending_points(k, pending)])

    def pending_points(self, k: int, pending: Sequence[Query]) -> Array:
        """The points (n, dim) that are pending at position k."""
        return np.array([q.u for q in pending if q.fidelity == self.used[k]]).reshape(-1, self._dim)

    def is_taken(self, u: Array, k: int, pending: Sequence[Query]) -> bool:
        """Whether this point was queried at position k, or is about to be."""
        return bool(self.same(self.queried_points(k, pending), u).any())

    def is_waiting(self, u: Array, k: int, pending: Sequence[Query]) -> bool:
        """Whether this point is pending at position k."""
        return any(q.fidelity == self.used[k] and bool(self.same(q.u[None], u)[0]) for q in pending)

    @property
    def outcomes(self) -> int:
        """How many outcomes were told, failed ones included."""
        return self._outcomes

    @property
    def failed(self) -> int:
        """How many of them failed, or have a value that counts as a failure."""
        return len(self._all_failed())

    def failures(self) -> list[tuple[Array, int]]:
        """Failed points and their positions, in the order told; those whose values count as failures among them."""
        return [(u, k) for u, k, _ in self._all_failed()]

    def _all_failed(self) -> list[tuple[Array, int, int]]:
        """Point, position and the number of outcomes told before, in the order told."""
        if not self._any_out:
            return self._failed
        far = [
            (self._u[k][i], k, self._when[k][i])
            for k, n in enumerate(self._size)
            for i in np.flatnonzero(self._out[k][:n]).tolist()
            if i not in self._bounded[k]  # its failure is there already
        ]
        return sorted(self._failed + far, key=lambda one: one[2])

    def has_failed_again(self, k: int) -> bool:
        """Whether a query at position k failed at a point that had a value there."""
        return any(self._when[k][i] < before for u, j, before in self._failed if j == k for i in self._values_at(u, k))

    def just_failed(self, k: int) -> Array:
        """Points (n, dim) that failed at position k among the last RECENT outcomes."""
        return np.array([u for u, j, _ in self.recent_failures() if j == k]).reshape(-1, self._dim)

    def recent_failures(self) -> list[tuple[Array, int, int]]:
        """Points that failed among the last RECENT outcomes, their positions, and the number of outcomes told since."""
        since = [(u, k, self._outcomes - before - 1) for u, k, before in self._all_failed()[-RECENT:]]
        return [(u, k, age) for u, k, age in since if age < RECENT]

    # ---------------------------------------------------------------------------------------- finite sets

    def rows_of(self, points: Sequence[Array] | Array) -> list[int]:
        """The rows of a finite set that these points are."""
        if self._points is None or len(points) == 0:
            return []
        if self._nearest_row is None:  # made when first needed: it takes as long as a look at all rows
            self._nearest_row = NearestRow(self._points)
        return [self._nearest_row.find(u) for u in points]

    def finished_rows(self, k: int, pending: Sequence[Query]) -> BoolArray:
        """Rows of a finite set that need no further query at position k if it is noiseless.

        They have a value, be it far below the rest, or are pending there, or failed twice: a failure may be bad luck
        once.
        """
        size = 0 if self._points is None else len(self._points)
        mask = np.zeros(size, dtype=np.bool_)
        mask[self.rows_of(self.worked(k)[0])] = True
        mask[self.rows_of(self._u[k][np.flatnonzero(self._out[k][: self._size[k]])])] = True
        mask[self.rows_of([q.u for q in pending if q.fidelity == self.used[k]])] = True
        failures = np.bincount(self.rows_of([u for u, j, _ in self._failed if j == k]), minlength=size)
        return np.asarray(mask | (failures >= 2))

    def all_finished(self, k: int, pending: Sequence[Query]) -> bool:
        """Whether every row of a finite set is finished at position k."""
        outcomes = self._size[k] + sum(j == k for _, j, _ in self._failed) + len(pending)
        if self._points is None or outcomes < len(self._points):
            return False
        return bool(self.finished_rows(k, pending).all())


def apart(count: int) -> float:
    """How far, in unit coordinates, a query keeps from the `count` pending ones of a noiseless fidelity.

    Values that are told later may call for a closer look; before they are known, one query near a point is enough. The
    more are pending, the less each keeps free, so that there is always room.
    """
    return min(APART, 10 * APART / (1 + count))


def find_within(points: Array, u: Array, distance: float) -> BoolArray:
    """Which rows of `points` (n, dim) differ from u by at most `distance` in every coordinate.

    The first coordinate leaves few rows to look at: a run of n trials asks this for each of them.
    """
    near: BoolArray = np.abs(points[:, 0] - u[0]) <= distance
    left = np.flatnonzero(near)
    if left.size:
        near[left] = np.abs(points[left] - u).max(axis=1) <= distance
    return near
