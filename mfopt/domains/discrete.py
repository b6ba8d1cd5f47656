"""Discrete dimensions: integers, ordered values and categories.

An Integer or Ordinal takes one unit coordinate, its values from 0 to 1 in their order. A Categorical takes one with two
choices, otherwise one per choice (one-hot, scaled): any two choices are at distance 1, so that none is nearer to
another than the rest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mfopt.checks import integer, show
from mfopt.domains.dimensions import When, check_log, described_when
from mfopt.errors import DomainError, InputError
from mfopt.protocols import Array

LISTED = 1000  # an Integer with more values does not list them
_LARGEST = 2**53  # integers beyond it are no float64
_HOT = 1.0 / math.sqrt(2.0)


@dataclass(frozen=True)
class Integer:
    """An integer from lo to hi, both included; with log=True (lo ≥ 1) equal ratios are equal distances."""

    lo: int
    hi: int
    log: bool = False
    when: When = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        lo, hi = _whole(self.lo, "a lower bound of integers"), _whole(self.hi, "an upper bound of integers")
        object.__setattr__(self, "log", check_log(self.log))
        if not lo < hi:
            hint = f"; one value alone is a list of one choice, [{lo}]" if lo == hi else ""
            raise InputError(f"bounds must satisfy lo < hi, got ({lo}, {hi}){hint}")
        if max(-lo, hi) > _LARGEST:
            raise InputError(f"bounds of integers must be at most 2**53 in size, got ({lo}, {hi})")
        if self.log and lo < 1:
            raise InputError(f"a log scale of integers needs lo ≥ 1, got ({lo}, {hi})")
        object.__setattr__(self, "lo", lo)
        object.__setattr__(self, "hi", hi)

    @property
    def width(self) -> int:
        return 1

    @property
    def levels(self) -> Array | None:
        count = self.hi - self.lo + 1
        return self.encode(np.arange(self.lo, self.hi + 1, dtype=np.float64)) if count <= LISTED else None

    def validate(self, value: object, name: str) -> float:
        try:
            number = _whole(value, name)
        except InputError as error:
            raise DomainError(str(error)) from None
        if not self.admits(number):
            raise DomainError(f"{name} must be an integer from {self.lo} to {self.hi}, got {number}")
        return float(number)

    def native(self, x: float) -> int:
        return round(x)

    def admits(self, x: float) -> bool:
        return self.lo <= x <= self.hi and float(x).is_integer()

    def encode(self, x: Array) -> Array:
        u = np.log(x / self.lo) / math.log(self.hi / self.lo) if self.log else (x - self.lo) / (self.hi - self.lo)
        u = np.clip(u, 0.0, 1.0)
        u[x == self.hi] = 1.0
        return np.asarray(u[:, None])

    def decode(self, u: Array) -> Array:
        v = u[:, 0]
        x = self.lo * np.exp(v * math.log(self.hi / self.lo)) if self.log else self.lo + v * (self.hi - self.lo)
        return np.clip(np.rint(x), self.lo, self.hi)

    def snap(self, u: Array) -> Array:
        return self.encode(self.decode(u))

    def spread(self, v: Array) -> Array:
        low, high = self.lo - 0.5, self.hi + 0.5
        x = low * np.exp(v * math.log(high / low)) if self.log else low + v * (high - low)
        return self.encode(np.clip(np.rint(x), self.lo, self.hi))

    def describe(self) -> Mapping[str, Any]:
        return {"kind": "integer", "lo": self.lo, "hi": self.hi, "log": self.log, **described_when(self.when)}


@dataclass(frozen=True)
class Ordinal:
    """One of several values whose order matters and whose distances do not: [32, 64, 128], ["low", "mid", "high"].

    In an array of user units a number stands for itself; where not all values are numbers, or one is an integer beyond
    2**53, each stands for its place in the list.
    """

    values: Sequence[Any]
    when: When = field(default=None, kw_only=True)
    _codes: Array = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        values = _plain_choices(self.values, "values of an Ordinal")
        numbers = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
        if numbers and list(values) != sorted(values) and list(values) != sorted(values, reverse=True):
            raise InputError(f"numbers of an Ordinal must be in order, got {show(list(values))}")
        if numbers and any(isinstance(value, int) and abs(value) > _LARGEST for value in values):
            numbers = False  # a float64 does not tell them apart
        object.__setattr__(self, "values", values)
        object.__setattr__(self, "_codes", np.array(values if numbers else range(len(values)), dtype=np.float64))

    @property
    def width(self) -> int:
        return 1

    @property
    def levels(self) -> Array:
        return self._units()[:, None]

    def validate(self, value: object, name: str) -> float:
        return float(self._codes[_find(self.values, value, name)])

    def native(self, x: float) -> Any:
        return self.values[int(np.argmin(np.abs(self._codes - x)))]

    def admits(self, x: float) -> bool:
        return x in self._codes

    def encode(self, x: Array) -> Array:
        place = np.argmin(np.abs(self._codes[None, :] - x[:, None]), axis=1)
        return np.asarray(self._units()[place][:, None])

    def decode(self, u: Array) -> Array:
        return np.asarray(self._codes[np.rint(u[:, 0] * (len(self.values) - 1)).astype(np.intp)])

    def snap(self, u: Array) -> Array:
        return self.encode(self.decode(u))

    def spread(self, v: Array) -> Array:
        return np.asarray(self._units()[(v * len(self.values)).astype(np.intp)][:, None])

    def describe(self) -> Mapping[str, Any]:
        return {"kind": "ordinal", "values": list(self.values), **described_when(self.when)}

    def _units(self) -> Array:
        count = len(self.values)
        return np.array([0.5]) if count == 1 else np.arange(count) / (count - 1)


@dataclass(frozen=True)
class Categorical:
    """One of several choices without an order; in an array of user units its place in the list."""

    choices: Sequence[Any]
    when: When = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "choices", _plain_choices(self.choices, "choices of a Categorical"))

    @property
    def width(self) -> int:
        return 1 if len(self.choices) <= 2 else len(self.choices)

    @property
    def levels(self) -> Array:
        count = len(self.choices)
        return _HOT * np.eye(count) if count > 2 else np.arange(float(count))[:, None]

    def validate(self, value: object, name: str) -> float:
        return float(_find(self.choices, value, name))

    def native(self, x: float) -> Any:
        return self.choices[round(x)]

    def admits(self, x: float) -> bool:
        return 0 <= x < len(self.choices) and float(x).is_integer()

    def encode(self, x: Array) -> Array:
        return np.asarray(self.levels[x.astype(np.intp)])

    def decode(self, u: Array) -> Array:
        if len(self.choices) > 2:
            return np.asarray(np.argmax(u, axis=1), dtype=np.float64)
        return np.asarray(np.minimum(np.rint(u[:, 0]), len(self.choices) - 1.0))

    def snap(self, u: Array) -> Array:
        return self.encode(self.decode(u))

    def spread(self, v: Array) -> Array:
        return self.encode(np.floor(v * len(self.choices)))

    def describe(self) -> Mapping[str, Any]:
        return {"kind": "categorical", "choices": list(self.choices), **described_when(self.when)}


def _whole(value: object, what: str) -> int:
    """An integer, also one that is written as a float: 1e3."""
    number = _as_plain(value)
    return integer(int(number) if isinstance(number, float) and number.is_integer() else number, what)


def _plain_choices(given: object, what: str) -> tuple[Any, ...]:
    """Distinct values that JSON knows."""
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray) or len(given) == 0:
        raise InputError(f"{what} must be a list of at least one, got {show(given)}")
    choices = tuple(_as_plain(value) for value in given)
    for value in choices:
        if not is_plain(value):
            raise InputError(
                f"{what} must be strings, finite numbers, booleans or None, got {show(value)}; name other objects, and "
                "look them up by name"
            )
    keys = [choice_key(value) for value in choices]
    if len(set(keys)) < len(keys):
        raise InputError(f"{what} must be distinct, got {show(list(choices))}")
    return choices


def _find(choices: Sequence[Any], value: object, name: str) -> int:
    """The place of a value; True is not 1, and 1 is 1.0."""
    keys = [choice_key(choice) for choice in choices]
    try:
        return keys.index(choice_key(_as_plain(value)))
    except (ValueError, TypeError):  # pandas' NA cannot be compared
        raise DomainError(f"{name} must be one of {show(list(choices))}, got {show(value)}") from None


def _as_plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def is_plain(value: object) -> bool:
    """Whether JSON knows the value."""
    if isinstance(value, float):
        return math.isfinite(value)
    return value is None or isinstance(value, str | bool | int)


def choice_key(value: Any) -> tuple[bool, Any]:
    """Equal for equal values; True is not 1, and 1 is 1.0."""
    return isinstance(value, bool), value
