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
way (base/stall.py).

Scores take their time: with a third of the capital the target has four values after 10 λ_M. Where the cheap values
cannot even be predicted from each other (muteness.py) it is the other way round: the target is on its own until the
scores sum up to less than −MARGIN. It then begins as GP-UCB does, with BEGINNING points that lie apart, each of them
known at the cheapest fidelity: cheap values without any pattern may still be those of the target, and there it shows.

Not in the paper; measured in benchmarks/experiments.md.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import ceil, log
from typing import Any

import numpy as np

from mfopt.hooks import FullAcquisition, FusesBounds, KeepsFit
from mfopt.protocols import Array, Model, Problem
from mfopt_plugins.method.failures import FailureModel
from mfopt_plugins.method.gaps import measure_gaps
from mfopt_plugins.method.kept import count, finite, many, mapping
from mfopt_plugins.method.models import GROWTH, FidelityModels
from mfopt_plugins.method.upper_bound import PlainBound
from mfopt_plugins.strategies.base.stall import Turn, find_turn
from mfopt_plugins.strategies.ucb.departures import Departures
from mfopt_plugins.strategies.ucb.doubt import SETTLED
from mfopt_plugins.strategies.ucb.muteness import Muteness

SCORES = 6
MARGIN = 4.0  # in units of log density; scores lie within ±MOST, so that one surprise alone does not decide
MOST = 3.0
ALONE = 0.9
FEWEST = 3  # target values before predictions are compared
BEGINNING = 5  # target values before GP-UCB goes by its bound
_FINE = 1e-3  # of the range of the target's values: predictions closer than that are as good as each other
_STREAM = 5  # keeps the generators used here apart from others with the same seed


class Hedge:
    """The model of the target alone, and the scores.

    prefers_alone   whether the target's own values have predicted it better so far than all fidelities together, or
                    cheap fidelities are mute and have not predicted it better
    """

    def __init__(self, problem: Problem, models: FidelityModels, rules: Departures) -> None:
        self._problem = problem
        self._models = models
        self._top = len(models.used) - 1
        self._scores: list[float] = []
        self.prefers_alone = False
        self._learnt = 0  # rows from which the model learnt, or is to learn as soon as it is needed
        self._due = False
        self._alone = self._make()
        self._muteness = Muteness(problem, models) if rules.muted else None
        self._leaves = rules.doubt

    @property
    def why(self) -> str:
        """Why the model alone is preferred, where it is."""
        if sum(self._scores) > MARGIN:
            return "its own values have predicted the target better than all fidelities together"
        return "cheap values cannot be predicted, not even from each other: the target goes by its own"

    def judge(self, u: Array, y: float | None) -> None:
        """Compare what the models say of a target value that is about to count; y as they see it, None: not at all."""
        if y is None:
            return
        if self._muteness is not None:
            self._muteness.judge()
        self._schedule()
        values = self._models.observations.rows(self._top)[1]
        together = self._models.models[self._top]
        if self._learnt and together.n >= FEWEST:  # fewer where data were added or a run reopened, before an ask
            self._update()
            floor = (_FINE * float(np.ptp(values))) ** 2
            score = _log_density(self._alone, u, y, floor) - _log_density(together, u, y, floor)
            self._scores = [*self._scores, float(np.clip(score, -MOST, MOST))][-SCORES:]
        self._decide()

    def _decide(self) -> None:
        """Prefer the model alone, or not."""
        mute = self._muteness is not None and self._muteness.found
        self.prefers_alone = sum(self._scores) > (-MARGIN if mute else MARGIN)

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
        self._scores = []
        if self._muteness is not None:
            self._muteness.restart()
        self._decide()

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
        mute = None if self._muteness is None else self._muteness.state()
        scores = {"scores": list(self._scores), "mute": mute}
        return scores | {"learnt": self._learnt, "rows": self._alone.n, "alone": alone}

    def restore(self, state: object) -> None:
        """Be as another hedge was over the same values, which are restored before."""
        given = mapping(state, "scores", "mute", "learnt", "rows", "alone")
        self._scores, self._learnt, n = many(finite)(given["scores"]), count(given["learnt"]), count(given["rows"])
        if self._muteness is not None:
            self._muteness.restore(given["mute"])
        self._decide()
        self._due = False
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

    def find_first(self, waiting: Array, failures: FailureModel) -> Array | None:
        """Of the points known at the cheapest fidelity the one that lies farthest from the queries of the target.

        None where it has values enough to go by, pending ones among them, or was asked at all of these points that are
        not likely to fail.
        """
        observations = self._models.observations
        if observations.counts[self._top] + len(waiting) >= BEGINNING:
            return None
        known, _ = observations.rows(0)
        known = known[~failures.are_likely(known, self._top)]
        if len(known) == 0:
            return None
        gaps = measure_gaps(self._problem.domain, known, np.vstack([observations.queried_points(self._top), waiting]))
        best = int(np.argmax(gaps))
        return known[best].copy() if gaps[best] > 0.0 else None

    def find_turn(self, gain: float, unit: float, waiting: int, t: int) -> Turn:
        """Whose turn target query t is, whose bound promises a `gain`; `waiting` others are pending.

        Refinements may all be one point, whose value counts once: they take turns with gaps whatever was in vain.
        """
        if not (self._leaves and self._models.is_noiseless(self._top)):
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
