"""The maximum of an acquisition over X, away from points that failed lately or need no second look."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mfopt.errors import Exhausted
from mfopt.hooks import with_defaults
from mfopt.protocols import Acquisition, Array, BoolArray, Problem, Query, View
from mfopt_plugins.method.models import FidelityModels
from mfopt_plugins.strategies.base.avoid import Avoiding, elsewhere


class Search:
    """Looks for the next query at a position k of the fidelities in use.

    A failed point lowers the acquisition around itself for the next outcomes. Where position k is noiseless no point
    is queried there twice: the next best is taken.
    """

    def __init__(self, problem: Problem, models: FidelityModels) -> None:
        self._domain = problem.domain
        self._points = problem.domain.points  # None: X is not finite
        self._maximiser = problem.maximiser
        self._models = models
        self._observations = models.observations

    def point(self, acquisition: Acquisition, k: int, view: View, pending: Sequence[Query], depth: float) -> Array:
        """The best point that is worth a query at position k."""
        u, lowered = self.maximum(acquisition, k, view, pending, depth)
        return self.fresh(lowered, u, k, view, pending) if self.needless(u, k, pending) else u

    def maximum(
        self, acquisition: Acquisition, k: int, view: View, pending: Sequence[Query], depth: float
    ) -> tuple[Array, Acquisition]:
        """The best point, and the acquisition as it was maximised: lowered by up to `depth` near failures.

        On a finite set this point is fresh at position k; on a box ask `needless`, and for another point `fresh`.
        """
        if self._points is not None:
            avoid = self._avoided(k, pending)
            if avoid.all():
                raise Exhausted("every point of the finite set has been queried", which="points")
            return np.array(self._points[with_defaults(acquisition).argmax(self._points, avoid)]), acquisition
        failures = self._observations.failed_recently()
        if failures:
            acquisition = Avoiding(acquisition, failures, depth, self._domain.dim)
        return self._maximiser.maximise(acquisition, self._domain, view.rng, view.t), acquisition

    def needless(self, u: Array, k: int, pending: Sequence[Query]) -> bool:
        """Whether a query of this point at position k would tell nothing new."""
        return self._models.noiseless(k) and self._observations.taken(u, k, pending)

    def fresh(self, acquisition: Acquisition, u: Array, k: int, view: View, pending: Sequence[Query]) -> Array:
        """A good point of a box near u that was not queried at position k; u itself on a finite set."""
        if self._points is not None:
            return u
        return elsewhere(acquisition, self._domain, u, self._observations.queried(k, pending), view.rng)

    def _avoided(self, k: int, pending: Sequence[Query]) -> BoolArray:
        """The points of a finite set that are no candidates for a query at position k."""
        avoid = np.zeros(0 if self._points is None else len(self._points), dtype=np.bool_)
        if self._models.noiseless(k):
            avoid |= self._observations.finished(k, pending)
        failed = avoid.copy()
        failed[self._observations.rows_of([u for u, _ in self._observations.failed_recently()])] = True
        # Where only failed points are left they are tried again.
        return avoid if failed.all() else failed
