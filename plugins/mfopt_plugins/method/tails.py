"""Tails: which values of a fidelity lie far below the rest, such as −1e6 for "bad".

With y₁ > y₂ > ... the distinct values and u₁ the point of the highest, everything below y_j lies far below if there is

a gap     y₁ − y_{j+1} > K_n a (y₁ − y_j),   K_n = max(GAP, CHANCE^(−2/(n−1))), with n points in the rest
          and y₁ − y_{j+1} > GAP times the range of another fidelity that has more values
a cliff   the way from those values to the nearest of the rest is GAP times as steep as any among the rest
a fall    one of those values lies GAP times deeper than all parabolas from y₁ through one of the rest:
          y₁ − y > GAP |u − u₁|² max_i (y₁ − y_i)/|u_i − u₁|²

or, for short, if there is a gap of GAP, of HOLD where another fidelity refutes most of it, and of HOLD times that other
range, and what lies below it is

level     one and the same value at SEVERAL points or more that are not close to each other, while the rest differs

Those values are y_{j+1} and what is up to GAP times as deep; a is how many times as deep it is. Penalties hardly
differ, while the values of a steep function do. A function hardly has the same value at several points, and neither
chance nor a steep way down explains that it does.

Near a maximum in one dimension the chance that values are less than d below it grows like √d, so chance alone makes
such a gap below n uniform points with a probability of CHANCE or less. Points that a method chose are not uniform: they
crowd around a maximum, where values hardly differ and no way is steep. So points that are close to earlier ones do not
count for n and the cliff, and the fall is compared with how the function falls off around its maximum.

What once belonged to the rest stays there. Once there are values far below, the gap need only be HOLD. All is judged
again when a value comes that is not within the rest, so that what is told later mends a mistake.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from mfopt.protocols import Array

IntArray: TypeAlias = npt.NDArray[np.intp]

GAP = 10.0  # by which the depth of values must jump, at least
HOLD = 3.0  # the same for values that a gap keeps out
SEVERAL = 3  # points at which the same value is no chance
CHANCE = 1e-3
ENOUGH = 8  # values without a gap that may be taken for all there is
MOST = 200  # values from which a gap must be seen, unless all others have been found to have none
ROUNDING = 1e-12  # of the largest value: differences that may be rounding
CLOSE = 0.05  # of the unit cube: points that count once, and that say nothing about how a function falls off


class Tail:
    """What lies far below the rest of one fidelity's values: those below `bottom`.

    decided   whether the range of the rest is known
    """

    def __init__(self) -> None:
        self.bottom = -np.inf
        self.decided = False
        self._top = np.inf  # the highest value when values far below were last looked for
        self._lowest = np.inf  # value that was found to belong to the rest

    def is_suspect(self, y: float) -> bool:
        """Whether this value may change what is far below."""
        # With a higher value the rest has a larger range, which may take in some of what lay far below.
        return not self.decided or y < self._lowest or (self.bottom > -np.inf and y > self._top)

    def judge(
        self, u: Array, y: Array, spread: float = 0.0, known: float | None = None, level_gap: float = GAP
    ) -> bool:
        """Judge all values y told so far, at the points u; True if other values lie far below now.

        `spread` is the range of another fidelity that has more values. Where it is open what lies far below, `known` is
        the lowest value of the rest, where something else tells; if it is above all of them, there is no rest yet.
        `level_gap` is what the gap above one value at several points must be.
        """
        before, self._top = self.bottom, float(y.max())
        lowest = _find_lowest(u, y, self._lowest, spread, level_gap, found=before > -np.inf)
        if lowest is None and known is not None:
            if known > self._top and self._lowest == np.inf:
                self.bottom = known
                return self.bottom != before
            lowest = _take_in(y, known)
        self.decided = lowest is not None
        if lowest is not None:
            self._lowest = min(self._lowest, lowest)
        self.bottom = self._lowest if self.decided and y.min() < self._lowest else -np.inf
        return self.bottom != before


def _find_lowest(u: Array, y: Array, held: float, spread: float, level_gap: float, found: bool) -> float | None:
    """The lowest value of the rest, to which `held` belongs; None while that is open.

    `found` says whether values far below were found before.
    """
    limit = HOLD if found else GAP
    ratios, values = _find_gaps(y)
    depths = values[0] - values
    least = min(limit, level_gap)
    gaps = np.flatnonzero((ratios > least) & (values[1:-1] <= held) & (depths[2:] > HOLD * spread))
    kept = _thin(u[:MOST]) if len(gaps) else np.empty(0, dtype=np.intp)
    is_open = False
    for j in gaps + 1:
        lowest = float(values[j])
        rest = kept[y[kept] >= lowest]
        far = np.flatnonzero((y < lowest) & (values[0] - y <= GAP * depths[j + 1]))[-MOST:]
        if _is_level(u, y, rest, far):
            return lowest
        if ratios[j - 1] <= limit or depths[j + 1] <= limit * spread:
            continue
        is_open = True
        uneven = float(values[0] - y[far].min()) / depths[j + 1]
        n = len(np.unique(y[rest]))
        if n < 2 or (not found and ratios[j - 1] <= uneven * max(GAP, CHANCE ** (-2.0 / (n - 1)))):
            continue
        if _is_cliff(u, y, rest, far) and _falls(u, y, lowest, far):
            return lowest
    if is_open:
        return None if len(y) < MOST else float(values[-1])
    return float(values[-1]) if len(values) >= ENOUGH else None  # the usual case: there is no gap


def _take_in(y: Array, lowest: float) -> float:
    """The lowest value of the rest, if this one belongs to it."""
    top = float(y.max())
    for value in np.sort(y[y < lowest])[::-1].tolist():
        if top - value > HOLD * (top - lowest):
            break
        lowest = value
    return lowest


def _find_gaps(y: Array) -> tuple[Array, Array]:
    """(y₁ − y_{j+1})/(y₁ − y_j) for j = 2, 3, ..., and the distinct values y₁ > y₂ > ..."""
    values = np.unique(y)[::-1]
    values = np.concatenate([values[:1], values[values < values[:1] - ROUNDING * np.abs(values[:1])]])
    depths = values[:1] - values[1:]
    return depths[1:] / depths[:-1], values


def have_one_value(y: Array) -> bool:
    """Whether these values are the same, up to rounding."""
    return bool(np.ptp(y) <= ROUNDING * np.abs(y).max())


def _is_level(u: Array, y: Array, rest: IntArray, far: IntArray) -> bool:
    """Whether the rows `far` have one value at SEVERAL points, while the values of most rows of the rest differ."""
    if not have_one_value(y[far]) or 2 * len(np.unique(y[rest])) <= len(rest):
        return False
    return len(far) >= SEVERAL and len(_thin(u[far])) >= SEVERAL


def _is_cliff(u: Array, y: Array, rest: IntArray, far: IntArray) -> bool:
    """Whether the way from the rows `far` to the nearest of the rest is far steeper than any among the rest."""
    away = measure_distances(np.vstack([u[far], u[rest]]), u[rest])
    away[away == 0.0] = np.inf
    slopes = np.abs(np.concatenate([y[far], y[rest]])[:, None] - y[rest]) / away
    down = slopes[np.arange(len(far)), np.argmin(away[: len(far)], axis=1)]
    return bool(np.median(down) > GAP * slopes[len(far) :].max())


def _falls(u: Array, y: Array, lowest: float, far: IntArray) -> bool:
    """Whether one of the rows `far` is far deeper than the way from the highest value down to the rest leads to."""
    top = int(np.argmax(y))
    depths, squares = y[top] - y, ((u - u[top]) ** 2).sum(axis=1)
    rest = (y >= lowest) & (squares >= CLOSE**2)
    if not rest.any():
        return False
    return bool((depths[far] > GAP * (depths[rest] / squares[rest]).max() * squares[far]).any())


def _thin(u: Array) -> IntArray:
    """Rows that are not close to an earlier one of them."""
    close = np.abs(u[:, None, :] - u[None, :, :]).max(axis=2) <= CLOSE
    kept = np.zeros(len(u), dtype=np.bool_)
    for i, near in enumerate(close):
        kept[i] = not (near & kept).any()
    return np.flatnonzero(kept)


def measure_distances(points: Array, others: Array) -> Array:
    """The distances between the rows of two arrays; SciPy's function takes long to import, and few runs need it."""
    squares = np.zeros((len(points), len(others)))
    for column, other in zip(points.T, others.T, strict=True):
        squares += (column[:, None] - other) ** 2
    return np.sqrt(squares)
