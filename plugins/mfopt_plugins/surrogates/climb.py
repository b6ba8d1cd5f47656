"""The maximum of a smooth function of a few variables between limits, by BFGS steps that know when nothing is left.

A step is s = H g over the variables that are free to move: one on a limit which g would take over it is held there. H,
the inverse of minus the Hessian, is learnt from the steps. ½ gᵀHg is what is still to be gained if the function is
as curved as H says, so a search that starts near the maximum with the H of an earlier one ends after an evaluation or
two. That is what log likelihoods want: they change little between two searches, and differences far below 1 mean
nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from mfopt.protocols import Array

Function: TypeAlias = Callable[[Array], tuple[float, Array]]  # value and gradient

_FIRST_STEP, _LONGEST_STEP = 0.3, 1.5
_ARMIJO = 1e-4
_LEAST_SHRINK, _SHRINKS = 0.1, 12
_HUGE = 1e150  # changes of slope whose squares overflow: they come from values of that size, and tell no curvature
_FLAT = 1e-8  # cosine of step and change of slope below which they show no curvature


def climb(
    function: Function, start: Array, low: Array, high: Array, inverse: Array | None, steps: int, least: float
) -> tuple[Array, float, Array | None]:
    """The best point found within the limits, its value and H, from `start` in at most `steps` steps.

    `inverse` is the H of an earlier search near here. The search ends when less than `least` is to be gained. An H that
    was all learnt on the way from far says little about that, so it is then forgotten once.
    """
    x = np.clip(start, low, high)
    value, slope = function(x)
    sure = inverse is not None
    for _ in range(steps):
        step, promise = _aim(x, slope, low, high, inverse)
        if not 0.5 * promise > least:
            if sure or inverse is None:
                break
            inverse, sure = None, True  # H was learnt far from here: once more without it
            continue
        found = _try(function, x, value, step, promise, low, high)
        if found is None:
            if inverse is None:
                break
            inverse = None  # what was learnt elsewhere does not hold here
            continue
        moved, value, there = found
        inverse = _update(inverse, moved - x, slope - there)
        x, slope = moved, there
    return x, value, inverse


def _aim(x: Array, slope: Array, low: Array, high: Array, inverse: Array | None) -> tuple[Array, float]:
    """The step, and what it promises to gain by the slope alone."""
    free = ~(((x <= low) & (slope < 0.0)) | ((x >= high) & (slope > 0.0)))
    uphill = np.where(free, slope, 0.0)
    size = float(np.abs(uphill).max(initial=0.0))
    if size == 0.0:
        return uphill, 0.0
    step = uphill * (_FIRST_STEP / size) if inverse is None else np.where(free, inverse @ uphill, 0.0)
    longest = float(np.abs(step).max())
    step = step * min(1.0, _LONGEST_STEP / longest)
    return step, float(step @ uphill)


def _try(
    function: Function, x: Array, value: float, step: Array, promise: float, low: Array, high: Array
) -> tuple[Array, float, Array] | None:
    """Where a part of the step leads that gains enough, with value and slope; None where none does."""
    length = 1.0
    for _ in range(_SHRINKS):
        moved = np.clip(x + length * step, low, high)
        there, slope = function(moved)
        if there >= value + _ARMIJO * length * promise:
            return moved, there, slope
        # The parabola through value, slope and the new value has its top at this part of the length.
        shrink = 0.5 * length * promise / (length * promise - (there - value))
        length *= min(max(shrink, _LEAST_SHRINK), 0.5)
    return None


def _update(inverse: Array | None, s: Array, y: Array) -> Array | None:
    """BFGS: H ← (I − ρ s yᵀ) H (I − ρ y sᵀ) + ρ s sᵀ with ρ = 1/yᵀs; H as it is where no curvature is seen."""
    if not np.abs(y).max() < _HUGE:
        return inverse
    ys, yy = float(y @ s), float(y @ y)
    if not ys > _FLAT * np.sqrt(float(s @ s) * yy):
        return inverse
    h = np.eye(len(s)) * (ys / yy) if inverse is None else inverse
    hy = h @ y
    return np.asarray(h + (1.0 + float(y @ hy) / ys) / ys * np.outer(s, s) - (np.outer(hy, s) + np.outer(s, hy)) / ys)
