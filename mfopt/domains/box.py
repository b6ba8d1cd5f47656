"""Box: a product of real intervals, or the compact subset of it that constraints leave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mfopt.checks import real_array, show
from mfopt.domains.constraints import as_constraints
from mfopt.domains.dimensions import Real
from mfopt.domains.product import Product
from mfopt.errors import InputError
from mfopt.protocols import Array


class Box(Product):
    """X = {x : lo ≤ x ≤ hi, constraints hold}.

    bounds       one (lo, hi) or mfopt.Real per dimension, finite with lo < hi
    names        unique strings, x0, x1, ... unless given
    log          True, False, or one of them per dimension; a log scale needs lo > 0
    constraints  one of, or a list of: SciPy's LinearConstraint, NonlinearConstraint, vectorised predicates,
                 which take an array (q, d) in user units and return (q,) booleans
    feasible     a point of X, or several, where X is so small that random points do not find it

    Integers, categories and conditions are in mfopt.Space. "Uniform" below means uniform in unit coordinates, that is
    log-uniform along a log dimension.
    """

    def __init__(
        self,
        bounds: Sequence[tuple[float, float] | Real] | Array,
        names: Sequence[str] | None = None,
        log: bool | Sequence[bool] | None = None,
        constraints: object = None,
        feasible: object = None,
    ) -> None:
        if not isinstance(bounds, list | tuple | np.ndarray):
            raise InputError(f"bounds must be a sequence of (lo, hi) pairs, got {show(bounds)}")
        if len(bounds) == 0:
            raise InputError("bounds must have at least one (lo, hi) pair, got none")
        d = len(bounds)
        if names is None:
            names = [f"x{j}" for j in range(d)]
        if not isinstance(names, list | tuple) or len(names) != d:
            raise InputError(f"names must be a list of {d} strings, one per dimension, got {show(names)}")
        super().__init__(_as_reals(bounds, names, log), names)
        self._constrain(as_constraints(constraints, d))
        self._know(feasible)

    def describe(self) -> Mapping[str, Any]:
        return self._describe("box")

    def __repr__(self) -> str:
        given = f", {len(self._constraints)} constraints" if self._constraints else ""
        return f"Box({dict(zip(self._names, self._dimensions, strict=True))}{given})"


def _as_reals(bounds: Sequence[Any] | Array, names: Sequence[str], log: object) -> list[Real]:
    """The dimension objects that the bounds and log of a Box stand for."""
    d = len(bounds)
    if any(isinstance(one, Real) for one in bounds):
        if not all(isinstance(one, Real) for one in bounds) or any(one.when is not None for one in bounds):
            raise InputError(
                f"bounds must be all (lo, hi) pairs or all mfopt.Real without `when`, got {show(bounds)}; "
                "use mfopt.Space for other dimensions"
            )
        if log is not None:
            raise InputError("log belongs to (lo, hi) pairs; a mfopt.Real carries its own")
        return list(bounds)
    pairs = real_array(bounds, "bounds")
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise InputError(f"bounds must have shape (d, 2), a (lo, hi) pair per dimension, got {pairs.shape}")
    logs = log if isinstance(log, list | tuple | np.ndarray) else [bool(log) if log is None else log] * d
    if len(logs) != d:
        raise InputError(f"log must be True, False or {d} of them, one per dimension, got {show(log)}")
    reals = []
    for name, (lo, hi), is_log in zip(names, pairs.tolist(), logs, strict=True):
        try:
            reals.append(Real(lo, hi, is_log))
        except InputError as error:
            raise InputError(f"{error} for {name}") from None
    return reals
