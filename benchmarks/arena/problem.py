"""A problem of the arena, and the meter that counts what a method spends on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mfopt.protocols import Domain

Params = dict[str, Any]


@dataclass(frozen=True)
class Problem:
    """`evaluate(params, fidelity)` is to be maximised at the last fidelity.

    `optimum` is its maximum, known or the best that a long search found. A problem that is `resumable` charges a point
    that was evaluated at a lower fidelity only for the rest, as a training run that goes on from its last epoch does.
    """

    name: str
    domain: Domain
    evaluate: Callable[[Params, int], float]
    costs: tuple[float, ...]
    optimum: float
    resumable: bool = False


class OutOfCapital(Exception):
    """The capital does not pay for this query."""


@dataclass
class Meter:
    """Evaluates `problem` for a method until `capital`, in units of the target's cost, is spent.

    trace    for every target query: what had been spent after it, in units of the target's cost, and its value
    """

    problem: Problem
    capital: float
    spent: float = 0.0
    trace: list[tuple[float, float]] = field(default_factory=list)
    _paid: dict[tuple[Any, ...], float] = field(default_factory=dict)

    @property
    def top(self) -> int:
        return len(self.problem.costs) - 1

    def price(self, params: Mapping[str, Any], fidelity: int) -> float:
        """What the query costs, in units of the target's cost."""
        cost = self.problem.costs[fidelity]
        if self.problem.resumable:
            cost = max(cost - self._paid.get(tuple(sorted(params.items())), 0.0), 0.0)
        return cost / self.problem.costs[-1]

    def query(self, params: Mapping[str, Any], fidelity: int) -> float:
        """The value; OutOfCapital if it cannot be paid."""
        price = self.price(params, fidelity)
        if self.spent + price > self.capital * (1 + 1e-9):
            raise OutOfCapital
        self.spent += price
        key = tuple(sorted(params.items()))
        self._paid[key] = max(self._paid.get(key, 0.0), self.problem.costs[fidelity])
        value = self.problem.evaluate(dict(params), fidelity)
        if fidelity == self.top:
            self.trace.append((self.spent, value))
        return value

    def best_at(self, mark: float) -> float:
        """The best target value within `mark`; −inf before the first."""
        return max((value for spent, value in self.trace if spent <= mark * (1 + 1e-9)), default=float("-inf"))
