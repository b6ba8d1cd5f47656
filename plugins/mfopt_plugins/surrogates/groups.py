"""Groups: how many rows a process was given at a time.

The last bits of the factor L depend on it: several rows at once are computed by blocks, in another order of sums than
one by one. A process that is made again with the same rows in the same groups is the same to the bit.

A process whose jitter has changed has factorised all its rows anew, as one group. Where a part of a group is forgotten,
how the rest was computed is not known any more: such a process cannot be made again to the bit.

A LevelledProcess is given the rows of several fidelities so: fidelity k at u is a_k f(c_k(u)) + b_k with f the function
of the process and c_k(u) the point that stands for (u, k).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from itertools import accumulate, groupby, pairwise
from typing import Any, Generic

import numpy as np

from mfopt.hooks import Rows
from mfopt.protocols import Array
from mfopt_plugins.method.kept import count, group, many, mapping, number
from mfopt_plugins.surrogates.gp.process import GaussianProcess, Process


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

    def start(self, row: int) -> int:
        """The first row of the group that has this row."""
        return max(end for end in self._ends if end <= row)

    def state(self, rows: int) -> dict[str, object] | None:
        """The groups of the first rows and the jitter, as plain values; None where they are not known."""
        if not self._whole or rows not in self._ends:
            return None
        ends = self._ends[: self._ends.index(rows) + 1]
        return {"sizes": [high - low for low, high in pairwise(ends)], "jitter": self._jitter}

    @staticmethod
    def check(state: object, rows: int) -> tuple[list[int], float]:
        """The sizes of the groups of so many rows, and the jitter, as a state has them."""
        given = mapping(state, "sizes", "jitter")
        sizes, jitter = many(count)(given["sizes"]), number(given["jitter"])
        if sum(sizes) != rows or 0 in sizes:
            raise ValueError(f"groups must have {rows} rows, got {sum(sizes)}")
        return sizes, jitter

    def rebuild(self, gp: GaussianProcess, state: object, u: Array, y: Array, noises: Array | None = None) -> None:
        """Give the process, which has the groups so far, those rows in the groups of `state`; what is there may stay.

        A ValueError where that is not possible. u, y and noises are all rows; the leading ones are those that it has.
        """
        sizes, jitter = self.check(state, len(y))
        ends = [0, *accumulate(sizes)]
        kept = self._count_common(ends, jitter)
        gp.truncate(ends[kept])
        self.cut(ends[kept])
        first = ends[kept]
        if first < len(y):
            gp.extend(u[first:], y[first:], None if noises is None else noises[first:], sizes[kept:])
        for size in sizes[kept:]:
            self.add(size, gp.jitter)
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


class LevelledProcess(ABC, Generic[Process]):
    """The process, in the unit of y: `factors` are a, `shifts` b, `noises` those of the values told.

    Rows are added behind those that are there, whatever their fidelity, which costs O(n²) a row.
    """

    def __init__(self, factors: Array, shifts: Array, noises: Array) -> None:
        self.factors, self.shifts, self.noises = factors, shifts, noises
        self.gp = self._make()
        self._order: list[int] = []  # the fidelity of each row of the process
        self._groups = Groups()
        self._waiting: tuple[Mapping[str, Any], Sequence[Rows]] | None = None  # what it is still to be rebuilt from

    @abstractmethod
    def _make(self) -> Process:
        """The process without rows."""

    @abstractmethod
    def encode(self, u: Array, k: int) -> Array:
        """The points c_k(u)."""

    def forget(self, k: int, n: int, whole: bool = False) -> None:
        """Forget the rows of fidelity k but the first n, and all rows behind the first of these, for follow to add.

        If `whole`, also the rest of the group that the first of these belongs to: the process can then be made again.
        """
        if self._waiting is not None and n >= len(self._waiting[1][k][1]):
            return  # it is to have no more
        self._stop_waiting()
        forgotten = np.flatnonzero(np.array(self._order, dtype=np.int64) == k)[n:]
        if len(forgotten):
            first = self._groups.start(int(forgotten[0])) if whole else int(forgotten[0])
            self.gp.truncate(first)
            self._groups.cut(first)
            del self._order[first:]

    def follow(self, rows: Sequence[Rows]) -> None:
        """Condition the process on these rows, (u, y) per fidelity.

        They are those of the last call, less those forgotten since, with others behind them.
        """
        self._stop_waiting()
        for k, (u, y) in enumerate(rows):
            known = self._order.count(k)
            if known < len(y):
                self.gp.extend(*self._convert(k, (u[known:], y[known:])))
                self._groups.add(len(y) - known, self.gp.jitter)
                self._order += [k] * (len(y) - known)

    def posterior(self, u: Array, k: int) -> tuple[Array, Array]:
        """Mean and variance of fidelity k."""
        mean, var = self.gp.posterior(self.encode(u, k))
        a, b = self._unit(k)
        return a * mean + b, a**2 * var

    def posterior_gradient(self, u: Array, k: int) -> tuple[Array, Array, Array, Array]:
        """The same with gradients in u."""
        mean, var, dmean, dvar = self.gp.posterior_gradient(self.encode(u, k))
        a, b = self._unit(k)
        return a * mean + b, a**2 * var, a * dmean[:, : u.shape[1]], a**2 * dvar[:, : u.shape[1]]

    def state(self) -> dict[str, Any] | None:
        """The fidelities of its rows, as runs, and their groups; None where these are not known."""
        if self._waiting is not None:
            return dict(self._waiting[0])
        groups = self._groups.state(len(self._order))
        runs = [[k, len(list(rows))] for k, rows in groupby(self._order)]
        return None if groups is None else {"order": runs, "groups": groups}

    def rebuild(self, state: object, rows: Sequence[Rows]) -> None:
        """Be as another process with these hyper-parameters was, which had such rows; some may be there already."""
        self._waiting, given = None, _check(state, rows)
        runs = many(group(count, count))(given["order"])
        have = [sum(size for k, size in runs if k == j) for j in range(len(rows))]
        order = np.repeat([k for k, _ in runs], [size for _, size in runs]).astype(np.int64)
        parts = [self._convert(k, (u[:n], y[:n])) for k, (n, (u, y)) in enumerate(zip(have, rows, strict=True))]
        place = np.argsort(np.argsort(order, kind="stable"))  # of each row among all, sorted by fidelity
        points, values, noises = (np.concatenate(part)[place] for part in zip(*parts, strict=True))
        if self._order != order[: len(self._order)].tolist():  # other rows than these
            self.gp, self._groups = self._make(), Groups()
        self._groups.rebuild(self.gp, given["groups"], points, values, noises)
        self._order = order.tolist()

    def rebuild_later(self, state: object, rows: Sequence[Rows]) -> None:
        """The same, when it is next asked to follow rows, or to forget some of these; until then it is not to be used.

        To factorise thousands of rows takes a second.
        """
        self._waiting = _check(state, rows), list(rows)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self.rebuild(*self._waiting)

    def _unit(self, k: int) -> tuple[float, float]:
        """What turns the process into values of fidelity k."""
        return float(self.factors[k]), float(self.shifts[k])

    def _convert(self, k: int, rows: Rows) -> tuple[Array, Array, Array]:
        """Points, values and noises of the process for rows of fidelity k."""
        u, y = rows
        a, b = self.factors[k], self.shifts[k]
        return self.encode(u, k), (y - b) / a, np.full(len(y), self.noises[k] / a**2)


def _check(state: object, rows: Sequence[Rows]) -> Mapping[str, Any]:
    """The state of a process that had such rows; a ValueError for another, so far as it is seen without them."""
    given = mapping(state, "order", "groups")
    runs = many(group(count, count))(given["order"])
    have = [sum(size for k, size in runs if k == j) for j in range(len(rows))]
    if any(n > len(y) for n, (_, y) in zip(have, rows, strict=True)) or any(k >= len(rows) for k, _ in runs):
        raise ValueError(f"a process must have rows that are there, got {have}")
    Groups.check(given["groups"], sum(have))
    return given
