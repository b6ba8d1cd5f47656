"""Space: named parameters of any kind, with conditions and constraints on their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mfopt.checks import real_array, show
from mfopt.domains.constraints import Constraint, Named, as_constraint
from mfopt.domains.dimensions import Dimension, Real
from mfopt.domains.discrete import Categorical, Integer
from mfopt.domains.product import Product
from mfopt.errors import InputError
from mfopt.protocols import Array


class Space(Product):
    """X, as a dict from the name of each parameter to its values.

        mfopt.Space(
            {
                "rate": mfopt.Real(1e-4, 1e-1, log=True),
                "depth": mfopt.Integer(2, 12),
                "size": mfopt.Ordinal([32, 64, 128]),
                "booster": mfopt.Categorical(["tree", "dart"]),
                "drop": mfopt.Real(0, 1, when={"booster": "dart"}),
            },
            constraints=lambda p: p["depth"] * p["size"] <= 1000,
        )

    parameters   a pair (lo, hi) stands for Real(lo, hi), a list for Categorical(list)
    constraints  one of, or a list of: functions that take the values of one point by name and return True or False;
                 SciPy's LinearConstraint and NonlinearConstraint where every parameter is a number that always counts
    feasible     a point of X, or several, where X is so small that random points do not find it

    A parameter with `when` counts only where the parameters that it names have these values; elsewhere it is neither
    handed out nor looked at. `trial.params` has the values by name. `trial.x` has them as numbers: a category, or an
    ordinal that is no number, as its place in its list, one that does not count as NaN.
    """

    def __init__(self, parameters: Mapping[str, object], constraints: object = None, feasible: object = None) -> None:
        if not isinstance(parameters, Mapping) or not parameters:
            raise InputError(f"a space must be a dict with at least one parameter, got {show(parameters)}")
        dimensions = [_as_dimension(name, one) for name, one in parameters.items()]
        super().__init__(dimensions, list(parameters))
        each = constraints if isinstance(constraints, Sequence) and not isinstance(constraints, str) else [constraints]
        self._constrain(tuple(self._as_constraint(one) for one in each if one is not None))
        self._know(feasible)

    def _as_constraint(self, given: object) -> Constraint:
        if callable(given):
            return Named(given, self._names, self._name_rows)
        if self._conditions or not all(isinstance(dim, Real | Integer) for dim in self._dimensions):
            raise InputError(
                "constraints of a space with categories, ordinals or conditions must be functions of "
                f"{{name: value}}, got {show(given)}"
            )
        return as_constraint(given, len(self._dimensions), [isinstance(dim, Integer) for dim in self._dimensions])

    def _name_rows(self, x: Array) -> list[dict[str, Any]]:
        """The params of every row; column by column where all of them count, which is faster."""
        if self._conditions:
            return [self.params(row) for row in x]
        each = zip(self._dimensions, x.T.tolist(), strict=True)
        columns = [values if isinstance(dim, Real) else [dim.native(value) for value in values] for dim, values in each]
        return [dict(zip(self._names, row, strict=True)) for row in zip(*columns, strict=True)]

    @property
    def named(self) -> bool:
        """True: functions are given params."""
        return True

    def describe(self) -> Mapping[str, Any]:
        return self._describe("space")

    def __repr__(self) -> str:
        given = f", {len(self._constraints)} constraints" if self._constraints else ""
        return f"Space({dict(zip(self._names, self._dimensions, strict=True))}{given})"


def _as_dimension(name: object, given: object) -> Dimension:
    """A parameter as it is, or what its short form stands for."""
    try:
        if isinstance(given, Dimension):
            return given
        if isinstance(given, tuple):
            pair = real_array(given, "a pair")
            if pair.shape == (2,):
                return Real(*pair.tolist())
        elif isinstance(given, list | np.ndarray):
            return Categorical(list(given))
    except InputError as error:
        raise InputError(f"{error} for {name}") from None
    raise InputError(
        "a parameter must be a mfopt.Real, Integer, Ordinal or Categorical, a pair (lo, hi) or a list of choices, "
        f"got {show(given)} for {name}"
    )
