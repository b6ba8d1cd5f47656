"""The cycle that every method with models goes through; a method adds its own choice.

The fidelities in use are numbered by position k = 0..K−1; the last position is the target. An ask is

    1. the initial design, then random queries as long as no value at all is known
    2. the models, brought up to date with the values told
    3. the method's own choice

Capital: a query below the target is made only if λ_M can still be paid afterwards, so the last one payable is always a
target query.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from math import inf

from mfopt.errors import Exhausted, InputError
from mfopt.protocols import Problem, Query, Record, Suggestion, Surrogate, View
from mfopt_plugins.method.models import FidelityModels
from mfopt_plugins.strategies.base.initial import InitialDesign
from mfopt_plugins.strategies.base.search import Search
from mfopt_plugins.strategies.base.visited import Visited


class Cycle(ABC):
    """A strategy with one model per fidelity in use."""

    def __init__(self, initial_capital: float | None) -> None:
        if initial_capital is not None and not 0 <= initial_capital < inf:
            raise InputError(f"initial_capital must be finite and not negative, got {initial_capital}")
        self._initial_capital = initial_capital

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
        visited = Visited(len(used), domain.dim, domain.points)
        models = FidelityModels(
            self._surrogates(problem), problem.noises, used, domain.dim, problem.seed, coupled=self._couples()
        )
        self._design = InitialDesign(problem, used, visited, self._initial_capital)
        self._problem = problem
        self._used = used
        self._costs = [problem.costs[m] for m in used]
        self._visited = visited
        self._models = models
        self._search = Search(problem, models, visited)

    def ask(self, view: View) -> Suggestion:
        """The next query. Raises Exhausted when no useful query is left."""
        if view.remaining < self._costs[-1]:
            raise Exhausted(
                f"a target query must be payable, it costs {self._costs[-1]}, got {view.remaining} remaining", "capital"
            )
        pending = [q for q in view.pending if q.fidelity in self._used]
        initial = self._design.next(view, pending)
        if initial is not None:
            return initial
        if self._needs_values() and not any(self._models.count(k) for k in range(len(self._used))):
            k = 0 if self._payable(0, view.remaining) else self._top
            return self._design.another(k, view, pending, "no value is known yet")
        self._learn(view)
        return self._choose(view, pending)

    def exhausted(self, pending: Sequence[Query]) -> bool:
        """Whether a finite set has no useful query left: its target, taken for noiseless, knows every point."""
        points = self._problem.domain.points
        if points is None or self._visited.asked_at(self._top) + len(pending) < len(points):
            return False
        if not self._models.noiseless(self._top):
            return False
        return bool(self._visited.finished(self._top, pending, self._used[self._top]).all())

    def tell(self, record: Record) -> None:
        """Learn the outcome of a query, or data that nobody asked for, in the order told."""
        if record.fidelity not in self._used:
            return
        k = self._used.index(record.fidelity)
        self._models.add(record)
        self._design.told(record, k)
        self._visited.add(record.u, k, record.y)

    @property
    def _top(self) -> int:
        """The target's position."""
        return len(self._used) - 1

    def _payable(self, k: int, remaining: float) -> bool:
        """Whether a query at position k leaves enough for a target query (the target itself need not)."""
        reserve = 0.0 if k == self._top else self._costs[-1]
        return self._costs[k] + reserve <= remaining
