"""Kept: the state of a part of a strategy, written down and taken up again (mfopt.hooks.KeepsState).

A part lists the attributes that asks change, each with a function that reads it back. What tells alone bring about,
what options and the problem say, and what is only remembered to save time is not listed. A test compares a strategy
that was restored with the one that told its state, attribute by attribute: what is forgotten here is found there.

A state may come from a stranger, so everything is read with its type, and refused with a ValueError.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import astuple, is_dataclass
from math import isfinite, isnan
from types import MappingProxyType
from typing import Any, ClassVar, TypeAlias, TypeVar

import numpy as np

from mfopt.protocols import Array

Read: TypeAlias = Callable[[object], Any]
_Item = TypeVar("_Item")
_Key = TypeVar("_Key")

MOST = 2**53  # of a count


def fields(**reads: Read) -> Mapping[str, Read]:
    """The attributes that make a state, each with the function that reads it."""
    return MappingProxyType(reads)


class Kept:
    """A part whose state is that of these attributes; arrays keep their shape."""

    kept: ClassVar[Mapping[str, Read]] = fields()

    def state(self) -> dict[str, Any] | None:
        """The attributes as plain values; None where they cannot be told just now."""
        return {name: _to_plain(getattr(self, name)) for name in self.kept}

    def restore(self, state: object) -> None:
        """Take up the state that another one has told; all of it, or nothing and a ValueError."""
        given = mapping(state, *self.kept)
        values = {name: read(given[name]) for name, read in self.kept.items()}
        for name, value in values.items():
            present = getattr(self, name)
            if isinstance(present, np.ndarray) and value.shape != present.shape:
                raise ValueError(f"{name} must have shape {present.shape}, got {value.shape}")
        for name, value in values.items():
            setattr(self, name, value)


def _to_plain(value: Any) -> Any:
    if isinstance(value, dict):
        return [[key, _to_plain(one)] for key, one in value.items()]
    if isinstance(value, set | frozenset):
        return sorted(value)
    if isinstance(value, list | tuple):
        return [_to_plain(one) for one in value]
    if is_dataclass(value) and not isinstance(value, type):
        return _to_plain(astuple(value))
    return np.array(value) if isinstance(value, np.ndarray) else value


# ----------------------------------------------------------------------------------------------------- reading


def mapping(value: object, *names: str) -> Mapping[str, Any]:
    """A mapping with these names and no others."""
    if not isinstance(value, Mapping) or set(value) != set(names):
        raise ValueError(f"a state must have the entries {', '.join(names)}, got {_show(value)}")
    return value


def flag(value: object) -> bool:
    """True or False."""
    if not isinstance(value, bool):
        raise ValueError(f"a flag must be true or false, got {_show(value)}")
    return value


def count(value: object) -> int:
    """An integer, not negative."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST:
        raise ValueError(f"a count must be an integer from 0 to {MOST}, got {_show(value)}")
    return value


def number(value: object) -> float:
    """A number; infinite ones are."""
    if isinstance(value, bool) or not isinstance(value, int | float) or isnan(value):
        raise ValueError(f"a number must be one, got {_show(value)}")
    return float(value)


def finite(value: object) -> float:
    """A finite number."""
    found = number(value)
    if not isfinite(found):
        raise ValueError(f"a number must be finite, got {found}")
    return found


def positive(value: object) -> float:
    """A finite number above 0."""
    found = finite(value)
    if not found > 0.0:
        raise ValueError(f"a number must be positive, got {found}")
    return found


def array(value: object) -> Array:
    """Finite numbers."""
    if not isinstance(value, np.ndarray) or value.dtype != np.float64 or not np.isfinite(value).all():
        raise ValueError(f"an array must hold finite numbers, got {_show(value)}")
    return value


def maybe(read: Callable[[object], _Item]) -> Callable[[object], _Item | None]:
    """None, or what `read` reads."""
    return lambda value: None if value is None else read(value)


def many(read: Callable[[object], _Item], size: int | None = None) -> Callable[[object], list[_Item]]:
    """A list of what `read` reads, of this size where one is given."""

    def read_list(value: object) -> list[_Item]:
        if not isinstance(value, list) or size not in (None, len(value)):
            raise ValueError(f"a list must have {'any' if size is None else size} entries, got {_show(value)}")
        return [read(one) for one in value]

    return read_list


def group(*reads: Read) -> Callable[[object], tuple[Any, ...]]:
    """A tuple whose entries these functions read."""

    def read_tuple(value: object) -> tuple[Any, ...]:
        entries = many(lambda one: one, len(reads))(value)
        return tuple(read(one) for read, one in zip(reads, entries, strict=True))

    return read_tuple


def table(read_key: Callable[[object], _Key], read: Callable[[object], _Item]) -> Callable[[object], dict[_Key, _Item]]:
    """A dictionary, written as pairs."""
    return lambda value: dict(many(group(read_key, read))(value))


def collection(read: Callable[[object], _Item]) -> Callable[[object], set[_Item]]:
    """A set."""
    return lambda value: set(many(read)(value))


def _show(value: object) -> str:
    return f"{value!r:.80}" if isinstance(value, bool | int | float | str | None) else type(value).__name__
