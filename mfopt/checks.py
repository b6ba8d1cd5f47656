"""Checks: what the user gives, turned into what the code works with, or refused with an InputError."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping
from typing import Any, SupportsIndex, cast

import numpy as np

from mfopt.errors import InputError
from mfopt.protocols import Array

_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
LARGEST = 1e140  # of a value of a function: its square, and a sum of many, must not overflow


def show(value: object) -> str:
    """`value` for an error message: its repr, cut when it is long."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 120 else text[:117] + "..."


def escape(text: str) -> str:
    """`text` for a terminal: what is not printable, such as control characters, as Python would write it."""
    return text if text.isprintable() else "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def find_closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant; None where none is like it."""
    import difflib

    names = {one.casefold(): one for one in known}
    close = difflib.get_close_matches(name.casefold(), names, n=1)
    return names[close[0]] if close else None


def real_array(value: object, what: str) -> Array:
    """A fresh C-contiguous float64 array; refuses strings, booleans, complex numbers, objects and raggedness."""
    return _as_float64(value, f"{what} must be real numbers")


def real_number(value: object, what: str) -> float:
    """A finite float; NumPy scalars and arrays of one element count as numbers, booleans do not."""
    array = _as_float64(value, f"{what} must be a real number")
    if array.size != 1:
        raise InputError(f"{what} must be one real number, got shape {array.shape}")
    number = float(array.reshape(()))
    if not math.isfinite(number):
        raise InputError(f"{what} must be finite, got {number}")
    return number


def objective_value(value: object, what: str) -> float:
    """A value of a function to be optimised: finite, and at most LARGEST in size."""
    number = real_number(value, what) + 0.0  # −0.0 becomes 0.0: a database may know only one zero
    if abs(number) > LARGEST:
        raise InputError(f"{what} must be at most {LARGEST} in size, got {number}")
    return number


def direction_sign(direction: object) -> float:
    """+1 for "maximize", −1 for "minimize": the factor that turns values into ones to be maximised."""
    if direction not in ("maximize", "minimize"):
        raise InputError(f'direction must be "maximize" or "minimize", got {show(direction)}')
    return 1.0 if direction == "maximize" else -1.0


def seconds(value: object, what: str) -> float:
    """A number of seconds: a positive number, or a string such as "90s", "30m", "2h" or "1d"."""
    number = value
    if isinstance(value, str):
        text = value.strip()
        unit = _SECONDS.get(text[-1:])
        try:
            number = float(text) if unit is None else unit * float(text[:-1])
        except ValueError:
            raise InputError(f"{what} must be a number of seconds, or one with s, m, h or d, got {value!r}") from None
    found = real_number(number, what)
    if found <= 0.0:
        raise InputError(f"{what} must be positive, got {show(value)}")
    return found


def integer(value: object, what: str) -> int:
    """A Python int; booleans and floats are refused, NumPy integers are not."""
    if not isinstance(value, bool | np.bool_):
        try:
            return operator.index(cast(SupportsIndex, value))
        except TypeError:
            pass
    raise InputError(f"{what} must be an integer, got {show(value)}")


def printable_name(name: object, what: str) -> str:
    """A name that can be stored and shown on one line."""
    if not isinstance(name, str) or not name.strip() or not name.isprintable() or len(name) > 200:
        raise InputError(f"{what} must be a name of 1 to 200 printable characters, got {show(name)}")
    return name


def one_each(values: object, count: int, what: str) -> list[Any]:
    """Exactly `count` entries (a table gives its rows)."""
    table: Any = values.to_numpy() if hasattr(values, "to_numpy") else values
    listed = hasattr(table, "__len__") and getattr(table, "ndim", 1) > 0
    if not listed or isinstance(table, str | bytes | Mapping):
        raise InputError(f"{what} must be a list of {_count_entries(count)}, got {show(values)}")
    if len(table) != count:
        raise InputError(f"{what} must have {_count_entries(count)}, got {len(table)}: {show(values)}")
    return list(table)


def one_or_each(value: object, count: int, what: str) -> list[Any]:
    """`count` entries: one repeated, or exactly that many."""
    if isinstance(value, list | tuple) or getattr(value, "ndim", 0) > 0:
        return one_each(value, count, what)
    return [value] * count


def _as_float64(value: object, rule: str) -> Array:
    """See real_array; `rule` begins the message of the error."""
    try:
        raw = np.asarray(value)
    except ValueError as error:
        raise InputError(f"{rule}, got the irregular array {show(value)}") from error
    if raw.dtype.kind not in "iuf":
        raise InputError(f"{rule}, got {show(value)}")
    with np.errstate(over="ignore"):  # a long double beyond float64 becomes inf
        return np.array(raw, dtype=np.float64, order="C")


def _count_entries(count: int) -> str:
    return "1 entry" if count == 1 else f"{count} entries"
