"""The upper bound φ(u) = min_m φ_m(u), φ_m = μ_m + β_t^½ σ_m + ζ_m, eq. (mfgpucbDefn), over models of any kind."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mfopt.hooks import AcquisitionDefaults
from mfopt.protocols import Array, Model


class PlainBound(AcquisitionDefaults):
    """φ, model by model.

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
            mean, var, dmean, dvar = model.posterior_gradient(u)
            root, sigma = np.sqrt(self._beta), np.sqrt(var)
            values[k] = mean + root * sigma + zeta
            # σ has no gradient where it is 0 (at a noiseless row): the mean's alone is used there.
            half = 0.5 * root / np.where(sigma > 0, sigma, np.inf)
            slopes[k] = dmean + half[:, None] * dvar
        return values, slopes

    @property
    def rows(self) -> int:
        """Rows of the largest model: what an evaluation costs."""
        return max(model.n for model in self._models)


def take_lowest(values: Array, slopes: Array) -> tuple[Array, Array]:
    """φ, (q,), and its gradient, (q, dim), from its pieces, (K, q) and (K, q, dim); at a kink that of the lowest m."""
    lowest, rows = np.argmin(values, axis=0), np.arange(values.shape[1])
    return values[lowest, rows], slopes[lowest, rows]
