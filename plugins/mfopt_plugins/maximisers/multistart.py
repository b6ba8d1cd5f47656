"""Gradient ascent from the best of many random points."""

from __future__ import annotations

import numpy as np

from mfopt.errors import InputError
from mfopt.hooks import with_defaults
from mfopt.protocols import Acquisition, Array, Domain
from mfopt_plugins.maximisers.grid import Grid
from mfopt_plugins.maximisers.mixed import refine


class Multistart:
    """`samples` uniform points of X in one batch (by default 200 dim + 2t, at most 4000), then `climbs` ascents."""

    def __init__(self, samples: int | None = None, climbs: int = 8) -> None:
        if samples is not None and samples < 1:
            raise InputError(f"samples must be at least 1, got {samples}")
        if climbs < 1:
            raise InputError(f"climbs must be at least 1, got {climbs}")
        self._samples = samples
        self._climbs = climbs
        self._grid: Grid | None = None

    def maximise(self, acquisition: Acquisition, domain: Domain, rng: np.random.Generator, t: int) -> Array:
        """The best point found, in X."""
        full = with_defaults(acquisition)
        if domain.points is not None:
            return np.array(domain.points[full.argmax(domain.points, None)])
        grid = self._grid = Grid.of(domain, self._grid)
        candidates = domain.sample(self._samples or min(200 * len(grid.blocks) + 2 * t, 4000), rng)
        return refine(full, grid, candidates, acquisition(candidates), self._climbs)
