"""Start: the candidate that a search begins with, the estimator as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from mfopt.checks import show
from mfopt.errors import InputError, MfoptError
from mfopt.sklearn.spaces import Point, SearchSpace


@dataclass(frozen=True)
class Start:
    """The estimator's own parameters, where they lie in X, and what they leave of the capital.

    In X they are a point like any other, which the optimiser is told and charged for. Elsewhere, as None or "scale" for
    a number, they are evaluated all the same, so that no search ends below them; the optimiser cannot be told, and gets
    a capital without that evaluation, if that leaves enough for another one.
    """

    wanted: bool
    params: Mapping[str, Any]
    x: Point | None
    capital: float | None  # in evaluations with the full resource; None where seconds are the budget

    @property
    def outside(self) -> bool:
        """Whether an evaluation is made that the optimiser does not know."""
        return self.wanted and self.x is None

    @property
    def alone(self) -> bool:
        """Whether the capital pays for nothing else."""
        return self.outside and self.capital is not None and 1.0 <= self.capital < 2.0

    @property
    def rest(self) -> float | None:
        """What the optimiser gets of the capital: no less than what one evaluation costs, which it insists on."""
        if self.capital is None or self.capital < 1.0 or not self.outside:
            return self.capital
        return max(self.capital - 1.0, 1.0)


def make_start(wanted: object, space: SearchSpace, estimator: Mapping[str, Any], capital: float | None) -> Start:
    """The start with these parameters of the estimator."""
    if not isinstance(wanted, bool | np.bool_):
        raise InputError(f"start must be True or False, got {show(wanted)}")
    own = {name: estimator[name] for name in space.domain.names}
    return Start(bool(wanted), own, find_point(space, own), capital)


def find_point(space: SearchSpace, own: Mapping[str, Any]) -> Point | None:
    """The point of X with these parameters, in user units; None where there is none."""
    domain = space.domain
    each = list(zip(domain.names, domain.dimensions, strict=True))
    x = np.array([_place(dimension, space.value(name, own[name]), name) for name, dimension in each])
    middle = np.array([dimension.decode(np.full((1, dimension.width), 0.5))[0] for _, dimension in each])
    filled = np.where(np.isnan(x), middle, x)
    parts = [dimension.encode(filled[k : k + 1]) for k, (_, dimension) in enumerate(each)]
    counts = ~np.isnan(domain.decode(domain.snap(np.concatenate(parts, axis=1)))[0])  # a conditional parameter may not
    if np.isnan(x[counts]).any():
        return None
    try:
        return domain.validate(np.where(counts, x, np.nan))
    except MfoptError:  # constraints exclude it
        return None


def _place(dimension: Any, value: Any, name: str) -> float:
    """The value in user units; NaN where the dimension does not have it."""
    try:
        return float(dimension.validate(value, name))
    except MfoptError:
        return np.nan
