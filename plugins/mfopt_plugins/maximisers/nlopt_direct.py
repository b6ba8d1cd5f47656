"""DIRECT (DIviding RECTangles) from NLopt, polished or as it is."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from mfopt.errors import InputError
from mfopt.hooks import with_defaults
from mfopt.protocols import Acquisition, Array, Domain
from mfopt_plugins.maximisers.grid import Grid
from mfopt_plugins.maximisers.mixed import refine

_CLIMBS = 3
_SAMPLES_PER_DIM = 20


class NloptDirect:
    """NLopt's DIRECT on the unit cube, then a polish from the best points it saw.

    budget    evaluations; by default 200 dim + 2t, at most 3000
    polished  whether gradient ascents follow. Without them the answer is the best centre of a rectangle, as in the
              paper, which "used the DIRECT algorithm" and nothing else
    biased    GN_ORIG_DIRECT_L, Gablonsky's variant that prefers small rectangles around good points; without, that of
              Jones et al. (1993), GN_DIRECT, or GN_ORIG_DIRECT where X has constraints

    Infeasible points are reported to it as +∞, which the ORIG versions treat as a hidden constraint. A few random
    points of X join the candidates of a polish, so that an X too thin for the rectangles' centres still has some;
    without a polish they are used only where no centre lies in X.
    """

    def __init__(self, budget: int | None = None, polished: bool = True, biased: bool = True) -> None:
        if budget is not None and budget < 1:
            raise InputError(f"budget must be at least 1, got {budget}")
        self._budget = budget
        self._polished = polished
        self._biased = biased
        self._grid: Grid | None = None

    def maximise(self, acquisition: Acquisition, domain: Domain, rng: np.random.Generator, t: int) -> Array:
        """The best point found, in X."""
        import nlopt  # slow to import, and other maximisers do not need it

        full = with_defaults(acquisition)
        if domain.points is not None:
            return np.array(domain.points[full.argmax(domain.points, None)])
        grid = self._grid = Grid.of(domain, self._grid)
        dim = len(grid.blocks)
        points: list[Array] = []
        values: list[float] = []
        errors: list[BaseException] = []

        def evaluate(w: Array) -> float:
            row = grid.place(w[None, :])
            if not grid.contains(row)[0]:
                return float("inf")
            # Not `recurring`: its last bits are others, and decide here between points that are as good as equal.
            value = float(full(row)[0])
            points.append(row[0].copy())
            values.append(value)
            return -value

        def objective(w: Array, grad: Array) -> float:
            """No error passes through NLopt: it is raised when its budget is over, of which no more is evaluated.

            An ORIG version that is stopped at its first points, by an error or on request, crashes now and then.
            """
            try:
                return 0.0 if errors else evaluate(w)
            except BaseException as error:
                errors.append(error)
                return 0.0

        unbiased = nlopt.GN_ORIG_DIRECT if grid.constrained else nlopt.GN_DIRECT
        direct = nlopt.opt(nlopt.GN_ORIG_DIRECT_L if self._biased else unbiased, dim)
        direct.set_lower_bounds(np.zeros(dim))
        direct.set_upper_bounds(np.ones(dim))
        direct.set_min_objective(objective)
        direct.set_maxeval(self._budget or min(200 * dim + 2 * t, 3000))
        # An ORIG version runs out of room for rectangles where the acquisition is flat: what it saw counts.
        with suppress(getattr(nlopt, "runtime_error", RuntimeError)):  # an error of NLopt's own since 2.9 or later
            direct.optimize(np.full(dim, 0.5))
        if errors:
            raise errors[0]
        if points and not self._polished:
            return points[int(np.argmax(values))]
        samples = domain.sample(_SAMPLES_PER_DIM * dim, rng)
        candidates = np.vstack([*points, samples])
        heights = np.concatenate([values, acquisition(samples)])
        if not self._polished:
            return np.array(candidates[int(np.argmax(heights))])
        return refine(full, grid, candidates, heights, _CLIMBS)
