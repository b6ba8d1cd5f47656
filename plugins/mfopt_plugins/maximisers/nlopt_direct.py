"""DIRECT (DIviding RECTangles) from NLopt, polished."""

from __future__ import annotations

import nlopt
import numpy as np

from mfopt.errors import InputError
from mfopt.hooks import with_defaults
from mfopt.protocols import Acquisition, Array, Domain
from mfopt_plugins.maximisers.grid import Grid
from mfopt_plugins.maximisers.mixed import refine

_CLIMBS = 3
_SAMPLES_PER_DIM = 20


class NloptDirect:
    """NLopt's GN_ORIG_DIRECT_L on the unit cube, then a polish from the best points it saw.

    Infeasible points are reported to it as +∞, which this version treats as a hidden constraint. A few random points of
    X join the candidates, so that an X too thin for the rectangles' centres still has some. `budget` is the number of
    evaluations; by default 200 dim + 2t, at most 3000.
    """

    def __init__(self, budget: int | None = None) -> None:
        if budget is not None and budget < 1:
            raise InputError(f"budget must be at least 1, got {budget}")
        self._budget = budget
        self._grid: Grid | None = None

    def maximise(self, acquisition: Acquisition, domain: Domain, rng: np.random.Generator, t: int) -> Array:
        """The best point found, in X."""
        full = with_defaults(acquisition)
        if domain.points is not None:
            return np.array(domain.points[full.argmax(domain.points, None)])
        grid = self._grid = Grid.of(domain, self._grid)
        dim = len(grid.blocks)
        points: list[Array] = []
        values: list[float] = []

        def objective(w: Array, grad: Array) -> float:
            row = grid.place(w[None, :])
            if not grid.contains(row)[0]:
                return float("inf")
            value = float(acquisition(row)[0])
            points.append(row[0].copy())
            values.append(value)
            return -value

        direct = nlopt.opt(nlopt.GN_ORIG_DIRECT_L, dim)
        direct.set_lower_bounds(np.zeros(dim))
        direct.set_upper_bounds(np.ones(dim))
        direct.set_min_objective(objective)
        direct.set_maxeval(self._budget or min(200 * dim + 2 * t, 3000))
        direct.optimize(np.full(dim, 0.5))
        samples = domain.sample(_SAMPLES_PER_DIM * dim, rng)
        candidates = np.vstack([*points, samples])
        heights = np.concatenate([values, acquisition(samples)])
        return refine(full, grid, candidates, heights, _CLIMBS)
