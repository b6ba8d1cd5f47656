"""When the values of a run are softened (mfopt_plugins.method.softening), and what is told of it in the unit of y."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, cast

import numpy as np

from mfopt.protocols import Array, Problem
from mfopt_plugins.method.models import FidelityModels
from mfopt_plugins.method.softening import Softening

ENOUGH = 10  # values at one fidelity before they are asked; again when they have doubled


class _Judge(Protocol):
    def softening(self, u: Array, y: Array, rng: np.random.Generator) -> Softening: ...


class Softener:
    """Leaves values as they are until those known say otherwise, as `judge` sees it; without a judge for ever."""

    def __init__(self, judge: _Judge | None) -> None:
        self._judge = judge
        self._judged = 0  # values when they were last asked
        self.softening = Softening()

    def judge(self, models: FidelityModels, rng: np.random.Generator) -> bool:
        """Ask the values if that is due; whether they are to be softened from now on."""
        k = max(range(len(models.used)), key=models.count)
        due = models.count(k) >= max(ENOUGH, 2 * self._judged)
        if self._judge is None or self.softening.strength > 0.0 or not due:
            return False
        self._judged = models.count(k)
        self.softening = self._judge.softening(*models.rows(k), rng)
        return self.softening.strength > 0.0

    def told(
        self, mean: Array, width: Array, zetas: Array, phi: Array, gammas: Array
    ) -> tuple[Array, Array, Array, Array, Array]:
        """The same terms in the unit of y, so that they add up and compare as the softened ones do."""
        if self.softening.strength == 0.0:
            return mean, width, zetas, phi, gammas
        levels = (mean, mean + width, phi, mean + gammas)
        middle, upper, bound, threshold = (self.softening.inverse(level) for level in levels)
        known = np.isfinite(upper)
        zetas = np.where(known, bound - np.where(known, upper, 0.0), zetas)
        return middle, upper - middle, zetas, bound, threshold - middle


def judge_of(problem: Problem, used: Sequence[int]) -> _Judge | None:
    """The surrogate that serves all these fidelities, if it can judge values and none of them has a known noise.

    Noise is known in the unit of y, so it holds for values as they are.
    """
    surrogates = [problem.surrogates[m] for m in used]
    one = all(surrogate is surrogates[0] for surrogate in surrogates)
    if not one or not hasattr(surrogates[0], "softening") or any(problem.noises[m] for m in used):
        return None
    return cast(_Judge, surrogates[0])
