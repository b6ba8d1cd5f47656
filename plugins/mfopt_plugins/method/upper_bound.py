"""The upper bound φ of MF-GP-UCB as a function on X."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mfopt.hooks import AcquisitionDefaults, FullAcquisition, FusesBounds
from mfopt.protocols import Array, Model, Surrogate


def upper_bound(
    models: Sequence[Model], surrogates: Sequence[Surrogate], beta: float, zetas: Sequence[float]
) -> FullAcquisition:
    """φ(u) = min_m φ_m(u), φ_m = μ_m + β_t^½ σ_m + ζ_m, eq. (mfgpucbDefn).

    Where the models come from surrogates of one class that fuses bounds, that does the work.
    """
    first = surrogates[0]
    if isinstance(first, FusesBounds) and all(type(one) is type(first) for one in surrogates):
        return first.bound(models, beta, zetas)
    return PlainBound(models, beta, zetas)


class PlainBound(AcquisitionDefaults):
    """φ over models of any kind, model by model.

    At a kink, where two bounds are equal, the gradient is that of the lowest m.
    """

    def __init__(self, models: Sequence[Model], beta: float, zetas: Sequence[float]) -> None:
        self._models = list(models)
        self._beta = beta
        self._zetas = [float(zeta) for zeta in zetas]

    def __call__(self, u: Array) -> Array:
        """φ at the rows of u."""
        bounds = []
        for model, zeta in zip(self._models, self._zetas, strict=True):
            mean, var = model.posterior(u)
            bounds.append(mean + np.sqrt(self._beta * var) + zeta)
        return np.asarray(np.min(bounds, axis=0))

    def gradient(self, u: Array) -> tuple[Array, Array]:
        """φ and the gradient of the smallest bound at the rows of u."""
        return take_lowest(*self.pieces(u))

    def pieces(self, u: Array) -> tuple[Array, Array]:
        """Every φ_m at the rows of u, (K, q), and their gradients, (K, q, dim)."""
        values = np.empty((len(self._models), len(u)))
        slopes = np.empty((len(self._models), *u.shape))
        for k, (model, zeta) in enumerate(zip(self._models, self._zetas, strict=True)):
            value, slopes[k] = upper_bound_gradient(*model.posterior_gradient(u), self._beta)
            values[k] = value + zeta
        return values, slopes

    @property
    def rows(self) -> int:
        """Rows of the largest model: what an evaluation costs."""
        return max(model.n for model in self._models)


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
