"""The maximum of an acquisition over X, away from points that failed lately or need no second look."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mfopt.protocols import Acquisition, Array, Problem, Query, View
from mfopt_plugins.method.models import FidelityModels
from mfopt_plugins.method.upper_bound import argmax
from mfopt_plugins.strategies.base.avoid import Avoiding, elsewhere
from mfopt_plugins.strategies.base.visited import Visited

APART = 1e-6  # on a noiseless fidelity a query keeps this distance from earlier ones, in unit coordinates


class Search:
    """Looks for the next query at a position k of the fidelities in use.

    A failed point lowers the acquisition around itself for the next outcomes. Where position k is noiseless no point
    is queried there twice: the next best is taken.
    """

    def __init__(self, problem: Problem, models: FidelityModels, visited: Visited) -> None:
        self._problem = problem
        self._models = models
        self._visited = visited

    def maximum(
        self, acquisition: Acquisition, k: int, view: View, pending: Sequence[Query], depth: float
    ) -> tuple[Array, Acquisition]:
        """The best point, and the acquisition as it was maximised: lowered by up to `depth` near failures.

        On a finite set this point is fresh at position k; on a box ask `taken`, and for another point `fresh`.
        """
        domain = self._problem.domain
        avoid = None
        if domain.points is not None:
            avoid = np.zeros(len(domain.points), dtype=np.bool_)
            if self._models.noiseless(k):
                avoid |= self._visited.finished(k, pending, self._models.used[k])
            failed = avoid.copy()
            failed[self._visited.rows([u for u, _ in self._visited.failed_recently()])] = True
            # Where only failed points are left they are tried again.
            avoid = avoid if failed.all() else failed
        else:
            failures = self._visited.failed_recently()
            if failures:
                acquisition = Avoiding(acquisition, failures, depth, domain.dim)
        return argmax(acquisition, domain, self._problem.maximiser, view.rng, view.t, avoid), acquisition

    def needless(self, u: Array, k: int, pending: Sequence[Query]) -> bool:
        """Whether a query of this point at position k would tell nothing new."""
        return self._models.noiseless(k) and self.taken(u, k, pending)

    def taken(self, u: Array, k: int, pending: Sequence[Query]) -> bool:
        """Whether this point was queried at position k, or is about to be."""
        return bool(
            (np.abs(self._visited.queried(k) - u).max(axis=1, initial=0.0) <= APART).any()
            or any(q.fidelity == self._models.used[k] and np.abs(q.u - u).max() <= APART for q in pending)
        )

    def fresh(self, acquisition: Acquisition, u: Array, k: int, view: View, pending: Sequence[Query]) -> Array:
        """A good point of a box near u that was not queried at position k; u itself on a finite set."""
        if self._problem.domain.points is not None:
            return u
        taken = [self._visited.queried(k), *(q.u[None] for q in pending if q.fidelity == self._models.used[k])]
        return elsewhere(acquisition, self._problem.domain, u, np.vstack(taken), APART, view.rng)

    def point(self, acquisition: Acquisition, k: int, view: View, pending: Sequence[Query], depth: float) -> Array:
        """The best point that is worth a query at position k."""
        u, lowered = self.maximum(acquisition, k, view, pending, depth)
        return self.fresh(lowered, u, k, view, pending) if self.needless(u, k, pending) else u
