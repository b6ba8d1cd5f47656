"""Gaps: how far points lie from all that were queried."""

from __future__ import annotations

import numpy as np

from mfopt.hooks import blocks_of
from mfopt.protocols import Array, Domain


def measure_gaps(domain: Domain, u: Array, queried: Array) -> Array:
    """The distance of each row of u to the nearest of the queried points, +∞ without any.

    The two ends of an interval count as neighbours. Otherwise points at the ends, which have others on one side only,
    would lie farthest from all, and the middle of X would hardly be looked at where it has many parameters.
    """
    apart = np.abs(u[:, None, :] - queried[None, :, :])
    ordered = [block.start for block in blocks_of(domain) if block.levels is None]
    apart[:, :, ordered] = np.minimum(apart[:, :, ordered], 1.0 - apart[:, :, ordered])
    return np.asarray(np.sqrt((apart**2).sum(axis=2)).min(axis=1, initial=np.inf))
