"""The thresholds γ_m below which a fidelity is left for the next one: given, or grown while the method is stuck.

γ_m starts at 1 % of the range of the initial values and is doubled when nothing above m was queried for more than
λ_{m+1}/λ_m iterations (section "Choice of γ_m's"); the count then starts again. An iteration at a fidelity l < m counts
as λ_l/λ_m of one: what matters is the capital, λ_{m+1} of it, that went by without a query above. With two fidelities
that is the paper's rule; with more, the paper's counts every iteration as a whole, so that a few queries at fidelity 1
would drive up the thresholds of all others. With `shrink` > 1, which is not in the paper, γ_m is divided by it after
each query above m, but not below its start.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from mfopt.protocols import Array

START = 0.01  # of the range of the initial values


class GammaRule:
    """γ_m for the positions 0..K−2; the target has no threshold.

    values   γ_m of every position, +∞ for the target
    started  whether every γ_m has its start value
    """

    values: Array

    def __init__(self, costs: Sequence[float], given: Sequence[float] | None, shrink: float) -> None:
        self._costs = list(costs)
        self._patience = [high / low for low, high in pairwise(costs)]
        self._fixed = given is not None
        self._shrink = shrink
        self._set([float(gamma) for gamma in given or [0.0] * len(self._patience)])
        self.restart()

    def restart(self) -> None:
        """Begin anew with the next start; what was given stays."""
        self.started = self._fixed
        self._waited = [0.0] * len(self._patience)
        if not self._fixed:
            self._set([0.0] * len(self._patience))
        self._least = list(self._gamma)

    def start(self, spread: float) -> None:
        """Set every γ_m from the range of the initial values."""
        self._set([START * spread] * len(self._patience))
        self._least = list(self._gamma)
        self.started = True

    def count(self, k: int, widths: Array) -> None:
        """Count an iteration that queried position k at a point where the positions have these β_t^½ σ_m."""
        if self._fixed:
            return
        gamma = list(self._gamma)
        for m, patience in enumerate(self._patience):
            if k > m:
                self._waited[m] = 0.0
                gamma[m] = max(gamma[m] / self._shrink, self._least[m])
                continue
            self._waited[m] += self._costs[k] / self._costs[m]
            if self._waited[m] > patience:
                # Twice 0 is 0: a γ that started from constant values takes the width that holds the method here.
                stuck = gamma[m] or (float(widths[m]) if np.isfinite(widths[m]) else 0.0)
                gamma[m] = 2 * stuck
                self._waited[m] = 0.0
        self._set(gamma)

    def _set(self, gamma: list[float]) -> None:
        self._gamma = gamma
        self.values = np.array([*gamma, np.inf])
