"""Regret against capital: the quantity that every experiment of the paper shows, and its relatives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Protocol

import numpy as np
import numpy.typing as npt

from mfopt.checks import direction_sign
from mfopt.errors import InputError
from mfopt.protocols import Array, BoolArray

Curve = tuple[Array, Array]  # (capital, regret), as simple_regret gives it


class QueryArrays(Protocol):
    """The columns of a history that the regret needs, in the order told."""

    @property
    def fidelity(self) -> npt.NDArray[np.int64]:
        """The fidelity of each query, 0-based."""

    @property
    def y(self) -> Array:
        """The values, in the user's unit; NaN where the evaluation failed."""

    @property
    def cost(self) -> Array:
        """What each query cost."""


def simple_regret(
    history: QueryArrays, optimum: float, direction: str = "maximize", target: int | None = None
) -> Curve:
    """S(Λ) = f* − max f⁽ᴹ⁾ over the target queries within capital Λ, eq. (Sn) for capital: (capital, regret).

    One entry per query told: the capital spent after it and the regret then, +∞ before the first target value. Failed
    queries cost but give no value. `target` is the target's index M − 1; by default the highest fidelity that occurs,
    which is wrong for a run that never reached its target.
    """
    capital, gap, counts = _target_gaps(history, optimum, direction, target)
    return capital, np.minimum.accumulate(np.where(counts, gap, np.inf))


def cumulative_regret(
    history: QueryArrays,
    optimum: float,
    direction: str = "maximize",
    target: int | None = None,
    inside: BoolArray | None = None,
    mean: bool = False,
) -> Curve:
    """R̃_n = Σ f* − f⁽ᴹ⁾(x_t) over the target queries so far, eq. (Rtilden): (capital, sum).

    `inside` keeps only the queries in a set Z, for example H⁽ᴹ⁾. With `mean` it is R̃_n/T⁽ᴹ⁾_n, +∞ before the first
    target value: never below the simple regret, eq. (SimCumRelation).
    """
    capital, gap, counts = _target_gaps(history, optimum, direction, target)
    counts = counts & _as_mask(inside, counts)
    total = np.cumsum(np.where(counts, gap, 0.0))
    if not mean:
        return capital, total
    queries = np.cumsum(counts)
    return capital, np.where(queries > 0, total / np.maximum(queries, 1), np.inf)


@dataclass(frozen=True)
class Aggregate:
    """Curves of several runs on a common grid of capital."""

    capital: Array
    median: Array
    lower: Array  # the lower quartile
    upper: Array  # the upper quartile
    mean: Array
    error: Array  # the standard error of the mean; NaN with one run, or where a run is still at +∞
    runs: int


def at_capital(curve: Curve, capital: Array) -> Array:
    """The value of a curve at each capital: that after the last query paid by then, +∞ before the first."""
    spent, values = curve
    last = np.searchsorted(spent, np.asarray(capital, dtype=np.float64), side="right")
    return np.asarray(np.append(np.inf, values)[last])


def aggregate(curves: Sequence[Curve], capital: Array | None = None) -> Aggregate:
    """Median, quartiles, mean and its standard error over the runs, at each capital of a grid.

    By default the grid is every capital at which some run's value changes, up to the smallest capital that a run spent:
    there all runs can be compared.
    """
    if len(curves) == 0:
        raise InputError("curves must hold at least one run, got none")
    if capital is None:
        end = min((float(spent[-1]) for spent, _ in curves if len(spent)), default=0.0)
        every = np.unique(np.concatenate([spent for spent, _ in curves]))
        capital = every[every <= end]
    grid = np.asarray(capital, dtype=np.float64)
    values = np.array([at_capital(curve, grid) for curve in curves])
    # The rank method keeps +∞ from turning into NaN, which interpolation between ranks would make of it; the median
    # of an even number of runs is the mean of two values, as usual, and safe.
    lower, upper = np.quantile(values, [0.25, 0.75], axis=0, method="inverted_cdf")
    error = np.full(grid.shape, np.nan)
    if len(curves) > 1:
        known = np.isfinite(values).all(axis=0)
        error[known] = values[:, known].std(axis=0, ddof=1) / sqrt(len(curves))
    return Aggregate(grid, np.median(values, axis=0), lower, upper, values.mean(axis=0), error, len(curves))


def _target_gaps(
    history: QueryArrays, optimum: float, direction: str, target: int | None
) -> tuple[Array, Array, BoolArray]:
    """Capital after each query, f* − y, and which queries count: target queries that have a value."""
    sign = direction_sign(direction)
    fidelity = np.asarray(history.fidelity)
    capital = np.cumsum(np.asarray(history.cost, dtype=np.float64))
    y = np.asarray(history.y, dtype=np.float64)
    gap = optimum - y if sign > 0.0 else y - optimum
    if target is None:
        target = int(fidelity.max(initial=0))
    counts = (fidelity == target) & np.isfinite(y)
    return capital, np.where(counts, gap, np.inf), counts


def _as_mask(inside: BoolArray | None, counts: BoolArray) -> BoolArray:
    if inside is None:
        return np.ones_like(counts)
    if len(inside) != len(counts):
        raise InputError(f"inside must have one entry per query, {len(counts)}, got {len(inside)}")
    return np.asarray(inside, dtype=np.bool_)
