"""Standard units, in which hyper-parameters are learnt, and the way back to the unit of y."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np

from mfopt.protocols import Array
from mfopt_plugins.surrogates.given import Given
from mfopt_plugins.surrogates.gp.process import Hyper

LEAST_UNIT = 1e-153  # its square must not underflow
NEGLIGIBLE = 1e-9  # of the largest deviation of any fidelity: values that vary by less are no unit for the others


@dataclass(frozen=True)
class Standard:
    """Values y as (y − offset)/unit."""

    offset: float = 0.0
    unit: float = 1.0

    @classmethod
    def of(cls, y: Array, noise: float | None) -> Standard:
        """The mean and the standard deviation of values with this known noise variance."""
        offset, unit = float(np.mean(y)), float(np.std(y))
        # Constant values (up to rounding) have no spread of their own: known noise, else their size, stands in.
        if unit <= 1e-14 * abs(offset) or unit == 0.0:
            unit = max(sqrt(noise or 0.0), abs(offset)) or 1.0
        return cls(offset, max(unit, LEAST_UNIT))

    @classmethod
    def of_several(cls, values: Sequence[Array], noises: Sequence[float | None]) -> Standard:
        """That of the fidelity with most values, among those whose values vary."""
        spreads = [float(np.std(y)) if len(y) else 0.0 for y in values]
        least = NEGLIGIBLE * max(spreads)
        most = int(np.argmax([len(y) if spread >= least else 0 for y, spread in zip(values, spreads, strict=True)]))
        return cls.of(values[most], noises[most])

    def standardise(self, y: Array) -> Array:
        """Values in standard units."""
        return np.asarray((y - self.offset) / self.unit)

    def standardise_variance(self, variance: float | None) -> float | None:
        """A variance in standard units; None stays None."""
        return None if variance is None else variance / self.unit**2

    def standardise_given(self, given: Given) -> Given:
        """What is given, in standard units; without priors the mean is that of the values, 0, unless it is given."""
        mean = 0.0 if given.flat else None
        if given.mean is not None:
            mean = (given.mean - self.offset) / self.unit
        return replace(given, scale=self.standardise_variance(given.scale), mean=mean)

    def standardise_hyper(self, hyper: Hyper) -> Hyper:
        """Hyper-parameters in standard units."""
        scale, noise = hyper.scale / self.unit**2, hyper.noise / self.unit**2
        return Hyper(hyper.lengthscale, scale, noise, (hyper.mean - self.offset) / self.unit)

    def restore(self, hyper: Hyper, given: Given, noise: float | None) -> Hyper:
        """Hyper-parameters in the unit of y; what is given, and the known noise, are taken as they are."""
        return Hyper(
            hyper.lengthscale,
            hyper.scale * self.unit**2 if given.scale is None else given.scale,
            hyper.noise * self.unit**2 if noise is None else noise,
            hyper.mean * self.unit + self.offset if given.mean is None else given.mean,
        )
