"""Softening: values far above the rest brought closer, for models that expect none.

A function that is nearly flat but for a few peaks is no likely draw of a stationary process: fitted to it, the process
is sure of itself where it knows the flat part, and many of its standard deviations off at the peaks. Its values seen
through

    w(y) = y for y ≤ m,   m + s · asinh(a (y − m)/s)/a  above,   a > 0

(m and s their mean and deviation, a the strength) are a more likely draw. w is increasing and twice differentiable, so
a maximum stays where it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mfopt.protocols import Array
from mfopt_plugins.method.kept import group, number, positive


@dataclass(frozen=True)
class AsinhSoftening:
    """w for the location m, the unit s > 0 and the strength a ≥ 0; a = 0 leaves everything as it is."""

    location: float = 0.0
    unit: float = 1.0
    strength: float = 0.0

    @classmethod
    def read(cls, value: object) -> AsinhSoftening:
        """The map with these numbers, as a state has them."""
        return cls(*group(number, positive, number)(value))

    def __call__(self, y: Array) -> Array:
        """w(y)."""
        if self.strength == 0.0:
            return np.asarray(y)
        t = np.maximum((np.asarray(y) - self.location) / self.unit, 0.0)
        return np.asarray(np.minimum(y, self.location) + self.unit * np.arcsinh(self.strength * t) / self.strength)

    def value(self, y: float) -> float:
        """w(y) of one number."""
        return float(self(np.array(y)))

    def inverse(self, w: Array) -> Array:
        """y with w(y) = w; infinite where w is, or where y would be."""
        if self.strength == 0.0:
            return np.asarray(w)
        t = np.maximum((np.asarray(w) - self.location) / self.unit, 0.0)
        with np.errstate(over="ignore"):
            return np.asarray(np.minimum(w, self.location) + self.unit * np.sinh(self.strength * t) / self.strength)

    def log_slope(self, y: Array) -> Array:
        """log w′(y)."""
        t = np.maximum((np.asarray(y) - self.location) / self.unit, 0.0)
        return np.asarray(-0.5 * np.log1p((self.strength * t) ** 2))
