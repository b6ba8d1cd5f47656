"""Keeping away from points that should not be queried now."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mfopt.hooks import CHUNK, AcquisitionDefaults, SnapsPoints, blocks_of, with_defaults
from mfopt.protocols import Acquisition, Array, BoolArray, Domain
from mfopt_plugins.method.failures import FailureModel

CAUTION = -0.9  # deviations of the latent up to which a query that must not fail may be asked
RADIUS = 0.05  # of the ball around a fresh failure, in units of √dim
STEEP = 2.0  # of the penalty, per deviation of the latent above what is allowed, in units of the depth
_ROUND = 0.2  # deviations by which the kink there is rounded


class Avoiding(AcquisitionDefaults):
    """An acquisition that is lowered where evaluations at some `positions` are likely to fail (method/failures.py).

    Where the chance of failure is no larger than is allowed just now, it is not changed at all. Above, with the excess
    e of the latent behind it, it is lowered by depth · STEEP · e, rounded near 0. `flukes` are recent failures that the
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
        self._flukes = [(centre, RADIUS * np.sqrt(len(centre)) / (1.0 + age)) for centre, age in flukes]
        self._depth = depth
        self._hope = hope

    def __call__(self, u: Array) -> Array:
        """The lowered values at the rows of u."""
        return self._acquisition(u) - self._penalty(u)

    def gradient(self, u: Array) -> tuple[Array, Array]:
        """Lowered values and their gradients."""
        value, slope = self._acquisition.gradient(u)
        penalty, dpenalty = self._penalty_gradient(u)
        return value - penalty, slope - dpenalty

    def pieces(self, u: Array) -> tuple[Array, Array]:
        """The lowered pieces (K, q) and their gradients (K, q, dim)."""
        values, slopes = self._acquisition.pieces(u)
        penalty, dpenalty = self._penalty_gradient(u)
        return values - penalty, slopes - dpenalty

    def recurring(self, u: Array) -> Array:
        """The lowered values at points that will come back."""
        return np.asarray(self._acquisition.recurring(u) - self._penalty(u))

    @property
    def rows(self) -> int:
        """What an evaluation costs: that of the acquisition."""
        return self._acquisition.rows

    def argmax(self, points: Array, avoid: BoolArray | None) -> int:
        """The row of the largest lowered value.

        The acquisition looks at all points in its own way, which may be lazy; apart from that it is evaluated only
        where a lowered value may be the largest.
        """
        out = np.zeros(len(points), dtype=np.bool_) if avoid is None else avoid
        chunks = range(0, len(points), CHUNK)
        penalty = np.concatenate([self._penalty(points[start : start + CHUNK]) for start in chunks])
        best = self._acquisition.argmax(points, out)
        if penalty[best] == 0.0:
            return best
        highest = value = float(self._acquisition(points[best : best + 1])[0])
        value -= penalty[best]
        lowered = out | (penalty > 0.0)
        if not lowered.all():
            free = self._acquisition.argmax(points, lowered)
            height = float(self._acquisition(points[free : free + 1])[0])
            best, value = (free, height) if height >= value else (best, value)
        rows = np.flatnonzero(~out & (penalty > 0.0) & (highest - penalty > value))
        if len(rows):
            heights = self._acquisition(points[rows]) - penalty[rows]
            i = int(np.argmax(heights))
            best = int(rows[i]) if heights[i] > value else best
        return best

    def _penalty(self, u: Array) -> Array:
        """How far the rows of u are lowered."""
        total = _round(self._failures.excess(u, self._positions, self._hope)).sum(axis=0)
        for centre, radius in self._flukes:
            total += np.maximum(1.0 - np.sum((u - centre) ** 2, axis=1) / radius**2, 0.0)
        return np.asarray(self._depth * total)

    def _penalty_gradient(self, u: Array) -> tuple[Array, Array]:
        """The same with the gradients."""
        excess, slopes = self._failures.excess_gradient(u, self._positions, self._hope)
        total = _round(excess).sum(axis=0)
        slope = STEEP * np.einsum("kq,kqd->qd", np.minimum(excess / _ROUND, 1.0), slopes)
        for centre, radius in self._flukes:
            bowl = 1.0 - np.sum((u - centre) ** 2, axis=1) / radius**2
            total += np.maximum(bowl, 0.0)
            slope -= np.where(bowl > 0.0, 2.0 / radius**2, 0.0)[:, None] * (u - centre)
        return self._depth * total, self._depth * slope


def _round(excess: Array) -> Array:
    """The penalty for an excess, in units of the depth."""
    return STEEP * np.where(excess < _ROUND, excess**2 / (2 * _ROUND), excess - 0.5 * _ROUND)


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
