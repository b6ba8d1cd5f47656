"""Domains: X, the points that may be evaluated, and the way from user units to the unit cube and back.

box           Box, real intervals with or without constraints (constraints.py)
space         Space, named parameters of any kind (dimensions.py, discrete.py) with conditions (conditions.py)
product       what the two share; sampling.py draws its points, from pool.py where X is thin (walks.py, polytope.py);
              feasible.py reads those that the user knows of
finite        FiniteSet, a table of candidates (table.py), found by their values (rows.py)
params        a point as {name: native value}
missing       in the place of a domain that a storage could not hold; rebuild.py makes those that it could
as_domain     what a user may give as a domain
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mfopt.checks import show
from mfopt.domains.box import Box
from mfopt.domains.space import Space
from mfopt.errors import InputError
from mfopt.protocols import Domain


def as_domain(given: object) -> Domain:
    """A Domain object (mfopt's or anyone's) as it is; (lo, hi) pairs as a Box, a dict of parameters as a Space."""
    if isinstance(given, Domain):
        return given
    if isinstance(given, Mapping):
        return Space(given)
    if isinstance(given, list | tuple | np.ndarray):
        return Box(given)
    raise InputError(
        "domain must be a mfopt.Box, Space, FiniteSet or another Domain, a list of (lo, hi) pairs or a dict of "
        f"parameters, got {show(given)}"
    )
