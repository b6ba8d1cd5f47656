"""GP-PI, the probability of improvement at the target."""

from __future__ import annotations

from math import isfinite

import numpy as np

from mfopt.errors import InputError
from mfopt.protocols import Acquisition, Model
from mfopt_plugins.method.improvement import ProbabilityOfImprovement
from mfopt_plugins.strategies.base.cycle import check_initial_capital
from mfopt_plugins.strategies.base.improvement import ImprovementStrategy
from mfopt_plugins.strategies.base.manner import Mode, find_manner
from mfopt_plugins.strategies.ucb.doubt import FACTOR, SETTLED, STEPS


class GPPI(ImprovementStrategy):
    """Probability of improvement (Kushner, 1964, as in Brochu, Cora and de Freitas, 2010).

        x_t = argmax Φ((μ − y* − ξ)/σ)

    xi               ξ, the improvement asked for, in units of the range of the target's values. With 0 the method
                     hardly ever leaves the incumbent's surroundings.
    initial_capital  Λ₀ of the initial design, all spent at the target; by default see method/design.py. 0 for none.
    mode             "practical", or "paper": ξ stays as it is, everything else as mf-gp-ucb has it in that mode
                     (base/manner.py)

    Differences from the literature: ξ is relative, so that the unit of the values does not matter; while values bring
    no improvement every second query asks for a larger one, 4, 16 and then 64 ξ, since the model may be wrong; y*,
    pending queries and the logarithm as in gp-ei.
    """

    kind = "probability of improvement"

    def __init__(self, xi: float = 0.01, initial_capital: float | None = None, mode: Mode = "practical") -> None:
        if not (isfinite(xi) and xi >= 0):
            raise InputError(f"xi must be finite and not negative, got {xi}")
        self.initial_capital = check_initial_capital(initial_capital)
        self.mode: Mode = mode
        self._manner = find_manner(mode)
        self._xi = xi

    def _acquisition(self, model: Model, best: float, unit: float) -> Acquisition:
        waited = self._count_in_vain(unit) if self.mode == "practical" else 0
        factor = FACTOR ** min((waited + 1) // 2, STEPS) if waited % 2 else 1.0
        return ProbabilityOfImprovement(model, best, factor * self._xi * unit, unit)

    def _count_in_vain(self, unit: float) -> int:
        """The number of values told since the best one rose by more than a refinement."""
        y = self._observations.rows(0)[1]
        highest = np.maximum.accumulate(y)
        rises = np.flatnonzero(np.diff(highest) > SETTLED * unit)
        return len(y) - 1 - (int(rises[-1]) + 1 if len(rises) else 0)
