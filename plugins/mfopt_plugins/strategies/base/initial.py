"""The initial design in ask/tell: which uniform random points are still to be asked for (method/design.py)."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from mfopt.errors import Exhausted
from mfopt.hooks import blocks_of
from mfopt.protocols import Array, Problem, Query, Record, Suggestion, View
from mfopt.run.reason import Reason
from mfopt_plugins.method.design import cheap_counts, initial_counts, initial_point
from mfopt_plugins.method.failures import FailureModel
from mfopt_plugins.method.kept import Kept, count, fields, flag, many
from mfopt_plugins.method.observations import Observations

_TRIES = 1000  # draws for a point that was not queried before, on a finite set
_CHOICE = 30  # draws among which the point least likely to fail is chosen


class InitialDesign(Kept):
    """Uniform points for the fidelities in use, by position k; values that nobody asked for take the place of some.

    `complete` is True once no query of it is left, whatever the capital pays for.
    """

    kept = fields(
        complete=flag,
        _counts=many(count),
        _drawn=many(count),
        _draws=many(many(count)),
        _unasked=many(count),
    )

    def __init__(
        self,
        problem: Problem,
        observations: Observations,
        failures: FailureModel,
        initial_capital: float | None,
        cheap: bool,
    ) -> None:
        self._domain, self._seed = problem.domain, problem.seed
        self._used = observations.used
        self._costs = [problem.costs[m] for m in self._used]
        self._observations = observations
        self._failures = failures
        size = None if self._domain.points is None else len(self._domain.points)
        parameters = len(blocks_of(self._domain))
        if cheap and initial_capital is None:
            self._counts = list(cheap_counts(self._costs, parameters, size))
        else:
            self._counts = list(initial_counts(self._costs, problem.capital, initial_capital, parameters, size))
        self._drawn = [0] * len(self._used)
        self._issued: list[list[Array]] = [[] for _ in self._used]
        self._draws: list[list[int]] = [[] for _ in self._used]  # which points of the stream these are
        self._unasked = [0] * len(self._used)
        self.complete = False

    def next(self, view: View, pending: Sequence[Query]) -> Suggestion | None:
        """The next query of the design; None when it is complete, or its rest cannot be paid."""
        for k, size in enumerate(self._counts):
            # The last target query is never left to chance, whatever the fidelity of this one.
            if self._left(k) and self._costs[k] + self._costs[-1] <= view.remaining:
                drawn = self._draw(k, pending)
                if drawn is not None:
                    text = f"point {len(self._issued[k]) + 1} of {size - self._unasked[k]} at this fidelity"
                    return self._suggest(drawn, k, view.t, text)
                self._counts[k] = 0
        self.complete = not any(self._left(k) for k in range(len(self._used)))
        return None

    def another(self, k: int, view: View, pending: Sequence[Query], text: str) -> Suggestion:
        """One more uniform point at position k, beyond the design."""
        drawn = self._draw(k, pending)
        if drawn is None:
            raise Exhausted("every point of the finite set has been queried", "points")
        return self._suggest(drawn, k, view.t, text)

    def count(self, record: Record, k: int) -> None:
        """Count a value that nobody asked for at position k."""
        if record.y is not None and not record.asked:
            self._unasked[k] += 1

    def has_issued(self, u: Array, k: int) -> bool:
        """Whether this point was asked for by the design."""
        points = self._issued[k]
        return bool(points) and bool(self._observations.same(np.array(points), u).any())

    def _left(self, k: int) -> bool:
        """Whether position k has points still to be asked for."""
        return len(self._issued[k]) < self._counts[k] - self._unasked[k]

    def restore(self, state: object) -> None:
        """Take up the state that another design of the same problem has told."""
        super().restore(state)
        self._issued = [[self._point(k, i) for i in draws] for k, draws in enumerate(self._draws)]

    def _point(self, k: int, i: int) -> Array:
        return initial_point(self._domain, self._seed, self._used[k], i)

    def _draw(self, k: int, pending: Sequence[Query]) -> tuple[Array, int] | None:
        """The next uniform point for position k and its number in the stream; None when a finite set has no fresh one.

        Once evaluations have failed: the first of _CHOICE that is not likely to fail, or the least likely of them.
        """
        drawn = self._draw_fresh(k, pending)
        if drawn is None or self._observations.failed == 0:
            return drawn
        best, least = drawn, inf
        for _ in range(_CHOICE):
            excess = float(self._failures.excess(drawn[0][None], [k])[0, 0])
            if excess < least:
                best, least = drawn, excess
            if least == 0.0:
                break
            drawn = self._draw_fresh(k, pending)
            if drawn is None:
                break
        return best

    def _draw_fresh(self, k: int, pending: Sequence[Query]) -> tuple[Array, int] | None:
        """The next uniform point for position k, on a finite set one that needs a query."""
        observations = self._observations
        finite = self._domain.points is not None
        taken = observations.finished_rows(k, pending) if finite else np.empty(0, dtype=np.bool_)
        for _ in range(_TRIES):
            i = self._drawn[k]
            u = self._point(k, i)
            self._drawn[k] += 1
            if not (taken[observations.rows_of([u])[0]] if finite else observations.is_taken(u, k, pending)):
                return u, i
        return None

    def _suggest(self, drawn: tuple[Array, int], k: int, t: int, text: str) -> Suggestion:
        u, i = drawn
        self._issued[k].append(u)
        self._draws[k].append(i)
        return Suggestion(u, self._used[k], Reason("initial design", text, self._used[k], t))
