"""What mf-naive and mf-naive-random share: many queries at the first fidelity, then the target where they were best.

The paper limits the first part to "max(Λ/(2λ₁), 500)" queries and explains: "The 500 limit was set to avoid unnecessary
computation -- for all of these problems, 500 queries are not required to find the maximum." A maximum would be no limit
at all, and with Λ/(2λ₁) < 500 it could cost more than Λ. So the smaller of the two is meant and taken here; without a
capital it is 500.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from math import floor, inf
from typing import Any

import numpy as np

from mfopt.errors import Exhausted, InputError
from mfopt.hooks import KeepsState
from mfopt.protocols import Array, Problem, Record, Strategy, Suggestion, View
from mfopt.run.reason import Reason
from mfopt_plugins.method.kept import count, mapping
from mfopt_plugins.strategies.random_search import RandomSearch

LIMIT = 500


class NaiveStrategy(ABC):
    """A method `first` on the problem of the first fidelity alone, then the target in decreasing order of f⁽¹⁾.

    Where every such point was a target query and there is capital left, the first method goes on, each of its points
    followed by a target query. Without any value of the first fidelity the target is queried at random. With one
    fidelity there is nothing to transfer: it is the first method, for all the capital.
    """

    def __init__(self, limit: int) -> None:
        if limit < 1:
            raise InputError(f"limit must be at least 1, got {limit}")
        self._limit = limit

    @abstractmethod
    def _first(self, problem: Problem) -> Strategy:
        """The method for the first fidelity, not started."""

    def start(self, problem: Problem) -> None:
        """Called once, before the first ask."""
        self._target = len(problem.costs) - 1
        cheap = problem.costs[0]
        if problem.capital is None:
            self._budget = self._limit
        else:
            self._budget = max(1, min(floor(problem.capital / (2 * cheap)), self._limit))
        inner = self._first(problem)
        capital = problem.capital if self._target == 0 else self._budget * cheap
        inner.start(
            replace(
                problem,
                costs=problem.costs[:1],
                zetas=(0.0,),
                noises=problem.noises[:1],
                surrogates=problem.surrogates[:1],
                capital=capital,
            )
        )
        self._random = RandomSearch()
        self._random.start(problem)
        self._inner = inner
        self._asked = 0
        self._points: dict[bytes, tuple[Array, list[float]]] = {}  # of the first fidelity, in the order told
        self._done: set[bytes] = set()  # points that the target was asked for

    def ask(self, view: View) -> Suggestion:
        """The next query. Raises Exhausted when no useful query is left."""
        if self._target == 0:
            return self._inner.ask(view)
        if self._asked < self._budget:
            suggestion = self._ask_first(view, (self._budget - self._asked) * view.costs[0])
            if suggestion is not None:
                return suggestion
        pending = {q.u.tobytes() for q in view.pending if q.fidelity == self._target}
        waiting = [key for key in self._points if key not in self._done and key not in pending]
        if waiting:
            key = max(waiting, key=lambda key: float(np.mean(self._points[key][1])))
            text = f"the best of {len(waiting)} points of fidelity 0 that the target has not seen"
            reason = Reason("decreasing order of the first fidelity", text, self._target, view.t)
            return Suggestion(self._points[key][0], self._target, reason)
        return self._ask_first(view, inf) or self._random.ask(view)

    def tell(self, record: Record) -> None:
        """Learn the outcome of a query, or data that nobody asked for, in the order told."""
        if record.fidelity == 0:
            self._inner.tell(record)
            if record.y is not None:
                self._points.setdefault(record.u.tobytes(), (record.u, []))[1].append(record.y)
        self._random.tell(record)
        if record.fidelity == self._target:
            self._done.add(record.u.tobytes())

    def state(self) -> dict[str, Any] | None:
        """All that later asks depend on, beyond what was told; None where the first method cannot tell its own."""
        inner = self._inner.state() if isinstance(self._inner, KeepsState) else None
        return None if inner is None else {"asked": self._asked, "inner": inner, "random": self._random.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on as the strategy does that told this state."""
        given = mapping(state, "asked", "inner", "random")
        if not isinstance(self._inner, KeepsState):
            raise ValueError("the first method must be able to be restored, got one that is not")
        self._asked = count(given["asked"])
        self._inner.restore(given["inner"])
        self._random.restore(given["random"])

    def _ask_first(self, view: View, remaining: float) -> Suggestion | None:
        """A query of the first fidelity; None when it has none, or a target query could not be paid afterwards."""
        if view.costs[0] + view.costs[-1] > view.remaining:
            return None
        pending = tuple(q for q in view.pending if q.fidelity == 0)
        try:
            suggestion = self._inner.ask(replace(view, remaining=remaining, pending=pending, costs=view.costs[:1]))
        except Exhausted:
            return None
        self._asked += 1
        return suggestion
