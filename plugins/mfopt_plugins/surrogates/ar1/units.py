"""Standard units of the levels of an autoregressive process, and the way back to the unit of y.

Learning sees each level as (y − offset_k)/unit_k with the mean and deviation of its rows. A unit is at least a tenth of
that of the level below: rows that were asked for near the maximum alone vary less than the function. A level without
rows takes over from the one below (or, at the bottom, from the first that has rows). Where ρ is given, which is in the
unit of y, all levels have one unit, the largest. Since f_k = offset_k + unit_k f′_k and f′_k = ρ′_k f′_{k−1} + δ′_k, in
the unit of y

    ρ_k = ρ′_k unit_k/unit_{k−1},   m_k = offset_k − ρ_k offset_{k−1} + unit_k m′_k,   var δ_k = unit_k² var δ′_k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mfopt.hooks import Rows
from mfopt.protocols import Array
from mfopt_plugins.surrogates.ar1.learning import Scales
from mfopt_plugins.surrogates.gp.process import Hyper
from mfopt_plugins.surrogates.units import LEAST_UNIT

_LEAST_PART = 0.1  # of the unit of the level below


@dataclass(frozen=True)
class LevelUnits:
    """An offset and a unit per level."""

    offsets: Array
    units: Array

    @classmethod
    def of(cls, rows: Sequence[Rows], rho: float | None) -> LevelUnits:
        """The units for these rows, (u, y) per level, of which at least one has values, and a ρ that may be given."""
        counts = [len(y) for _, y in rows]
        first = next(k for k, n in enumerate(counts) if n)
        offsets, units = np.zeros(len(counts)), np.ones(len(counts))
        offset, unit = _measure(rows[first][1], 0.0)
        if rho is not None:  # one unit for all: the largest
            unit = max(_measure(y, 0.0)[1] if len(y) > 1 else 0.0 for _, y in rows) or unit
        for k, (_, y) in enumerate(rows):
            if len(y) and rho is None:
                offset, unit = _measure(y, _LEAST_PART * unit if k > first else 0.0)
            elif len(y):
                offset = float(np.mean(y))
            offsets[k], units[k] = offset, unit
        return cls(offsets, units)

    def standardise(self, rows: Sequence[Rows]) -> list[Rows]:
        """The rows with their values in standard units."""
        return [(u, (y - offset) / unit) for (u, y), offset, unit in zip(rows, self.offsets, self.units, strict=True)]

    def standardise_noises(self, noises: Sequence[float | None]) -> list[float | None]:
        """The noise variances in standard units; None stays None."""
        return [None if noise is None else noise / unit**2 for noise, unit in zip(noises, self.units, strict=True)]

    def restore(self, scales: Scales, noises: Sequence[float | None]) -> Scales:
        """Hyper-parameters in the unit of y; known noises are taken as they are."""
        rhos = [rho * self.units[k + 1] / self.units[k] for k, rho in enumerate(scales.rhos)]
        hypers = []
        for k, (hyper, noise) in enumerate(zip(scales.hypers, noises, strict=True)):
            below = rhos[k - 1] * self.offsets[k - 1] if k else 0.0
            hypers.append(
                Hyper(
                    hyper.lengthscale,
                    float(hyper.scale * self.units[k] ** 2),
                    float(hyper.noise * self.units[k] ** 2) if noise is None else noise,
                    float(self.offsets[k] - below + self.units[k] * hyper.mean),
                )
            )
        return Scales(tuple(hypers), tuple(float(rho) for rho in rhos))

    def standardise_scales(self, scales: Scales) -> Scales:
        """The other way: hyper-parameters in standard units."""
        rhos = [rho * self.units[k] / self.units[k + 1] for k, rho in enumerate(scales.rhos)]
        hypers = []
        for k, hyper in enumerate(scales.hypers):
            unit = self.units[k]
            below = scales.rhos[k - 1] * self.offsets[k - 1] if k else 0.0
            mean = (hyper.mean - self.offsets[k] + below) / unit
            hypers.append(Hyper(hyper.lengthscale, float(hyper.scale / unit**2), float(hyper.noise / unit**2), mean))
        return Scales(tuple(hypers), tuple(float(rho) for rho in rhos))


def _measure(y: Array, least: float) -> tuple[float, float]:
    """Mean, and deviation of at least `least`; what is constant (up to rounding) takes its size for a deviation."""
    offset, unit = float(np.mean(y)), float(np.std(y))
    if unit <= 1e-14 * abs(offset):
        unit = least or abs(offset) or 1.0
    return offset, max(unit, least, LEAST_UNIT)
