"""The last step of every maximiser: climb from a few good points to the local maximum, without leaving X.

L-BFGS-B climbs the smooth pieces of φ = min_m φ_m but may stop at a kink between two of them, where the maximum of a
minimum often lies. Rounds of random steps of shrinking length cross kinks; each round is one batched evaluation.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

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
    point, value = _climb(acquisition, domain, best, shift, spread)
    return point.copy() if value > best_value else best.copy()


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
    """Gradient ascent in the cube; where it leads out of X, the best halving of the way that is in X."""

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
    end = np.clip(found.x, 0.0, 1.0)
    fractions = 0.5 ** np.arange(_BACKTRACKS)
    path = start + fractions[:, None] * (end - start)
    path[0] = end  # start + 1·(end − start) may differ from it by rounding
    inside = path[:1] if domain.contains(path[:1])[0] else path[domain.contains(path)]
    if len(inside) == 0:
        return start, -np.inf
    values = acquisition(inside)
    i = int(np.argmax(values))
    return inside[i], float(values[i])
