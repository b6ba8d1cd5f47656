"""Sampler: random points of a product of dimensions with constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfopt.domains.constraints import Linear
from mfopt.domains.pool import Pool, forgetting, no_point
from mfopt.domains.walks import CubeGround, walk
from mfopt.protocols import Array

if TYPE_CHECKING:
    from mfopt.domains.product import Product

MAX_DRAWS = 200_000  # random points tried before X counts as empty
ENOUGH_DRAWS = 20_000  # random points tried before a walk from the points already found takes over
_LOOK = 4096  # points of a first look: rejection is hopeless where none of them lies in X


class Sampler:
    """Draws from `product`.

    Points are independent and uniform where rejection finds enough of them. When X fills so little of the product that
    20,000 draws are not enough, the rest comes from walks (walks.py), which never leave X and are uniform in the limit.
    They start at the points found; or, where linear constraints or the user lead to points of X, from a pool of points
    spread over it (pool.py). Then rejection is not even tried if none of 4096 random points lies in X. After 200,000
    draws without a single point X is reported as empty.
    """

    def __init__(self, product: Product) -> None:
        self._product = product
        self._pool: Pool | None = None  # once it was needed
        self._hopeless: bool | None = None

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """`n` points of X in unit coordinates."""
        product = self._product
        leads = len(product.feasible) > 0 or any(isinstance(one, Linear) for one in product.constraints)
        found: list[Array] = []
        count = draws = 0
        batch = max(64, 2 * n)
        while count < n and draws < MAX_DRAWS and not (leads and self._is_hopeless()):
            if draws >= ENOUGH_DRAWS and (count or leads):
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
        if leads:
            if self._pool is None:
                self._pool = Pool(product, draws or _LOOK)
            more = self._pool.sample(n - len(drawn), rng)
        elif len(drawn):
            more = walk(CubeGround(product), drawn, n - len(drawn), forgetting(product.dim), rng)
        else:
            raise no_point(draws, "")
        return np.concatenate([drawn, more])

    def _is_hopeless(self) -> bool:
        """Whether rejection is not worth trying."""
        if self._hopeless is None:
            u = self._product.draw(_LOOK, np.random.default_rng(0))
            self._hopeless = not self._product.satisfies(u).any()
        return self._hopeless
