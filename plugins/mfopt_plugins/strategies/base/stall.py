"""Stall: what one fidelity is asked by turns while its values bring no gain; not in the literature.

A model can be wrong in two ways that keep a run where it is, and its own bounds show neither. One that is too smooth
claims to know what it does not: it settles in a lesser maximum (ucb/doubt.py). One that is too rough, with short
length-scales, knows nothing away from its values: every point there promises the same, so that the next one is where
the maximiser happens to look, time and again nearby, or at the edges of X for ever. So after PATIENCE values in a row
without a gain every second query is taken from the bounds, by turns

    in a gap   of a few random points the one that is farthest from all queried ones, whatever the model says
    at its best   where the bound is largest with next to no exploration; gp-pi does that anyway

Measured in benchmarks/experiments.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

import numpy as np

from mfopt.protocols import Array, Domain, Query
from mfopt_plugins.method.failures import FailureModel
from mfopt_plugins.method.observations import Observations
from mfopt_plugins.strategies.ucb.doubt import SETTLED

PATIENCE = 5  # values without a gain
_CANDIDATES = 10  # more of them: fewer in the middle of X, more at its edges
_PERIOD = 4


class Turn(Enum):
    """Whose turn it is."""

    OWN = 0  # the method's
    GAP = 1
    BEST = 3


def count_in_vain(values: Array, unit: float) -> int:
    """The number of values told since the best one rose by more than a refinement, SETTLED of the unit."""
    highest = np.maximum.accumulate(values)
    rises = np.flatnonzero(np.diff(highest) > SETTLED * unit)
    return len(values) - 1 - (int(rises[-1]) + 1 if len(rises) else 0)


def find_turn(values: Array, unit: float, waiting: int) -> Turn:
    """Whose turn the next query is; `waiting` queries are pending, which count as in vain."""
    vain = count_in_vain(values, unit) if len(values) else 0
    number = (vain + waiting) % _PERIOD
    return Turn(number) if vain >= PATIENCE and number % 2 else Turn.OWN


def find_gap(
    domain: Domain,
    observations: Observations,
    failures: FailureModel,
    pending: Sequence[Query],
    rng: np.random.Generator,
) -> Array | None:
    """Of a few random points the one that is farthest from all queried at the first position; None: all are taken."""
    candidates = domain.sample(_CANDIDATES, rng)
    if observations.failed:
        candidates = candidates[failures.excess(candidates, [0])[0] == 0.0]
    queried = observations.queried_points(0, pending)
    gaps = np.abs(candidates[:, None, :] - queried[None, :, :]).max(axis=2).min(axis=1, initial=np.inf)
    best = int(np.argmax(gaps)) if len(gaps) else -1
    return candidates[best].copy() if best >= 0 and gaps[best] > 0.0 else None
