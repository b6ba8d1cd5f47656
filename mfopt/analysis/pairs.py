"""Pairs: values of several fidelities at common points."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from mfopt.checks import one_each, real_number, show
from mfopt.domains.params import argument_of, params_of
from mfopt.errors import InputError
from mfopt.protocols import Array, Domain
from mfopt.theory._checks import require_increasing

REPEATS = 3  # points evaluated twice, for the noise


@dataclass(frozen=True)
class Pairs:
    """Values by fidelity at common points, NaN where there is none; repeats; what each evaluation cost."""

    x: Array  # (n, d), user units
    y: Array  # (M, n)
    repeats: list[list[Array]]  # by fidelity, groups of values at one point
    costs: list[Array]  # by fidelity

    def prices(self, costs: Sequence[float] | None) -> list[Array]:
        """By fidelity the costs seen, or the one given."""
        if costs is not None:
            given = [real_number(c, "each of costs") for c in one_each(costs, len(self.y), "costs")]
            require_increasing(given)
            return [np.array([cost]) for cost in given]
        if any(len(seen) == 0 for seen in self.costs):
            raise InputError("costs must be given where the history does not tell them, got None")
        return self.costs


def evaluate_pairs(functions: Sequence[Any], domain: Domain, count: int, rng: np.random.Generator) -> Pairs:
    """Evaluate every function at `count` random points of X, the first of them twice."""
    if len(functions) < 2 or not all(callable(f) for f in functions):
        raise InputError(f"functions must be at least two callables, cheapest first, got {show(functions)}")
    x = domain.decode(domain.sample(count, rng))
    y = np.empty((len(functions), len(x)))
    repeats: list[list[Array]] = [[] for _ in functions]
    seconds: list[list[float]] = [[] for _ in functions]
    for m, function in enumerate(functions):
        for i, point in enumerate(x):
            values = []
            for _ in range(2 if i < REPEATS else 1):
                start = time.perf_counter()
                value = function(argument_of(domain, point))
                seconds[m].append(time.perf_counter() - start)
                values.append(real_number(value, f"the value of function {m} at {params_of(domain, point)}"))
            y[m, i] = np.mean(values)
            if len(values) > 1:
                repeats[m].append(np.array(values))
    return Pairs(x, y, repeats, [np.array(s) for s in seconds])


def collect_pairs(history: Any) -> Pairs:
    """The values of a history, or of any object with its columns x, fidelity and y, and cost where it is known."""
    try:
        points, fidelity, values = history.x, history.fidelity, history.y
    except AttributeError:
        raise InputError(
            f"data must be a list of functions or a history with x, fidelity and y, got {show(history)}"
        ) from None
    points, fidelity, values = (np.asarray(column) for column in (points, fidelity, values))
    keep = np.isfinite(values)
    points, fidelity, values = np.array(points[keep], dtype=np.float64) + 0.0, fidelity[keep], values[keep]
    fidelities = int(fidelity.max(initial=0)) + 1
    if fidelities < 2:
        raise InputError(f"a history must hold values of at least two fidelities, got {fidelities}")
    # What does not count is NaN, which equals nothing; no user unit is infinite.
    x, row = np.unique(np.where(np.isnan(points), np.inf, points), axis=0, return_inverse=True)
    x[np.isinf(x)] = nan
    row = row.reshape(-1)
    y = np.full((fidelities, len(x)), nan)
    repeats: list[list[Array]] = [[] for _ in range(fidelities)]
    for m in range(fidelities):
        for i in np.unique(row[fidelity == m]):
            here = values[(fidelity == m) & (row == i)]
            y[m, i] = here.mean()
            if len(here) > 1:
                repeats[m].append(here)
    spent = np.asarray(getattr(history, "cost", np.zeros(len(keep))), dtype=np.float64)[keep]
    return Pairs(x, y, repeats, [spent[(fidelity == m) & (spent > 0)] for m in range(fidelities)])
