"""The initial design in ask/tell: which uniform random points are still to be asked for (method/design.py)."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

import numpy as np

from mfopt.errors import Exhausted
from mfopt.hooks import blocks_of
from mfopt.protocols import SAME, Array, BoolArray, Problem, Query, Record, Suggestion, View
from mfopt.run.reason import Reason
from mfopt_plugins.method.design import cheap_counts, initial_counts, initial_point
from mfopt_plugins.method.failures import FailureModel
from mfopt_plugins.method.kept import Kept, array, count, fields, flag, many
from mfopt_plugins.method.observations import Observations, apart

_TRIES = 1000  # draws for a point that was not queried before, on a finite set
_CHOICE = 30  # draws among which the point least likely to fail is chosen


class InitialDesign(Kept):
    """Uniform points for the fidelities in use, by position k; values that nobody asked for take the place of some.

    `costs`, by position, may change: `reconsider` is called when they have. `distinct`: no two points of a box are near
    copies. `reserved`: λ_M is left for a last target query, which is not to be left to chance.
    `complete` is True once no query of it is left, whatever the capital pays for.
    """

    kept = fields(
        complete=flag,
        _counts=many(count),
        _drawn=many(count),
        _draws=many(many(lambda value: array(value) if isinstance(value, np.ndarray) else count(value))),
        _unasked=many(count),
    )

    def __init__(
        self,
        problem: Problem,
        costs: Sequence[float],
        observations: Observations,
        failures: FailureModel,
        initial_capital: float | None,
        cheap: bool,
        promoted: bool,
        distinct: bool,
        reserved: bool,
    ) -> None:
        self._domain, self._seed = problem.domain, problem.seed
        self._used = observations.used
        self._costs = costs
        self._observations = observations
        self._failures = failures
        self._capital, self._initial_capital, self._cheap = problem.capital, initial_capital, cheap
        self._promoted = promoted and cheap and initial_capital is None
        self._distinct = distinct
        self._reserved = reserved
        self._counts = self._count_points()
        self._drawn = [0] * len(self._used)
        self._issued: list[list[Array]] = [[] for _ in self._used]
        self._draws: list[list[int | Array]] = [[] for _ in self._used]  # their numbers in the stream, or themselves
        self._unasked = [0] * len(self._used)
        self.complete = False

    def _count_points(self) -> list[int]:
        """How many points each position gets."""
        size = None if self._domain.points is None else len(self._domain.points)
        parameters = len(blocks_of(self._domain))
        if self._cheap and self._initial_capital is None:
            return list(cheap_counts(self._costs, parameters, size))
        return list(initial_counts(self._costs, self._capital, self._initial_capital, parameters, size))

    def reconsider(self) -> None:
        """Plan what is still to be asked for anew, with costs that have changed; a complete design stays complete."""
        if not self.complete:
            self._counts = self._count_points()

    def next(self, view: View, pending: Sequence[Query]) -> Suggestion | None:
        """The next query of the design; None when it is complete, or its rest cannot be paid."""
        reserve = self._costs[-1] if self._reserved else 0.0
        for k, size in enumerate(self._counts):
            if self._left(k) and self._costs[k] + reserve <= view.remaining:
                best = self._find_best_below(k)
                if best is not None:
                    return self._suggest((best, None), k, view.t, "the best point of the cheapest fidelity")
                drawn = self._draw(k, pending)
                if drawn is not None:
                    text = f"point {len(self._issued[k]) + 1} of {size - self._unasked[k]} at this fidelity"
                    return self._suggest(drawn, k, view.t, text)
                self._counts[k] = 0
        self.complete = not any(self._left(k) for k in range(len(self._used)))
        return None

    def _find_best_below(self, k: int) -> Array | None:
        """The best point of the cheapest fidelity for the target's query in a cheap design; None: one by chance.

        A training run is continued where it began well. Where it was begun elsewhere, or has failed, chance decides.
        """
        if not self._promoted or k == 0 or len(self._observations.queried_points(k)):
            return None
        points, values = self._observations.worked(0)
        return points[int(np.argmax(values))].copy() if len(values) else None

    def another(self, k: int, view: View, pending: Sequence[Query], text: str) -> Suggestion:
        """One more uniform point at position k, which has no value yet, beyond the design.

        As long as all queries of a fidelity fail nothing tells where they work, but it is hardly where they failed: of
        _CHOICE draws the one farthest from all of them is taken.
        """
        drawn = self._draw_away(k, pending) or self._pick_left(k, pending, view.rng)
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
        self._issued = [
            [self._point(k, one) if isinstance(one, int) else one for one in draws]
            for k, draws in enumerate(self._draws)
        ]

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

    def _draw_away(self, k: int, pending: Sequence[Query]) -> tuple[Array, int] | None:
        """A uniform point for position k far from all that was asked there; None when a finite set has no fresh one."""
        asked = self._observations.queried_points(k, pending)
        if len(asked) == 0:
            return self._draw(k, pending)
        draws = [drawn for drawn in (self._draw_fresh(k, pending) for _ in range(_CHOICE)) if drawn is not None]
        return max(draws, key=lambda drawn: float(np.abs(asked - drawn[0]).max(axis=1).min()), default=None)

    def _draw_fresh(self, k: int, pending: Sequence[Query]) -> tuple[Array, int] | None:
        """The next uniform point for position k, on a finite set one that needs a query, elsewhere none that nearly
        copies another, if X has room.
        """
        observations = self._observations
        finite = self._domain.points is not None
        taken = self._taken_rows(k, pending) if finite else np.empty(0, dtype=np.bool_)
        if finite and taken.all():
            return None
        others = observations.queried_points(k, pending)
        for tried in range(_TRIES):
            i = self._drawn[k]
            u = self._point(k, i)
            self._drawn[k] += 1
            if finite:
                fresh = not taken[observations.rows_of([u])[0]]
            else:
                reach = apart(len(others)) if self._distinct and tried < _CHOICE else SAME
                fresh = not (np.abs(others - u).max(axis=1) <= reach).any()
            if fresh:
                return u, i
        return None

    def _pick_left(self, k: int, pending: Sequence[Query], rng: np.random.Generator) -> tuple[Array, None] | None:
        """Any point of a finite set that needs a query at position k, where draws have found none; None without."""
        if self._domain.points is None:
            return None
        left = np.flatnonzero(~self._taken_rows(k, pending))
        return (self._domain.points[rng.choice(left)].copy(), None) if len(left) else None

    def _taken_rows(self, k: int, pending: Sequence[Query]) -> BoolArray:
        """Which rows of a finite set need no query at position k; one that just failed waits while there are others."""
        finished = self._observations.finished_rows(k, pending)
        waiting = finished.copy()
        waiting[self._observations.rows_of(self._observations.just_failed(k))] = True
        return finished if waiting.all() else waiting

    def _suggest(self, drawn: tuple[Array, int | None], k: int, t: int, text: str) -> Suggestion:
        u, i = drawn
        self._issued[k].append(u)
        self._draws[k].append(u if i is None else i)
        return Suggestion(u, self._used[k], Reason("initial design", text, self._used[k], t))
