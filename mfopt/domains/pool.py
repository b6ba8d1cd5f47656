"""Pool: points spread over an X that random draws do not hit, from which walks start."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfopt.domains.constraints import Linear
from mfopt.domains.dimensions import Real
from mfopt.domains.polytope import Polytope
from mfopt.domains.walks import CubeGround, Ground, PolytopeGround, walk
from mfopt.errors import EmptyDomain
from mfopt.protocols import Array

if TYPE_CHECKING:
    from mfopt.domains.product import Product

_SIZE = 512
_MIXTURES = 256  # of vertices
_ROUNDS = 2  # of walks: the second goes along directions that the first has found
_FEW = 32  # starts are not spread over X
_ROUNDED = 64  # points of the polytope whose integers are settled one by one
_TRIED, _TURNS = 32, 4  # walks, and their turns, after which X counts as isolated points
_SEARCH = 20_000  # points of the polytope tried for the other constraints


class Pool:
    """512 points of `product`, found from its linear constraints and from the points that the user knows of.

    It depends on X alone, so that what is drawn depends on X and the generator alone. `draws` is how many random points
    were tried before, for the error where there is no point to begin with.
    """

    def __init__(self, product: Product, draws: int) -> None:
        self._product = product
        linear = [one for one in product.constraints if isinstance(one, Linear)]
        others = [one for one in product.constraints if not isinstance(one, Linear)]
        polytope = Polytope(linear, *product.ends()) if linear else None
        ball = None if polytope is None else polytope.find_ball()
        exact = polytope is not None and product.continuous
        self._ground: Ground = CubeGround(product)
        self._root: Array | None = None
        rng = np.random.default_rng(0)
        starts = product.feasible
        if polytope is not None and exact:
            self._ground = PolytopeGround(product, polytope, others)
        if polytope is not None and ball is not None:
            corners = polytope.find_vertices(ball[1])
            self._root = _find_root(corners, ball[1]) if exact else None
            mixed = rng.dirichlet(np.full(len(corners), 0.5), size=_MIXTURES) @ corners
            z = np.concatenate([mixed, ball[0][None]])
            starts = np.concatenate([starts, self._keep(product.encode(polytope.to_user(z)))])
            if len(starts) == 0 and exact and others:
                alone = PolytopeGround(product, polytope, ())
                found = walk(alone, mixed, _SEARCH, self._turns, rng, self._root)
                starts = self._keep(alone.to_unit(found))
            if len(starts) < _FEW and not exact:
                starts = np.concatenate([starts, self._round(polytope, mixed, _find_root(corners, ball[1]), rng)])
        if len(starts) == 0:
            raise no_point(draws, " nor by linear programming")
        points = self._ground.from_unit(starts)
        self._stuck = product.continuous and self._is_stuck(points)  # integers are found by luck
        for _ in range(0 if self._stuck else _ROUNDS):
            points = walk(self._ground, points, _SIZE, self._turns, rng, self._root)
        self._points = points
        inside = self._keep(self._ground.to_unit(points))
        self._inside = inside if len(inside) else starts

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Where `n` short walks end, in unit coordinates.

        They start all over X already: their steps only make the points of two calls independent.
        """
        if self._stuck:
            return self._inside[rng.integers(len(self._inside), size=n)]
        u = self._ground.to_unit(walk(self._ground, self._points, n, max(20, self._turns // 5), rng, self._root))
        lost = ~self._product.contains(u)
        if lost.any():  # on a face, give or take a rounding
            u[lost] = self._inside[rng.integers(len(self._inside), size=int(lost.sum()))]
        return u

    def _is_stuck(self, points: Array) -> bool:
        """Whether walks find nothing but the points they start from: every step cuts its line to nothing, at length."""
        ends = walk(self._ground, points, _TRIED, _TURNS, np.random.default_rng(1), self._root)
        return all((points == end).all(axis=1).any() for end in ends)

    def _round(self, polytope: Polytope, mixed: Array, root: Array, rng: np.random.Generator) -> Array:
        """Points of X near points of the polytope, where next to none of these is left once integers are rounded."""
        product, whole = self._product, np.array([not isinstance(one, Real) for one in self._product.dimensions])
        spread = walk(PolytopeGround(product, polytope, ()), mixed, _ROUNDED, self._turns, rng, root)
        near = [z for z in (polytope.settle(z, whole) for z in spread) if z is not None]
        return self._keep(product.encode(polytope.to_user(np.array(near).reshape(-1, len(whole)))))

    @property
    def _turns(self) -> int:
        """Steps after which a walk has forgotten where it started."""
        return forgetting(self._product.dim)

    def _keep(self, u: Array) -> Array:
        u = self._product.snap(u)
        return u[self._product.contains(u)]


def forgetting(dim: int) -> int:
    """Steps after which a walk has forgotten where it started."""
    return 50 + 10 * dim


def no_point(draws: int, how: str) -> EmptyDomain:
    """The error of an X that seems to be empty."""
    return EmptyDomain(
        f"X must have points inside its box, found none in {draws} random draws{how}; if it has some, it is too thin "
        "to be searched: tighten the bounds, drop a coordinate, or give a point that you know as feasible=",
        draws,
    )


def _find_root(corners: Array, radius: float) -> Array:
    """A matrix that makes normal directions as long and as thin as what the corners span, and a ball inside."""
    values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(corners.T)))
    return np.asarray(vectors * np.sqrt(np.maximum(values, max(radius, 1e-12) ** 2)))
