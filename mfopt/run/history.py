"""History: what has been told, as columns in the order told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from mfopt.protocols import Array, BoolArray

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

RESERVED = ("id", "fidelity", "y", "cost", "status", "bound")  # columns of a table beside the coordinates
AnyArray = TypeVar("AnyArray", bound=npt.NDArray[Any])


class History:
    """Append-only. Every array is the reader's own copy: writing to it is refused and could change nothing here.

    A thread may read while another appends: the number of rows is read before the arrays, and written after them.

    `name_values` makes {name: native value} from a point in user units; without it the values are the floats of x.
    `named`: functions of these points are given that, not x.
    `noises`: by fidelity, the variance of its noise where it was given.
    """

    def __init__(
        self,
        names: tuple[str, ...],
        name_values: Callable[[Array], dict[str, Any]] | None = None,
        named: bool = False,
        noises: Sequence[float | None] = (),
    ) -> None:
        self._names = names
        self._name_values = name_values
        self._named = named
        self._noises = tuple(noises)
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

    def snapshot(self) -> History:
        """The rows that there are now: its columns stay of one length, whatever other threads tell meanwhile."""
        kept = History.__new__(History)
        kept._names, kept._n, kept._name_values, kept._named = self._names, self._n, self._name_values, self._named
        kept._noises = self._noises
        kept._x, kept._rows = self._x, self._rows  # with at least as many rows, of which the first never change
        return kept

    def discount(self, rows: BoolArray) -> History:
        """The rows that there are now, with these among them as if their evaluations had failed."""
        kept = self.snapshot()
        kept._rows = self._rows[: kept._n].copy()
        kept._rows["y"][rows], kept._rows["failed"][rows] = np.nan, True
        return kept

    def __len__(self) -> int:
        return self._n

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the coordinates of x."""
        return self._names

    @property
    def noises(self) -> tuple[float | None, ...]:
        """The variance of the noise of each fidelity as it was given; None where it was not."""
        return self._noises

    @property
    def x(self) -> Array:
        """(n, d), in user units."""
        n = self._n
        return _freeze(self._x[:n].copy())

    @property
    def params(self) -> list[dict[str, Any]]:
        """Each point by name, as native Python values; parameters that do not count there are left out."""
        points = self.x
        if self._name_values is None:
            return [dict(zip(self._names, x, strict=True)) for x in points.tolist()]
        return [self._name_values(x) for x in points]

    @property
    def arguments(self) -> Sequence[Array | dict[str, Any]]:
        """Each point as the functions of mfopt.maximize are given it: a row of x, or params."""
        return self.params if self._named else list(self.x)

    @property
    def fidelity(self) -> npt.NDArray[np.int64]:
        return self._column("fidelity")

    @property
    def y(self) -> Array:
        """NaN where the evaluation failed."""
        return self._column("y")

    @property
    def bound(self) -> Array:
        """What was told with a failure: the value there is no better; NaN where nothing was."""
        return _freeze(self._rows["bound"][: self._n].copy())

    @property
    def cost(self) -> Array:
        """Capital charged for each row; 0 for data that nobody asked for, unless its cost was given."""
        return self._column("cost")

    @property
    def status(self) -> npt.NDArray[np.str_]:
        """ "ok" or "failed"."""
        return _freeze(np.where(self._column("failed"), "failed", "ok"))

    @property
    def id(self) -> npt.NDArray[np.int64]:
        """The ids of the trials; data that nobody asked for has ids of its own."""
        return self._column("id")

    def to_dataframe(self) -> pandas.DataFrame:
        """A row per told trial: id, one column per parameter, fidelity, y, cost, status; bound, if a failure has one.

        Parameters have their native values; one that does not count is a missing value.
        """
        try:
            import pandas
        except ImportError as error:
            raise ImportError("to_dataframe needs pandas: pip install 'mfopt[dataframe]'") from error
        now = self.snapshot()
        columns: dict[str, Any] = {"id": now.id}
        params = now.params
        for name in now._names:
            values = [point.get(name) for point in params]
            columns[column_name(name)] = pandas.Series(values, dtype=_column_type(values))
        columns |= {"fidelity": now.fidelity, "y": now.y, "cost": now.cost, "status": now.status}
        bound = now.bound
        columns |= {} if np.isnan(bound).all() else {"bound": bound}
        return pandas.DataFrame(columns)

    def _column(self, name: str) -> npt.NDArray[Any]:
        n = self._n
        return _freeze(self._rows[name][:n].copy())

    def __repr__(self) -> str:
        failed = self._column("failed")
        return f"History({len(failed)} rows, {int(failed.sum())} failed)"


def column_name(coordinate: str) -> str:
    """What a coordinate is called in a table: its own name, unless another column has that."""
    return f"x.{coordinate}" if coordinate in RESERVED else coordinate


def _column_type(values: Sequence[Any]) -> str | None:
    """The type of a data frame's column: integers and booleans stay what they are beside missing values."""
    kinds = {type(value) for value in values}
    if kinds <= {float, type(None)}:
        return "float64"
    if kinds == {int, type(None)}:
        return "Int64"
    return "boolean" if kinds == {bool, type(None)} else None


def _freeze(array: AnyArray) -> AnyArray:
    array.flags.writeable = False
    return array
