"""DIRECT as it is, without corners or ascents, a round of rectangles at a time."""

from __future__ import annotations

import numpy as np

import mfopt_core
from mfopt.hooks import with_defaults
from mfopt.protocols import Acquisition, Array, Domain
from mfopt_plugins.maximisers.grid import Grid

_MOST = 6000  # evaluations
_LEAST, _ROWS = 100, 400_000  # evaluations per dimension however many rows there are, and evaluations times rows
_SAMPLES_PER_DIM = 20


class PlainDirect:
    """The best centre of a rectangle that DIRECT (Jones et al. 1993; mfopt_core.Direct) finds.

    It has twice the evaluations of nlopt-direct, 400 dim + 4t, at most 6000, since what it is meant for is the best of
    several acquisitions; fewer (at least 100 dim) where these count hundreds of rows. It makes those of a round
    together: an acquisition that costs O(n²) a point takes a fraction of the time so.
    """

    def __init__(self) -> None:
        self._grid: Grid | None = None

    def maximise(self, acquisition: Acquisition, domain: Domain, rng: np.random.Generator, t: int) -> Array:
        """The best point found, in X."""
        full = with_defaults(acquisition)
        if domain.points is not None:
            return np.array(domain.points[full.argmax(domain.points, None)])
        grid = self._grid = Grid.of(domain, self._grid)

        def evaluate(centres: Array) -> Array:
            rows = grid.place(centres)
            inside, values = grid.contains(rows), np.full(len(rows), -np.inf)
            if inside.any():
                # Not `recurring`: its last bits are others, and decide here between points that are as good as equal.
                values[inside] = full(rows[inside])
            return values

        dim = len(grid.blocks)
        budget = min(400 * dim + 4 * t, _MOST, max(_LEAST * dim, _ROWS // max(1, full.rows)))
        direct = mfopt_core.Direct(dim, epsilon=0.0)  # as NLopt's: what is best is looked at ever more closely
        told = 0
        while told < budget and len(centres := direct.centres()):  # the last round is completed
            direct.tell(evaluate(centres))
            told += len(centres)
        centres, values = direct.seen()
        best = int(np.argmax(values))
        if values[best] > -np.inf:
            return np.array(grid.place(centres[best : best + 1])[0])
        samples = domain.sample(_SAMPLES_PER_DIM * dim, rng)  # no centre lies in X
        return np.array(samples[int(np.argmax(full(samples)))])
