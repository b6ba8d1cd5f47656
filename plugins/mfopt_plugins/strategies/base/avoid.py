"""Keeping away from points that should not be queried now."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mfopt.hooks import AcquisitionDefaults, SnapsPoints, blocks_of, with_defaults
from mfopt.protocols import SAME, Acquisition, Array, Domain

RADIUS = 0.05  # of the ball around a fresh failure, in units of √dim


class Avoiding(AcquisitionDefaults):
    """An acquisition that is lowered near recently failed points, by `depth` at the centre of each ball.

    The ball around a failure shrinks with the outcomes told after it, so the place is tried again later: the failure
    may have been bad luck. The models never see it.
    """

    def __init__(self, acquisition: Acquisition, failures: Sequence[tuple[Array, int]], depth: float, dim: int) -> None:
        self._acquisition = with_defaults(acquisition)
        self._centres = np.array([u for u, _ in failures])
        self._radii = RADIUS * np.sqrt(dim) / (1.0 + np.array([age for _, age in failures]))
        self._depth = depth

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
        """Σ_i depth · max(0, 1 − ‖u − c_i‖²/r_i²) and its gradient."""
        steps = u[:, None, :] - self._centres[None, :, :]
        bowl = 1.0 - np.sum(steps**2, axis=2) / self._radii**2
        inside = bowl > 0
        slope = -2.0 * steps / self._radii[None, :, None] ** 2 * inside[:, :, None]
        return self._depth * np.sum(bowl * inside, axis=1), self._depth * np.sum(slope, axis=1)


def find_elsewhere(acquisition: Acquisition, domain: Domain, u: Array, taken: Array, rng: np.random.Generator) -> Array:
    """The best of many points near `u` and anywhere in a box that are none of those `taken`."""
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
    for point in taken:
        gaps = np.minimum(gaps, np.abs(candidates - point).max(axis=1))
    free = candidates[gaps > SAME]
    # An X so small that every candidate is taken: the one farthest from the taken points is the least useless.
    return np.array(free[int(np.argmax(acquisition(free)))] if len(free) else candidates[int(np.argmax(gaps))])
