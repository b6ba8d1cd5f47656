"""Regret against capital: the quantity that every experiment of the paper shows, and its relatives.

The regret is about f, not about values of f with noise: the best of many noisy values lies above f*. Where values are
noisy a function without noise must be given, which is evaluated at the points queried. Where there is none,
`best_observed` is all that can be said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from mfopt.checks import direction_sign
from mfopt.errors import InputError
from mfopt.protocols import Array, BoolArray

ROUNDED = 1e-6  # of an optimum, or absolutely, by which values may pass it: one is often known to so many digits

Curve = tuple[Array, Array]  # (capital, regret), as simple_regret gives it
Target: TypeAlias = Callable[[Any], Any]  # f⁽ᴹ⁾ without noise, of one point: an array, or params


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
    history: QueryArrays,
    optimum: float,
    direction: str = "maximize",
    target: int | None = None,
    function: Target | None = None,
) -> Curve:
    """S(Λ) = f* − max f⁽ᴹ⁾ over the target queries within capital Λ, eq. (Sn) for capital: (capital, regret).

    One entry per query told: the capital spent after it and the regret then, +∞ before the first target value. Failed
    queries cost but give no value. `target` is the target's index M − 1; by default the highest fidelity that occurs,
    which is wrong for a run that never reached its target.

    `function` is f⁽ᴹ⁾ without noise, of one point as in mfopt.maximize: f at the points queried counts, not the values
    told. Without it the values are taken for f, which is refused where the optimiser was told that they are noisy,
    where two of them differ at one point, and where one passes the optimum.
    """
    capital, gap, counts = _target_gaps(history, optimum, direction, target, function)
    return capital, np.minimum.accumulate(np.where(counts, gap, np.inf))


def best_observed(history: QueryArrays, direction: str = "maximize", target: int | None = None) -> Curve:
    """The best value observed at the target within capital Λ: (capital, value), ∓∞ before the first.

    Of noisy values the best is mostly luck: this is no estimate of f.
    """
    sign = direction_sign(direction)
    capital, gap, counts = _target_gaps(history, 0.0, direction, target, None, noisy=True)
    return capital, -sign * np.minimum.accumulate(np.where(counts, gap, np.inf))


def regret_at(x: Array | Mapping[str, Any], function: Target, optimum: float, direction: str = "maximize") -> float:
    """f* − f⁽ᴹ⁾(x), for example at the point that Optimizer.recommend gives; `function` is f⁽ᴹ⁾ without noise.

    x is an array, or params where the function takes these.
    """
    given = x if isinstance(x, Mapping) else np.asarray(x)
    return direction_sign(direction) * (optimum - float(function(given)))


def cumulative_regret(
    history: QueryArrays,
    optimum: float,
    direction: str = "maximize",
    target: int | None = None,
    inside: BoolArray | None = None,
    mean: bool = False,
    function: Target | None = None,
) -> Curve:
    """R̃_n = Σ f* − f⁽ᴹ⁾(x_t) over the target queries so far, eq. (Rtilden): (capital, sum).

    `inside` keeps only the queries in a set Z, for example H⁽ᴹ⁾. With `mean` it is R̃_n/T⁽ᴹ⁾_n, +∞ before the first
    target value: never below the simple regret, eq. (SimCumRelation). `function` as in `simple_regret`.
    """
    capital, gap, counts = _target_gaps(history, optimum, direction, target, function)
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
    history: QueryArrays,
    optimum: float,
    direction: str,
    target: int | None,
    function: Target | None,
    noisy: bool = False,
) -> tuple[Array, Array, BoolArray]:
    """Capital after each query, f* − f, and which queries count: target queries that have a value.

    Without a function the values are f; unless they may be `noisy` they must be the same at the same point.
    """
    sign = direction_sign(direction)
    fidelity = np.asarray(history.fidelity)
    capital = np.cumsum(np.asarray(history.cost, dtype=np.float64))
    y = np.asarray(history.y, dtype=np.float64)
    if target is None:
        target = int(fidelity.max(initial=0))
    counts = (fidelity == target) & np.isfinite(y)
    points = getattr(history, "x", None)  # not needed where values are f
    if function is not None:
        if points is None:
            raise InputError("history must tell the points x where a function is given, got none")
        given = getattr(history, "arguments", points)
        y = y.copy()
        y[counts] = [float(function(x)) for x, counted in zip(given, counts.tolist(), strict=True) if counted]
    gap = optimum - y if sign > 0.0 else y - optimum
    if function is None and not noisy:
        _require_no_noise(getattr(history, "noises", ())[target : target + 1])
        if points is not None:
            _require_one_value(np.asarray(points)[counts], y[counts])
        _require_no_better(gap[counts], optimum)
    return capital, np.where(counts, gap, np.inf), counts


def _require_no_noise(noises: Sequence[float | None]) -> None:
    """Refuse values that are known to be noisy: the optimiser was given their variance."""
    if any(noises):
        raise InputError(f"function must be given where target values are noisy, got a noise of {noises[0]}")


def _require_one_value(x: Array, y: Array) -> None:
    """Refuse values that are noisy beyond doubt: two of one point differ."""
    first: dict[bytes, float] = {}
    for point, value in zip(x, y.tolist(), strict=True):
        before = first.setdefault(np.ascontiguousarray(point).tobytes(), value)
        if before != value:
            raise InputError(
                f"function must be given where target values are noisy, got the values {before} and {value} "
                f"at {point.tolist()}"
            )


def _require_no_better(gaps: Array, optimum: float) -> None:
    """Refuse values that pass the optimum, by more than it may have been rounded: it is none, or they are noisy."""
    beyond = -float(gaps.min(initial=0.0))
    if beyond > ROUNDED * max(abs(optimum), 1.0):
        raise InputError(
            f"optimum must not be passed by values, or function be given where they are noisy, got the optimum "
            f"{optimum} and a value {beyond:.6g} beyond it"
        )


def _as_mask(inside: BoolArray | None, counts: BoolArray) -> BoolArray:
    if inside is None:
        return np.ones_like(counts)
    if len(inside) != len(counts):
        raise InputError(f"inside must have one entry per query, {len(counts)}, got {len(inside)}")
    return np.asarray(inside, dtype=np.bool_)
