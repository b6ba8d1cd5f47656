"""What a problem consists of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps

import numpy as np

from mfopt.domains.box import Box
from mfopt.protocols import Array

Function = Callable[[Array], Array]


@dataclass(frozen=True)
class Benchmark:
    """A problem whose optimum is known.

    A function takes rows (q, d) and gives (q,), or takes one point (d,) and gives a number.
    """

    name: str
    functions: list[Function]  # f⁽¹⁾ .. f⁽ᴹ⁾
    domain: Box
    costs: list[float]  # λ_1 < ... < λ_M
    optimum: float  # f* = max f⁽ᴹ⁾
    argmax: Array  # where, in the units of the domain
    zetas: list[float]  # ‖f⁽ᴹ⁾ − f⁽ᵐ⁾‖∞, the last 0


def by_rows(formula: Function) -> Function:
    """Let a formula for rows (q, d) also take a single point (d,)."""

    @wraps(formula)
    def function(x: Array) -> Array:
        points = np.asarray(x, dtype=np.float64)
        values = formula(np.atleast_2d(points))
        return values if points.ndim == 2 else values[0]

    return function
