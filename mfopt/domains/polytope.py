"""Polytope: what linear constraints leave of a box."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mfopt.domains.constraints import Linear
from mfopt.protocols import Array, BoolArray

_LOOKS = 8  # for vertices that were not seen, at most; one or two find them
_INWARDS = 0.1  # from a face to the centre
_NODES = 100  # of a search for integers
_NOTHING = 1e-9  # an extent that is none, where the box has 2


class Polytope:
    """{x : low ≤ x ≤ high, lb ≤ A x ≤ ub}, as rows·z ≤ ends for x = middle + half z, with rows of length 1.

    The bounds |z| ≤ 1 are among the rows.
    """

    def __init__(self, linear: Sequence[Linear], low: Array, high: Array) -> None:
        self._low, self._high = low, high
        self._half, self._middle = 0.5 * high - 0.5 * low, 0.5 * high + 0.5 * low
        d = len(low)
        a = np.concatenate([one.a for one in linear])
        shift = a @ self._middle
        rows = np.concatenate([a * self._half, np.eye(d)])
        lb = np.concatenate([np.concatenate([one.lb for one in linear]) - shift, np.full(d, -1.0)])
        ub = np.concatenate([np.concatenate([one.ub for one in linear]) - shift, np.full(d, 1.0)])
        norms = np.linalg.norm(rows, axis=1)
        norms[norms == 0.0] = 1.0
        above, below = np.isfinite(ub), np.isfinite(lb)
        unit = rows / norms[:, None]
        self._rows = np.concatenate([unit[above], -unit[below]])
        self._ends = np.concatenate([(ub / norms)[above], (-lb / norms)[below]])

    def to_user(self, z: Array) -> Array:
        """The points (q, d) in user units."""
        return np.clip(self._middle + self._half * z, self._low, self._high)

    def from_user(self, x: Array) -> Array:
        """The other way."""
        return (x - self._middle) / self._half

    def find_ball(self) -> tuple[Array, float] | None:
        """Centre z and radius of the largest ball inside; None: no point."""
        return _find_ball(self._rows, self._ends)

    def find_vertices(self, radius: float) -> Array:
        """Vertices that lie far apart, (k, d): the ends in random directions, and where those leave out a direction.

        A few random directions do not see every vertex: without one a simplex looks like one of its faces. An extent
        of a few times the `radius` of the ball inside need not be seen: walks are as wide in any case.
        """
        d = len(self._half)
        towards = np.random.default_rng(0).standard_normal((d + 2, d))
        found = self._find_ends(np.concatenate([towards, -towards]))
        for _ in range(_LOOKS if len(found) else 0):
            axes = np.linalg.eigh(np.atleast_2d(np.cov(found.T)))[1].T
            ends = self._find_ends(np.concatenate([axes, -axes]))
            seen, there = np.ptp(found @ axes.T, axis=0), np.ptp(ends @ axes.T, axis=0)
            thin = there > 2.0 * seen + max(4.0 * radius, _NOTHING)
            if not thin.any():
                break
            found = np.concatenate([found, ends[np.tile(thin, 2)]])
        return found

    def _find_ends(self, directions: Array) -> Array:
        """The vertex that lies farthest in each direction; none where linear programming finds no point."""
        from scipy.optimize import linprog  # slow to import

        d = len(self._half)
        found = []
        for direction in directions:
            answer = linprog(c=-direction, A_ub=self._rows, b_ub=self._ends, bounds=[(-1.0, 1.0)] * d, method="highs")
            if answer.x is not None:
                found.append(answer.x)
        return np.array(found).reshape(-1, d)

    def settle(self, z: Array, whole: BoolArray) -> Array | None:
        """A point near z, (d,), whose `whole` coordinates are integers in user units; None where there is none.

        It is the nearest by the sum of all distances, a step away from the faces.
        """
        from scipy.optimize import Bounds, LinearConstraint, milp  # slow to import

        d = len(z)
        scale, shift = np.where(whole, self._half, 1.0), np.where(whole, self._middle, 0.0)
        # Variables: z, but integers in user units, and distances of the coordinates, e ≥ z − given and e ≥ given − z.
        rows, unit, none = self._rows / scale, np.diag(1.0 / scale), np.zeros((len(self._rows), d))
        given = z + shift / scale
        inside = LinearConstraint(np.hstack([rows, none]), -np.inf, self._ends + rows @ shift)
        above = LinearConstraint(np.hstack([unit, -np.eye(d)]), -np.inf, given)
        below = LinearConstraint(np.hstack([unit, np.eye(d)]), given, np.inf)
        answer = milp(
            np.append(np.zeros(d), np.ones(d)),
            integrality=np.append(whole, np.zeros(d, dtype=np.bool_)),
            bounds=Bounds(np.append(shift - scale, np.zeros(d)), np.append(shift + scale, np.full(d, 2.0))),
            constraints=[inside, above, below],
            options={"node_limit": _NODES},
        )
        if answer.x is None:
            return None
        near = np.where(whole, (np.rint(answer.x[:d]) - shift) / scale, answer.x[:d])
        if whole.all():
            return near
        rows, ends = self._rows[:, ~whole], self._ends - self._rows[:, whole] @ near[whole]
        norms = np.linalg.norm(rows, axis=1)
        bound = norms > 0.0  # the other rows are about integers alone
        ball = _find_ball(rows[bound] / norms[bound, None], ends[bound] / norms[bound])
        if ball is None:
            return None
        near[~whole] += _INWARDS * (ball[0] - near[~whole])
        return near

    def cut(self, z: Array, direction: Array) -> tuple[Array, Array]:
        """From which to which t each z + t direction lies inside, for z inside."""
        slack = np.maximum(self._ends - z @ self._rows.T, 0.0)
        rate = direction @ self._rows.T
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = slack / rate
        first = np.where(rate < 0.0, reach, -np.inf).max(axis=1)
        last = np.where(rate > 0.0, reach, np.inf).min(axis=1)
        return first, last


def _find_ball(rows: Array, ends: Array) -> tuple[Array, float] | None:
    """Centre z and radius r of the largest ball: r is maximised with rows·z + r ≤ ends, rows of length 1, |z| ≤ 1."""
    from scipy.optimize import linprog  # slow to import

    d = rows.shape[1]
    answer = linprog(
        c=np.append(np.zeros(d), -1.0),
        A_ub=np.hstack([rows, np.ones((len(rows), 1))]),
        b_ub=ends,
        bounds=[(-1.0, 1.0)] * d + [(0.0, None)],
        method="highs",
    )
    return None if answer.x is None else (np.asarray(answer.x[:-1]), float(answer.x[-1]))
