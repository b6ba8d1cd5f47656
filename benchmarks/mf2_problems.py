"""The functions of the mf2 package (github.com/sjvrijn/mf2) as problems; mf2 is not a dependency of mfopt.

    pip install mf2 'setuptools<81'
    cd benchmarks
    mfopt bench run --problems mf2_problems.problem:name=branin mf2_problems.adjusted:name=paciorek,a=0.5

mf2's functions are to be minimised; a problem's functions are their negatives. With maximise=True they are taken as
they are. Optima are found numerically. Costs are 1, 10, … unless given.
"""

from __future__ import annotations

import warnings
from functools import lru_cache
from typing import Any

import numpy as np

from mfopt import Box
from mfopt.problems import Benchmark
from mfopt.problems._search import maximum

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it imports pkg_resources
    import mf2

NAMES = (
    "bohachevsky", "booth", "borehole", "branin", "currin", "forrester", "hartmann6", "himmelblau", "park91a",
    "park91b", "six_hump_camelback",
)  # fmt: skip


@lru_cache
def problem(name: str, maximise: bool = False) -> Benchmark:
    """One of NAMES."""
    if name not in NAMES:
        raise ValueError(f"name must be one of {', '.join(NAMES)}, got {name!r}")
    return _benchmark(f"mf2 {name}", getattr(mf2, name), maximise)


@lru_cache
def adjusted(name: str, a: float, maximise: bool = False) -> Benchmark:
    """An adjustable function: branin, paciorek, hartmann3 or trid, whose cheap fidelity depends on a in [0, 1]."""
    return _benchmark(f"mf2 {name} {a:g}", getattr(mf2.adjustable, name)(a), maximise)


def _benchmark(name: str, function: Any, maximise: bool) -> Benchmark:
    domain = Box(list(zip(function.l_bound.tolist(), function.u_bound.tolist(), strict=True)))
    functions = [_signed(one, 1.0 if maximise else -1.0) for one in reversed(function.functions)]  # cheap first
    target = functions[-1]

    def height(u: np.ndarray) -> np.ndarray:
        return target(domain.decode(np.clip(u, 0, 1)))

    def gap(one: Any) -> Any:
        return lambda u: np.abs(one(domain.decode(np.clip(u, 0, 1))) - height(u))

    u, optimum = maximum(height, domain.dim, 12 * domain.dim)
    zetas = [maximum(gap(one), domain.dim, 6 * domain.dim)[1] for one in functions[:-1]]
    costs = [10.0**m for m in range(len(functions))]
    return Benchmark(name, functions, domain, costs, optimum, domain.decode(u[None])[0], [*zetas, 0.0])


def _signed(one: Any, sign: float) -> Any:
    def function(x: np.ndarray) -> np.ndarray:
        points = np.asarray(x, dtype=np.float64)
        values = sign * np.asarray(one(np.atleast_2d(points)), dtype=np.float64).reshape(-1)
        return values if points.ndim == 2 else values[0]

    return function
