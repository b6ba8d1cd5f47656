"""Co-kriging, expected improvement on an autoregressive model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mfopt.protocols import Array, Query, Record, Suggestion, Surrogate, View
from mfopt_plugins.method.improvement import ExpectedImprovement, Tamed
from mfopt_plugins.method.kept import array, count, group, many
from mfopt_plugins.strategies.base.improvement import DEPTH, improvement_reason
from mfopt_plugins.strategies.base.joint import JointStrategy
from mfopt_plugins.strategies.base.manner import Mode, check_initial_capital, find_manner
from mfopt_plugins.surrogates.ar1 import AR1


class CoKriging(JointStrategy):
    """Expected improvement on a co-kriging model (Forrester, Sóbester and Keane, 2007), sequentially.

        x_t = argmax E max(0, f⁽ᴹ⁾(x) − y*)   under   f⁽ᵐ⁾ = ρ_m f⁽ᵐ⁻¹⁾ + δ_m  (surrogate ar1)

    The fidelity: as in the reference, an infill point is evaluated at every fidelity, so that the data stay nested.
    Here it is asked for at the cheapest fidelity first and then one after the other up to the target; fidelities that
    know the point, are likely to fail there, or after which λ_M could not be paid any more, are skipped. If one of
    these evaluations fails, the rest of the point is dropped. So a point costs λ_1 + ... + λ_M, whatever the cheap
    values say, and after the initial design cheap values are not used to explore.

    initial_capital  Λ₀ of the initial design; by default see method/design.py. 0 for none.
    mode             "practical", or "paper": the design, the search and the rest as mf-gp-ucb has them in that mode
                     (base/manner.py); the model is the method's own.

    Differences from the literature: the initial design is the one that all methods share; incumbents, pending queries
    and the logarithm as in gp-ei; hyper-parameters of all levels are learnt together and not level by level.
    """

    kind = "co-kriging"

    def __init__(self, initial_capital: float | None = None, mode: Mode = "practical") -> None:
        self.initial_capital = check_initial_capital(initial_capital)
        self.mode: Mode = mode
        self._manner = find_manner(mode)
        self._climb: list[tuple[Array, int]] = []  # the rest of the present point: where and at which positions

    def _own_surrogate(self) -> Surrogate:
        return AR1()

    def tell(self, record: Record) -> None:
        """Learn the outcome of a query, or data that nobody asked for, in the order told."""
        super().tell(record)
        if record.y is None:
            self._climb = [(u, k) for u, k in self._climb if not self._observations.same(u[None], record.u)[0]]

    def state(self) -> dict[str, Any] | None:
        """All that later asks depend on, beyond what was told."""
        states = super().state()
        return None if states is None else {**states, "climb": [[u.copy(), k] for u, k in self._climb]}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on as the strategy does that told this state."""
        rest = dict(state)
        self._climb = many(group(array, count))(rest.pop("climb", None))
        super().restore(rest)

    def _choose(self, view: View, pending: Sequence[Query]) -> Suggestion:
        while self._climb:
            u, k = self._climb.pop(0)
            if k in self._payable_positions(view) and not self._search.is_needless(u, k, pending):
                text = "the point is evaluated at every fidelity"
                reason = improvement_reason(self.kind, text, k, view.t, None, float("nan"), self._models, u)
                return Suggestion(u, self._used[k], reason)
        return super()._choose(view, pending)

    def _improve(self, view: View, pending: Sequence[Query], best: float) -> Suggestion:
        top = self._top
        improvement = ExpectedImprovement(self._models.models[top], best, self._unit)
        u = self._search.point(Tamed(improvement), top, view, pending, DEPTH)
        positions = self._payable_positions(view)
        steps = [k for k in positions if k == top or not self._is_skipped(u, k, pending)]
        self._climb = [(u, k) for k in steps[1:]]
        text = "where the improvement at the target promises most"
        value = float(improvement(u[None])[0])
        reason = improvement_reason(self.kind, text, steps[0], view.t, best, value, self._models, u)
        return Suggestion(u, self._used[steps[0]], reason)

    def _is_skipped(self, u: Array, k: int, pending: Sequence[Query]) -> bool:
        """Whether position k knows this point already, or is likely to fail there."""
        return self._observations.is_taken(u, k, pending) or self._failures.is_likely(u, k)
