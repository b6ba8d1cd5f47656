"""What GP-EI and GP-PI share: the target's model alone, and an incumbent that the next value should beat."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from mfopt.protocols import Acquisition, Array, Model, Query, Suggestion, View
from mfopt.run.reason import ImprovementReason
from mfopt_plugins.method.improvement import Tamed
from mfopt_plugins.method.models import FidelityModels
from mfopt_plugins.strategies.base.cycle import Cycle, incumbent

DEPTH = Tamed.TAIL  # how far a logarithmic acquisition is lowered at a point that failed lately


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
