"""Constraints: which rows of user-unit points a box keeps.

SciPy's LinearConstraint and NonlinearConstraint, vectorised predicates and functions of named values become one small
object each, with `holds`. There is no tolerance: a point that is kept satisfies lb ≤ g(x) ≤ ub as evaluated. An
equality of real numbers would leave a set without interior, which no sampling or search in the box can hit, so it is
refused; one of integers is not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from mfopt.checks import real_array, show
from mfopt.errors import InputError
from mfopt.protocols import Array, BoolArray


class Constraint(Protocol):
    """One condition on x."""

    def holds(self, x: Array) -> BoolArray:
        """Which rows of x, (q, d) in user units, satisfy it."""

    def describe(self) -> Mapping[str, Any]:
        """What defines it, as plain JSON-able values."""


def hold_all(constraints: Sequence[Constraint], x: Array) -> BoolArray:
    """Which rows of x satisfy all of them; later ones see only what earlier ones kept."""
    kept = np.ones(len(x), dtype=np.bool_)
    for constraint in constraints:
        if kept.any():
            kept[kept] = constraint.holds(x[kept])
    return kept


class Linear:
    """lb ≤ A x ≤ ub."""

    def __init__(self, a: Array, lb: Array, ub: Array) -> None:
        self.a, self.lb, self.ub = a, lb, ub

    def holds(self, x: Array) -> BoolArray:
        # Summed column by column: a matrix product may round differently from one batch size to the next,
        # and a point on the boundary would then be in X or not depending on its company.
        value = np.zeros((len(x), len(self.a)))
        for j in range(x.shape[1]):
            value += x[:, j, None] * self.a[:, j]
        kept: BoolArray = np.logical_and.reduce((self.lb <= value) & (value <= self.ub), axis=1)
        return kept

    def describe(self) -> Mapping[str, Any]:
        return {"kind": "linear", "A": self.a.tolist(), "lb": self.lb.tolist(), "ub": self.ub.tolist()}


class Nonlinear:
    """lb ≤ g(x) ≤ ub; g takes one point (d,), as SciPy has it, so it is called row by row. NaN is outside."""

    def __init__(self, fun: Callable[[Array], object], lb: Array, ub: Array) -> None:
        self.fun, self.lb, self.ub = fun, lb, ub

    def holds(self, x: Array) -> BoolArray:
        return np.fromiter((self._holds_at(row) for row in x), dtype=np.bool_, count=len(x))

    def _holds_at(self, row: Array) -> bool:
        try:
            found = self.fun(row.copy())
        except Exception as error:
            raise _cannot_judge("every point", error, row.tolist(), self.fun) from error
        value = np.atleast_1d(np.asarray(found, dtype=np.float64))
        try:
            np.broadcast_shapes(value.shape, self.lb.shape, self.ub.shape)
        except ValueError:
            raise InputError(
                f"a NonlinearConstraint's fun must return as many values as its bounds have "
                f"(lb {self.lb.shape}, ub {self.ub.shape}), got shape {value.shape}"
            ) from None
        return bool(np.all((self.lb <= value) & (value <= self.ub)))

    def describe(self) -> Mapping[str, Any]:
        return {"kind": "nonlinear", "fun": _name(self.fun), "lb": self.lb.tolist(), "ub": self.ub.tolist()}


class Predicate:
    """A function of many points at once: (q, d) in user units to (q,) booleans."""

    def __init__(self, fun: Callable[[Array], object]) -> None:
        self.fun = fun

    def holds(self, x: Array) -> BoolArray:
        kept = np.asarray(self.fun(x.copy()))
        if kept.dtype != np.bool_ or kept.shape != (len(x),):
            raise InputError(
                f"a constraint predicate must return one boolean per row, shape ({len(x)},) for an input of "
                f"shape {x.shape}, got {kept.dtype} of shape {kept.shape} from {_name(self.fun)}"
            )
        return kept

    def describe(self) -> Mapping[str, Any]:
        return {"kind": "predicate", "fun": _name(self.fun)}


class Named:
    """A function of one point, its values by name, to True or False; `name_rows` makes them from user units.

    Not all of `names` need be there at a point.
    """

    def __init__(
        self,
        fun: Callable[[dict[str, Any]], object],
        names: Sequence[str],
        name_rows: Callable[[Array], list[dict[str, Any]]],
    ) -> None:
        self.fun = fun
        self._names = names
        self._name_rows = name_rows

    def holds(self, x: Array) -> BoolArray:
        return np.array([self._holds_at(values) for values in self._name_rows(x)], dtype=np.bool_)

    def _holds_at(self, values: dict[str, Any]) -> bool:
        try:
            kept = self.fun(values)
        except Exception as error:
            absent = [repr(name) for name in self._names if name not in values]
            missed = isinstance(error, KeyError) and str(error) in absent
            judged = "points where some parameters do not count" if missed else "every point"
            raise _cannot_judge(judged, error, values, self.fun) from error
        if not isinstance(kept, bool | np.bool_):
            raise InputError(
                f"a constraint must return True or False for one point, got {show(kept)} from {_name(self.fun)}"
            )
        return bool(kept)

    def describe(self) -> Mapping[str, Any]:
        return {"kind": "predicate", "fun": _name(self.fun)}


def as_constraints(given: object, d: int) -> tuple[Constraint, ...]:
    """One constraint or a sequence of them, for points of `d` coordinates."""
    if given is None:
        return ()
    each = given if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    return tuple(as_constraint(one, d) for one in each)


def as_constraint(given: object, d: int, discrete: Sequence[bool] | None = None) -> Constraint:
    """SciPy's constraint or a vectorised predicate, for points of `d` coordinates.

    discrete   which coordinates have values that an equality can hit; None: none of them
    """
    from scipy.optimize import LinearConstraint, NonlinearConstraint  # slow to import

    if isinstance(given, LinearConstraint):
        dense = given.A.toarray() if hasattr(given.A, "toarray") else given.A
        a = np.atleast_2d(real_array(dense, "A of a LinearConstraint"))
        if a.ndim != 2 or a.shape[1] != d:
            raise InputError(f"A of a LinearConstraint must have {d} columns, one per dimension, got {a.shape}")
        if not np.isfinite(a).all():
            raise InputError(f"A of a LinearConstraint must be finite, got {show(a.tolist())}")
        exact = (a[:, ~np.array(discrete or [False] * d)] == 0.0).all(axis=1)
        lb, ub = _bounds(given.lb, given.ub, (len(a),), exact)
        return Linear(a, lb, ub)
    if isinstance(given, NonlinearConstraint):
        return Nonlinear(given.fun, *_bounds(given.lb, given.ub, None))
    if callable(given):
        return Predicate(given)
    raise InputError(
        "constraints must be SciPy LinearConstraint or NonlinearConstraint objects or vectorised predicates, "
        f"got {show(given)}"
    )


def _bounds(
    lb: object, ub: object, shape: tuple[int, ...] | None, exact: BoolArray | bool = False
) -> tuple[Array, Array]:
    """The two bounds of a constraint, broadcast to `shape` where it is known; where `exact` they may be equal."""
    low = np.atleast_1d(real_array(lb, "lb of a constraint"))
    high = np.atleast_1d(real_array(ub, "ub of a constraint"))
    try:
        full = shape or np.broadcast_shapes(low.shape, high.shape)
        low, high = np.broadcast_to(low, full).copy(), np.broadcast_to(high, full).copy()
    except ValueError:
        raise InputError(
            f"lb and ub of a constraint must have one value per row of A, got {low.shape} and {high.shape}"
        ) from None
    if not ((low < high) | (exact & (low == high))).all():  # NaN fails this too
        raise InputError(
            f"a constraint needs lb < ub (an equality of real numbers leaves no interior: drop a coordinate instead; "
            "one of integers alone can be a function), "
            f"got lb {low.tolist()}, ub {high.tolist()}"
        )
    return low, high


def _cannot_judge(judged: str, error: Exception, point: object, fun: object) -> InputError:
    """The error of a function that raises one."""
    return InputError(
        f"a constraint must be able to judge {judged}, got {type(error).__name__}: {error} at {show(point)} from "
        f"{_name(fun)}"
    )


def _name(fun: object) -> str:
    return str(getattr(fun, "__qualname__", None) or type(fun).__qualname__)
