"""Problems of other groups with noise, of a tenth of the target's range, in every value. What counts is f itself."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from arena import simulators, synthetic
from arena.problem import Problem
from mfopt.domains.params import params_of

LEVEL = 0.1  # standard deviation, in units of the range
_QUIET: dict[str, Callable[[], Problem]] = {
    **{name: lambda name=name: synthetic.paper(name) for name in ("currin", "hartmann3")},
    **{
        name: lambda name=name: synthetic.misleading(name)
        for name in ("branin-scaled", "camel-near-only", "forrester-tilted", "levy-moved")
    },
    **{name: lambda name=name: simulators.simulator(name) for name in ("reactor", "stock")},
}
NAMES = tuple(f"noisy-{name}" for name in _QUIET)


def noisy(name: str) -> Problem:
    """The problem of this name."""
    quiet = _QUIET[name.removeprefix("noisy-")]()
    return dataclasses.replace(quiet, name=name, noise=LEVEL * _range(quiet))


def _range(problem: Problem) -> float:
    """From the 5 % quantile to the 95 % quantile of the target at 200 random points."""
    points = problem.domain.decode(problem.domain.sample(200, np.random.default_rng(0)))
    values = [problem.evaluate(params_of(problem.domain, x), len(problem.costs) - 1) for x in points]
    low, high = np.nanquantile(values, [0.05, 0.95])
    return float(high - low)
