"""Scales: a score as the optimiser is told it.

R² and losses have an upper bound and no lower one, and most candidates of a search lie in that tail, some with an R² of
−10⁹. What tells the good ones apart, 0.93 from 0.94, is nothing beside that range, and models that see the scores as
they are see one plateau. So the optimiser is told

    w(s) = −log(b − s + ε)     b the bound: 1 for R² and its like, 0 for losses

in which halving the error counts the same everywhere. ε is an error that nobody would tell from none. Accuracies, which
lie within [0, 1], and scores of which nothing is known stay as they are, and so do those of a search with a storage.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sklearn.base import is_regressor
from sklearn.metrics import get_scorer

FINEST, FINEST_LOSS = 1e-3, 1e-12  # ε for scores up to 1, and for losses, whose unit may be any


@dataclass(frozen=True)
class Scale:
    """w for the bound b and ε; without a bound scores stay as they are."""

    bound: float | None = None
    finest: float = FINEST

    def tell(self, score: float) -> float:
        """w(s); on from the bound, where no score should be, along its tangent."""
        if self.bound is None:
            return score
        error = self.bound - score
        return -math.log(max(error, 0.0) + self.finest) - min(error, 0.0) / self.finest

    def read(self, told: float) -> float:
        """The score with this w."""
        if self.bound is None:
            return told
        over = told + math.log(self.finest)
        return self.bound + (self.finest - math.exp(-told) if over <= 0.0 else self.finest * over)


def find_scale(estimator: Any, scoring: Any, metric: str) -> Scale:
    """The scale of the scores that a search optimises; `metric` is the one of several that counts."""
    if isinstance(scoring, Mapping):
        scoring = scoring.get(metric)
    elif isinstance(scoring, list | tuple | set):
        scoring = metric
    if scoring is None:
        return Scale(1.0) if is_regressor(estimator) else Scale()  # the estimator's own: R², or an accuracy
    scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
    function: Any = getattr(scorer, "_score_func", None)  # of what make_scorer made; any other callable is unknown
    if function is None or not function.__module__.startswith("sklearn.metrics"):
        return Scale()
    if scorer._sign < 0:
        return Scale(0.0, FINEST_LOSS)
    return Scale(1.0) if function.__name__.startswith(("r2_", "d2_", "explained_variance")) else Scale()
