"""Listing: all points of a product of dimensions that are all discrete."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfopt.protocols import Array

if TYPE_CHECKING:
    from mfopt.domains.product import Product

MOST_POINTS = 20_000  # a discrete X with more of them is not listed
_MOST_COMBINATIONS = 50_000  # of values, before conditions
_MOST_CONSTRAINED = 200_000  # before constraints, which may leave next to none: as many as random draws would be tried


def list_points(product: Product) -> Array | None:
    """All distinct points of X (N, dim), in unit coordinates; None where X is not discrete, or has too many."""
    levels = [block.levels for block in product.blocks if block.levels is not None]
    counts = [len(each) for each in levels]
    most = _MOST_CONSTRAINED if product.constraints else _MOST_COMBINATIONS
    if len(levels) < len(product.blocks) or np.prod(counts, dtype=np.float64) > most:
        return None
    places = np.indices(counts).reshape(len(counts), -1)
    combined = np.hstack([each[place] for each, place in zip(levels, places, strict=True)])
    points = np.unique(product.snap(combined), axis=0)
    points = points[product.contains(points)]
    return np.ascontiguousarray(points) if 0 < len(points) <= MOST_POINTS else None
