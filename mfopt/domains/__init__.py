"""Domains: X, the points that may be evaluated, and the way from user units to the unit cube and back.

box           Box, a product of dimensions (dimensions.py) with or without constraints (constraints.py)
finite        FiniteSet, a list of candidates, found by their values (rows.py)
as_domain     what a user may give as a domain
"""

from __future__ import annotations

import numpy as np

from mfopt.checks import show
from mfopt.domains.box import Box
from mfopt.errors import InputError
from mfopt.protocols import Domain


def as_domain(given: object) -> Domain:
    """A Domain object (mfopt's or anyone's) as it is; a sequence of (lo, hi) pairs or dimensions as a Box."""
    if isinstance(given, Domain):
        return given
    if isinstance(given, list | tuple | np.ndarray):
        return Box(given)
    raise InputError(
        f"domain must be a mfopt.Box, a mfopt.FiniteSet, another Domain or a list of (lo, hi) pairs, got {show(given)}"
    )
