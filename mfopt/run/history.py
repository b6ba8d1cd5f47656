"""History: what has been told, as columns in the order told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from mfopt.protocols import Array

if TYPE_CHECKING:
    import pandas

_COLUMNS = np.dtype(
    [
        ("id", np.int64),
        ("fidelity", np.int64),
        ("y", np.float64),
        ("cost", np.float64),
        ("failed", np.bool_),
        ("bound", np.float64),
    ]
)

RESERVED = ("id", "fidelity", "y", "cost", "status")  # columns of a table beside the coordinates
AnyArray = TypeVar("AnyArray", bound=npt.NDArray[Any])


class History:
    """Append-only. Every array is the reader's own copy: writing to it is refused and could change nothing here."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names
        self._n = 0
        self._x = np.empty((16, len(names)))
        self._rows = np.empty(16, dtype=_COLUMNS)

    def append(
        self, id: int, x: Array, fidelity: int, y: float | None, cost: float, bound: float | None = None
    ) -> None:
        """One more row, y = None for a failed evaluation; capacity doubles, so that a row costs O(1) amortised."""
        if self._n == len(self._rows):
            self._x = np.concatenate([self._x, np.empty_like(self._x)])
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        self._x[self._n] = x
        value, limit = (np.nan if number is None else number for number in (y, bound))
        self._rows[self._n] = (id, fidelity, value, cost, y is None, limit)
        self._n += 1

    def __len__(self) -> int:
        return self._n

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates of x."""
        return self._names

    @property
    def x(self) -> Array:
        """(n, d), in user units."""
        return _freeze(self._x[: self._n].copy())

    @property
    def fidelity(self) -> npt.NDArray[np.int64]:
        return _freeze(self._rows["fidelity"][: self._n].copy())

    @property
    def y(self) -> Array:
        """NaN where the evaluation failed."""
        return _freeze(self._rows["y"][: self._n].copy())

    @property
    def bound(self) -> Array:
        """What was told with a failure: the value there is no better; NaN where nothing was."""
        return _freeze(self._rows["bound"][: self._n].copy())

    @property
    def cost(self) -> Array:
        """Capital charged for each row; 0 for data that nobody asked for, unless its cost was given."""
        return _freeze(self._rows["cost"][: self._n].copy())

    @property
    def status(self) -> npt.NDArray[np.str_]:
        """ "ok" or "failed"."""
        return _freeze(np.where(self._rows["failed"][: self._n], "failed", "ok"))

    @property
    def id(self) -> npt.NDArray[np.int64]:
        """The ids of the trials; data that nobody asked for has ids of its own."""
        return _freeze(self._rows["id"][: self._n].copy())

    def to_dataframe(self) -> pandas.DataFrame:
        """A row per told trial: id, one column per coordinate, fidelity, y, cost, status."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_dataframe needs pandas: pip install 'mfopt[dataframe]'") from error
        columns: dict[str, npt.NDArray[Any]] = {"id": self.id}
        for name, column in zip(self._names, self.x.T, strict=True):
            columns[column_name(name)] = column
        columns |= {"fidelity": self.fidelity, "y": self.y, "cost": self.cost, "status": self.status}
        return pandas.DataFrame(columns)

    def __repr__(self) -> str:
        failed = int(self._rows["failed"][: self._n].sum())
        return f"History({self._n} rows, {failed} failed)"


def column_name(coordinate: str) -> str:
    """What a coordinate is called in a table: its own name, unless another column has that."""
    return f"x.{coordinate}" if coordinate in RESERVED else coordinate


def _freeze(array: AnyArray) -> AnyArray:
    array.flags.writeable = False
    return array
