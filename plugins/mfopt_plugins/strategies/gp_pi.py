"""GP-PI, the probability of improvement at the target."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from mfopt.errors import InputError
from mfopt.protocols import Acquisition, Array, Model, Query, Suggestion, View
from mfopt_plugins.method.improvement import ProbabilityOfImprovement
from mfopt_plugins.strategies.base.improvement import ImprovementStrategy, improvement_reason
from mfopt_plugins.strategies.base.manner import Mode, check_initial_capital, find_manner
from mfopt_plugins.strategies.base.stall import Turn, count_in_vain, find_away, find_turn
from mfopt_plugins.strategies.ucb.doubt import FACTOR, STEPS


class GPPI(ImprovementStrategy):
    """Probability of improvement (Kushner, 1964, as in Brochu, Cora and de Freitas, 2010).

        x_t = argmax Φ((μ − y* − ξ)/σ)

    xi               ξ, the improvement asked for, in units of the range of the target's values. With 0 the method
                     hardly ever leaves the incumbent's surroundings.
    initial_capital  Λ₀ of the initial design, all spent at the target; by default see method/design.py. 0 for none.
    mode             "practical", or "paper": ξ stays as it is, everything else as mf-gp-ucb has it in that mode
                     (base/manner.py)

    Differences from the literature: ξ is relative, so that the unit of the values does not matter; while values bring
    no improvement every second query asks for a larger one, 4, 16 and then 64 ξ, since the model may be wrong, and
    after five of them two of four go into a gap or are crossed (base/stall.py); y*, pending queries, the logarithm,
    learning and the search as in gp-ei.
    """

    kind = "probability of improvement"

    def __init__(self, xi: float = 0.01, initial_capital: float | None = None, mode: Mode = "practical") -> None:
        if not (isfinite(xi) and xi >= 0):
            raise InputError(f"xi must be finite and not negative, got {xi}")
        self.initial_capital = check_initial_capital(initial_capital)
        self.mode: Mode = mode
        self._manner = find_manner(mode)
        self._xi = xi

    def prefer_surrogate(self, fidelities: int) -> str:
        """Matérn-5/2 for users who name none: a rougher process leaves the surroundings of the incumbent sooner."""
        return "matern" if self.mode == "practical" else "se"

    def _choose(self, view: View, pending: Sequence[Query]) -> Suggestion:
        if self.mode == "practical" and self._models.is_noiseless(0):
            values, unit = self._observations.rows(0)[1], self._observations.spread()
            turn, domain = find_turn(values, unit, len(pending)), self._problem.domain
            if turn in (Turn.GAP, Turn.CROSSED):
                found = find_away(turn, domain, self._observations, self._failures, pending, view.rng)
                if found is not None:
                    return self._break_stall(*found, view, float(values.max()))
        return super()._choose(view, pending)

    def _break_stall(self, u: Array, text: str, view: View, best: float) -> Suggestion:
        reason = improvement_reason("stall", text, 0, view.t, best, float("nan"), self._models, u)
        return Suggestion(u, self._used[0], reason)

    def _acquisition(self, model: Model, best: float, unit: float) -> Acquisition:
        waited = count_in_vain(self._observations.rows(0)[1], unit) if self.mode == "practical" else 0
        factor = FACTOR ** min((waited + 1) // 2, STEPS) if waited % 2 else 1.0
        return ProbabilityOfImprovement(model, best, factor * self._xi * unit, unit)
