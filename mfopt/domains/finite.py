"""FiniteSet: a list of candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mfopt.checks import real_array, show
from mfopt.domains.dimensions import Real
from mfopt.domains.rows import Integers, RowIndex
from mfopt.errors import DomainError, InputError
from mfopt.protocols import Array, BoolArray


class FiniteSet:
    """X = {x_1, ..., x_N}, given as an array (N, d), nested lists, N numbers (d = 1), or a DataFrame.

    `names` are those of the columns: x0, x1, ..., or a DataFrame's own, unless given.

    Repeated rows are one point, whose index is that of the first of them. Each column is scaled to [0, 1] by its
    own smallest and largest value; a constant column becomes 0.5. Values are compared exactly. Candidates
    closer to each other than a float64 of the scaled column resolves cannot be told apart by any model: the
    first of them stands for all.
    """

    def __init__(self, points: object, names: Sequence[str] | None = None) -> None:
        values, names = _as_candidates(points, names)
        first = RowIndex(values).first()
        self._rows: Integers | None = None  # user's row of each point; None when row k is point k
        if len(first) < len(values):
            self._rows, values = first, values[first]
        values.flags.writeable = False
        self._values = values
        self._names = names
        low, high = values.min(axis=0).tolist(), values.max(axis=0).tolist()
        self._columns = [Real(lo, hi) if lo < hi else None for lo, hi in zip(low, high, strict=True)]
        self._points = self.encode(values)
        self._points.flags.writeable = False
        self._index = RowIndex(self._points)

    @property
    def dim(self) -> int:
        return len(self._names)

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

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
        if isinstance(x, Mapping):
            if set(x) != set(self._names):
                raise DomainError(f"x must have exactly the keys {list(self._names)}, got {show(list(x))}")
            x = [x[name] for name in self._names]
        try:
            point = np.atleast_1d(real_array(x, "x"))
        except InputError as error:
            raise DomainError(str(error)) from None
        if point.shape != (self.dim,):
            raise DomainError(
                f"x must have shape ({self.dim},), one value per column ({', '.join(self._names)}), "
                f"got shape {point.shape}"
            )
        position = self._index.find(self.encode(point[None]))[0]
        if position >= 0 and (self._values[position] == point).all():
            return point
        if np.logical_and.reduce(self._values == point, axis=1).any():  # one of several with the same scaled values
            return point
        raise DomainError(f"x must be one of the {len(self)} candidates, got {point.tolist()}")

    def encode(self, x: Array) -> Array:
        u = np.full(x.shape, 0.5)
        for j, column in enumerate(self._columns):
            if column is not None:
                u[:, j] = column.encode(x[:, j])[:, 0]
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
        return {"kind": "finite", "names": list(self._names), "points": self._values.tolist()}

    def __repr__(self) -> str:
        return f"FiniteSet({len(self)} points of {', '.join(self._names)})"


def _as_candidates(points: object, given: object) -> tuple[Array, tuple[str, ...]]:
    """The rows as float64 (N, d), and the names of the columns."""
    names: tuple[str, ...] | None = None
    if hasattr(points, "columns") and hasattr(points, "to_numpy"):  # a DataFrame; pandas need not be installed
        names = tuple(str(column) for column in points.columns)
        points = points.to_numpy()
    values = real_array(points, "candidates")
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2 or 0 in values.shape:
        raise InputError(
            f"candidates must have shape (N, d), one point per row, with N and d at least 1, got {values.shape}"
        )
    bad = np.flatnonzero(~np.logical_and.reduce(np.isfinite(values), axis=1))
    if len(bad):
        raise InputError(f"candidates must be finite, got {values[bad[0]].tolist()} in row {bad[0]}")
    d = values.shape[1]
    if given is not None:
        if not isinstance(given, list | tuple) or len(given) != d or not all(isinstance(n, str) and n for n in given):
            raise InputError(f"names must be a list of {d} strings, one per column, got {show(given)}")
        names = tuple(given)
    names = names or tuple(f"x{j}" for j in range(d))
    if len(set(names)) < len(names):
        raise InputError(f"names of columns must be unique, got {list(names)}")
    return values, names
