"""Dimensions: one object per parameter, which maps it to `width` unit coordinates and back.

A dimension knows neither its name nor the other dimensions, so that a domain is a tuple of them. In a float64 array of
user units (trial.x, history.x) each parameter is one number; `native` turns it into what the user's function is given.
Integers, ordinals and categories are in discrete.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np

from mfopt.checks import real_number, show
from mfopt.errors import DomainError, InputError
from mfopt.protocols import Array

# The other parameters on whose values it depends whether this one counts: {name: value or list of values}.
When: TypeAlias = Mapping[str, Any] | None


@runtime_checkable
class Dimension(Protocol):
    """What a domain needs of a parameter."""

    @property
    def width(self) -> int:
        """Number of unit coordinates it takes."""

    @property
    def levels(self) -> Array | None:
        """All its values in unit coordinates, (L, width), where they are few enough to list; None otherwise."""

    @property
    def when(self) -> When:
        """Where the parameter counts; None: everywhere."""

    def validate(self, value: object, name: str) -> float:
        """A native value as it stands in an array of user units; a DomainError if it is not allowed."""

    def native(self, x: float) -> Any:
        """The other way: what the user's function is given."""

    def admits(self, x: float) -> bool:
        """Whether a number in an array of user units stands for one of its values."""

    def encode(self, x: Array) -> Array:
        """User units (q,) to unit coordinates (q, width)."""

    def decode(self, u: Array) -> Array:
        """Any unit coordinates (q, width) to user units (q,): the nearest value that is allowed."""

    def snap(self, u: Array) -> Array:
        """The unit coordinates of the nearest value that is allowed; exactly what `encode` makes of it."""

    def spread(self, v: Array) -> Array:
        """Numbers (q,) uniform in [0, 1) to unit coordinates (q, width) of values that are uniform, too."""

    def describe(self) -> Mapping[str, Any]:
        """What defines it, as plain JSON-able values."""


def check_log(log: object) -> bool:
    """An argument that says whether a scale is logarithmic."""
    if not isinstance(log, bool | np.bool_):
        raise InputError(f"log must be True or False, got {show(log)}")
    return bool(log)


def described_when(when: When) -> dict[str, Any]:
    """The entry of a description for `when`; nothing where there is none."""
    return {} if when is None else {"when": dict(when)}


@dataclass(frozen=True)
class Real:
    """A real number in [lo, hi]; with log=True (lo > 0) equal ratios are equal distances in unit coordinates.

    encode and decode are inverse to within the resolution of a unit coordinate: an error of a few
    eps·(hi − lo), or on a log scale of a few eps·log(hi/lo) relative. The ends map to 0 and 1 and back exactly.
    """

    lo: float
    hi: float
    log: bool = False
    when: When = field(default=None, kw_only=True)
    _unit: float = field(init=False, repr=False, compare=False)
    _span: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        lo, hi = real_number(self.lo, "a lower bound"), real_number(self.hi, "an upper bound")
        object.__setattr__(self, "log", check_log(self.log))
        if not lo < hi:
            raise InputError(f"bounds must satisfy lo < hi, got ({lo}, {hi})")
        if self.log and lo < np.finfo(float).tiny:  # below the normal numbers hi / lo has no finite root
            raise InputError(f"a log scale needs lo > 0 (2.3e-308 or more), got ({lo}, {hi})")
        object.__setattr__(self, "lo", lo)
        object.__setattr__(self, "hi", hi)
        # For finite bounds hi / lo and hi − lo can overflow: ratios are taken from the geometric mean, and
        # differences after a halving (exact) where they need it.
        if self.log:
            unit = math.sqrt(lo) * math.sqrt(hi)
            span = math.log(hi / unit) - math.log(lo / unit)
        else:
            unit = 1.0 if math.isfinite(hi - lo) else 0.5
            span = hi * unit - lo * unit
        object.__setattr__(self, "_unit", unit)
        object.__setattr__(self, "_span", span)

    @property
    def width(self) -> int:
        return 1

    @property
    def levels(self) -> None:
        """None: a continuum."""
        return

    def validate(self, value: object, name: str) -> float:
        number = real_number(value, name)
        if not self.admits(number):
            raise DomainError(f"{name} must lie in [{self.lo}, {self.hi}], got {number}")
        return number

    def native(self, x: float) -> float:
        return float(x)

    def admits(self, x: float) -> bool:
        return self.lo <= x <= self.hi

    def encode(self, x: Array) -> Array:
        if self.log:
            u = 0.5 + np.log(x / self._unit) / self._span
        else:
            u = (x * self._unit - self.lo * self._unit) / self._span
        np.clip(u, 0.0, 1.0, out=u)
        u[x == self.lo] = 0.0
        u[x == self.hi] = 1.0
        return u[:, None]

    def decode(self, u: Array) -> Array:
        return _from_unit(u[:, 0], self.log, self.lo, self.hi, self._unit, self._span)

    def snap(self, u: Array) -> Array:
        return u

    def spread(self, v: Array) -> Array:
        return v[:, None]

    def describe(self) -> Mapping[str, Any]:
        return {"kind": "real", "lo": self.lo, "hi": self.hi, "log": self.log, **described_when(self.when)}


class Reals:
    """Several real numbers, all on a log scale or none, that are decoded at once: to the same bits as one by one."""

    def __init__(self, dimensions: Sequence[Real]) -> None:
        self._log = dimensions[0].log
        each = [(one.lo, one.hi, one._unit, one._span) for one in dimensions]
        self._scale = tuple(np.array(each).T)

    def decode(self, u: Array) -> Array:
        """Unit coordinates (q, k) of the k numbers to user units (q, k)."""
        return _from_unit(u, self._log, *self._scale)


_Scale: TypeAlias = float | Array


def _from_unit(v: Array, log: bool, lo: _Scale, hi: _Scale, unit: _Scale, span: _Scale) -> Array:
    """User units of unit coordinates, within the bounds and at the ends exactly; np.clip would be slower."""
    x = unit * np.exp((v - 0.5) * span) if log else (lo * unit + v * span) / unit
    np.maximum(x, lo, out=x)
    np.minimum(x, hi, out=x)
    np.copyto(x, lo, where=v == 0.0)
    np.copyto(x, hi, where=v == 1.0)
    return np.asarray(x)
