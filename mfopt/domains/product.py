"""Product: what boxes and spaces share, a product of dimensions or the part of it that constraints leave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from mfopt.checks import real_array, show
from mfopt.domains.conditions import Conditions
from mfopt.domains.constraints import Constraint, hold_all
from mfopt.domains.dimensions import Dimension, Real
from mfopt.domains.feasible import read_feasible
from mfopt.domains.lattice import Lattice
from mfopt.domains.listing import list_points
from mfopt.domains.params import is_missing, read_row
from mfopt.domains.sampling import Sampler
from mfopt.errors import DomainError, InputError
from mfopt.protocols import Array, Block, BoolArray


class Product:
    """X = {x : each parameter in its dimension, constraints hold}.

    A parameter that does not count at a point (its `when` is not met) is inactive there: NaN in user units, at rest in
    unit coordinates (0.5, or zeros for a category), so that two points do not differ in it.
    """

    def __init__(self, dimensions: Sequence[Dimension], names: Sequence[str]) -> None:
        if not all(isinstance(name, str) and name for name in names):
            raise InputError(f"names must be non-empty strings, got {show(list(names))}")
        if len(set(names)) < len(names):
            raise InputError(f"names must be unique, got {list(names)}")
        self._dimensions = tuple(dimensions)
        self._names = tuple(names)
        self._natives = [(name, dimension.native) for name, dimension in zip(names, dimensions, strict=True)]
        self._splits = [int(k) for k in np.cumsum([dimension.width for dimension in dimensions])]
        conditional = any(dimension.when is not None for dimension in dimensions)
        self._conditions = Conditions(self._dimensions, self._names) if conditional else None
        self._continuous = all(isinstance(dimension, Real) for dimension in dimensions) and not self._conditions
        self._lattice = None if self._continuous else Lattice(self)
        self._constraints: tuple[Constraint, ...] = ()
        self._feasible = np.empty((0, self._splits[-1]))
        self._known: list[dict[str, Any]] = []  # the same by name
        self._sampler = Sampler(self)

    def _constrain(self, constraints: tuple[Constraint, ...]) -> None:
        """Take constraints; one that does not answer as it must is reported here rather than at the first ask.

        The number of rows differs from d so that an answer per coordinate is not taken for an answer per row.
        """
        self._constraints = constraints
        for constraint in constraints:
            for rows in (len(self._dimensions) + 1, 1):
                constraint.holds(self.decode(np.full((rows, self.dim), 0.5)))

    def _know(self, feasible: object) -> None:
        """Take points that the user knows to be in X."""
        x = read_feasible(self, feasible)
        if len(x):
            self._feasible, self._known = self.encode(x), [self.params(point) for point in x]

    # ------------------------------------------------------------------------------------------ what it is

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        return self._dimensions

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        return self._constraints

    @property
    def feasible(self) -> Array:
        """Points of X that the user knows of, (k, dim) in unit coordinates."""
        return self._feasible

    @property
    def continuous(self) -> bool:
        """Whether all parameters are real numbers that always count."""
        return self._continuous

    @property
    def dim(self) -> int:
        return self._splits[-1]

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    @cached_property
    def points(self) -> Array | None:
        """All points where every parameter is discrete and they are not too many (listing.py); otherwise None."""
        return None if self._continuous else list_points(self)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Which unit coordinates belong to each parameter, with its values where they are few."""
        starts = [0, *self._splits[:-1]]
        each = zip(starts, self._splits, self._dimensions, strict=True)
        return tuple(Block(start, stop, dimension.levels) for start, stop, dimension in each)

    @property
    def named(self) -> bool:
        """False: functions are given arrays of user units."""
        return False

    # ------------------------------------------------------------------------------------- the user's values

    def validate(self, x: object) -> Array:
        """A point given as {name: value}, as a list of values, or as an array of user units such as trial.x."""
        try:
            point = self._from_user(x)
        except InputError as error:
            raise DomainError(str(error)) from None
        for k, constraint in enumerate(self._constraints):
            if not constraint.holds(point[None])[0]:
                kind = constraint.describe()["kind"]
                raise DomainError(f"x must satisfy constraint {k} ({kind}), got {show(self.params(point))}")
        return point

    def params(self, x: Array) -> dict[str, Any]:
        """The values of a point (d,) in user units by name, as Python's own; only those that count."""
        each = zip(self._natives, x.tolist(), strict=True)
        return {name: native(value) for (name, native), value in each if value == value}

    def _from_user(self, x: object) -> Array:
        x = read_row(x)
        if isinstance(x, Mapping):
            return self._from_mapping(_without_missing(x, self._names, self._dimensions))
        values = _as_values(x, self._names)
        if isinstance(values, np.ndarray):
            return self._from_units(values)
        return self._from_user(dict(zip(self._names, values, strict=True)))

    def _from_mapping(self, values: Mapping[Any, object]) -> Array:
        """A point from its values by name: exactly those that count; None stands for one that does not."""
        if not self._conditions:
            if set(values) != set(self._names):
                raise DomainError(f"x must have exactly the keys {list(self._names)}, got {show(list(values))}")
            return self._encode_values(values)
        unknown = [name for name in values if name not in self._names]
        if unknown:
            raise DomainError(f"x must have keys among {list(self._names)}, got {show(unknown)}")
        given = {name: value for name, value in values.items() if value is not None or self._takes_none(name)}
        point = self._encode_values(given)
        active = self._conditions.active(point[None])[0]
        there = [name for name, counts in zip(self._names, active.tolist(), strict=True) if counts]
        useless = [name for name, value in given.items() if name not in there and value is not None]
        if useless or any(name not in given for name in there):
            raise DomainError(
                f"x must have exactly the keys that count where the others have these values, {there}, "
                f"got {show(list(given))}"
            )
        return np.where(active, point, np.nan)

    def _takes_none(self, name: str) -> bool:
        """Whether None is a value of the parameter, and not just a way to say that it does not count."""
        j = self._names.index(name)
        return not self._depends(j) or _has_none(self._dimensions[j])

    def _encode_values(self, values: Mapping[Any, object]) -> Array:
        """An array of user units; NaN for what is not given."""
        each = zip(self._names, self._dimensions, strict=True)
        return np.array([dim.validate(values[name], name) if name in values else np.nan for name, dim in each])

    def _from_units(self, x: Array) -> Array:
        """A point from an array of user units, in which inactive parameters are NaN."""
        for name, dimension, number in zip(self._names, self._dimensions, x.tolist(), strict=True):
            if isinstance(dimension, Real) and (number == number or not self._conditions):
                dimension.validate(number, name)
            elif number == number and not dimension.admits(number):
                raise DomainError(
                    f"an array must hold user units as trial.x does, got {number} for {name}, {dimension}; "
                    "give values as {name: value}"
                )
        if self._conditions and not np.array_equal(np.isnan(x), ~self._conditions.active(x[None])[0]):
            raise DomainError(f"an array must be NaN for exactly the parameters that do not count, got {x.tolist()}")
        return x

    # ------------------------------------------------------------------------------------- unit coordinates

    def encode(self, x: Array) -> Array:
        """User units (q, d) to unit coordinates."""
        blocks = []
        for j, dimension in enumerate(self._dimensions):
            if self._depends(j):
                counts = ~np.isnan(x[:, j])
                block = np.full((len(x), dimension.width), _rest(dimension))
                block[counts] = dimension.encode(x[counts, j])
                blocks.append(block)
            else:
                blocks.append(dimension.encode(x[:, j]))
        return np.hstack(blocks)

    def decode(self, u: Array) -> Array:
        """Any unit coordinates (q, dim) to user units: the nearest values, NaN for inactive parameters."""
        pairs = zip(self._dimensions, self._split(u), strict=True)
        x = np.column_stack([dimension.decode(block) for dimension, block in pairs])
        if self._conditions:
            x[~self._conditions.active(x)] = np.nan
        return x

    def snap(self, u: Array) -> Array:
        """Discrete parameters at their nearest value, inactive ones at rest; constraints are not looked at."""
        if self._continuous:
            return u
        blocks = [dim.snap(block) for dim, block in zip(self._dimensions, self._split(u), strict=True)]
        if self._conditions:
            active = ~np.isnan(self.decode(u))
            for j, dimension in enumerate(self._dimensions):
                if self._depends(j):
                    blocks[j] = np.where(active[:, j, None], blocks[j], _rest(dimension))
        return np.hstack(blocks)

    def contains(self, u: Array) -> BoolArray:
        """Which rows are points of X, their discrete parameters exactly at a value."""
        kept: BoolArray = np.logical_and.reduce((u >= 0.0) & (u <= 1.0), axis=1)
        if self._lattice is None:
            if self._constraints and kept.any():
                kept[kept] = self.satisfies(u[kept])
        elif kept.any():
            x, on = self._lattice.decode(u[kept])
            on[on] = hold_all(self._constraints, x)
            kept[kept] = on
        return kept

    def satisfies(self, u: Array) -> BoolArray:
        """Whether the constraints hold at points of the cube."""
        return hold_all(self._constraints, self.decode(u)) if self._constraints else np.ones(len(u), dtype=np.bool_)

    def ends(self) -> tuple[Array, Array]:
        """The smallest and the largest values in user units, (d,) each, of parameters that are numbers."""
        return self.decode(np.zeros((1, self.dim)))[0], self.decode(np.ones((1, self.dim)))[0]

    def draw(self, n: int, rng: np.random.Generator) -> Array:
        """`n` points, uniform in every parameter, whether or not the constraints hold."""
        v = rng.random((n, len(self._dimensions)))
        spread = [] if self._continuous else [dim.spread(v[:, j]) for j, dim in enumerate(self._dimensions)]
        return self.snap(np.hstack(spread)) if spread else v

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """`n` points of X, uniform where that can be had; see sampling.py."""
        return self._sampler.sample(n, rng) if self._constraints else self.draw(n, rng)

    def locate(self, u: Array) -> int | None:
        """The row of `points` that u is; None where they are not listed."""
        return None if self.points is None else self._rows.get(u.tobytes())

    @cached_property
    def _rows(self) -> dict[bytes, int]:
        """The row of each of the points."""
        return {} if self.points is None else {u.tobytes(): row for row, u in enumerate(self.points)}

    def _depends(self, j: int) -> bool:
        """Whether parameter j may be inactive."""
        return self._conditions is not None and self._conditions.depends(j)

    def _split(self, u: Array) -> list[Array]:
        return np.split(u, self._splits[:-1], axis=1)

    def _describe(self, kind: str) -> Mapping[str, Any]:
        named = zip(self._names, self._dimensions, strict=True)
        return {
            "kind": kind,
            "dimensions": [{"name": name, **dimension.describe()} for name, dimension in named],
            "constraints": [dict(constraint.describe()) for constraint in self._constraints],
            **({"feasible": [dict(point) for point in self._known]} if self._known else {}),
        }


