"""Moves of points: parameters changed to their values, one or two at once, or to the values next to theirs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from mfopt.protocols import Array, Block, BoolArray

Columns: TypeAlias = npt.NDArray[np.intp]

_SEED = 0


class Changes:
    """Changes of points. A move is columns (width,) and what they become, the rows of an array (number, width); values
    that depend on the point are given with it.
    """

    def __init__(self, moves: Sequence[tuple[Columns, Array]], dim: int) -> None:
        counts = [len(values) for _, values in moves]
        ends = np.cumsum(counts, dtype=np.intp).tolist()
        self.parts = [slice(end - count, end) for count, end in zip(counts, ends, strict=True)]
        self.about = np.zeros((sum(counts), dim), dtype=np.bool_)  # the columns that each change is about
        self._to = np.zeros((sum(counts), dim))
        for (columns, values), part in zip(moves, self.parts, strict=True):
            self.about[part, columns] = True
            self._to[part, columns] = values

    def apply(self, v: Array, given: Sequence[tuple[slice, int, Array]]) -> Array:
        """Every row with each of the changes, (q, changes, dim); `given` are (a part of these, a column, the values
        (q, number) that it has there).
        """
        rows = np.where(self.about, self._to, v[:, None, :])
        for part, column, values in given:
            rows[:, part, column] = values
        return rows


class Pairs:
    """Two of these changes at once, of different parameters, in random order.

    First come those of a parameter and another that it wakes (`wakes[i, j]`: the i-th wakes the j-th), which has had no
    reason to be where it is.
    """

    def __init__(self, changes: Changes, wakes: BoolArray) -> None:
        self._about = changes.about
        owner = np.repeat(np.arange(len(changes.parts)), [part.stop - part.start for part in changes.parts])
        one, other = np.triu_indices(len(owner), 1)
        apart = np.random.default_rng(_SEED).permutation(np.flatnonzero(owner[one] != owner[other]))
        linked = (wakes | wakes.T)[owner[one[apart]], owner[other[apart]]]
        apart = np.concatenate([apart[linked], apart[~linked]])
        self._one, self._other = one[apart], other[apart]

    def combine(self, rows: Array, most: int, turn: int) -> Array:
        """Two at once of the changes of one point, which are `rows`, at most so many; others in another turn."""
        start = turn % max(1, len(self._one) // most) * most
        first, second = self._one[start : start + most], self._other[start : start + most]
        return np.asarray(np.where(self._about[second], rows[second], rows[first]))


def find_wakes(
    blocks: Sequence[Block], conditional: Sequence[Block], probes: Array, rests: Callable[[Array], BoolArray]
) -> BoolArray:
    """Which of these parameters decide whether others are at rest, (number, number), as the probes show."""
    wakes = np.zeros((len(blocks), len(blocks)), dtype=np.bool_)
    if not conditional:
        return wakes
    rng, columns, resting = np.random.default_rng(_SEED), [blocks.index(block) for block in conditional], rests(probes)
    for i, block in enumerate(blocks):
        shuffled = probes.copy()
        shuffled[:, block.coordinates] = rng.permutation(probes[:, block.coordinates])
        wakes[i, columns] = (rests(shuffled) != resting).any(axis=0)
    return wakes


def step(v: Array, columns: Sequence[int], values: Sequence[Array]) -> Array:
    """One row (1, dim) with one or two of these columns changed to the next larger or smaller of their values."""
    steps = []
    for column, each in zip(columns, values, strict=True):
        above, below = each[each > v[0, column]], each[each < v[0, column]]
        steps.append([(column, value) for value in (*np.sort(above)[:1], *np.sort(below)[-1:])])
    changes = [[one] for each in steps for one in each]
    changes += [[one, two] for i, each in enumerate(steps) for one in each for other in steps[:i] for two in other]
    rows = np.repeat(v, len(changes), axis=0)
    for row, change in zip(rows, changes, strict=True):
        for column, value in change:
            row[column] = value
    return rows
