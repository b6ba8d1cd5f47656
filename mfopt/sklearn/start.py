"""Start: the candidate that a search begins with, the estimator's own parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from mfopt.errors import MfoptError
from mfopt.sklearn.spaces import SearchSpace


def own_point(space: SearchSpace, own: Mapping[str, Any]) -> dict[str, Any] | None:
    """The point of the space that is nearest to these parameters; None where constraints exclude it.

    A number beyond a bound is moved to it. In the place of what the space does not know, such as None or "auto" for a
    number, stands the middle of the range or the first choice.
    """
    domain = space.domain
    each = list(zip(domain.names, domain.dimensions, strict=True))
    x = np.array([_place(dimension, space.value(name, own[name]), name) for name, dimension in each])
    parts = [dimension.encode(x[k : k + 1]) for k, (_, dimension) in enumerate(each)]
    u = domain.snap(np.concatenate(parts, axis=1))
    if not domain.contains(u)[0]:
        return None
    counts = ~np.isnan(domain.decode(u)[0])  # a conditional parameter may not
    return domain.params(np.where(counts, x, np.nan))


def _place(dimension: Any, value: Any, name: str) -> float:
    """The value in user units, or what stands in its place."""
    if isinstance(value, np.generic):
        value = value.item()
    try:
        return float(dimension.validate(value, name))
    except MfoptError:
        bounded = hasattr(dimension, "lo") and isinstance(value, int | float) and not isinstance(value, bool)
        if bounded and not math.isnan(value):
            return float(min(max(value, dimension.lo), dimension.hi))
        if hasattr(dimension, "choices"):
            return 0.0
        return float(dimension.decode(np.full((1, dimension.width), 0.5))[0])
