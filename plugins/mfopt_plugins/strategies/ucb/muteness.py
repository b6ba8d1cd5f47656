"""Muteness: cheap fidelities whose values tell nothing about each other tell nothing about the rest of X either.

The process of all fidelities takes a fidelity of noise for a function with very short length-scales, which the target
may resemble: a cheap value then says much about its own point and nothing about any other, and two thirds of the
capital go from point to point. A constant teaches it very long length-scales. Target values show either sooner or
later (hedge.py), but the cheap values themselves show it after a few: a model that has learnt from all values of a
fidelity is to predict every FOLDS-th of them from the others,

    R² = 1 − Σ (y − μ)² / Σ (y − ȳ)²,

and a fidelity with less than PREDICTED is mute. Where all cheap fidelities are, the hedge need not wait. Not in the
paper; measured in benchmarks/experiments.md.
"""

from __future__ import annotations

from math import ceil

import numpy as np

from mfopt.protocols import Problem
from mfopt_plugins.method.kept import Kept, count, fields, flag
from mfopt_plugins.method.models import FidelityModels

PREDICTED = 0.3  # functions of all kinds reach 0.5 with twenty values, noise hardly 0.2
FOLDS = 10
FEWEST = 10  # values of every cheap fidelity before it is judged
TARGETS = 1  # values of the target before the one told: cheap queries of the design were placed by chance alone
GROWN = 1.25  # of the cheap values, before they are judged again
_MOST = 100  # values that are looked at: O(n³)
_STREAM = 6  # keeps the generators used here apart from others with the same seed


class Muteness(Kept):
    """Whether all cheap fidelities are mute: `found`."""

    kept = fields(found=flag, _judged=count)

    def __init__(self, problem: Problem, models: FidelityModels) -> None:
        self._problem = problem
        self._models = models
        self.found = False
        self._judged = 0  # cheap values when they were judged

    def judge(self) -> None:
        """Judge the cheap values told before a target value, where they are enough or so many more than before.

        Where data were added or a run reopened, before an ask, the models know of none: they are judged later.
        """
        *cheap, target = self._models.observations.counts
        if min(target, self._models.models[-1].n) < TARGETS or min(cheap) < FEWEST:
            return
        if sum(cheap) >= GROWN * self._judged:
            self._judged = sum(cheap)
            self.found = not any(self._is_predictable(k) for k in range(len(cheap)))

    def restart(self) -> None:
        """Judge anew: some of the values that were judged count no more."""
        self.found, self._judged = False, 0

    def _is_predictable(self, k: int) -> bool:
        """Whether values at position k can be predicted from others; of a point told twice the first one counts."""
        u, y = self._models.observations.rows(k)
        first = np.sort(np.unique(u, axis=0, return_index=True)[1])
        some = first[:: ceil(len(first) / _MOST)]
        u, y = u[some], y[some]
        if not np.ptp(y) > 0.0:
            return False
        fidelity = self._models.used[k]
        model = self._problem.surrogates[fidelity].model(self._problem.domain.dim, self._problem.noises[fidelity])
        model.fit(u, y, np.random.default_rng([self._problem.seed, _STREAM, fidelity, len(y)]))
        part, errors = np.arange(len(y)) % FOLDS, np.empty(len(y))
        for fold in range(FOLDS):
            held, rest = part == fold, part != fold
            model.truncate(0)
            model.extend(u[rest], y[rest])
            errors[held] = y[held] - model.posterior(u[held])[0]
        return bool(errors @ errors <= (1.0 - PREDICTED) * np.sum((y - y.mean()) ** 2))
