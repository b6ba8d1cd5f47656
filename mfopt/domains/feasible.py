"""Feasible points: what a user knows of an X that random points do not find."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mfopt.checks import show
from mfopt.domains.params import is_frame, is_series, params_of_frame
from mfopt.errors import DomainError, InputError
from mfopt.protocols import Array

if TYPE_CHECKING:
    from mfopt.domains.product import Product


def read_feasible(product: Product, given: object) -> Array:
    """Points of X in user units, (k, d), from one point or a list of them; none from None."""
    if given is None:
        return np.empty((0, len(product.names)))
    points: Any = params_of_frame(given) if is_frame(given) else given
    lists = isinstance(points, list | tuple) or getattr(points, "ndim", 1) == 2
    many = lists and all(isinstance(one, Mapping | list | tuple | np.ndarray) or is_series(one) for one in points)
    try:
        x = np.array([product.validate(one) for one in (points if many else [points])])
    except DomainError as error:
        raise InputError(f"feasible must be points of X: {error}") from None
    if len(x) == 0:
        raise InputError("feasible must be at least one point, got none")
    lost = np.flatnonzero(~product.contains(product.encode(x)))
    if len(lost):
        raise InputError(
            "feasible must be points that stay in X when they are rounded to unit coordinates, got "
            f"{show(product.params(x[lost[0]]))}, which lies on its edge"
        )
    return x
