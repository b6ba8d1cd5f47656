"""Rows, (u, y) per fidelity: fewer of them for learning, and all of them in one array."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from mfopt.hooks import Rows
from mfopt.protocols import Array

Levels = npt.NDArray[np.int64]

LEARNING_ROWS = 300  # of all fidelities; beyond, a random subset: O(n³) an evaluation, and little is left to learn


def thin(rows: Sequence[Rows], rng: np.random.Generator, most: int = LEARNING_ROWS) -> list[Rows]:
    """At most about `most` rows in all, drawn at random: the largest sets are cut to one size, the others stay."""
    sizes = [len(y) for _, y in rows]
    room, cut = most, 0
    for left, size in zip(range(len(sizes), 0, -1), sorted(sizes), strict=True):
        cut = max(room // left, 1)
        room -= min(size, cut)
    return [_draw(u, y, cut, rng) for u, y in rows]


def stack(rows: Sequence[Rows]) -> tuple[Array, Levels, Array]:
    """All rows below each other: points (n, d), the fidelity of each (n,), values (n,)."""
    level = np.repeat(np.arange(len(rows), dtype=np.int64), [len(y) for _, y in rows])
    return np.vstack([u for u, _ in rows]), level, np.concatenate([y for _, y in rows])


def _draw(u: Array, y: Array, most: int, rng: np.random.Generator) -> Rows:
    """At most `most` of these rows, in their order."""
    if len(y) <= most:
        return u, y
    rows = np.sort(rng.choice(len(y), most, replace=False))
    return u[rows], y[rows]
