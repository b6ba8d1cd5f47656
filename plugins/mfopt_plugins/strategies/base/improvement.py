"""What GP-EI and GP-PI share: the target's model alone, and an incumbent that the next value should beat."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import numpy as np

from mfopt.protocols import Acquisition, Array, Model, Query, Suggestion, View
from mfopt.run.reason import ImprovementReason
from mfopt_plugins.method.improvement import Tamed
from mfopt_plugins.method.models import FidelityModels
from mfopt_plugins.strategies.base.cycle import Cycle

DEPTH = Tamed.TAIL  # how far a logarithmic acquisition is lowered at a point that failed lately


def incumbent(models: FidelityModels, pending: Sequence[Query]) -> float | None:
    """The value at the target (the last position) to be beaten; None when no target value is known.

    The best value observed where the target is noiseless; where it is noisy, the best posterior mean at the points
    queried, since the best of noisy values is mostly luck. Pending target queries count with their posterior mean,
    otherwise one that promises much would be asked for again.
    """
    top = len(models.used) - 1
    u, y = models.observations.rows(top)
    if len(y) == 0:
        return None
    best = float(y.max()) if models.is_noiseless(top) else float(models.models[top].posterior(u)[0].max())
    waiting = [q.u for q in pending if q.fidelity == models.used[top]]
    if waiting:
        best = max(best, float(models.models[top].posterior(np.array(waiting))[0].max()))
    return best


def improvement_reason(
    kind: str, text: str, k: int, t: int, best: float | None, value: float, models: FidelityModels, u: Array
) -> ImprovementReason:
    """The reason for a query of u at position k."""
    mean, sigma = models.at(u)
    beaten = float("nan") if best is None else best
    return ImprovementReason(
        kind, text, models.used[k], t, beaten, value, models.used, tuple(mean.tolist()), tuple(sigma.tolist())
    )


class ImprovementStrategy(Cycle):
    """The maximum of an improvement over the incumbent, on the target alone; other fidelities' data are ignored."""

    kind: str

    def fidelities(self, count: int) -> tuple[int, ...]:
        """The target alone."""
        return (count - 1,)

    @abstractmethod
    def _acquisition(self, model: Model, best: float, unit: float) -> Acquisition:
        """The logarithm of the improvement over `best`; `unit` is a typical size of values."""

    def _choose(self, view: View, pending: Sequence[Query]) -> Suggestion:
        with self._models.hallucinate(pending):
            best = incumbent(self._models, pending)
            # Without any value the cycle asks at random, so there is an incumbent.
            acquisition = self._acquisition(self._models.models[0], best or 0.0, self._observations.spread() or 1.0)
            u = self._search.point(Tamed(acquisition), 0, view, pending, DEPTH)
            value = float(acquisition(u[None])[0])
            text = "where the improvement over the incumbent promises most"
            reason = improvement_reason(self.kind, text, 0, view.t, best, value, self._models, u)
        return Suggestion(u, self._used[0], reason)
