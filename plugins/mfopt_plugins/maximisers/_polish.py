"""The last step of every maximiser: climb from a few good points to the local maximum, without leaving X.

L-BFGS-B climbs the smooth pieces of φ = min_m φ_m but may stop at a kink between two of them, where the maximum of a
minimum often lies. Rounds of random steps of shrinking length cross kinks; each round is one batched evaluation. If the
acquisition tells its pieces φ_m, the maximum of their minimum is then found as the smooth problem

    max τ   subject to   τ ≤ φ_m(u) for every m,   0 ≤ u ≤ 1

by SLSQP, which is exact at kinks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import NonlinearConstraint, minimize

from mfopt.protocols import Acquisition, Array, Domain

_FIRST_STEP, _LAST_STEP = 0.1, 1e-6  # lengths of the random steps, in unit coordinates
_GROW, _SHRINK, _ROUNDS = 1.5, 0.4, 40  # of the step after a success, after a failure; most rounds of steps
_BACKTRACKS = 20
_CLOSER = 0.05  # of two starts nearer than this (in every coordinate) only the better one is climbed from


def polish(
    acquisition: Acquisition, domain: Domain, candidates: Array, values: Array, climbs: int, rng: np.random.Generator
) -> Array:
    """A point of X at least as good as the best of `candidates` (q, dim), which lie in X and have these values."""
    # L-BFGS-B has absolute tolerances; the values are brought to unit spread so that their scale does not matter.
    shift = float(values.max())
    spread = shift - float(values.min())
    if not spread > 0:
        return np.array(candidates[int(np.argmax(values))])
    best = candidates[int(np.argmax(values))]
    best_value = shift
    for start in _apart(candidates, values, climbs):
        point, value = _climb(acquisition, domain, start, shift, spread)
        if value > best_value:
            best, best_value = point, value
    count = 8 + 4 * domain.dim
    step = _FIRST_STEP
    for _ in range(_ROUNDS):
        trials = np.clip(best + step * rng.standard_normal((count, domain.dim)), 0.0, 1.0)
        trials = trials[domain.contains(trials)]
        better = False
        if len(trials):
            trial_values = acquisition(trials)
            i = int(np.argmax(trial_values))
            better = bool(trial_values[i] > best_value)
            if better:
                best, best_value = trials[i], float(trial_values[i])
        step *= _GROW if better else _SHRINK
        if step < _LAST_STEP:
            break
    climb = _climb_pieces if hasattr(acquisition, "pieces") else _climb
    point, value = climb(acquisition, domain, best, shift, spread)
    return np.array(point if value > best_value else best)


def _apart(candidates: Array, values: Array, climbs: int) -> list[Array]:
    """The best candidates that are not close to a better one."""
    chosen: list[Array] = []
    for i in np.argsort(-values, kind="stable"):
        if all(np.abs(candidates[i] - other).max() > _CLOSER for other in chosen):
            chosen.append(candidates[i])
            if len(chosen) == climbs:
                break
    return chosen


def _climb(acquisition: Acquisition, domain: Domain, start: Array, shift: float, spread: float) -> tuple[Array, float]:
    """Gradient ascent in the cube."""

    def negative(u: Array) -> tuple[float, Array]:
        value, slope = acquisition.gradient(u[None, :])
        return -(float(value[0]) - shift) / spread, -slope[0] / spread

    found = minimize(
        negative,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=[(0.0, 1.0)] * len(start),
        options={"maxiter": 100, "ftol": 1e-15, "gtol": 1e-9},
    )
    return _backtrack(acquisition, domain, start, np.clip(found.x, 0.0, 1.0))


def _climb_pieces(acquisition: Any, domain: Domain, start: Array, shift: float, spread: float) -> tuple[Array, float]:
    """The same for an acquisition with pieces, in the variables (u, τ)."""
    dim = len(start)
    slope_of_tau = np.append(np.zeros(dim), -1.0)

    def negative(z: Array) -> tuple[float, Array]:
        return -float(z[dim]), slope_of_tau

    def slack(z: Array) -> Array:
        return np.asarray((acquisition.pieces(z[:dim])[0] - shift) / spread - z[dim])

    def slack_gradient(z: Array) -> Array:
        slopes = acquisition.pieces(z[:dim])[1] / spread
        return np.column_stack([slopes, np.full(len(slopes), -1.0)])

    found = minimize(
        negative,
        np.append(start, 0.0),
        jac=True,
        method="SLSQP",
        bounds=[*[(0.0, 1.0)] * dim, (None, None)],
        constraints=NonlinearConstraint(slack, 0.0, np.inf, jac=slack_gradient),
        options={"maxiter": 50, "ftol": 1e-15},
    )
    end = found.x[:dim]
    if not np.isfinite(end).all():
        return start, -np.inf
    return _backtrack(acquisition, domain, start, np.clip(end, 0.0, 1.0))


def _backtrack(acquisition: Acquisition, domain: Domain, start: Array, end: Array) -> tuple[Array, float]:
    """`end`, or where it is not in X the best halving of the way to it that is."""
    fractions = 0.5 ** np.arange(_BACKTRACKS)
    path = start + fractions[:, None] * (end - start)
    path[0] = end  # start + 1·(end − start) may differ from it by rounding
    inside = path[:1] if domain.contains(path[:1])[0] else path[domain.contains(path)]
    if len(inside) == 0:
        return start, -np.inf
    values = acquisition(inside)
    i = int(np.argmax(values))
    return inside[i], float(values[i])
