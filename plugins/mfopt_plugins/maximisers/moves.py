"""Moves of a point by two parameters at once: to any of their values, or to the values next to theirs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mfopt.protocols import Array, Block, BoolArray

_SEED = 0


class Pairs:
    """Changes of two of these parameters at once, in random order; of each there are as many changes as in `counts`.

    First come those of a parameter and another that it wakes (`wakes[i, j]`: the i-th wakes the j-th), which has had no
    reason to be where it is.
    """

    def __init__(self, blocks: Sequence[Block], counts: Sequence[int], dim: int, wakes: BoolArray) -> None:
        self._blocks = blocks
        owner = np.repeat(np.arange(len(blocks)), counts)
        one, other = np.triu_indices(len(owner), 1)
        apart = np.random.default_rng(_SEED).permutation(np.flatnonzero(owner[one] != owner[other]))
        linked = (wakes | wakes.T)[owner[one[apart]], owner[other[apart]]]
        apart = np.concatenate([apart[linked], apart[~linked]])
        self._one, self._other = one[apart], other[apart]
        self._changed = np.zeros((len(owner), dim), dtype=np.bool_)  # the columns that each change is about
        for row, k in zip(self._changed, owner.tolist(), strict=True):
            row[blocks[k].coordinates] = True

    def change(self, v: Array, values: Sequence[Array], most: int, turn: int) -> Array:
        """One row (1, dim) with two parameters at these values of theirs, at most so many; others in another turn."""
        rows = np.repeat(v, len(self._changed), axis=0)  # with one change each
        end = 0
        for block, each in zip(self._blocks, values, strict=True):
            start, end = end, end + len(each)
            rows[start:end, block.coordinates] = each
        start = turn % max(1, len(self._one) // most) * most
        first, second = self._one[start : start + most], self._other[start : start + most]
        return np.asarray(np.where(self._changed[second], rows[second], rows[first]))


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
