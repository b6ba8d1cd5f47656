"""Groups: how many rows a process was given at a time.

The last bits of the factor L depend on it: several rows at once are computed by blocks, in another order of sums than
one by one. A process that is made again with the same rows in the same groups is the same to the bit.

A process whose jitter has changed has factorised all its rows anew, as one group. Where a part of a group is forgotten,
how the rest was computed is not known any more: such a process cannot be made again to the bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from mfopt.protocols import Array
from mfopt_plugins.method.kept import count, many, mapping, number
from mfopt_plugins.surrogates.gp.process import GaussianProcess


class Groups:
    """The groups of a process, as they come and go."""

    def __init__(self) -> None:
        self._ends = [0]  # of each group, as a number of rows
        self._jitter = 0.0
        self._whole = True  # whether no group was cut

    def add(self, rows: int, jitter: float) -> None:
        """So many rows were added at once, after which the process has this jitter."""
        end = self._ends[-1] + rows
        if jitter == self._jitter:
            self._ends.append(end)
        else:
            self._ends, self._jitter, self._whole = [0, end], jitter, True

    def cut(self, rows: int) -> None:
        """Only the first rows are left."""
        while self._ends[-1] > rows:
            self._ends.pop()
        if self._ends[-1] < rows:  # within a group
            self._ends.append(rows)
            self._whole = False
        if rows == 0:
            self._jitter, self._whole = 0.0, True

    def state(self, rows: int) -> dict[str, object] | None:
        """The groups of the first rows and the jitter, as plain values; None where they are not known."""
        if not self._whole or rows not in self._ends:
            return None
        ends = self._ends[: self._ends.index(rows) + 1]
        return {"sizes": [high - low for low, high in pairwise(ends)], "jitter": self._jitter}

    def rebuild(self, gp: GaussianProcess, state: object, u: Array, y: Array, noises: Array | None = None) -> None:
        """Give the process, which has the groups so far, those rows in the groups of `state`; what is there may stay.

        A ValueError where that is not possible. u, y and noises are all rows; the leading ones are those that it has.
        """
        given = mapping(state, "sizes", "jitter")
        sizes, jitter = many(count)(given["sizes"]), number(given["jitter"])
        ends = [0, *accumulate(sizes)]
        if ends[-1] != len(y) or 0 in sizes:
            raise ValueError(f"groups must have {len(y)} rows, got {ends[-1]}")
        kept = self._count_common(ends, jitter)
        gp.truncate(ends[kept])
        self.cut(ends[kept])
        for low, high in pairwise(ends[kept:]):
            rows = slice(low, high)
            gp.extend(u[rows], y[rows], None if noises is None else noises[rows])
            self.add(high - low, gp.jitter)
        if gp.jitter != jitter:
            raise ValueError(f"the jitter of these rows must be {gp.jitter}, got {jitter}")

    def _count_common(self, ends: Sequence[int], jitter: float) -> int:
        """How many leading groups are those that end there."""
        if not self._whole or jitter != self._jitter:
            return 0
        pairs = zip(self._ends[1:], ends[1:], strict=False)
        return next(
            (k for k, (ours, theirs) in enumerate(pairs) if ours != theirs), min(len(ends), len(self._ends)) - 1
        )
