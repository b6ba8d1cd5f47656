"""What mf-sko and co-kriging share: a joint posterior of all fidelities, and expected improvement at the target."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

from mfopt.hooks import ModelsJointly, shared_surrogate, tie_scales, use_threads
from mfopt.protocols import Problem, Query, Suggestion, Surrogate, View
from mfopt_plugins.method.upper_bound import PlainBound
from mfopt_plugins.strategies.base.cycle import Cycle, incumbent
from mfopt_plugins.strategies.base.improvement import improvement_reason


class JointStrategy(Cycle):
    """A method over a joint model of all fidelities; with one fidelity it is expected improvement on a plain model.

    A surrogate of the problem that models fidelities jointly (hooks.ModelsJointly) and serves all of them is used. Any
    other one knows nothing of the relation between fidelities, and the method's own takes its place.
    """

    kind: str

    def fidelities(self, count: int) -> tuple[int, ...]:
        """All of them."""
        return tuple(range(count))

    @abstractmethod
    def _own_surrogate(self) -> Surrogate:
        """The joint surrogate of the method's reference."""

    @abstractmethod
    def _improve(self, view: View, pending: Sequence[Query], best: float) -> Suggestion:
        """The query that promises most over `best`, the incumbent at the target."""

    def _surrogates(self, problem: Problem) -> Sequence[Surrogate]:
        given = problem.surrogates
        if len(given) == 1 or isinstance(shared_surrogate(given), ModelsJointly):
            return given
        return use_threads(tie_scales([self._own_surrogate()] * len(given), problem.domain), problem.threads)

    def _choose(self, view: View, pending: Sequence[Query]) -> Suggestion:
        with self._models.hallucinate(pending):
            best = incumbent(self._models, pending)
            return self._first(view, pending) if best is None else self._improve(view, pending, best)

    def _first(self, view: View, pending: Sequence[Query]) -> Suggestion:
        """No target value is known, so none can be improved: the target is queried where its mean is best."""
        top = self._top
        mean = PlainBound([self._models.models[top]], 0.0, [0.0])
        u = self._search.point(mean, top, view, pending, self._observations.spread() or 1.0)
        text = "no target value is known: where its mean is best"
        reason = improvement_reason(self.kind, text, top, view.t, None, float("nan"), self._models, u)
        return Suggestion(u, self._used[top], reason)

    def _payable_positions(self, view: View) -> list[int]:
        return [k for k in range(len(self._used)) if self._can_pay(k, view.remaining)]

    @property
    def _unit(self) -> float:
        """A typical size of values."""
        return self._observations.ranges()[self._top] or self._observations.spread() or 1.0
