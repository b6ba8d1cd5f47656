"""Uniform random points at the target."""

from __future__ import annotations

import numpy as np

from mfopt.errors import Exhausted
from mfopt.protocols import Array, Problem, Record, Suggestion, View
from mfopt.run.reason import Reason
from mfopt_plugins.method.design import initial_point
from mfopt_plugins.method.kept import Kept, count, fields
from mfopt_plugins.method.observations import Observations

_TRIES = 1000  # draws for a point that was queried least


class RandomSearch(Kept):
    """Uniform at the target, as a lower limit of what a method must beat; nothing is modelled.

    Its points are those with which gp-ucb and the others that share the seed begin, so comparisons start equal. A
    finite set is gone through in rounds: no point comes again before all others did, and not at all if the target is
    known to be noiseless.
    """

    kept = fields(_drawn=count)

    def start(self, problem: Problem) -> None:
        """Called once, before the first ask."""
        self._problem = problem
        self._target = len(problem.costs) - 1
        self._observations = Observations([self._target], problem.domain)
        self._drawn = 0

    def ask(self, view: View) -> Suggestion:
        """The next query. Raises Exhausted when no useful query is left."""
        cost = view.costs[-1]
        if view.remaining < cost:
            raise Exhausted(
                f"a target query must be payable, it costs {cost}, got {view.remaining} remaining", "capital"
            )
        return Suggestion(self._draw(view), self._target, Reason("random", "uniform at random", self._target, view.t))

    def tell(self, record: Record) -> None:
        """Remember where the target was queried."""
        if record.fidelity == self._target:
            self._observations.add(record.u, 0, record.y)

    def _draw(self, view: View) -> Array:
        domain, seed = self._problem.domain, self._problem.seed
        if domain.points is None:
            for _ in range(_TRIES):  # the first is fresh where X has a parameter that is a number everywhere
                u = initial_point(domain, seed, self._target, self._drawn)
                self._drawn += 1
                if not self._observations.is_taken(u, 0, view.pending):
                    break
            return u
        asked = self._observations.queried_points(0, view.pending)
        counts = np.bincount(self._observations.rows_of(asked), minlength=len(domain.points))
        least = counts == counts.min()
        if counts.min() > 0 and self._problem.noises[-1] == 0.0:
            raise Exhausted(f"all {len(domain.points)} points of X were queried at the noiseless target", "points")
        for _ in range(_TRIES):
            u = initial_point(domain, seed, self._target, self._drawn)
            self._drawn += 1
            if least[self._observations.rows_of([u])[0]]:
                return u
        return np.array(domain.points[view.rng.choice(np.flatnonzero(least))])
