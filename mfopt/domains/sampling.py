"""Sampler: random points of a product of dimensions with constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfopt.domains.constraints import Linear, centre, vertices
from mfopt.errors import EmptyDomain
from mfopt.protocols import Array

if TYPE_CHECKING:
    from mfopt.domains.product import Product

MAX_DRAWS = 200_000  # random points tried before X counts as empty
ENOUGH_DRAWS = 20_000  # random points tried before a walk from the points already found takes over


class Sampler:
    """Draws from `product`.

    Points are independent and uniform where rejection finds enough of them. When X fills so little of the product that
    20,000 draws are not enough, the rest comes from walks (hit-and-run) that start at points all over the linear
    constraints, or at the points found, and are uniform in the limit. After 200,000 draws without a single point X is
    reported as empty.
    """

    def __init__(self, product: Product) -> None:
        self._product = product
        self._corners: Array | None = None  # of the linear constraints, once they were needed

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """`n` points of X in unit coordinates."""
        product = self._product
        found: list[Array] = []
        count = draws = 0
        batch = max(64, 2 * n)
        while count < n and draws < MAX_DRAWS:
            if draws >= ENOUGH_DRAWS and (count or self._linear()):
                break
            size = min(batch, MAX_DRAWS - draws)
            u = product.draw(size, rng)
            u = u[product.satisfies(u)]
            found.append(u)
            count += len(u)
            draws += size
            batch *= 2
        drawn = np.concatenate(found)[:n] if found else np.empty((0, product.dim))
        if len(drawn) == n:
            return drawn
        spread = self._spread(rng)
        starts = spread if len(spread) else drawn if len(drawn) else self._start(draws)
        return np.concatenate([drawn, self._walk(starts, n - len(drawn), rng)])

    def _linear(self) -> list[Linear]:
        return [constraint for constraint in self._product.constraints if isinstance(constraint, Linear)]

    def _spread(self, rng: np.random.Generator) -> Array:
        """Points of X all over what the linear constraints leave, as mixtures of its vertices; none without them."""
        product, linear = self._product, self._linear()
        if not linear:
            return np.empty((0, product.dim))
        if self._corners is None:
            low, high = (product.decode(np.full((1, product.dim), end))[0] for end in (0.0, 1.0))
            self._corners = vertices(linear, low, high)
        if len(self._corners) == 0:
            return np.empty((0, product.dim))
        mixed = product.encode(rng.dirichlet(np.full(len(self._corners), 0.5), size=256) @ self._corners)
        u = product.snap(mixed)
        return u[product.satisfies(u)]

    def _start(self, draws: int) -> Array:
        """A point of X, (1, dim), that the linear constraints lead to."""
        product, linear = self._product, self._linear()
        if linear:
            low, high = (product.decode(np.full((1, product.dim), end))[0] for end in (0.0, 1.0))
            x = centre(linear, low, high)
            if x is not None:
                u = product.snap(product.encode(x[None]))
                if product.contains(u)[0]:
                    return u
        raise EmptyDomain(
            f"X must have points inside its box, found none in {draws} random draws"
            + (" nor by linear programming" if linear else "")
            + "; if it has some, it is too thin to be searched: tighten the bounds, or drop a coordinate",
            draws,
        )

    def _walk(self, starts: Array, n: int, rng: np.random.Generator) -> Array:
        """Where `n` walks of hit-and-run end, one each.

        A step takes a random line through the point and a uniform point on its part in the cube; while that
        is outside X, the part is cut off there and the draw repeated, so that a walk never leaves X.
        """
        product = self._product
        u = starts[rng.integers(len(starts), size=n)]
        for turn in range(50 + 10 * product.dim):
            direction = rng.standard_normal((n, product.dim))
            if turn % 2 and len(starts) > 1:  # along X where it is thin: a line through two of the starts
                ahead = starts[rng.integers(len(starts), size=n)] - starts[rng.integers(len(starts), size=n)]
                direction = np.where(np.abs(ahead).max(axis=1, keepdims=True) > 0.0, ahead, direction)
            with np.errstate(divide="ignore", invalid="ignore"):
                ends = np.stack([-u / direction, (1.0 - u) / direction])
            first = np.fmax.reduce(np.min(ends, axis=0), axis=1)
            last = np.fmin.reduce(np.max(ends, axis=0), axis=1)
            moving = np.ones(n, dtype=np.bool_)
            for _ in range(64):  # each cut halves the part on average; then the point stays where it is
                step = first + (last - first) * rng.random(n)
                there = product.snap(np.clip(u + step[:, None] * direction, 0.0, 1.0))
                hit = moving.copy()
                hit[moving] = product.satisfies(there[moving])
                u[hit] = there[hit]
                moving &= ~hit
                if not moving.any():
                    break
                first, last = np.where(step < 0.0, step, first), np.where(step < 0.0, last, step)
        return u
