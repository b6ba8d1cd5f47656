"""The last step of every maximiser: climb from a few good points to the local maxima, without leaving X.

The ascents (mfopt_core.Ascent) treat the kinks of φ = min_m φ_m exactly where the acquisition tells its pieces φ_m
(hooks.HasPieces). Otherwise it is its only piece.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

import mfopt_core
from mfopt.hooks import HasPieces
from mfopt.protocols import Array, BoolArray, Domain

# Values (K, q) and slopes (K, q, dim) of the K pieces at points (q, dim); −∞ where a point is outside X.
Pieces: TypeAlias = Callable[[Array], tuple[Array, Array]]

ROUNDS = 40  # batched evaluations, at most
_AGAIN = 3  # an ascent that is the best but stuck is taken up again, with nothing remembered, at most so often
_SETTLED = 1e-8  # of the spread: and only while that gains more
_CLOSER = 0.1  # of two starts nearer than this (in every coordinate) only the better one is climbed from


def polish(acquisition: HasPieces, domain: Domain, candidates: Array, values: Array, climbs: int) -> Array:
    """A point of X at least as good as the best of `candidates` (q, dim), which lie in X and have these values."""
    top = int(np.argmax(values))
    spread = float(np.ptp(values))
    if not spread > 0.0:
        return np.array(candidates[top])

    ends, heights = ascend(pieces_within(acquisition, domain), choose_apart(candidates, values, climbs), spread)
    best = int(np.argmax(heights))
    return np.array(ends[best] if heights[best] >= values[top] else candidates[top])


def pieces_within(acquisition: HasPieces, domain: Domain) -> Pieces:
    """The pieces of the acquisition, −∞ outside X."""

    def pieces(points: Array) -> tuple[Array, Array]:
        heights, slopes = acquisition.pieces(points)
        inside = domain.contains(points)
        if not inside.all():
            heights[:, ~inside] = -np.inf
        return heights, slopes

    return pieces


def ascend(
    pieces: Pieces, starts: Array, spread: float, ended: bool = False, rounds: int = ROUNDS
) -> tuple[Array, Array]:
    """Where ascents from `starts` end, and the values there; a coordinate in which all slopes are 0 stays as it is.

    Those that cannot be expected to become the best are given up. `ended`: an earlier ascent has ended at the first
    start, which stays there as a rival of the others. With fewer `rounds` of evaluations none is taken up again.
    """
    ends, heights, settled = _climb(pieces, starts, spread, ended, rounds)
    best = int(np.argmax(heights))
    done = bool(settled[best]) or rounds < ROUNDS
    for _ in range(_AGAIN):
        if done:
            break
        end, height, settled = _climb(pieces, ends[best : best + 1], spread, ended=False, rounds=ROUNDS)
        if height[0] - heights[best] <= _SETTLED * spread:
            break
        ends[best], heights[best], done = end[0], height[0], bool(settled[0])
    return ends, heights


def _climb(pieces: Pieces, starts: Array, spread: float, ended: bool, rounds: int) -> tuple[Array, Array, BoolArray]:
    """Where the ascents from `starts` end, the values there, and whether no step from there promised a gain."""
    ascent = mfopt_core.Ascent(starts, spread)
    for k in range(rounds):
        points = ascent.points()
        if len(points) == 0:
            break
        heights, slopes = pieces(points)
        if ended and k == 0:
            slopes[:, 0] = 0.0  # ends it
        ascent.tell(heights, slopes)
    return ascent.result()


def choose_apart(candidates: Array, values: Array, climbs: int, closer: float = _CLOSER) -> Array:
    """The best candidates that are not close to a better one."""
    chosen: list[int] = []
    near = np.zeros(len(values), dtype=np.bool_)
    for i in np.argsort(-values, kind="stable"):
        if near[i]:
            continue
        chosen.append(int(i))
        if len(chosen) == climbs:
            break
        near |= np.abs(candidates - candidates[i]).max(axis=1) <= closer
    return candidates[chosen]
