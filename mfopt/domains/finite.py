"""FiniteSet: a list of candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mfopt.checks import real_array, real_number, show
from mfopt.domains.dimensions import Real, check_log
from mfopt.domains.discrete import Categorical
from mfopt.domains.params import read_row
from mfopt.domains.rows import Integers, RowIndex
from mfopt.domains.table import Table, read_table
from mfopt.errors import DomainError, InputError
from mfopt.protocols import Array, Block, BoolArray


class FiniteSet:
    """X = {x_1, ..., x_N}, given as an array (N, d), nested lists, N values (d = 1), a list of params, or a DataFrame.

    names   of the columns: x0, x1, ..., or those of the params or the DataFrame, unless given
    log     True, False, one of them per column, or the names of some: a log scale for positive numbers; True leaves
            categories alone

    Repeated rows are one point, whose index is that of the first of them. A column of numbers is scaled to [0, 1] by
    its own smallest and largest value; a constant one becomes 0.5. Values are compared exactly. Candidates
    closer to each other than a float64 of the scaled column resolves cannot be told apart by any model: the
    first of them stands for all. A column of strings, booleans or a mixture is a category (mfopt.Categorical), whose
    choices are in the order of their first appearance; trial.x has their places there, trial.params the values of the
    table. Missing values are refused.
    """

    def __init__(
        self,
        points: object,
        names: Sequence[str] | None = None,
        log: bool | Sequence[bool] | Sequence[str] | None = None,
    ) -> None:
        table = points if isinstance(points, Table) else read_table(points, names)
        values = table.values
        first = RowIndex(values).first()
        self._rows: Integers | None = None  # user's row of each point; None when row k is point k
        if len(first) < len(values):
            self._rows, values = first, values[first]
        values.flags.writeable = False
        self._values = values
        self._names = table.names
        self._integers = table.integers
        self._dimensions = _as_dimensions(table, values, _as_logs(log, table))
        widths = [1 if dimension is None else dimension.width for dimension in self._dimensions]
        self._stops = [int(stop) for stop in np.cumsum(widths)]
        self._points = self.encode(values)
        self._points.flags.writeable = False
        self._index = RowIndex(self._points)

    @property
    def dim(self) -> int:
        return self._stops[-1]

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    @property
    def dimensions(self) -> tuple[Real | Categorical | None, ...]:
        """What each column holds: numbers, categories, or one number only."""
        return self._dimensions

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Which unit coordinates belong to each column."""
        each = zip([0, *self._stops[:-1]], self._stops, self._dimensions, strict=True)
        return tuple(Block(start, stop, None if one is None else one.levels) for start, stop, one in each)

    @property
    def named(self) -> bool:
        """Whether some columns hold no numbers: functions are then given params."""
        return any(isinstance(dimension, Categorical) for dimension in self._dimensions)

    @property
    def points(self) -> Array:
        """The distinct points in unit coordinates, (N, d), in the order of their first rows; read-only."""
        return self._points

    @property
    def rows(self) -> Integers:
        """The user's row of each point, (N,): the first one that holds it."""
        return np.arange(len(self)) if self._rows is None else self._rows.copy()

    def __len__(self) -> int:
        """The number of distinct points, N."""
        return len(self._values)

    def validate(self, x: object) -> Array:
        x = read_row(x)
        if isinstance(x, Mapping):
            if set(x) != set(self._names):
                raise DomainError(f"x must have exactly the keys {list(self._names)}, got {show(list(x))}")
            x = [x[name] for name in self._names]
        try:
            point = self._from_user(x)
        except InputError as error:
            raise DomainError(str(error)) from None
        position = self._index.find(self.encode(point[None]))[0]
        if position >= 0 and (self._values[position] == point).all():
            return point
        if np.logical_and.reduce(self._values == point, axis=1).any():  # one of several with the same scaled values
            return point
        raise DomainError(f"x must be one of the {len(self)} candidates, got {show(self.params(point))}")

    def _from_user(self, x: object) -> Array:
        """User units from values of the table in a list, or from an array of user units such as trial.x."""
        raw: Any = np.asarray(x) if hasattr(x, "to_numpy") else x
        if isinstance(raw, np.ndarray) and raw.dtype.kind not in "iuf":
            raw = raw.tolist()
        listed = self.named and isinstance(raw, list | tuple)
        point = np.empty(len(raw)) if listed else np.atleast_1d(real_array(raw, "x"))
        if point.shape != (len(self._names),):
            raise DomainError(
                f"x must have shape ({len(self._names)},), one value per column ({', '.join(self._names)}), "
                f"got shape {point.shape}"
            )
        for j, (name, dimension) in enumerate(zip(self._names, self._dimensions, strict=True)):
            if not isinstance(dimension, Categorical):
                point[j] = real_number(raw[j], name) if listed else point[j]
            elif listed:
                point[j] = dimension.validate(raw[j], name)
            elif not dimension.admits(point[j]):
                raise DomainError(
                    f"an array must hold places among the choices, as trial.x does, got {point[j]} for {name}; give "
                    "values as {name: value}"
                )
        return point

    def params(self, x: Array) -> dict[str, Any]:
        """The values of a point (d,) in user units by name, as they are in the user's table."""
        named: dict[str, Any] = {}
        for name, dimension, whole, value in zip(
            self._names, self._dimensions, self._integers, x.tolist(), strict=True
        ):
            if isinstance(dimension, Categorical):
                named[name] = dimension.native(value)
            else:
                named[name] = int(value) if whole and value.is_integer() else value
        return named

    def encode(self, x: Array) -> Array:
        u = np.full((len(x), self._stops[-1]), 0.5)
        for j, (block, dimension) in enumerate(zip(self.blocks, self._dimensions, strict=True)):
            if dimension is not None:
                u[:, block.coordinates] = dimension.encode(x[:, j])
        return u

    def decode(self, u: Array) -> Array:
        return self._values[self._find(u)]

    def contains(self, u: Array) -> BoolArray:
        kept: BoolArray = self._index.find(u) >= 0
        return kept

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """`n` points, none repeated before all have been drawn."""
        rounds, rest = divmod(n, len(self))
        chosen = [rng.permutation(len(self)) for _ in range(rounds)]
        chosen.append(rng.choice(len(self), size=rest, replace=False))
        return self._points[np.concatenate(chosen)]

    def locate(self, u: Array) -> int:
        """The user's row that the point `u`, (d,), stands for: the first one that holds it."""
        position = int(self._find(u[None])[0])
        return position if self._rows is None else int(self._rows[position])

    def _find(self, u: Array) -> Integers:
        positions = self._index.find(u)
        if (positions < 0).any():
            raise DomainError(f"u must be scaled candidates, got {show(u[positions < 0][0].tolist())}")
        return positions

    def describe(self) -> Mapping[str, Any]:
        return {**self.describe_columns(), "points": self._values.tolist()}

    def describe_columns(self) -> dict[str, Any]:
        """What defines X but for the points."""
        named = list(zip(self._names, self._dimensions, strict=True))
        described: dict[str, Any] = {
            "kind": "finite",
            "names": list(self._names),
            "integers": [name for name, whole in zip(self._names, self._integers, strict=True) if whole],
        }
        choices = {name: list(one.choices) for name, one in named if isinstance(one, Categorical)}
        logs = [name for name, one in named if isinstance(one, Real) and one.log]
        return {**described, **({"choices": choices} if choices else {}), **({"log": logs} if logs else {})}

    def __repr__(self) -> str:
        return f"FiniteSet({len(self)} points of {', '.join(self._names)})"


