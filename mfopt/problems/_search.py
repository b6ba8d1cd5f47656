"""The maximum of a smooth function on the unit cube, for problems whose optimum has no formula."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mfopt.protocols import Array

_STEP = 1e-4  # of central differences: their error is about its square
_FINALISTS = 4
_SHORT: Any = {"maxiter": 12}
_LONG: Any = {"ftol": 1e-16, "gtol": 1e-10, "maxiter": 300}


def maximum(function: Callable[[Array], Array], dim: int, starts: int) -> tuple[Array, float]:
    """The point of the maximum and its value: short ascents from good random points, then long ones from the best ends.

    The function takes rows.
    """
    from scipy.optimize import minimize  # slow to import

    rng = np.random.default_rng(0)
    points = np.vstack([rng.random((4000 * dim, dim)), rng.integers(0, 2, (50 * dim, dim))])
    values = np.concatenate([function(block) for block in np.array_split(points, max(1, len(points) // 2000))])
    steps = _STEP * np.vstack([np.eye(dim), -np.eye(dim)])

    def descent(x: Array) -> tuple[float, Array]:
        around = function(np.vstack([x[None], x + steps]))
        return -float(around[0]), -(around[1 : dim + 1] - around[dim + 1 :]) / (2 * _STEP)

    def climb(x: Array, options: Any) -> tuple[float, Array]:
        """The value at the end of an ascent from x, and where that is."""
        found = minimize(descent, x, jac=True, method="L-BFGS-B", bounds=[(0, 1)] * dim, options=options)
        return -float(found.fun), np.asarray(found.x)

    climbs = [climb(points[i], _SHORT) for i in np.argsort(-values)[::dim][:starts]]
    climbs.sort(key=lambda end: -end[0])
    best = [climb(x, _LONG) for _, x in climbs[:_FINALISTS]]
    top, x = max([*best, (float(values.max()), points[int(values.argmax())])], key=lambda end: end[0])
    return x, top
