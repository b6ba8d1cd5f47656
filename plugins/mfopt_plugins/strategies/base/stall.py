"""Stall: what the target is asked by turns while its values bring no gain; not in the literature.

A model can be wrong in two ways that keep a run where it is, and its own bounds show neither. One that is too smooth
claims to know what it does not: it settles in a lesser maximum (ucb/doubt.py). One that is too rough, with short
length-scales, knows nothing away from its values: every point there promises the same, so that the next one is where
the maximiser happens to look, time and again nearby, or at the edges of X for ever. So after PATIENCE values in a row
without a gain three of four queries are taken from the bounds, by turns

    in a gap      of a few random points the one that is farthest from all queried ones, whatever the model says
    crossed       the best point with one parameter of another good one, or the other way round: a good value of a
                  parameter is often good elsewhere, too, which a model of short length-scales cannot know
    at its best   where the mean is largest; gp-pi, which does that anyway, goes on

It is for methods whose model knows the target alone: one fidelity, or the hedge of several (ucb/hedge.py). Measured in
benchmarks/experiments.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

import numpy as np

from mfopt.hooks import SnapsPoints, blocks_of
from mfopt.protocols import Array, Domain, Query
from mfopt_plugins.method.failures import FailureModel
from mfopt_plugins.method.gaps import measure_gaps
from mfopt_plugins.method.observations import Observations
from mfopt_plugins.strategies.ucb.doubt import SETTLED

PATIENCE = 5  # values without a gain
_CANDIDATES = 64  # for a gap
_PARTNERS = 50  # points, the best ones of the better half, that the best is crossed with
_FAR = 0.05  # in some coordinate: a crossed point that is nearer to a queried one tells little


class Turn(Enum):
    """Whose turn it is."""

    OWN = 0  # the method's
    GAP = 1
    CROSSED = 2
    BEST = 3


def count_in_vain(values: Array, unit: float) -> int:
    """The number of values told since the best one rose by more than a refinement, SETTLED of the unit."""
    highest = np.maximum.accumulate(values)
    rises = np.flatnonzero(np.diff(highest) > SETTLED * unit)
    return len(values) - 1 - (int(rises[-1]) + 1 if len(rises) else 0)


def find_turn(values: Array, unit: float, waiting: int) -> Turn:
    """Whose turn the next query is; `waiting` queries are pending, which count as in vain."""
    vain = count_in_vain(values, unit) if len(values) else 0
    return Turn((vain + waiting) % len(Turn)) if vain >= PATIENCE else Turn.OWN


def find_away(
    turn: Turn,
    domain: Domain,
    observations: Observations,
    failures: FailureModel,
    pending: Sequence[Query],
    rng: np.random.Generator,
) -> tuple[Array, str] | None:
    """A point for the target and why; none for the method's own turn, or where there is nothing to cross."""
    if turn is Turn.OWN:
        return None
    queried = observations.queried_points(_find_top(observations), pending)
    if turn is Turn.CROSSED:
        crossed = _find_crossed(domain, observations, failures, queried)
        text = "values bring no gain: the best point with one parameter of another, or the reverse"
        return None if crossed is None else (crossed, text)
    candidates = _find_safe(domain.sample(_CANDIDATES, rng), observations, failures)
    gaps = measure_gaps(domain, candidates, queried)
    best = int(np.argmax(gaps)) if len(gaps) else -1
    if best < 0 or not gaps[best] > 0.0:
        return None
    return candidates[best].copy(), "values bring no gain: far from all of them"


def _find_crossed(domain: Domain, observations: Observations, failures: FailureModel, queried: Array) -> Array | None:
    """The best point crossed with the best other one that leads away from all queried ones; None: there is none."""
    blocks = blocks_of(domain)
    u, y = observations.rows(_find_top(observations))
    order = np.argsort(-y, kind="stable")[: min(len(y) // 2, _PARTNERS)]
    for i in order[1:] if len(blocks) > 1 else ():
        children = np.vstack([np.tile(u[order[0]], (len(blocks), 1)), np.tile(u[i], (len(blocks), 1))])
        for j, block in enumerate(blocks):
            children[j, block.coordinates] = u[i, block.coordinates]
            children[len(blocks) + j, block.coordinates] = u[order[0], block.coordinates]
        if isinstance(domain, SnapsPoints):
            children = domain.snap(children)
        children = _find_safe(children[domain.contains(children)], observations, failures)
        gaps = np.abs(children[:, None, :] - queried[None, :, :]).max(axis=2).min(axis=1)
        if gaps.max(initial=0.0) > _FAR:
            return np.array(children[int(np.argmax(gaps))])
    return None


def _find_safe(u: Array, observations: Observations, failures: FailureModel) -> Array:
    """The rows of u that are not likely to fail."""
    return u[failures.excess(u, [_find_top(observations)])[0] == 0.0] if observations.failed and len(u) else u


def _find_top(observations: Observations) -> int:
    """The target's position."""
    return len(observations.used) - 1
