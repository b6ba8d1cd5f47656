"""A Gaussian process with the SE kernel in plain NumPy and SciPy: the yardstick for mfopt_core.GP.

Notation: K = κ(X, X) + D = L Lᵀ, D the noises on the diagonal, z = L⁻¹(y − m), α = K⁻¹(y − m), v(u) = L⁻¹κ(X, u). Then
(eq. (gpPostEqns))

    μ(u) = m + v(u)ᵀz,   σ²(u) = κ(u, u) − v(u)ᵀv(u).

Everything is factorised anew when the rows change: simple, O(n³).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, overload

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky, solve_triangular

from mfopt.protocols import Array
from mfopt_plugins.surrogates.gp.process import Hyper

_LOG_2PI = float(np.log(2 * np.pi))


class PythonGP:
    """f ~ GP(mean, κ) with κ(a, b) = scale · exp(−½ Σ_j (a_j − b_j)²/ℓ_j²)."""

    def __init__(self, hyper: Hyper) -> None:
        self._hyper = hyper
        self._x = np.empty((0, hyper.lengthscale.size))
        self._y = np.empty(0)
        self._noise = np.empty(0)
        self._factorise()

    @property
    def n(self) -> int:
        """Number of rows conditioned on."""
        return len(self._y)

    @property
    def jitter(self) -> float:
        """What had to be added to the diagonal for the factorisation to succeed; 0.0 normally."""
        return self._jitter

    @property
    def weights(self) -> Array:
        """K⁻¹(y − m)."""
        return self._alpha.copy()

    def extend(self, X: Array, y: Array, noise: Array | None = None, sizes: Sequence[int] | None = None) -> None:
        """Condition on more rows; `noise` has a variance for each where that is not the process's η².

        All is factorised anew, so it does not matter in which groups they came (`sizes`).
        """
        own = np.full(len(y), self._hyper.noise) if noise is None else noise
        self._noise = np.concatenate([self._noise, own])
        self._x = np.vstack([self._x, X])
        self._y = np.concatenate([self._y, y])
        self._factorise()

    def truncate(self, n: int) -> None:
        """Forget all rows but the first n."""
        self._x, self._y, self._noise = self._x[:n].copy(), self._y[:n].copy(), self._noise[:n].copy()
        self._factorise()

    def posterior(self, X: Array) -> tuple[Array, Array]:
        """Mean and variance at the rows of X."""
        v = solve_triangular(self._chol, self._kernel(self._x, X), lower=True, check_finite=False)
        mean = self._hyper.mean + v.T @ self._z
        var = np.maximum(self._hyper.scale - np.einsum("ij,ij->j", v, v), 0.0)
        return mean, var

    def posterior_gradient(self, X: Array) -> tuple[Array, Array, Array, Array]:
        """Mean, variance and their gradients: ∂κ(x_i, u)/∂u_j = κ (x_ij − u_j)/ℓ_j²."""
        mean, var = self.posterior(X)
        k = self._kernel(self._x, X)
        slope = (self._x[:, None, :] - X[None, :, :]) / self._hyper.lengthscale**2 * k[:, :, None]
        weights = cho_solve((self._chol, True), k, check_finite=False)
        dmean = np.einsum("iqj,i->qj", slope, self._alpha)
        dvar = -2 * np.einsum("iqj,iq->qj", slope, weights)
        return mean, var, dmean, dvar

    @overload
    def log_marginal_likelihood(self, grad: Literal[False] = False) -> float: ...
    @overload
    def log_marginal_likelihood(self, grad: Literal[True], rows: Literal[False] = False) -> tuple[float, Array]: ...
    @overload
    def log_marginal_likelihood(self, grad: Literal[True], rows: Literal[True]) -> tuple[float, Array, Array]: ...
    def log_marginal_likelihood(
        self, grad: bool = False, rows: bool = False
    ) -> float | tuple[float, Array] | tuple[float, Array, Array]:
        """log p(y), its derivatives in (log ℓ_1..d, log scale, log noise, mean), and those in the rows' log noises."""
        n = self.n
        value = float(-0.5 * self._z @ self._z - np.log(np.diag(self._chol)).sum() - 0.5 * n * _LOG_2PI)
        if not grad:
            return value
        # ∂ log p/∂θ = ½ Σ_ij W_ij ∂K_ij/∂θ with W = ααᵀ − K⁻¹.
        weight = np.outer(self._alpha, self._alpha) - cho_solve((self._chol, True), np.eye(n), check_finite=False)
        weighted = weight * self._kernel(self._x, self._x)
        slopes = [0.5 * float(np.sum(weighted * self._squares(j))) for j in range(self._hyper.lengthscale.size)]
        slopes.append(0.5 * float(weighted.sum()))
        by_row = 0.5 * self._noise * np.diag(weight)
        slopes.append(float(by_row.sum()))
        slopes.append(float(self._alpha.sum()))
        return (value, np.array(slopes), by_row) if rows else (value, np.array(slopes))

    def _squares(self, j: int) -> Array:
        column = self._x[:, j] / self._hyper.lengthscale[j]
        return np.asarray((column[:, None] - column[None, :]) ** 2)

    def _kernel(self, a: Array, b: Array) -> Array:
        squares = np.zeros((len(a), len(b)))
        for j, ell in enumerate(self._hyper.lengthscale):
            squares += ((a[:, j, None] - b[None, :, j]) / ell) ** 2
        return np.asarray(self._hyper.scale * np.exp(-0.5 * squares))

    def _factorise(self) -> None:
        k = self._kernel(self._x, self._x)
        self._jitter = 0.0
        while True:
            try:
                noisy = k + np.diag(self._noise + self._jitter)
                self._chol = cholesky(noisy, lower=True, check_finite=False) if self.n else np.empty((0, 0))
                break
            except LinAlgError:
                self._jitter = max(1e-15 * self._hyper.scale, 10 * self._jitter)
        residual = self._y - self._hyper.mean
        self._z = solve_triangular(self._chol, residual, lower=True, check_finite=False)
        self._alpha = cho_solve((self._chol, True), residual, check_finite=False)
