"""When the values of a run are softened (method/softening.py), and how terms of φ are then shown in the unit of y."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

import numpy as np

from mfopt.hooks import Softening, SoftensValues, shared_surrogate
from mfopt.protocols import Array, Problem
from mfopt_plugins.method.kept import Kept, fields, flag, number
from mfopt_plugins.method.observations import Observations
from mfopt_plugins.method.softening import AsinhSoftening

STEP = 1e-6  # of the spread: over which the tangent is taken
ENOUGH = 10.0  # values at one fidelity before they are judged; again when their number has doubled


class Softener(Kept):
    """Leaves values as they are until those known say otherwise, as `judge` sees it; without a judge for ever.

    softening  how values are seen now
    active     whether that changes them
    due_at     number of values at one fidelity at which they are to be judged (again)
    """

    kept = fields(softening=AsinhSoftening.read, active=flag, due_at=number)

    softening: Softening

    def __init__(self, judge: SoftensValues | None) -> None:
        self._judge = judge
        self.restart()

    def restart(self) -> None:
        """Begin anew, with values as they are."""
        self.softening = AsinhSoftening()
        self.active = False
        self.due_at = inf if self._judge is None else ENOUGH

    def state(self) -> dict[str, Any] | None:
        """The softening in use; None where it is one that cannot be written down."""
        return super().state() if isinstance(self.softening, AsinhSoftening) else None

    def judge(self, observations: Observations, rng: np.random.Generator) -> bool:
        """Judge the values; True if they are to be softened from now on."""
        counts = observations.counts
        k = max(range(len(counts)), key=lambda k: counts[k])
        if self._judge is None or counts[k] < self.due_at:
            return False
        self.softening = self._judge.softening(*observations.rows(k), rng)
        self.active = self.softening.strength > 0.0
        self.due_at = inf if self.active else 2.0 * counts[k]
        return self.active

    def unsoften(self, w: Array, lowest: float, highest: float) -> Array:
        """Softened values in the unit of y; above the highest one seen the map goes on as a straight line.

        There the way back grows like an exponential, which no value has ever borne out.
        """
        step = 1e-3 * (highest - lowest) or 1.0
        near, end = (float(self.softening.inverse(np.array(level))) for level in (highest - step, highest))
        beyond = np.maximum(w - highest, 0.0) * ((end - near) / step)
        return np.asarray(self.softening.inverse(np.minimum(w, highest)) + beyond)

    def in_unit_of_y(
        self, mean: Array, width: Array, zetas: Array, phi: Array, gammas: Array, highest: float, spread: float
    ) -> tuple[Array, Array, Array, Array, Array]:
        """The same terms in the unit of y, so that they add up and compare as the softened ones do.

        `highest` is the best softened value, `spread` their range. Above the best the way back goes on straight: the
        map itself grows exponentially there, and no value says that it should.
        """
        levels = (mean, mean + width, phi, mean + gammas)
        middle, upper, bound, threshold = (self._invert(level, highest, spread) for level in levels)
        known = np.isfinite(upper)
        zetas = np.where(known, bound - np.where(known, upper, 0.0), zetas)
        return middle, upper - middle, zetas, bound, threshold - middle

    def _invert(self, level: Array, highest: float, spread: float) -> Array:
        """The way back, beyond `highest` along the tangent there."""
        before, top = self.softening.inverse(np.array([highest - STEP * spread, highest])).tolist()
        slope = (top - before) / (STEP * spread) if spread > 0.0 else 1.0
        over = np.maximum(level - highest, 0.0)
        return np.asarray(self.softening.inverse(np.minimum(level, highest)) + slope * over)


def find_judge(problem: Problem, used: Sequence[int]) -> SoftensValues | None:
    """The surrogate that serves all these fidelities, if it can judge values and none of them has a known noise.

    Noise is known in the unit of y, so it holds for values as they are.
    """
    one = shared_surrogate([problem.surrogates[m] for m in used])
    return one if isinstance(one, SoftensValues) and not any(problem.noises[m] for m in used) else None
