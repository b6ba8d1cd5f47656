"""Hyper-parameters by maximising the log marginal likelihood under weak priors, with analytic gradients.

Learnt from one fidelity, or from several at once, whose processes then have the same kernel: the paper's assumption,
f⁽ᵐ⁾ ~ GP(0, κ) for every m (section "Problem Set Up"). The likelihood of several is the product of theirs. So a
fidelity with few rows, or with rows near the maximum only, as the target's are, has a kernel that was learnt from the
many and widespread rows of the others.

Everything here is on standardised values (mean 0, variance 1), so that the priors mean the same for every function:

    log ℓ_j     ~ N(log(0.5 √d), 1.2²)   in unit coordinates; typical distances in [0, 1]^d grow like √d
    log scale   ~ N(log 2, 2²)
    log noise_m ~ N(log 1e-5, 4²), and noise ≥ NOISE_FLOOR: deterministic functions are nearly interpolated
    mean_m      ~ N(0, 1), any two of them with correlation 1 − MEANS_APART²: fidelities have about the same level

θ = (log ℓ_1..d, log scale, log noise_1..K, mean_1..K). L-BFGS-B from a few starts; entries that are given stay fixed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

from mfopt.protocols import Array
from mfopt_plugins.surrogates.gp.process import Hyper, MakeGP

NOISE_FLOOR = 1e-9
LEARNING_ROWS = 300  # of all fidelities; beyond, a random subset: O(n³) an evaluation, and little is left to learn
MEANS_APART = 0.3  # deviation of a fidelity's mean from that of another, over √2
_MAX_ITERATIONS = 60


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
    rows: Sequence[tuple[Array, Array]],
    fixed: Sequence[Fixed],
    start: Sequence[Hyper] | None,
    rng: np.random.Generator,
    draws: int,
    afresh: bool = True,
) -> list[Hyper]:
    """The maximum a posteriori hyper-parameters for standardised `rows`, (u, y) per fidelity.

    `fixed` agree between the fidelities but for noise. Starts: `start` (the previous optimum), with `afresh` or without
    `start` also the centre of the priors, and `draws` points drawn from the priors.
    """
    count, dim = len(rows), rows[0][0].shape[1]
    centre = _pack([default_hyper(dim)] * count)
    covariance = _prior_covariance(count, dim)
    precision = np.linalg.inv(covariance)
    sigma = np.sqrt(np.diag(covariance))
    low, high = centre - 4 * sigma, centre + 4 * sigma
    noises = slice(dim + 1, dim + 1 + count)
    low[noises], high[noises] = np.log(NOISE_FLOOR), np.log(2.0)
    _fix(low, fixed)
    _fix(high, fixed)
    rows = subsets(rows, LEARNING_ROWS, rng)

    def posterior(theta: Array) -> tuple[float, Array]:
        pull = theta - centre
        slope = -precision @ pull
        value = 0.5 * float(pull @ slope)
        for k, (hyper, (u, y)) in enumerate(zip(_unpack(theta, fixed), rows, strict=True)):
            if len(y) == 0:
                continue
            gp = make(hyper)
            gp.extend(u, y)
            own, own_slope = gp.log_marginal_likelihood(grad=True)
            value += own
            slope[: dim + 1] += own_slope[: dim + 1]
            slope[[dim + 1 + k, dim + 1 + count + k]] += own_slope[dim + 1 :]
        return value, slope

    starts = ([] if start is None else [_pack(start)]) + ([centre] if afresh or start is None else [])
    starts += [centre + sigma * rng.standard_normal(len(sigma)) for _ in range(draws)]
    return _unpack(ascend(posterior, starts, low, high), fixed)


def ascend(
    objective: Callable[[Array], tuple[float, Array]],
    starts: Sequence[Array],
    low: Array,
    high: Array,
    iterations: int = _MAX_ITERATIONS,
) -> Array:
    """The best θ that L-BFGS-B finds from these starts, between `low` and `high`; where they are equal θ stays.

    `objective` gives a value and its gradient.
    """
    free = low < high

    def negative(part: Array) -> tuple[float, Array]:
        theta = low.copy()
        theta[free] = part
        value, slope = objective(theta)
        if not (np.isfinite(value) and np.isfinite(slope).all()):
            return 1e25, np.zeros(len(part))
        return -value, -slope[free]

    best, best_value = low.copy(), np.inf
    for theta in starts if free.any() else []:
        found = minimize(
            negative,
            np.clip(theta, low, high)[free],
            jac=True,
            method="L-BFGS-B",
            bounds=list(zip(low[free], high[free], strict=True)),
            options={"maxiter": iterations},
        )
        if not found.fun >= best_value:
            best[free], best_value = found.x, float(found.fun)
    return best


def subsets(rows: Sequence[tuple[Array, Array]], most: int, rng: np.random.Generator) -> list[tuple[Array, Array]]:
    """At most about `most` rows in all, drawn at random: the largest sets are cut to one size, the others stay."""
    sizes = [len(y) for _, y in rows]
    room, cut = most, 0
    for left, size in zip(range(len(sizes), 0, -1), sorted(sizes), strict=True):
        cut = max(room // left, 1)
        room -= min(size, cut)
    return [_subset(u, y, cut, rng) for u, y in rows]


def _subset(u: Array, y: Array, most: int, rng: np.random.Generator) -> tuple[Array, Array]:
    if len(y) <= most:
        return u, y
    rows = np.sort(rng.choice(len(y), most, replace=False))
    return u[rows], y[rows]


def _prior_covariance(count: int, dim: int) -> Array:
    covariance = np.diag(np.concatenate([np.full(dim, 1.2**2), [2.0**2], np.full(count, 4.0**2), np.ones(count)]))
    covariance[-count:, -count:] = 1.0 - MEANS_APART**2 * (1.0 - np.eye(count))
    return covariance


def _pack(hypers: Sequence[Hyper]) -> Array:
    kernel = hypers[0]
    noises = [max(hyper.noise, NOISE_FLOOR) for hyper in hypers]
    means = [hyper.mean for hyper in hypers]
    return np.concatenate([np.log(kernel.lengthscale), [np.log(kernel.scale)], np.log(noises), means])


def _unpack(theta: Array, fixed: Sequence[Fixed]) -> list[Hyper]:
    count = len(fixed)
    dim = len(theta) - 1 - 2 * count
    lengthscale, scale = np.exp(theta[:dim]), float(np.exp(theta[dim]))
    hypers = []
    for k, given in enumerate(fixed):
        # A noise that is known to be 0 has no logarithm, so the fixed value is taken as it is.
        noise = float(np.exp(theta[dim + 1 + k])) if given.noise is None else given.noise
        hypers.append(Hyper(lengthscale, scale, noise, float(theta[dim + 1 + count + k])))
    return hypers


def _fix(bound: Array, fixed: Sequence[Fixed]) -> None:
    """Set the entries of a bound that are given, so that lower and upper bound agree there."""
    count = len(fixed)
    dim = len(bound) - 1 - 2 * count
    if fixed[0].lengthscale is not None:
        bound[:dim] = np.log(fixed[0].lengthscale)
    if fixed[0].scale is not None:
        bound[dim] = np.log(fixed[0].scale)
    for k, given in enumerate(fixed):
        if given.noise is not None:
            bound[dim + 1 + k] = np.log(max(given.noise, NOISE_FLOOR))
        if given.mean is not None:
            bound[dim + 1 + count + k] = given.mean
