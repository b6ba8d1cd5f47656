"""scikit-learn's Gaussian process as a surrogate for mfopt.

Values are standardised by the mean and the deviation of the rows that the hyper-parameters were learnt from. The
noise is learnt as a WhiteKernel, then moved out of the kernel: a posterior is that of the function, without noise.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from mfopt.protocols import Array

_SMALLEST_NOISE = 1e-9  # of the values' variance: keeps the factorisation alive


class SklearnGP:
    """A squared exponential kernel with one length-scale per coordinate, learnt from `restarts` random starts more."""

    def __init__(self, restarts: int = 1) -> None:
        self._restarts = restarts

    def model(self, dim: int, noise: float | None = None) -> SklearnModel:
        """A fresh model without data; `noise` is the known noise variance, None when it is to be learnt."""
        return SklearnModel(dim, noise, self._restarts)


class SklearnModel:
    """The posterior of one fidelity."""

    def __init__(self, dim: int, noise: float | None, restarts: int) -> None:
        self._known_noise = noise
        self._restarts = restarts
        self._u, self._y = np.empty((0, dim)), np.empty(0)
        self._offset, self._unit = 0.0, 1.0
        self._amplitude, self._lengthscale, self._noise = 1.0, np.full(dim, 0.5), _SMALLEST_NOISE
        self._regressor: GaussianProcessRegressor | None = None

    @property
    def n(self) -> int:
        """Number of rows conditioned on."""
        return len(self._y)

    def fit(self, u: Array, y: Array, rng: np.random.Generator) -> None:
        """Learn the hyper-parameters from these rows and condition on them alone."""
        self._offset, self._unit = float(np.mean(y)), float(np.std(y)) or abs(float(np.mean(y))) or 1.0
        kernel = ConstantKernel(1.0, (1e-2, 1e3)) * RBF(np.full(u.shape[1], 0.5), (5e-2, 1e1))
        alpha = _SMALLEST_NOISE
        if self._known_noise is None:
            kernel = kernel + WhiteKernel(1e-4, (_SMALLEST_NOISE, 1e0))
        else:
            alpha = max(self._known_noise / self._unit**2, _SMALLEST_NOISE)
        learner = GaussianProcessRegressor(
            kernel, alpha=alpha, n_restarts_optimizer=self._restarts, random_state=int(rng.integers(2**31))
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # a parameter at its bound is fine
            learner.fit(u, (y - self._offset) / self._unit)
        learnt = learner.kernel_
        self._noise = alpha
        if self._known_noise is None:
            self._noise += learnt.k2.noise_level
            learnt = learnt.k1
        self._amplitude, self._lengthscale = learnt.k1.constant_value, np.atleast_1d(learnt.k2.length_scale)
        self._condition(u.copy(), y.copy())

    def extend(self, u: Array, y: Array) -> None:
        """Condition on more rows; hyper-parameters stay."""
        self._condition(np.concatenate([self._u, u]), np.concatenate([self._y, y]))

    def truncate(self, n: int) -> None:
        """Forget all rows but the first `n`; hyper-parameters stay."""
        self._condition(self._u[:n], self._y[:n])

    def _condition(self, u: Array, y: Array) -> None:
        """Condition on these rows alone; hyper-parameters stay."""
        self._u, self._y = u, y
        self._regressor = None
        if len(y):
            kernel = ConstantKernel(self._amplitude) * RBF(self._lengthscale)
            self._regressor = GaussianProcessRegressor(kernel, alpha=self._noise, optimizer=None)
            self._regressor.fit(u, (y - self._offset) / self._unit)

    def posterior(self, u: Array) -> tuple[Array, Array]:
        """Mean and variance of the function at the rows of u."""
        mean, var, _, _ = self.posterior_gradient(u)
        return mean, var

    def posterior_gradient(self, u: Array) -> tuple[Array, Array, Array, Array]:
        """Mean, variance and their gradients in u."""
        if self._regressor is None:
            prior = np.full(len(u), self._amplitude * self._unit**2)
            return np.full(len(u), self._offset), prior, np.zeros(u.shape), np.zeros(u.shape)
        k = self._regressor.kernel_(u, self._u)
        # With K = L Lᵀ: mean = k α, variance = amplitude − k K⁻¹ kᵀ, and ∂k_i/∂u = −k_i (u − u_i) / lengthscale².
        weights = np.linalg.solve(self._regressor.L_.T, np.linalg.solve(self._regressor.L_, k.T)).T
        slope = -k[:, :, None] * (u[:, None, :] - self._u) / self._lengthscale**2
        mean = k @ self._regressor.alpha_
        var = np.maximum(self._amplitude - np.sum(k * weights, axis=1), 0.0)
        mean_slope = np.einsum("qnd,n->qd", slope, self._regressor.alpha_)
        var_slope = -2.0 * np.einsum("qnd,qn->qd", slope, weights)
        scale = self._unit**2
        return self._offset + self._unit * mean, scale * var, self._unit * mean_slope, scale * var_slope

    def describe(self) -> Mapping[str, Any]:
        """Hyper-parameters in the unit of y."""
        return {
            "kernel": "se",
            "lengthscale": self._lengthscale.tolist(),
            "scale": float(self._amplitude * self._unit**2),
            "noise": float(self._noise * self._unit**2),
            "mean": self._offset,
        }
