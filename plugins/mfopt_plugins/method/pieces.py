"""The pieces φ_m of the upper bound φ = min_m φ_m, eq. (mfgpucbDefn), and what φ is where they are known."""

from __future__ import annotations

import numpy as np

from mfopt.protocols import Array


def upper_bound_gradient(mean: Array, var: Array, dmean: Array, dvar: Array, beta: float) -> tuple[Array, Array]:
    """μ + β^½ σ at q points, (q,), and its gradient, (q, dim), from a posterior with its gradients."""
    root, sigma = np.sqrt(beta), np.sqrt(var)
    # σ has no gradient where it is 0 (at a noiseless row): the mean's alone is used there.
    half = 0.5 * root / np.where(sigma > 0, sigma, np.inf)
    return mean + root * sigma, dmean + half[:, None] * dvar


def take_lowest(values: Array, slopes: Array) -> tuple[Array, Array]:
    """φ, (q,), and its gradient, (q, dim), from its pieces, (K, q) and (K, q, dim); at a kink that of the lowest m."""
    lowest, rows = np.argmin(values, axis=0), np.arange(values.shape[1])
    return values[lowest, rows], slopes[lowest, rows]
