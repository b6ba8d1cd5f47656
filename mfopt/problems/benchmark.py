"""What a problem consists of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

import numpy as np

from mfopt.protocols import Array, Domain

Function = Callable[[Array], Array]


@dataclass(frozen=True)
class Benchmark:
    """A problem whose optimum is known, or for real data the best value that was ever seen.

    A function takes rows (q, d) and gives (q,), or takes one point (d,) and gives a number. Those of real data take one
    point, as mfopt.maximize gives it, and give a number or {"value": value, "cost": cost}.
    """

    name: str
    functions: list[Callable[..., Any]]  # f⁽¹⁾ .. f⁽ᴹ⁾
    domain: Domain
    costs: list[float]  # λ_1 < ... < λ_M
    optimum: float  # f* = max f⁽ᴹ⁾
    argmax: Array  # where, in the units of the domain
    zetas: Sequence[float | None]  # ‖f⁽ᴹ⁾ − f⁽ᵐ⁾‖∞, the last 0; None where it is not known
    cost: str | None = None  # how real costs are found out, as in mfopt.maximize; None: they are `costs`


def by_rows(formula: Function) -> Function:
    """Let a formula for rows (q, d) also take a single point (d,)."""

    @wraps(formula)
    def function(x: Array) -> Array:
        points = np.asarray(x, dtype=np.float64)
        values = formula(np.atleast_2d(points))
        return values if points.ndim == 2 else values[0]

    return function
