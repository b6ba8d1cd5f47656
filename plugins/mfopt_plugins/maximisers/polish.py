"""The last step of every maximiser: climb from a few good points to the local maxima, without leaving X.

The ascents (mfopt_core.ascend) treat the kinks of φ = min_m φ_m exactly where the acquisition tells its pieces φ_m
(hooks.HasPieces). Otherwise it is its only piece.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

import mfopt_core
from mfopt.hooks import FullAcquisition
from mfopt.protocols import Array, BoolArray

Contains: TypeAlias = Callable[[Array], BoolArray]
# Values (K, q) and slopes (K, q, dim) of the K pieces at points (q, dim); −∞ where a point is outside X.
Pieces: TypeAlias = Callable[[Array], tuple[Array, Array]]
Function: TypeAlias = mfopt_core.Bound | Pieces  # of an ascent

ROUNDS = 40  # batched evaluations, at most
CLOSER = 0.1  # of two starts nearer than this (in every coordinate) only the better one is climbed from


def polish(
    acquisition: FullAcquisition,
    contains: Contains | None,
    candidates: Array,
    values: Array,
    climbs: int,
    rounds: int = ROUNDS,
) -> Array:
    """A point of X at least as good as the best of `candidates` (q, dim), which lie in X and have these values.

    `contains` says which points of the cube lie in X; None: all of them.
    """
    top = int(np.argmax(values))
    spread = float(np.ptp(values))
    if not spread > 0.0:
        return np.array(candidates[top])

    starts = candidates[mfopt_core.choose_apart(candidates, values, climbs, CLOSER)]
    function = as_function(acquisition) if contains is None else mask_outside(acquisition, contains)
    ends, heights = mfopt_core.ascend(function, starts, spread, rounds=rounds, again=rounds == ROUNDS)
    best = int(np.argmax(heights))
    return np.array(ends[best] if heights[best] >= values[top] else candidates[top])


def as_function(acquisition: FullAcquisition) -> Function:
    """What ascents are given: a bound of the core is evaluated there."""
    return acquisition if isinstance(acquisition, mfopt_core.Bound) else acquisition.pieces


def mask_outside(acquisition: FullAcquisition, contains: Contains) -> Pieces:
    """The pieces of the acquisition, −∞ outside X."""

    def pieces(points: Array) -> tuple[Array, Array]:
        heights, slopes = acquisition.pieces(points)
        inside = contains(points)
        if not inside.all():
            heights[:, ~inside] = -np.inf
        return heights, slopes

    return pieces
