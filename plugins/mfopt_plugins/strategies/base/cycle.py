"""The cycle that every method with models goes through; a method adds its own choice.

The fidelities in use are numbered by position k = 0..K−1; the last position is the target. An ask is

    1. the initial design, then random queries as long as no value at all is known
    2. the models, brought up to date with the values told
    3. the method's own choice

The method's own choice looks for its point with Search: the maximum of an acquisition over X, away from where
evaluations fail (method/failures.py) and from points that need no second look.

Capital: a query below the target is made only if λ_M can still be paid afterwards, so the last one payable is always a
target query.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from math import inf

import numpy as np

from mfopt.errors import Exhausted, InputError
from mfopt.hooks import with_defaults
from mfopt.protocols import Acquisition, Array, BoolArray, Problem, Query, Record, Suggestion, Surrogate, View
from mfopt_plugins.method.failures import FailureModel
from mfopt_plugins.method.models import FidelityModels
from mfopt_plugins.method.observations import Observations
from mfopt_plugins.strategies.base.avoid import Avoiding, find_elsewhere
from mfopt_plugins.strategies.base.initial import InitialDesign

SAMPLE = 64  # points of X at which the range of an acquisition is looked at


class Cycle(ABC):
    """A strategy that models the fidelities it uses."""

    initial_capital: float | None

    @abstractmethod
    def fidelities(self, count: int) -> tuple[int, ...]:
        """The fidelities that the method uses, of a problem with `count` of them; the target is the last."""

    @abstractmethod
    def _choose(self, view: View, pending: Sequence[Query]) -> Suggestion:
        """The method's own choice, with models that are up to date."""

    def _surrogates(self, problem: Problem) -> Sequence[Surrogate]:
        """One surrogate per fidelity of the problem."""
        return problem.surrogates

    def _learn(self, view: View) -> None:
        """Bring the models up to date with the values told."""
        self._models.update()

    def _couples(self) -> bool:
        """Whether a surrogate that can is to model all fidelities as one process."""
        return False

    def _needs_values(self) -> bool:
        """Whether the method cannot choose before a value is known."""
        return True

    def start(self, problem: Problem) -> None:
        """Called once, before the first ask."""
        domain, used = problem.domain, self.fidelities(len(problem.costs))
        self._problem = problem
        self._used = used
        self._top = len(used) - 1  # the target's position
        self._costs = [problem.costs[m] for m in used]
        self._observations = Observations(used, domain)
        self._models = FidelityModels(
            self._surrogates(problem),
            problem.noises,
            self._observations,
            domain.dim,
            problem.seed,
            coupled=self._couples(),
        )
        self._failures = FailureModel(self._observations, self._costs, domain.dim)
        self._design = InitialDesign(problem, self._observations, self._failures, self.initial_capital)
        self._search = Search(problem, self._models, self._failures)

    def ask(self, view: View) -> Suggestion:
        """The next query. Raises Exhausted when no useful query is left."""
        if view.remaining < self._costs[-1]:
            raise Exhausted(
                f"a target query must be payable, it costs {self._costs[-1]}, got {view.remaining} remaining", "capital"
            )
        pending = [q for q in view.pending if q.fidelity in self._used]
        if self._observations.failed == 0:
            return self._suggest_next(view, pending)
        self._failures.update()
        suggestion = self._suggest_next(view, pending)
        k = self._used.index(suggestion.fidelity)
        chance = float(self._failures.probability(suggestion.u[None], k)[0])
        return replace(suggestion, reason=replace(suggestion.reason, failure=chance))

    def _suggest_next(self, view: View, pending: Sequence[Query]) -> Suggestion:
        """The next query; a reason that does not speak of failures yet."""
        if not self._design.complete:
            initial = self._design.next(view, pending)
            if initial is not None:
                return initial
        if self._needs_values() and not any(self._observations.counts):
            k = self._position_without_values(view)
            return self._design.another(k, view, pending, "no value is known yet")
        self._learn(view)
        return self._choose(view, pending)

    def _position_without_values(self, view: View) -> int:
        """Where to ask while no value is known: the position on which failures have cost least."""
        failed = [k for _, k in self._observations.failures()]
        payable = [k for k in range(self._top + 1) if self._can_pay(k, view.remaining)]
        return min(payable, key=lambda k: self._costs[k] * (1 + failed.count(k)))

    def exhausted(self, pending: Sequence[Query]) -> bool:
        """Whether a finite set has no useful query left: its target, taken for noiseless, knows every point."""
        return self._observations.all_finished(self._top, pending) and self._models.is_noiseless(self._top)

    def tell(self, record: Record) -> None:
        """Learn the outcome of a query, or data that nobody asked for, in the order told."""
        if record.fidelity in self._used:
            k = self._used.index(record.fidelity)
            self._design.count(record, k)
            self._observations.add(record.u, k, record.y, record.bound)

    def _can_pay(self, k: int, remaining: float) -> bool:
        """Whether a query at position k leaves enough for a target query (the target itself need not)."""
        reserve = 0.0 if k == self._top else self._costs[-1]
        return self._costs[k] + reserve <= remaining


