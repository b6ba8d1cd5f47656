"""Table: a user's table of candidates as one float64 matrix, with what each column holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mfopt.checks import real_array, show
from mfopt.domains.discrete import Categorical, choice_key, is_plain
from mfopt.domains.params import is_missing
from mfopt.errors import InputError
from mfopt.protocols import Array

MOST_CHOICES = 1000  # of one column: each takes a unit coordinate
_LARGEST = 2**53  # a float64 does not tell integers beyond it apart


@dataclass(frozen=True, eq=False)
class Table:
    """Rows (N, d) in user units: a number stands for itself, any other value for its place among the choices."""

    values: Array
    names: tuple[str, ...]
    choices: tuple[Categorical | None, ...]  # of each column; None: its values are numbers
    integers: tuple[bool, ...]  # which columns hold integers


def read_table(points: object, names: object) -> Table:
    """A table from an array (N, d), nested lists, N values (d = 1), params, or a DataFrame.

    It has the names of params and of a DataFrame unless others are given.
    """
    own: tuple[str, ...] | None = None
    if hasattr(points, "columns") and hasattr(points, "to_numpy"):  # a DataFrame; pandas need not be installed
        own = tuple(str(column) for column in points.columns)
        frame: Any = points
        columns: Any = [frame.iloc[:, j].to_numpy() for j in range(len(own))]
        if all(column.dtype.kind == "f" for column in columns):
            points = columns = frame.to_numpy()
    elif isinstance(points, list | tuple) and points and isinstance(points[0], Mapping):
        own, columns = _params_columns(points)
    else:
        columns = _list_columns(points)
    labels = names if isinstance(names, list | tuple) else own
    if isinstance(columns, np.ndarray):
        values = real_array(points, "candidates")
        values = values[:, None] if values.ndim == 1 else values
        whole = columns.dtype.kind in "iu"
        read = [_Column(column, None, whole) for column in values.T] if values.ndim == 2 else []
        if whole:
            _check_integers(columns, "candidates")
    else:
        read = [_read_column(column, _label(labels, j)) for j, column in enumerate(columns)]
        values = np.column_stack([one.values for one in read]) if read else np.empty((0, 0))
    if values.ndim != 2 or 0 in values.shape:
        raise InputError(
            f"candidates must have shape (N, d), one point per row, with N and d at least 1, got {values.shape}"
        )
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        k, j = bad[0]
        raise InputError(f"candidates must be finite, got {values[k, j]} in row {k} of {_label(labels, j)}")
    called = _check_names(names, own, len(read))
    return Table(values, called, tuple(one.choices for one in read), tuple(one.integers for one in read))


@dataclass(frozen=True, eq=False)
class _Column:
    values: Array
    choices: Categorical | None
    integers: bool


def _label(labels: Sequence[object] | None, j: int) -> str:
    """How messages call column j."""
    return str(labels[j]) if labels and j < len(labels) else f"column {j}"


def _params_columns(rows: Sequence[Any]) -> tuple[tuple[str, ...], list[list[Any]]]:
    """The names and the columns of params, one per row."""
    keys = list(rows[0])
    for k, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise InputError(f"candidates must be params in every row, got {show(row)} in row {k}")
        if set(row) != set(keys):
            raise InputError(f"params must have the same keys, got {show(keys)} and {show(list(row))} in row {k}")
    return tuple(str(key) for key in keys), [[row[key] for row in rows] for key in keys]


def _list_columns(points: object) -> Any:
    """The columns, each a sequence of cells; or, where all cells are numbers of one type, one array of them."""
    if isinstance(points, list | tuple) and points:
        if all(isinstance(row, list | tuple) for row in points):
            try:
                return list(zip(*points, strict=True))
            except ValueError:
                raise InputError(
                    f"candidates must be rows of one length, got the irregular array {show(points)}"
                ) from None
        if not any(hasattr(row, "__len__") and not isinstance(row, str) for row in points):
            return [points]
    array = np.asarray(points)
    if array.dtype.kind in "iuf" or array.ndim == 0:
        return array
    return [array] if array.ndim == 1 else list(array.T)


def _read_column(cells: Any, name: str) -> _Column:
    """Numbers as they are; strings, booleans and mixtures as places among the choices, in order of appearance."""
    if isinstance(cells, np.ndarray) and cells.dtype.kind in "iuf":
        if cells.dtype.kind != "f":
            _check_integers(cells, name)
        return _Column(real_array(cells, "candidates"), None, cells.dtype.kind != "f")
    # item() makes integers of dates in nanoseconds.
    plain = [cell.item() if isinstance(cell, np.generic) and cell.dtype.kind not in "mM" else cell for cell in cells]
    kinds = set(map(type, plain))
    if kinds <= {int, float}:
        _check_integers([cell for cell in plain if isinstance(cell, int)], name)
        return _Column(np.array(plain, dtype=np.float64), None, kinds == {int})
    for k, cell in enumerate(plain):
        if cell is None or not is_plain(cell):
            rule = "have no missing values" if is_missing(cell) else "be finite numbers, strings or booleans"
            raise InputError(f"candidates must {rule}, got {show(cell)} in row {k} of {name}")
    places: dict[Any, int] = {}
    codes = [places.setdefault(choice_key(cell), len(places)) for cell in plain]
    if len(places) > MOST_CHOICES:
        raise InputError(
            f"a column that holds no numbers must have at most {MOST_CHOICES} different values, got {len(places)} in "
            f"{name}; describe them by numbers"
        )
    return _Column(np.array(codes, dtype=np.float64), Categorical([key[1] for key in places]), False)


def _check_integers(cells: Any, name: str) -> None:
    """Refuse integers that would become other ones, and several candidates one."""
    if len(cells) == 0:
        return
    for cell in (cells.min(), cells.max()) if isinstance(cells, np.ndarray) else (min(cells), max(cells)):
        if abs(int(cell)) > _LARGEST:
            raise InputError(
                f"integers must be at most 2**53 in size, got {cell} in {name}; give numbers that only name something "
                "as strings"
            )


def _check_names(given: object, own: tuple[str, ...] | None, d: int) -> tuple[str, ...]:
    names = own or tuple(f"x{j}" for j in range(d))
    if given is not None:
        if not isinstance(given, list | tuple) or len(given) != d or not all(isinstance(n, str) and n for n in given):
            raise InputError(f"names must be a list of {d} strings, one per column, got {show(given)}")
        names = tuple(given)
    if len(set(names)) < len(names):
        raise InputError(f"names of columns must be unique, got {list(names)}")
    return names
