"""The initial design in ask/tell: which uniform random points are still to be asked for (method/design.py)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mfopt.errors import Exhausted
from mfopt.protocols import Array, Problem, Query, Record, Suggestion, View
from mfopt.run.reason import Reason
from mfopt_plugins.method.design import initial_counts, initial_point
from mfopt_plugins.strategies.base.visited import Visited

_TRIES = 1000  # draws for a point that was not queried before, on a finite set


class InitialDesign:
    """Uniform points for the fidelities `used`, by position k; values that nobody asked for take the place of some."""

    def __init__(self, problem: Problem, used: Sequence[int], visited: Visited, initial_capital: float | None) -> None:
        self._domain, self._seed = problem.domain, problem.seed
        self._used = tuple(used)
        self._costs = [problem.costs[m] for m in self._used]
        self._visited = visited
        size = None if self._domain.points is None else len(self._domain.points)
        self._counts = list(initial_counts(self._costs, problem.capital, initial_capital, self._domain.dim, size))
        self._drawn = [0] * len(self._used)
        self._issued: list[list[Array]] = [[] for _ in self._used]
        self._unasked = [0] * len(self._used)

    def next(self, view: View, pending: Sequence[Query]) -> Suggestion | None:
        """The next query of the design; None when it is complete, or its rest cannot be paid."""
        for k, count in enumerate(self._counts):
            # The last target query is never left to chance, whatever the fidelity of this one.
            if len(self._issued[k]) < count - self._unasked[k] and self._costs[k] + self._costs[-1] <= view.remaining:
                u = self._draw(k, pending)
                if u is not None:
                    text = f"point {len(self._issued[k]) + 1} of {count - self._unasked[k]} at this fidelity"
                    return self._suggest(u, k, view.t, text)
                self._counts[k] = 0
        return None

    def another(self, k: int, view: View, pending: Sequence[Query], text: str) -> Suggestion:
        """One more uniform point at position k, beyond the design."""
        u = self._draw(k, pending)
        if u is None:
            raise Exhausted("every point of the finite set has been queried", "points")
        return self._suggest(u, k, view.t, text)

    def told(self, record: Record, k: int) -> None:
        """Count a value that nobody asked for at position k."""
        if record.y is not None and not record.asked:
            self._unasked[k] += 1

    def issued(self, u: Array, k: int) -> bool:
        """Whether this point was asked for by the design."""
        return any(np.array_equal(u, other) for other in self._issued[k])

    def _draw(self, k: int, pending: Sequence[Query]) -> Array | None:
        """The next uniform point for position k; None when a finite set seems to have no fresh one."""
        fidelity = self._used[k]
        taken = None if self._domain.points is None else self._visited.finished(k, pending, fidelity)
        for _ in range(_TRIES):
            u = initial_point(self._domain, self._seed, fidelity, self._drawn[k])
            self._drawn[k] += 1
            if taken is None or not taken[self._visited.rows([u])[0]]:
                return u
        return None

    def _suggest(self, u: Array, k: int, t: int, text: str) -> Suggestion:
        self._issued[k].append(u)
        return Suggestion(u, self._used[k], Reason("initial design", text, self._used[k], t))
