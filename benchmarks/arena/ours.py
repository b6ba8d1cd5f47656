"""The strategies of mfopt as methods of the arena."""

from __future__ import annotations

import math
from typing import Any

import mfopt
from arena.problem import Meter, OutOfCapital, Params, Problem


def run(meter: Meter, seed: int, strategy: str) -> None:
    """Spend the meter's capital by this strategy."""
    optimizer = _optimizer(meter.problem, meter.capital, seed, strategy)
    meter.recommend = lambda: _recommend(optimizer)
    try:
        while not optimizer.done:
            _step(optimizer, meter, optimizer.ask())
    except OutOfCapital:
        return


def design(problem: Problem, capital: float, seed: int, strategy: str) -> list[tuple[Params, int]]:
    """The initial design of this strategy with this capital in λ_M, for methods that are to start from the same."""
    optimizer = _optimizer(problem, capital, seed, strategy)
    queries: list[tuple[Params, int]] = []
    meter = Meter(problem, capital)  # of its own: who uses the design pays for it
    while not optimizer.done:
        trial = optimizer.ask()
        if trial.reason.kind != "initial design":
            break
        queries.append((trial.params, trial.fidelity))
        _step(optimizer, meter, trial)
    return queries


def _optimizer(problem: Problem, capital: float, seed: int, strategy: str) -> mfopt.Optimizer:
    return mfopt.Optimizer(
        problem.domain, problem.costs, strategy=strategy, capital=capital * problem.costs[-1], rng=seed
    )


def _step(optimizer: mfopt.Optimizer, meter: Meter, trial: Any) -> None:
    """Evaluate the trial and tell its value, and its cost where the problem charges one of its own."""
    cost = None if meter.problem.charge is None else meter.cost(trial.params, trial.fidelity)
    value = meter.query(trial.params, trial.fidelity)
    if math.isnan(value):
        optimizer.tell(trial, status="failed", cost=cost)
    else:
        optimizer.tell(trial, value, cost=cost)


def _recommend(optimizer: mfopt.Optimizer) -> Params | None:
    try:
        return optimizer.recommend().params
    except mfopt.NoValue:
        return None
