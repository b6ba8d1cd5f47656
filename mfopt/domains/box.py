"""Box: a product of dimensions, or the compact subset of it that constraints leave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mfopt.checks import real_array, show
from mfopt.domains.constraints import Linear, as_constraints, centre, vertices
from mfopt.domains.dimensions import Dimension, Real
from mfopt.errors import DomainError, EmptyDomain, InputError
from mfopt.protocols import Array, BoolArray

MAX_DRAWS = 200_000  # random points tried before X counts as empty
ENOUGH_DRAWS = 20_000  # random points tried before a walk from the points already found takes over


class Box:
    """X = {x : lo ≤ x ≤ hi, constraints hold}.

    bounds       one (lo, hi) per dimension, finite with lo < hi; or dimension objects such as mfopt.Real
    names        unique strings, x0, x1, ... unless given
    log          True, False, or one of them per dimension; a log scale needs lo > 0
    constraints  one of, or a list of: SciPy's LinearConstraint, NonlinearConstraint, vectorised predicates,
                 which take an array (q, d) in user units and return (q,) booleans

    "Uniform" below means uniform in unit coordinates, that is log-uniform along a log dimension.
    """

    def __init__(
        self,
        bounds: Sequence[tuple[float, float] | Dimension] | Array,
        names: Sequence[str] | None = None,
        log: bool | Sequence[bool] | None = None,
        constraints: object = None,
    ) -> None:
        self._dimensions = _as_dimensions(bounds, names, log)
        self._names = tuple(dimension.name for dimension in self._dimensions)
        if len(set(self._names)) < len(self._names):
            raise InputError(f"names must be unique, got {list(self._names)}")
        self._splits = [int(k) for k in np.cumsum([dimension.width for dimension in self._dimensions])]
        self._constraints = as_constraints(constraints, len(self._dimensions))
        self._corners: Array | None = None  # of the linear constraints, once they were needed
        # A predicate of the wrong shape is reported here rather than at the first ask; the number of rows
        # differs from d so that an answer per coordinate is not taken for an answer per row.
        for constraint in self._constraints:
            for rows in (len(self._dimensions) + 1, 1):
                constraint.holds(self.decode(np.full((rows, self.dim), 0.5)))

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        return self._dimensions

    @property
    def dim(self) -> int:
        return self._splits[-1]

    @property
    def names(self) -> tuple[str, ...]:
        return self._names

    @property
    def points(self) -> None:
        """None: a box is not finite."""
        return

    def validate(self, x: object) -> Array:
        try:
            values = self._in_order(x)
            point = np.array([dim.validate(value) for dim, value in zip(self._dimensions, values, strict=True)])
        except InputError as error:
            raise DomainError(str(error)) from None
        for k, constraint in enumerate(self._constraints):
            if not constraint.holds(point[None])[0]:
                kind = constraint.describe()["kind"]
                raise DomainError(f"x must satisfy constraint {k} ({kind}), got {point.tolist()}")
        return point

    def _in_order(self, x: object) -> Sequence[object]:
        d = len(self._names)
        if isinstance(x, Mapping):
            if set(x) != set(self._names):
                raise InputError(f"x must have exactly the keys {list(self._names)}, got {show(list(x))}")
            return [x[name] for name in self._names]
        values = x if isinstance(x, list | tuple) else real_array(x, "x")
        if isinstance(values, np.ndarray) and values.ndim == 0:
            values = values[None]
        shape = (len(values),) if isinstance(values, list | tuple) else values.shape
        if shape != (d,):
            raise DomainError(
                f"x must have shape ({d},), one value per dimension ({', '.join(self._names)}), got shape {shape}"
            )
        return list(values)

    def encode(self, x: Array) -> Array:
        return np.hstack([dim.encode(x[:, j]) for j, dim in enumerate(self._dimensions)])

    def decode(self, u: Array) -> Array:
        blocks = np.split(u, self._splits[:-1], axis=1)
        pairs = zip(self._dimensions, blocks, strict=True)
        return np.column_stack([dimension.decode(block) for dimension, block in pairs])

    def contains(self, u: Array) -> BoolArray:
        kept: BoolArray = np.logical_and.reduce((u >= 0.0) & (u <= 1.0), axis=1)
        if self._constraints and kept.any():
            kept[kept] = self._feasible(u[kept])
        return kept

    def _feasible(self, u: Array) -> BoolArray:
        """Whether the constraints hold at points of the cube; later ones see only what earlier ones kept."""
        kept = np.ones(len(u), dtype=np.bool_)
        if self._constraints:
            x = self.decode(u)
            for constraint in self._constraints:
                if kept.any():
                    kept[kept] = constraint.holds(x[kept])
        return kept

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """`n` points of X: independent and uniform where rejection finds enough of them.

        When X fills so little of the box that 20,000 draws are not enough, the rest comes from walks
        (hit-and-run) that start at points all over the linear constraints, or at the points found, and are
        uniform in the limit. After 200,000 draws without a single point X is reported as empty.
        """
        if not self._constraints:
            return rng.random((n, self.dim))
        found: list[Array] = []
        count = draws = 0
        batch = max(64, 2 * n)
        while count < n and draws < MAX_DRAWS:
            if draws >= ENOUGH_DRAWS and (count or self._linear()):
                break
            size = min(batch, MAX_DRAWS - draws)
            u = rng.random((size, self.dim))
            u = u[self._feasible(u)]
            found.append(u)
            count += len(u)
            draws += size
            batch *= 2
        drawn = np.concatenate(found)[:n] if found else np.empty((0, self.dim))
        if len(drawn) == n:
            return drawn
        spread = self._spread(rng)
        starts = spread if len(spread) else drawn if len(drawn) else self._start(draws)
        return np.concatenate([drawn, self._walk(starts, n - len(drawn), rng)])

    def locate(self, u: Array) -> None:
        """None: a box has no candidate list."""
        return

    def describe(self) -> Mapping[str, Any]:
        return {
            "kind": "box",
            "dimensions": [dict(dimension.describe()) for dimension in self._dimensions],
            "constraints": [dict(constraint.describe()) for constraint in self._constraints],
        }

    def __repr__(self) -> str:
        given = f", {len(self._constraints)} constraints" if self._constraints else ""
        return f"Box({list(self._dimensions)}{given})"

    def _linear(self) -> list[Linear]:
        return [constraint for constraint in self._constraints if isinstance(constraint, Linear)]

    def _spread(self, rng: np.random.Generator) -> Array:
        """Points of X all over what the linear constraints leave, as mixtures of its vertices; none without them."""
        linear = self._linear()
        if not linear:
            return np.empty((0, self.dim))
        if self._corners is None:
            low, high = (self.decode(np.full((1, self.dim), end))[0] for end in (0.0, 1.0))
            self._corners = vertices(linear, low, high)
        if len(self._corners) == 0:
            return np.empty((0, self.dim))
        u = self.encode(rng.dirichlet(np.full(len(self._corners), 0.5), size=256) @ self._corners)
        return u[self._feasible(u)]

    def _start(self, draws: int) -> Array:
        """A point of X, (1, dim), that the linear constraints lead to."""
        linear = self._linear()
        if linear:
            low, high = (self.decode(np.full((1, self.dim), end))[0] for end in (0.0, 1.0))
            x = centre(linear, low, high)
            if x is not None:
                u = self.encode(x[None])
                if self.contains(u)[0]:
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
        u = starts[rng.integers(len(starts), size=n)]
        for turn in range(50 + 10 * self.dim):
            direction = rng.standard_normal((n, self.dim))
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
                there = np.clip(u + step[:, None] * direction, 0.0, 1.0)
                hit = moving.copy()
                hit[moving] = self._feasible(there[moving])
                u[hit] = there[hit]
                moving &= ~hit
                if not moving.any():
                    break
                first, last = np.where(step < 0.0, step, first), np.where(step < 0.0, last, step)
        return u


def _as_dimensions(bounds: object, names: object, log: object) -> tuple[Dimension, ...]:
    """The dimension objects that the three arguments of a Box stand for."""
    if not isinstance(bounds, list | tuple | np.ndarray):
        raise InputError(f"bounds must be a sequence of (lo, hi) pairs or dimensions, got {show(bounds)}")
    if len(bounds) == 0:
        raise InputError("bounds must have at least one (lo, hi) pair, got none")
    if any(isinstance(one, Dimension) for one in bounds):
        if not all(isinstance(one, Dimension) for one in bounds):
            raise InputError(f"bounds must be all pairs or all dimensions, got {show(bounds)}")
        if names is not None or log is not None:
            raise InputError("names and log belong to (lo, hi) pairs; dimension objects carry their own")
        return tuple(bounds)
    pairs = real_array(bounds, "bounds")
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise InputError(f"bounds must have shape (d, 2), a (lo, hi) pair per dimension, got {pairs.shape}")
    d = len(pairs)
    if names is None:
        names = [f"x{j}" for j in range(d)]
    if not isinstance(names, list | tuple) or len(names) != d:
        raise InputError(f"names must be a list of {d} strings, one per dimension, got {show(names)}")
    logs = log if isinstance(log, list | tuple | np.ndarray) else [bool(log) if log is None else log] * d
    if len(logs) != d:
        raise InputError(f"log must be True, False or {d} of them, one per dimension, got {show(log)}")
    each = zip(names, pairs.tolist(), logs, strict=True)
    return tuple(Real(name, lo, hi, is_log) for name, (lo, hi), is_log in each)
