"""A problem of the arena, and the meter that counts what a method spends on it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mfopt.protocols import Domain

Params = dict[str, Any]
MARKS = (5.0, 10.0, 20.0, 50.0)  # where runs are compared, in units of the target's cost
_ROUNDING = 1 + 1e-9


@dataclass(frozen=True)
class Problem:
    """`evaluate(params, fidelity)` is to be maximised at the last fidelity; NaN means that the evaluation failed.

    optimum     the maximum, known or the best that a long search found
    resumable   a point that was evaluated at a lower fidelity is charged only for the rest, as a training run that goes
                on from its last epoch
    noise       standard deviation of what the meter adds to every value; `evaluate` itself has none
    charge      what a query costs, where that depends on the point; `costs` are then the means over X
    """

    name: str
    domain: Domain
    evaluate: Callable[[Params, int], float]
    costs: tuple[float, ...]
    optimum: float
    resumable: bool = False
    noise: float = 0.0
    charge: Callable[[Params, int], float] | None = None


class OutOfCapital(Exception):
    """The capital does not pay for this query."""


@dataclass
class Meter:
    """Evaluates `problem` for a method until `capital`, in units of the target's cost, is spent.

    recommend     set by a method that recommends points, and called whenever spending passes a mark; it returns None
                  while there is no value to go by
    trace         for every target query that had a value: what had been spent after it, in units of the target's cost,
                  the value told, and the value without noise
    recommended   by mark: the target's value, without noise, at the point recommended with what was known then
    """

    problem: Problem
    capital: float
    seed: int = 0
    spent: float = 0.0
    recommend: Callable[[], Params | None] | None = None
    trace: list[tuple[float, float, float]] = field(default_factory=list)
    recommended: dict[float, float] = field(default_factory=dict)
    _paid: dict[tuple[Any, ...], float] = field(default_factory=dict)
    _passed: set[float] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng([self.seed, 77])

    @property
    def top(self) -> int:
        return len(self.problem.costs) - 1

    def cost(self, params: Mapping[str, Any], fidelity: int) -> float:
        """What the query costs, in the problem's own unit."""
        full = self._full_cost(params, fidelity)
        if self.problem.resumable:
            return max(full - self._paid.get(_key(params), 0.0), 0.0)
        return full

    def query(self, params: Mapping[str, Any], fidelity: int) -> float:
        """The value, NaN if the evaluation failed; OutOfCapital if it cannot be paid."""
        after = self.spent + self.cost(params, fidelity) / self.problem.costs[-1]
        self._pass_marks(after)
        if after > self.capital * _ROUNDING:
            raise OutOfCapital
        self.spent = after
        self._paid[_key(params)] = max(self._paid.get(_key(params), 0.0), self._full_cost(params, fidelity))
        value = self.problem.evaluate(dict(params), fidelity)
        told = value + self.problem.noise * float(self._rng.standard_normal()) if self.problem.noise else value
        if fidelity == self.top and not math.isnan(value):
            self.trace.append((self.spent, told, value))
        return told

    def finish(self) -> None:
        """The method asks no more: what it recommends now counts for all marks that are left."""
        self._pass_marks(math.inf)

    def best_at(self, mark: float) -> float:
        """The target without noise at the point whose value was the best told within `mark`; −inf before the first."""
        within = [(told, value) for spent, told, value in self.trace if spent <= mark * _ROUNDING]
        return max(within)[1] if within else -math.inf

    def _full_cost(self, params: Mapping[str, Any], fidelity: int) -> float:
        charge = self.problem.charge
        return self.problem.costs[fidelity] if charge is None else charge(dict(params), fidelity)

    def _pass_marks(self, after: float) -> None:
        """Ask for a recommendation at every mark that this spending goes beyond."""
        for mark in MARKS:
            if mark * _ROUNDING < after and mark not in self._passed and mark <= self.capital * _ROUNDING:
                self._passed.add(mark)
                point = None if self.recommend is None else self.recommend()
                if point is not None:
                    self.recommended[mark] = self.problem.evaluate(dict(point), self.top)


def _key(params: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(sorted(params.items()))
