"""Rows, (u, y) per fidelity: fewer of them for learning, all of them in one array, and whether they show noise."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mfopt.hooks import Rows
from mfopt.protocols import Array
from mfopt_plugins.method.observations import AGREE

Levels = npt.NDArray[np.int64]

_SEED = 0
LEARNING_ROWS = 300  # of all fidelities; beyond, a random subset: O(n³) an evaluation, and little is left to learn


def thin(rows: Sequence[Rows], most: int = LEARNING_ROWS) -> list[Rows]:
    """At most about `most` rows in all, drawn at random: the largest sets are cut to one size, the others stay.

    Sets that have grown a little have most of their drawn rows in common, so that little is learnt anew from them.
    """
    sizes = [len(y) for _, y in rows]
    room, cut = most, 0
    for left, size in zip(range(len(sizes), 0, -1), sorted(sizes), strict=True):
        cut = max(room // left, 1)
        room -= min(size, cut)
    return [_draw(u, y, cut) for u, y in rows]


def stack(rows: Sequence[Rows]) -> tuple[Array, Levels, Array]:
    """All rows below each other: points (n, d), the fidelity of each (n,), values (n,)."""
    level = np.repeat(np.arange(len(rows), dtype=np.int64), [len(y) for _, y in rows])
    return np.vstack([u for u, _ in rows]), level, np.concatenate([y for _, y in rows])


def show_noise(rows: Sequence[Rows]) -> bool:
    """Whether values of one fidelity differ at one point, by more than rounding."""
    for u, y in rows:
        if len(y) < 2:
            continue
        _, point = np.unique(u, axis=0, return_inverse=True)
        order = np.lexsort((y, point.ravel()))
        again = np.diff(point.ravel()[order]) == 0
        if (np.diff(y[order])[again] > AGREE * np.ptp(y)).any():
            return True
    return False


def is_start(first: Rows, rows: Rows) -> bool:
    """Whether `rows` begin with the rows of `first`."""
    n = len(first[1])
    return n <= len(rows[1]) and bool((first[0] == rows[0][:n]).all()) and bool((first[1] == rows[1][:n]).all())


def _draw(u: Array, y: Array, most: int) -> Rows:
    """At most `most` of these rows, in their order: those with the lowest numbers drawn, which a row keeps."""
    if len(y) <= most:
        return u, y
    numbers = np.random.default_rng(_SEED).random(len(y))
    rows = np.sort(np.argsort(numbers, kind="stable")[:most])
    return u[rows], y[rows]
