"""Walks: hit-and-run, whose steps end uniformly on lines through the point, so that in the limit walks are uniform."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np

from mfopt.domains.constraints import Constraint
from mfopt.domains.dimensions import Real
from mfopt.domains.polytope import Polytope
from mfopt.protocols import Array, BoolArray

if TYPE_CHECKING:
    from mfopt.domains.product import Product

_CUTS = 64  # of a line, each halves it on average; then a point stays where it is


class Ground(Protocol):
    """Where walks take place: coordinates, the part of a line in which X may lie, and what belongs to X."""

    def from_unit(self, u: Array) -> Array:
        """Points in the coordinates of walks."""

    def to_unit(self, points: Array) -> Array:
        """Points in unit coordinates."""

    def cut(self, points: Array, direction: Array) -> tuple[Array, Array]:
        """From which to which t each point + t direction may lie in X."""

    def settle(self, points: Array) -> Array:
        """The nearest points that X may have."""

    def keeps(self, points: Array) -> BoolArray:
        """Which of them X has."""

    @property
    def uniform(self) -> bool:
        """Whether points of X are to be uniform in these coordinates; otherwise `log_density` tells."""

    def log_density(self, points: Array) -> Array:
        """Of the wanted distribution in these coordinates, up to a constant."""


class CubeGround:
    """Unit coordinates; constraints are only known by what they keep."""

    def __init__(self, product: Product) -> None:
        self._product = product

    def from_unit(self, u: Array) -> Array:
        return u

    def to_unit(self, points: Array) -> Array:
        return points

    def cut(self, points: Array, direction: Array) -> tuple[Array, Array]:
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = np.stack([-points / direction, (1.0 - points) / direction])
        return np.fmax.reduce(np.min(ends, axis=0), axis=1), np.fmin.reduce(np.max(ends, axis=0), axis=1)

    def settle(self, points: Array) -> Array:
        return self._product.snap(np.clip(points, 0.0, 1.0))

    def keeps(self, points: Array) -> BoolArray:
        return self._product.satisfies(points)

    @property
    def uniform(self) -> bool:
        return True

    def log_density(self, points: Array) -> Array:
        return np.zeros(len(points))


class PolytopeGround:
    """The coordinates z of a polytope of real numbers. Its faces cut lines exactly; the `others` among the constraints
    are known by what they keep."""

    def __init__(self, product: Product, polytope: Polytope, others: Sequence[Constraint]) -> None:
        self._product = product
        self._polytope = polytope
        self._others = others
        self._logs = [j for j, one in enumerate(product.dimensions) if isinstance(one, Real) and one.log]

    def from_unit(self, u: Array) -> Array:
        return self._polytope.from_user(self._product.decode(u))

    def to_unit(self, points: Array) -> Array:
        return self._product.encode(self._polytope.to_user(points))

    def cut(self, points: Array, direction: Array) -> tuple[Array, Array]:
        return self._polytope.cut(points, direction)

    def settle(self, points: Array) -> Array:
        return points

    def keeps(self, points: Array) -> BoolArray:
        kept = np.ones(len(points), dtype=np.bool_)
        if self._others:
            x = self._polytope.to_user(points)
            for constraint in self._others:
                if kept.any():
                    kept[kept] = constraint.holds(x[kept])
        return kept

    @property
    def uniform(self) -> bool:
        return not self._logs

    def log_density(self, points: Array) -> Array:
        """A log-uniform parameter has the density 1/x."""
        return np.asarray(-np.log(self._polytope.to_user(points)[:, self._logs]).sum(axis=1))


def walk(
    ground: Ground, starts: Array, n: int, turns: int, rng: np.random.Generator, root: Array | None = None
) -> Array:
    """Where `n` walks from random ones of `starts` end.

    A step takes a random line through the point: in every second turn one along two of the starts, which leads along X
    where it is thin, otherwise a normal direction, with covariance root·rootᵀ where that is given. On its part in X a
    point is drawn by slice sampling: while it is outside X, or too unlikely, the part is cut off there and the draw
    repeated (Neal 2003), so that a walk never leaves X.
    """
    u = starts[rng.integers(len(starts), size=n)]
    dim = starts.shape[1]
    for turn in range(turns):
        direction = rng.standard_normal((n, dim))
        if root is not None:
            direction = direction @ root.T
        if turn % 2 and len(starts) > 1:
            ahead = starts[rng.integers(len(starts), size=n)] - starts[rng.integers(len(starts), size=n)]
            direction = np.where(np.abs(ahead).max(axis=1, keepdims=True) > 0.0, ahead, direction)
        first, last = ground.cut(u, direction)
        level = None if ground.uniform else ground.log_density(u) - rng.exponential(size=n)
        moving = np.ones(n, dtype=np.bool_)
        for _ in range(_CUTS):
            step = first + (last - first) * rng.random(n)
            there = ground.settle(u + step[:, None] * direction)
            hit = moving.copy()
            hit[moving] = ground.keeps(there[moving])
            if level is not None:
                hit &= ground.log_density(there) >= level
            u[hit] = there[hit]
            moving &= ~hit
            if not moving.any():
                break
            first, last = np.where(step < 0.0, step, first), np.where(step < 0.0, last, step)
    return u
