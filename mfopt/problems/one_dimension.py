"""One dimension, two fidelities: the functions of the step-by-step illustration.

The paper draws its functions without giving formulas. These have two hills, which the cheap fidelity makes more alike
than they are.
"""

from __future__ import annotations

import numpy as np

from mfopt.domains.box import Box
from mfopt.problems.benchmark import Benchmark, by_rows
from mfopt.protocols import Array


@by_rows
def _high(x: Array) -> Array:
    hills = np.exp(-(((x - 0.7) / 0.12) ** 2)) + 0.7 * np.exp(-(((x - 0.25) / 0.11) ** 2))
    return np.asarray(hills[:, 0] + 0.08 * np.sin(14 * x[:, 0]))


@by_rows
def _low(x: Array) -> Array:
    return np.asarray(_high(x) + 0.15 * np.cos(9 * (x[:, 0] - 0.2)))


def illustration() -> Benchmark:
    """Two hills on [0, 1], with costs 1 and 10."""
    return Benchmark(
        name="illustration",
        functions=[_low, _high],
        domain=Box([(0.0, 1.0)]),
        costs=[1.0, 10.0],
        optimum=0.974752353127322,
        argmax=np.array([0.6921861480809551]),
        zetas=[0.15, 0.0],
    )
