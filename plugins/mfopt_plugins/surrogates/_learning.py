"""Hyper-parameters by maximising the log marginal likelihood under weak priors, with analytic gradients.

Everything here is on standardised values (mean 0, variance 1), so that the priors mean the same for every function:

    log ℓ_j   ~ N(log(0.5 √d), 1.2²)   in unit coordinates; typical distances in [0, 1]^d grow like √d
    log scale ~ N(log 2, 2²)
    log noise ~ N(log 1e-5, 4²), and noise ≥ NOISE_FLOOR: deterministic functions are nearly interpolated
    mean      ~ N(0, 1)

θ = (log ℓ_1..d, log scale, log noise, mean). L-BFGS-B from a few starts; entries that are given stay fixed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from mfopt.protocols import Array
from mfopt_plugins.surrogates._gp import Hyper, MakeGP

NOISE_FLOOR = 1e-8
LEARNING_ROWS = 300  # beyond, a random subset of the rows: O(n³) an evaluation, and little is left to learn
_MAX_ITERATIONS = 60
_LOG_SCALE, _LOG_NOISE, _MEAN = -3, -2, -1


@dataclass(frozen=True)
class Fixed:
    """Hyper-parameters that are not learnt, in standardised units; None where they are."""

    lengthscale: Array | None = None
    scale: float | None = None
    noise: float | None = None
    mean: float | None = None


def default_hyper(dim: int) -> Hyper:
    """The centre of the priors, with little noise."""
    return Hyper(np.full(dim, 0.5 * np.sqrt(dim)), 2.0, 1e-5, 0.0)


def learn(
    make: MakeGP,
    u: Array,
    y: Array,
    fixed: Fixed,
    start: Hyper | None,
    rng: np.random.Generator,
    draws: int,
    afresh: bool = True,
) -> Hyper:
    """The maximum a posteriori hyper-parameters for standardised values `y` at `u`.

    Starts: `start` (the previous optimum), with `afresh` or without `start` also the centre of the priors, and `draws`
    points drawn from the priors.
    """
    dim = u.shape[1]
    centre = _pack(default_hyper(dim))
    sigma = np.concatenate([np.full(dim, 1.2), [2.0, 4.0, 1.0]])
    location = centre.copy()
    low = location - 4 * sigma
    high = location + 4 * sigma
    low[_LOG_NOISE] = np.log(NOISE_FLOOR)
    high[_LOG_NOISE] = np.log(2.0)
    _fix(low, fixed)
    _fix(high, fixed)
    free = low < high
    if not free.any():
        return _unpack(low, fixed)
    if len(y) > LEARNING_ROWS:
        rows = np.sort(rng.choice(len(y), LEARNING_ROWS, replace=False))
        u, y = u[rows], y[rows]

    def negative(theta_free: Array) -> tuple[float, Array]:
        theta = low.copy()
        theta[free] = theta_free
        gp = make(_unpack(theta, fixed))
        gp.extend(u, y)
        value, slope = gp.log_marginal_likelihood(grad=True)
        pull = (theta - location) / sigma
        value -= 0.5 * float(pull[free] @ pull[free])
        slope = slope - pull / sigma
        if not (np.isfinite(value) and np.isfinite(slope).all()):
            return 1e25, np.zeros(int(free.sum()))
        return -value, -slope[free]

    starts = ([] if start is None else [_pack(start)]) + ([centre] if afresh or start is None else [])
    starts += [location + sigma * rng.standard_normal(len(sigma)) for _ in range(draws)]
    best, best_value = None, np.inf
    for theta in starts:
        found = minimize(
            negative,
            np.clip(theta, low, high)[free],
            jac=True,
            method="L-BFGS-B",
            bounds=list(zip(low[free], high[free], strict=True)),
            options={"maxiter": _MAX_ITERATIONS},
        )
        if best is None or found.fun < best_value:
            best, best_value = found.x, float(found.fun)
    theta = low.copy()
    theta[free] = best
    return _unpack(theta, fixed)


def _pack(hyper: Hyper) -> Array:
    noise = max(hyper.noise, NOISE_FLOOR)
    return np.concatenate([np.log(hyper.lengthscale), [np.log(hyper.scale), np.log(noise), hyper.mean]])


def _unpack(theta: Array, fixed: Fixed) -> Hyper:
    # A noise that is known to be 0 has no logarithm, so the fixed value is taken as it is.
    noise = float(np.exp(theta[_LOG_NOISE])) if fixed.noise is None else fixed.noise
    return Hyper(np.exp(theta[:_LOG_SCALE]), float(np.exp(theta[_LOG_SCALE])), noise, float(theta[_MEAN]))


def _fix(bound: Array, fixed: Fixed) -> None:
    """Set the entries of a bound that are given, so that lower and upper bound agree there."""
    if fixed.lengthscale is not None:
        bound[:_LOG_SCALE] = np.log(fixed.lengthscale)
    if fixed.scale is not None:
        bound[_LOG_SCALE] = np.log(fixed.scale)
    if fixed.noise is not None:
        bound[_LOG_NOISE] = np.log(max(fixed.noise, NOISE_FLOOR))
    if fixed.mean is not None:
        bound[_MEAN] = fixed.mean
