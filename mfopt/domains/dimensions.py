"""Dimensions: one object per user coordinate, which maps it to `width` unit coordinates and back.

A dimension knows nothing of the others, so that a box is a tuple of them; a dimension that takes several unit
coordinates (one-hot, say) only reports a larger `width`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

from mfopt.checks import real_number
from mfopt.errors import DomainError, InputError
from mfopt.protocols import Array, Domain


@runtime_checkable
class Dimension(Protocol):
    """What a box needs of a coordinate."""

    @property
    def name(self) -> str:
        """The user's name for it."""

    @property
    def width(self) -> int:
        """Number of unit coordinates it takes."""

    def validate(self, value: object) -> float:
        """`value` as it stands in a user-unit array; a DomainError if it is not allowed."""

    def encode(self, x: Array) -> Array:
        """User values (q,) to unit coordinates (q, width)."""

    def decode(self, u: Array) -> Array:
        """Unit coordinates (q, width) to user values (q,), always within the bounds."""

    def describe(self) -> Mapping[str, Any]:
        """What defines it, as plain JSON-able values."""


@dataclass(frozen=True)
class Real:
    """A real number in [lo, hi]; with log=True (lo > 0) equal ratios are equal distances in unit coordinates.

    encode and decode are inverse to within the resolution of a unit coordinate: an error of a few
    eps·(hi − lo), or on a log scale of a few eps·log(hi/lo) relative. The ends map to 0 and 1 and back exactly.
    """

    name: str
    lo: float
    hi: float
    log: bool = False
    _unit: float = field(init=False, repr=False, compare=False)
    _span: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise InputError(f"a dimension's name must be a non-empty string, got {self.name!r}")
        lo = real_number(self.lo, f"lower bound of {self.name}")
        hi = real_number(self.hi, f"upper bound of {self.name}")
        if not isinstance(self.log, bool | np.bool_):
            raise InputError(f"log must be True or False, got {self.log!r} for {self.name}")
        if not lo < hi:
            raise InputError(f"bounds must satisfy lo < hi, got ({lo}, {hi}) for {self.name}")
        if self.log and lo < np.finfo(float).tiny:  # below the normal numbers hi / lo has no finite root
            raise InputError(f"a log scale needs lo > 0 (2.3e-308 or more), got ({lo}, {hi}) for {self.name}")
        object.__setattr__(self, "lo", lo)
        object.__setattr__(self, "hi", hi)
        object.__setattr__(self, "log", bool(self.log))
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

    def validate(self, value: object) -> float:
        number = real_number(value, self.name)
        if not self.lo <= number <= self.hi:
            raise DomainError(f"{self.name} must lie in [{self.lo}, {self.hi}], got {number}")
        return number

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
        v = u[:, 0]
        if self.log:
            x = self._unit * np.exp((v - 0.5) * self._span)
        else:
            x = (self.lo * self._unit + v * self._span) / self._unit
        np.clip(x, self.lo, self.hi, out=x)
        x[v == 0.0] = self.lo
        x[v == 1.0] = self.hi
        return x

    def describe(self) -> Mapping[str, Any]:
        return {"kind": "real", "name": self.name, "lo": self.lo, "hi": self.hi, "log": self.log}


def params_of(domain: Domain, x: Array) -> dict[str, Any]:
    """The coordinates of x, in user units, by name, as native Python values: what a user's function may be given."""
    return dict(zip(domain.names, x.tolist(), strict=True))
