"""The hedge against cheap fidelities that tell nothing: which model has predicted the target's values better so far?

One process over all fidelities has one kernel. A cheap fidelity that has nothing to do with the target (noise, a
constant, another function) teaches it a stranger's length-scales and noise, and takes capital that tells nothing. No
threshold on what was learnt finds that out reliably, but predictions do: before a target value counts, it is held
against what two models say there,

    together   the process of all fidelities
    alone      a model of the target that knows the target's values only, as GP-UCB has it

and the difference of the two log densities is a score. While the last SCORES of them sum up to more than MARGIN for
the model alone, the target gets the part ALONE of what is spent, asked where its own upper bound is largest: the
method is then GP-UCB, but for the last tenth. As GP-UCB it may settle in a lesser maximum, and leaves it in the same
way (base/stall.py). Not in the paper; measured in benchmarks/experiments.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil, log
from typing import Any

import numpy as np

from mfopt.hooks import FullAcquisition, FusesBounds, KeepsFit
from mfopt.protocols import Array, Model, Problem
from mfopt_plugins.method.kept import count, finite, many, mapping
from mfopt_plugins.method.models import GROWTH, FidelityModels
from mfopt_plugins.method.upper_bound import PlainBound
from mfopt_plugins.strategies.base.stall import Turn, find_turn
from mfopt_plugins.strategies.ucb.doubt import SETTLED

SCORES = 6
MARGIN = 4.0  # in units of log density; scores lie within ±MOST, so that one surprise alone does not decide
MOST = 3.0
ALONE = 0.9
FEWEST = 3  # target values before predictions are compared
_FINE = 1e-3  # of the range of the target's values: predictions closer than that are as good as each other
_STREAM = 5  # keeps the generators used here apart from others with the same seed


class Hedge:
    """The model of the target alone, and the scores.

    prefers_alone   whether the target's own values have predicted it better so far than all fidelities together
    """

    def __init__(self, problem: Problem, models: FidelityModels) -> None:
        self._problem = problem
        self._models = models
        self._top = len(models.used) - 1
        self._scores: list[float] = []
        self.prefers_alone = False
        self._learnt = 0  # rows from which the model learnt, or is to learn as soon as it is needed
        self._due = False
        self._alone = self._make()

    def judge(self, u: Array, y: float | None) -> None:
        """Compare what the models say of a target value that is about to count; y as they see it, None: not at all."""
        if y is None:
            return
        self._schedule()
        values = self._models.observations.rows(self._top)[1]
        together = self._models.models[self._top]
        if self._learnt and together.n >= FEWEST:  # fewer where data were added or a run reopened, before an ask
            self._update()
            floor = (_FINE * float(np.ptp(values))) ** 2
            score = _log_density(self._alone, u, y, floor) - _log_density(together, u, y, floor)
            self._scores = [*self._scores, float(np.clip(score, -MOST, MOST))][-SCORES:]
            self.prefers_alone = sum(self._scores) > MARGIN

    def _schedule(self) -> None:
        """Note where the model of the target alone is to learn from the values told."""
        n = self._models.observations.counts[self._top]
        if n >= FEWEST and n - self._learnt >= max(1, ceil(GROWTH * self._learnt)):
            self._learnt, self._due = n, True

    def _update(self) -> None:
        """Bring the model of the target alone up to date with the values told."""
        self._schedule()
        u, y = self._models.observations.rows(self._top)
        if self._due:
            self._learn(u[: self._learnt], y[: self._learnt])
        if self._alone.n < len(y) and self._learnt:
            self._alone.extend(u[self._alone.n :], y[self._alone.n :])

    def forget(self) -> None:
        """Learn anew at the next update: the values are seen differently."""
        self._learnt, self._due = 0, False
        self._alone = self._make()

    def restart(self) -> None:
        """Compare anew: some of the values that were compared count no more, and the models knew others."""
        self._scores, self.prefers_alone = [], False

    @contextmanager
    def hallucinate(self, points: Array) -> Iterator[None]:
        """Within, the model alone knows all values told, and pending points count as told with its mean there."""
        self._update()
        n = self._alone.n
        try:
            if len(points):
                self._alone.extend(points, self._alone.posterior(points)[0])
            yield
        finally:
            self._alone.truncate(n)

    def state(self) -> dict[str, Any] | None:
        """The scores and what the model alone has learnt; None where it cannot tell."""
        if self._due:
            self._update()
        alone = self._alone.state() if isinstance(self._alone, KeepsFit) else None
        if alone is None:
            return None
        return {"scores": list(self._scores), "learnt": self._learnt, "rows": self._alone.n, "alone": alone}

    def restore(self, state: object) -> None:
        """Be as another hedge was over the same values, which are restored before."""
        given = mapping(state, "scores", "learnt", "rows", "alone")
        self._scores, self._learnt, n = many(finite)(given["scores"]), count(given["learnt"]), count(given["rows"])
        self.prefers_alone, self._due = sum(self._scores) > MARGIN, False
        u, y = self._models.observations.rows(self._top)
        if not isinstance(self._alone, KeepsFit) or n > len(y):
            raise ValueError(f"the model alone must have at most {len(y)} rows, got {n}")
        self._alone.restore(given["alone"], [(u[:n], y[:n])])

    def bound(self, beta: float) -> FullAcquisition:
        """μ + β½σ of the model alone."""
        surrogate = self._problem.surrogates[self._models.used[self._top]]
        if isinstance(surrogate, FusesBounds):
            return surrogate.bound([self._alone], beta, [0.0])
        return PlainBound([self._alone], beta, [0.0])

    def find_turn(self, gain: float, unit: float, waiting: int, t: int) -> Turn:
        """Whose turn target query t is, whose bound promises a `gain`; `waiting` others are pending.

        Refinements may all be one point, whose value counts once: they take turns with gaps whatever was in vain.
        """
        if not self._models.is_noiseless(self._top):
            return Turn.OWN
        whose = find_turn(self._models.observations.rows(self._top)[1], unit, waiting)
        if whose not in (Turn.OWN, Turn.BEST):
            return whose
        return Turn.GAP if gain <= SETTLED * unit and t % 2 else Turn.OWN

    def _make(self) -> Model:
        target = self._models.used[self._top]
        return self._problem.surrogates[target].model(self._problem.domain.dim, self._problem.noises[target])

    def _learn(self, u: Array, y: Array) -> None:
        """A fresh model of these rows: what it learns depends on nothing else."""
        self._alone, self._due = self._make(), False
        self._alone.fit(u, y, np.random.default_rng([self._problem.seed, _STREAM, len(y)]))


def _log_density(model: Model, u: Array, y: float, floor: float) -> float:
    """log of the density that the model has for the value y at u, but for a constant."""
    mean, var = model.posterior(u[None, :])
    spread = max(float(var[0]) + float(model.describe().get("noise", 0.0)), floor, np.finfo(np.float64).tiny)
    return -0.5 * ((y - float(mean[0])) ** 2 / spread + log(spread))