def _as_logs(given: object, table: Table) -> list[bool]:
    """Whether each column has a log scale."""
    d = len(table.names)
    numbers = [choices is None for choices in table.choices]
    if not isinstance(given, list | tuple | np.ndarray):
        return [check_log(False if given is None else given) and number for number in numbers]
    if len(given) and all(isinstance(one, str) for one in given):
        for name in given:
            if name not in table.names:
                raise InputError(f"log must name columns of {list(table.names)}, got {show(name)}")
        given = [name in given for name in table.names]
    if len(given) != d:
        raise InputError(f"log must be True, False, {d} of them, one per column, or names, got {show(given)}")
    logs = [check_log(one) for one in given]
    for name, log, number in zip(table.names, logs, numbers, strict=True):
        if log and not number:
            raise InputError(f"log must be False for a column that holds no numbers, got True for {name}")
    return logs


def _as_dimensions(table: Table, values: Array, logs: Sequence[bool]) -> tuple[Real | Categorical | None, ...]:
    """How each column is scaled."""
    dimensions: list[Real | Categorical | None] = []
    low, high = values.min(axis=0).tolist(), values.max(axis=0).tolist()
    for name, choices, lo, hi, log in zip(table.names, table.choices, low, high, logs, strict=True):
        if choices is not None:
            dimensions.append(choices)
        elif lo < hi:
            try:
                dimensions.append(Real(lo, hi, log))
            except InputError as error:
                raise InputError(f"{error} for {name}") from None
        else:
            dimensions.append(None)
    return tuple(dimensions)