def _rest(dimension: Dimension) -> float:
    """The unit coordinates of an inactive parameter."""
    return 0.5 if dimension.width == 1 else 0.0


def _has_none(dimension: Dimension) -> bool:
    """Whether None is one of its choices."""
    return None in getattr(dimension, "choices", ())


def _without_missing(
    values: Mapping[Any, Any], names: Sequence[str], dimensions: Sequence[Dimension]
) -> dict[Any, Any]:
    """The same with None in place of NaN where there may be nothing: tables say NaN there. pandas' NA is never more."""
    each = zip(names, dimensions, strict=True)
    optional = {name for name, dimension in each if dimension.when is not None or _has_none(dimension)}
    return {
        name: None if is_missing(value) and (name in optional or not isinstance(value, float)) else value
        for name, value in values.items()
    }


def _as_values(x: object, names: Sequence[str]) -> Sequence[object] | Array:
    """One entry per parameter: native values in a list, or user units in a float array."""
    d = len(names)
    if hasattr(x, "to_numpy"):  # a row of a table without names
        x = x.to_numpy()
    if isinstance(x, np.ndarray) and x.dtype.kind not in "iuf":
        x = x.tolist()
    if isinstance(x, list | tuple):
        shape: tuple[int, ...] = (len(x),)
        values: Sequence[object] | Array = x
    else:
        values = np.atleast_1d(real_array(x, "x"))
        shape = values.shape
    if shape != (d,):
        raise DomainError(f"x must have shape ({d},), one value per dimension ({', '.join(names)}), got shape {shape}")
    return values