class Search:
    """Looks for the next query at a position k of the fidelities in use.

    The acquisition is lowered where a query at position k or at the target is likely to fail, or at a cheaper one that
    fails where the target does. Where position k is noiseless no point is queried there twice: the next best is taken.
    Nor is one that has just failed.
    """

    def __init__(self, problem: Problem, models: FidelityModels, failures: FailureModel) -> None:
        self._domain = problem.domain
        self._points = problem.domain.points  # None: X is not finite
        self._maximiser = problem.maximiser
        self._models = models
        self._failures = failures
        self._observations = models.observations

    def point(
        self,
        acquisition: Acquisition,
        k: int,
        view: View,
        pending: Sequence[Query],
        depth: float,
        hope: float | None = None,
    ) -> Array:
        """The best point that is worth a query at position k."""
        return self.point_and_value(acquisition, k, view, pending, depth, hope)[0]

    def point_and_value(
        self,
        acquisition: Acquisition,
        k: int,
        view: View,
        pending: Sequence[Query],
        depth: float,
        hope: float | None = None,
    ) -> tuple[Array, float]:
        """The same with the value of the acquisition, lowered where queries fail."""
        u, lowered = self.maximum(acquisition, k, view, pending, depth, hope)
        if self.is_needless(u, k, pending):
            u = self.find_fresh(lowered, u, k, view, pending)
        return u, float(lowered(u[None])[0])

    def maximum(
        self,
        acquisition: Acquisition,
        k: int,
        view: View,
        pending: Sequence[Query],
        depth: float,
        hope: float | None = None,
    ) -> tuple[Array, Acquisition]:
        """The best point, and the acquisition as it was maximised: lowered where queries fail.

        It is lowered in units of `depth`, or of its own range where that is larger; with `hope` see method/failures.py.

        On a finite set this point is fresh at position k; on a box see `is_needless`, and `find_fresh` for another.
        """
        if self._observations.failed > 0:
            top = len(self._models.used) - 1
            positions = sorted({k, top, *(j for j in range(top) if self._failures.tells(j))})
            depth = max(depth, float(np.ptp(acquisition(self._domain.sample(SAMPLE, view.rng)))))
            flukes = [(u, age) for u, j, age in self._observations.recent_failures() if self._is_fluke(u, j)]
            acquisition = Avoiding(acquisition, self._failures, positions, flukes, depth, hope)
        if self._points is not None:
            avoid = self._find_avoided(k, pending)
            if avoid.all():
                raise Exhausted("every point of the finite set has been queried", which="points")
            return np.array(self._points[with_defaults(acquisition).argmax(self._points, avoid)]), acquisition
        return self._maximiser.maximise(acquisition, self._domain, view.rng, view.t), acquisition

    def is_needless(self, u: Array, k: int, pending: Sequence[Query]) -> bool:
        """Whether a query of this point at position k would tell nothing new."""
        if self._models.is_noiseless(k) and self._observations.is_taken(u, k, pending):
            return True
        return bool(self._observations.same(self._observations.just_failed(k), u).any())

    def _is_fluke(self, u: Array, k: int) -> bool:
        """Whether a failure of this point at position k is still a surprise."""
        return not self._failures.is_likely(u, k)

    def find_fresh(self, acquisition: Acquisition, u: Array, k: int, view: View, pending: Sequence[Query]) -> Array:
        """A good point of a box near u that was not queried at position k; u itself on a finite set."""
        if self._points is not None:
            return u
        return find_elsewhere(acquisition, self._domain, u, self._observations.queried_points(k, pending), view.rng)

    def _find_avoided(self, k: int, pending: Sequence[Query]) -> BoolArray:
        """The points of a finite set that are no candidates for a query at position k."""
        avoid = np.zeros(0 if self._points is None else len(self._points), dtype=np.bool_)
        if self._models.is_noiseless(k):
            avoid |= self._observations.finished_rows(k, pending)
        failed = avoid.copy()
        failed[self._observations.rows_of([u for u, _, _ in self._observations.recent_failures()])] = True
        # Where only failed points are left they are tried again.
        return avoid if failed.all() else failed


def check_initial_capital(given: float | None) -> float | None:
    """Λ₀ as an option of a strategy."""
    if given is not None and not 0 <= given < inf:
        raise InputError(f"initial_capital must be finite and not negative, got {given}")
    return given
