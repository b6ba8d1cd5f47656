"""The default maximiser: our own batched DIRECT, then gradient ascents from the best places it found."""

from __future__ import annotations

import numpy as np

import mfopt_core
from mfopt.errors import InputError
from mfopt.hooks import FullAcquisition, with_defaults
from mfopt.protocols import Acquisition, Array, Domain
from mfopt_plugins.maximisers.grid import Grid
from mfopt_plugins.maximisers.mixed import refine
from mfopt_plugins.maximisers.polish import ROUNDS, polish

_ALL_CORNERS = 7  # up to this dimension all 2^dim corners are looked at
# Numbers of these times rows of the largest model: what it may cost.
_EVALUATIONS, _ASCENTS, _ROUNDS = 3_000_000, 6_000, 120_000
_LEAST = 300  # evaluations
_LEAST_ROUNDS = 12  # of an ascent, however many rows there are
_SEED = 0  # of the random points that join the candidates: the same at every ask, so that they can be remembered


class Direct:
    """DIRECT (Jones et al. 1993; mfopt_core.Direct), every round one batched evaluation, then ascents.

    budget   evaluations of the global search; by default 100 dim + 2t, at most 2000; where some parameters are
             discrete, about 2250
    climbs   gradient ascents, run at once from the best candidates that are apart; by default 6 + dim
             Of both there are fewer (at least 300 and 3), and ascents are shorter, where the acquisition counts
             thousands of rows (hooks.CountsRows).

    A few random points of X join the candidates, so that an X too thin for the centres of rectangles has some, and so
    do corners, where no centre ever lies and where uncertainty, and with it an upper bound, often is largest. All these
    are the same points at every ask; an acquisition may remember what it finds out about them (hooks.KeepsRecurring).

    Where some parameters are discrete there are such points only, and no DIRECT: its rectangles found no better starts
    for the search over these parameters (mixed.py).
    """

    def __init__(self, budget: int | None = None, climbs: int | None = None) -> None:
        if budget is not None and budget < 1:
            raise InputError(f"budget must be at least 1, got {budget}")
        if climbs is not None and climbs < 1:
            raise InputError(f"climbs must be at least 1, got {climbs}")
        self._budget = budget
        self._climbs = climbs
        self._grid: Grid | None = None

    def maximise(self, acquisition: Acquisition, domain: Domain, rng: np.random.Generator, t: int) -> Array:
        """The best point found, in X."""
        # A bound of the core is known to have all abilities: to ask a protocol is slow.
        full = acquisition if isinstance(acquisition, mfopt_core.Bound) else with_defaults(acquisition)
        if domain.points is not None:
            return np.array(domain.points[full.argmax(domain.points, None)])
        if self._grid is None or self._grid.domain is not domain:
            self._grid = Grid(domain)
        grid = self._grid
        rows, dim = max(1, full.rows), len(grid.blocks)
        budget = self._budget or min(100 * dim + 2 * t, 2000, max(_LEAST, _EVALUATIONS // rows))
        climbs = self._climbs or min(6 + dim, max(3, _ASCENTS // rows))
        if grid.mixed:
            points = grid.scattered[: self._budget or max(_LEAST, _EVALUATIONS // rows)]
            return refine(full, grid, points, full.recurring(points), climbs)
        points, values = _divide(full, grid, budget)
        others = scatter(domain)
        points, values = np.vstack([points, others]), np.concatenate([values, full.recurring(others)])
        rounds = min(ROUNDS, max(_LEAST_ROUNDS, _ROUNDS // rows))
        if not grid.constrained:
            found = polish(full, None, points, values, climbs, rounds)
            if domain.contains(found[None])[0]:
                return found
        return refine(full, grid, points, values, climbs, rounds)


def _divide(acquisition: FullAcquisition, grid: Grid, budget: int) -> tuple[Array, Array]:
    """DIRECT's centres in a box and the values there; over a whole cube a bound of the core is evaluated there."""
    dim = len(grid.blocks)
    if not grid.constrained:
        function = acquisition if isinstance(acquisition, mfopt_core.Bound) else acquisition.recurring
        return mfopt_core.divide(function, dim, budget)

    def recurring(centres: Array) -> Array:
        inside = grid.contains(centres)
        values = np.full(len(centres), -np.inf)
        if inside.any():
            values[inside] = acquisition.recurring(centres[inside])
        return values

    points, values = mfopt_core.divide(recurring, dim, budget)
    feasible = values > -np.inf
    return points[feasible], values[feasible]


def scatter(domain: Domain) -> Array:
    """Random points of a box, and the corners of the cube that lie in it; in many dimensions a choice of them."""
    dim = domain.dim
    if dim <= _ALL_CORNERS:
        points = np.array(np.meshgrid(*[[0.0, 1.0]] * dim)).reshape(dim, -1).T
    else:
        drawn = np.random.default_rng(_SEED).integers(0, 2, size=(2**_ALL_CORNERS, dim))
        points = np.unique(drawn, axis=0).astype(np.float64)
    samples = domain.sample(10 * dim, np.random.default_rng(_SEED))
    return np.vstack([samples, np.ascontiguousarray(points[domain.contains(points)])])
