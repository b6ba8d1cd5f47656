"""Sampler: random points of a product of dimensions with constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfopt.domains.constraints import Linear
from mfopt.domains.pool import Pool, forgetting, no_point
from mfopt.domains.walks import CubeGround, walk
from mfopt.errors import EmptyDomain
from mfopt.protocols import Array

if TYPE_CHECKING:
    from mfopt.domains.product import Product

MAX_DRAWS = 200_000  # random points tried before X counts as empty
ENOUGH_DRAWS = 20_000  # random points tried before a walk from the points already found takes over
_LOOK = 4096  # points of a first look: rejection is hopeless where none of them lies in X


class Sampler:
    """Draws from `product`.

    Points are independent and uniform where rejection finds enough of them. When X fills so little of the product that
    20,000 draws are not enough, the rest comes from the list of its points where there is one (listing.py), otherwise
    from walks (walks.py), which never leave X and are uniform in the limit. They start at the points found; or, where
    linear constraints or the user lead to points of X, from a pool of points spread over it (pool.py). Then rejection
    is not even tried if none of 4096 random points lies in X, unless discrete parameters leave no pool. After 200,000
    draws without a single point X is reported as empty.
    """

    def __init__(self, product: Product) -> None:
        self._product = product
        self._pool: Pool | None = None  # once it was needed
        self._poolless = False  # it was needed, and there is none
        self._hopeless: bool | None = None

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """`n` points of X in unit coordinates."""
        product = self._product
        leads = len(product.feasible) > 0 or any(isinstance(one, Linear) for one in product.constraints)
        drawn, draws = self._reject(n, rng, leads)
        if len(drawn) == n:
            return drawn
        if product.points is not None:
            return np.concatenate([drawn, product.points[rng.integers(len(product.points), size=n - len(drawn))]])
        pool = self._find_pool(draws or _LOOK) if leads else None
        if pool is not None:
            return np.concatenate([drawn, pool.sample(n - len(drawn), rng)])
        if leads and len(drawn) == 0:
            drawn, draws = self._reject(n, rng, leads=False)
        if len(drawn) == 0:
            raise no_point(draws, " nor by linear programming" if leads else "")
        if len(drawn) == n:
            return drawn
        return np.concatenate([drawn, walk(CubeGround(product), drawn, n - len(drawn), forgetting(product.dim), rng)])

    def _reject(self, n: int, rng: np.random.Generator, leads: bool) -> tuple[Array, int]:
        """At most `n` of the random points that lie in X, and how many were drawn for it.

        leads   there are other ways to points of X: do not try for long
        """
        product = self._product
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
        return np.concatenate(found)[:n] if found else np.empty((0, product.dim)), draws

    def _find_pool(self, draws: int) -> Pool | None:
        """The pool; None where discrete parameters keep what linear programming finds from being points of X."""
        if self._pool is None and not self._poolless:
            try:
                self._pool = Pool(self._product, draws)
            except EmptyDomain:
                if self._product.continuous:
                    raise
                self._poolless = True
        return self._pool

    def _is_hopeless(self) -> bool:
        """Whether rejection is not worth trying."""
        if self._hopeless is None:
            u = self._product.draw(_LOOK, np.random.default_rng(0))
            self._hopeless = not self._product.satisfies(u).any()
        return self._hopeless
