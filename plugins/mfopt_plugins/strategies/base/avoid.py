"""Keeping away from points that should not be queried now."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mfopt.hooks import AcquisitionDefaults, SnapsPoints, blocks_of, with_defaults
from mfopt.protocols import Acquisition, Array, Domain
from mfopt_plugins.method.failures import FailureModel

CAUTION = -0.3  # deviations by which the chance of failure of a query that must not fail is taken for higher
RADIUS = 0.05  # of the ball around a fresh failure, in units of √dim
STEEP = 2.0  # of the penalty, per unit of the label above an even chance, in units of the depth
_ROUND = 0.2  # labels by which the kink at an even chance is rounded


class Avoiding(AcquisitionDefaults):
    """An acquisition that is lowered where evaluations at some `positions` are likely to fail (method/failures.py).

    Where the chance of failure is below even, or not known well enough, it is not changed at all. Above, with the
    excess e of the label, it is lowered by depth · STEEP · e, rounded near 0. `flukes` are recent failures that the
    model takes for bad luck, with their age: a ball around each is lowered, too, which shrinks with its age.
    """

    def __init__(
        self,
        acquisition: Acquisition,
        failures: FailureModel,
        positions: Sequence[int],
        flukes: Sequence[tuple[Array, int]],
        depth: float,
        hope: float | None = None,
    ) -> None:
        self._acquisition = with_defaults(acquisition)
        self._failures = failures
        self._positions = positions
        self._flukes = flukes
        self._depth = depth
        self._hope = hope

    def __call__(self, u: Array) -> Array:
        """The lowered values at the rows of u."""
        return self._acquisition(u) - self._penalty(u)[0]

    def gradient(self, u: Array) -> tuple[Array, Array]:
        """Lowered values and their gradients."""
        value, slope = self._acquisition.gradient(u)
        penalty, dpenalty = self._penalty(u)
        return value - penalty, slope - dpenalty

    def pieces(self, u: Array) -> tuple[Array, Array]:
        """The lowered pieces (K, q) and their gradients (K, q, dim)."""
        values, slopes = self._acquisition.pieces(u)
        penalty, dpenalty = self._penalty(u)
        return values - penalty, slopes - dpenalty

    def recurring(self, u: Array) -> Array:
        """The lowered values at points that will come back."""
        return np.asarray(self._acquisition.recurring(u) - self._penalty(u)[0])

    @property
    def rows(self) -> int:
        """What an evaluation costs: that of the acquisition."""
        return self._acquisition.rows

    def _penalty(self, u: Array) -> tuple[Array, Array]:
        """How far the rows of u are lowered, and the gradient of that."""
        total, slope = np.zeros(len(u)), np.zeros_like(u)
        for k in self._positions:
            excess, dexcess = self._failures.excess(u, k, self._hope)
            total += np.where(excess < _ROUND, excess**2 / (2 * _ROUND), excess - 0.5 * _ROUND)
            slope += np.minimum(excess / _ROUND, 1.0)[:, None] * dexcess
        total, slope = STEEP * total, STEEP * slope
        for centre, age in self._flukes:
            radius = RADIUS * np.sqrt(len(centre)) / (1.0 + age)
            bowl = 1.0 - np.sum((u - centre) ** 2, axis=1) / radius**2
            total += np.maximum(bowl, 0.0)
            slope -= np.where(bowl > 0.0, 2.0 / radius**2, 0.0)[:, None] * (u - centre)
        return self._depth * total, self._depth * slope


def find_elsewhere(
    acquisition: Acquisition, domain: Domain, u: Array, taken: Array, reach: Array, rng: np.random.Generator
) -> Array:
    """The best of many points near `u` and anywhere in a box that are beyond the `reach` of each point `taken`."""
    near = [u + radius * rng.standard_normal((100, domain.dim)) for radius in (0.1, 0.03, 0.01, 0.003)]
    around = np.clip(np.vstack(near), 0.0, 1.0)
    if isinstance(domain, SnapsPoints):
        # The discrete parameters of u are kept in half of these points: a change of all of them is a long way.
        kept = [
            column
            for block in blocks_of(domain)
            if block.levels is not None
            for column in range(block.start, block.stop)
        ]
        around[::2, kept] = u[kept]
        around = domain.snap(around)
    candidates = np.vstack([around[domain.contains(around)], domain.sample(100 * domain.dim, rng)])
    gaps = np.full(len(candidates), np.inf)
    for point, radius in zip(taken, reach, strict=True):
        gaps = np.minimum(gaps, np.abs(candidates - point).max(axis=1) / radius)
    free = candidates[gaps > 1.0]
    # An X so small that every candidate is taken: the one farthest from the taken points is the least useless.
    return np.array(free[int(np.argmax(acquisition(free)))] if len(free) else candidates[int(np.argmax(gaps))])
