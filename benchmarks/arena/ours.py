"""The strategies of mfopt as methods of the arena."""

from __future__ import annotations

import mfopt
from arena.problem import Meter, OutOfCapital


def run(meter: Meter, seed: int, strategy: str) -> None:
    """Spend the meter's capital by this strategy."""
    problem = meter.problem
    optimizer = mfopt.Optimizer(
        problem.domain, problem.costs, strategy=strategy, capital=meter.capital * problem.costs[-1], rng=seed
    )
    try:
        while not optimizer.done:
            trial = optimizer.ask()
            optimizer.tell(trial, meter.query(trial.params, trial.fidelity))
    except OutOfCapital:
        return
