"""Polytope: what linear constraints leave of a box."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mfopt.domains.constraints import Linear
from mfopt.protocols import Array


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
        """Centre z and radius r of the largest ball inside: r is maximised with rows·z + r ≤ ends; None: no point."""
        from scipy.optimize import linprog  # slow to import

        d = len(self._half)
        answer = linprog(
            c=np.append(np.zeros(d), -1.0),
            A_ub=np.hstack([self._rows, np.ones((len(self._rows), 1))]),
            b_ub=self._ends,
            bounds=[(-1.0, 1.0)] * d + [(0.0, None)],
            method="highs",
        )
        return None if answer.x is None else (np.asarray(answer.x[:-1]), float(answer.x[-1]))

    def find_vertices(self) -> Array:
        """Vertices that lie far apart, (k, d): the ends in random directions."""
        from scipy.optimize import linprog  # slow to import

        d = len(self._half)
        towards = np.random.default_rng(0).standard_normal((d + 2, d))
        found = []
        for direction in np.concatenate([towards, -towards]):
            answer = linprog(c=-direction, A_ub=self._rows, b_ub=self._ends, bounds=[(-1.0, 1.0)] * d, method="highs")
            if answer.x is not None:
                found.append(answer.x)
        return np.array(found).reshape(-1, d)

    def cut(self, z: Array, direction: Array) -> tuple[Array, Array]:
        """From which to which t each z + t direction lies inside, for z inside."""
        slack = np.maximum(self._ends - z @ self._rows.T, 0.0)
        rate = direction @ self._rows.T
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = slack / rate
        first = np.where(rate < 0.0, reach, -np.inf).max(axis=1)
        last = np.where(rate > 0.0, reach, np.inf).min(axis=1)
        return first, last
