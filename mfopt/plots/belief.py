"""Belief: what a run believes at its end, rebuilt from its history to be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, sqrt

import numpy as np

from mfopt.checks import direction_sign
from mfopt.optimizer import Optimizer
from mfopt.protocols import Array
from mfopt.run.beliefs import Beliefs, fit_beliefs
from mfopt.run.reason import Reason


@dataclass(frozen=True)
class Belief:
    """The posterior in the user's unit; `side` is +1 for upper bounds, −1 for lower ones."""

    models: Beliefs
    root_beta: float
    zetas: tuple[float, ...]  # NaN where no ζ is known, and so no bound
    side: float

    def at(self, u: Array) -> tuple[Array, Array, Array]:
        """Means, deviations and bounds φ_m, each (M, q)."""
        mean, var = np.array([model.posterior(u) for model in self.models.models]).transpose(1, 0, 2)
        sigma = np.sqrt(var)
        bounds = mean + self.root_beta * sigma + np.array(self.zetas)[:, None]
        for m in range(len(bounds)):
            if self.models.count(m) == 0:
                bounds[m] = np.nan
        return self.side * mean, sigma, self.side * bounds

    def tightest(self, bounds: Array) -> Array:
        """φ, from the φ_m."""
        worst = self.side * inf
        known = np.where(np.isnan(bounds), worst, bounds)
        phi = known.min(axis=0) if self.side > 0 else known.max(axis=0)
        return np.where(np.isfinite(phi), phi, np.nan)


def rebuild_belief(optimizer: Optimizer, reasons: Sequence[Reason]) -> Belief:
    """The belief at the end of a run, with β and ζ of its last reason."""
    count = len(optimizer.costs)
    zetas, beta = [np.nan] * count, 4.0  # without a reason: two deviations and no bound
    if reasons:
        beta = reasons[-1].beta
        for m, zeta, phi in zip(reasons[-1].fidelities, reasons[-1].zeta, reasons[-1].phi, strict=True):
            zetas[m] = zeta if isfinite(phi) else np.nan  # the others are no part of φ
    models = fit_beliefs(optimizer, optimizer.believed_history(), optimizer.surrogates, coupled=True)
    return Belief(models, sqrt(beta), tuple(zetas), direction_sign(optimizer.direction))
