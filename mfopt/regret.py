"""Simple regret against capital: the quantity that every experiment of the paper shows."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from mfopt.errors import InputError
from mfopt.protocols import Array


class QueryArrays(Protocol):
    """The columns of a history that the regret needs, in the order told."""

    @property
    def fidelity(self) -> npt.NDArray[np.int64]:
        """The fidelity of each query, 0-based."""

    @property
    def y(self) -> Array:
        """The values, in the user's unit; NaN where the evaluation failed."""

    @property
    def cost(self) -> Array:
        """What each query cost."""


def simple_regret(
    history: QueryArrays, optimum: float, direction: str = "maximize", target: int | None = None
) -> tuple[Array, Array]:
    """S(Λ) = f* − max f⁽ᴹ⁾ over the target queries within capital Λ, eq. (Sn) for capital: (capital, regret).

    One entry per query told: the capital spent after it and the regret then, +∞ before the first target value. Failed
    queries cost but bring no value. `target` is the target's index M − 1; by default the highest fidelity that occurs,
    which is wrong for a run that never reached its target.
    """
    if direction not in ("maximize", "minimize"):
        raise InputError(f'direction must be "maximize" or "minimize", got {direction!r}')
    fidelity = np.asarray(history.fidelity)
    capital = np.cumsum(np.asarray(history.cost, dtype=np.float64))
    if fidelity.size == 0:
        return capital, np.empty(0)
    if target is None:
        target = int(fidelity.max())
    y = np.asarray(history.y, dtype=np.float64)
    gap = optimum - y if direction == "maximize" else y - optimum
    gap = np.where((fidelity == target) & np.isfinite(y), gap, np.inf)
    return capital, np.minimum.accumulate(gap)
