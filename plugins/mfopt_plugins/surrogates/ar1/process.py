"""An autoregressive Gaussian process over fidelities with fixed hyper-parameters (Kennedy and O'Hagan, 2000).

    f_0 = δ_0,   f_k = ρ_k f_{k−1} + δ_k,   δ_j ~ GP(m_j, c_j) independent

so f_k = Σ_{j≤k} R_kj δ_j with R_kj = ρ_{j+1} ··· ρ_k, R_jj = 1, and

    E f_k = Σ_j R_kj m_j,   cov(f_k(x), f_l(z)) = Σ_j R_kj R_lj c_j(x, z).

One factorisation of the covariance of all rows, of whatever levels and at whatever points, serves every level. With
K = L Lᵀ, α = K⁻¹(y − E y), V_k(u) = L⁻¹ cov(rows, f_k(u)): the posterior of f_k has mean E f_k + cov(f_k(u), rows) α,
and f_k, f_l have the posterior covariance cov(f_k(u), f_l(u)) − V_k(u)ᵀV_l(u).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, overload

import numpy as np
from scipy.linalg import LinAlgError, cho_solve, cholesky, solve_triangular

import mfopt_core
from mfopt.protocols import Array
from mfopt_plugins.surrogates.gp.process import Hyper
from mfopt_plugins.surrogates.rows import Levels

_LOG_2PI = float(np.log(2 * np.pi))


class Autoregression:
    """The process with one Hyper per level (that of δ_j; its noise is the level's) and the scales ρ_1..ρ_{K−1}."""

    def __init__(self, kernel: str, nu: float | None, hypers: Sequence[Hyper], rhos: Sequence[float]) -> None:
        self._rhos = [float(rho) for rho in rhos]
        self._mix = _products(self._rhos)
        self._kernels = [mfopt_core.Kernel(kernel, h.lengthscale, h.scale, nu) for h in hypers]
        self._means = np.array([h.mean for h in hypers])
        self._scales = np.array([h.scale for h in hypers])
        self._noises = np.array([h.noise for h in hypers])
        self.jitter = 0.0
        self.condition(np.empty((0, len(hypers[0].lengthscale))), np.empty(0, dtype=np.int64), np.empty(0))

    def condition(self, u: Array, level: Levels, y: Array) -> None:
        """Condition on these rows alone: points (n, d), their levels (n,) and values (n,). O(n³)."""
        self._u = np.ascontiguousarray(u)
        self._weights = self._mix[level]  # (n, K): R of each row's level
        self._level = level
        # δ_j touches the rows of level j and above only, few where these are expensive: (indices, points) of them.
        above = [np.flatnonzero(level >= j) for j in range(len(self._kernels))]
        self._touched = [(rows, np.ascontiguousarray(self._u[rows])) for rows in above]
        k = np.zeros((len(y), len(y)))
        for j, (rows, points) in enumerate(self._touched):
            k[np.ix_(rows, rows)] += self._share(j) * self._kernels[j](points, points)
        scale = float(k.diagonal().max(initial=0.0)) or 1.0
        self.jitter = 0.0
        while True:
            try:
                noisy = k + np.diag(self._noises[level] + self.jitter)
                self._chol = cholesky(noisy, lower=True, check_finite=False) if len(y) else np.empty((0, 0))
                break
            except LinAlgError:
                self.jitter = max(1e-15 * scale, 10 * self.jitter)
        residual = y - self._weights @ self._means
        self._z = solve_triangular(self._chol, residual, lower=True, check_finite=False)
        self._alpha = cho_solve((self._chol, True), residual, check_finite=False)

    def mean(self, u: Array, k: int) -> Array:
        """The posterior mean of f_k."""
        return np.asarray(self._prior_mean(k) + self._cross(u, k).T @ self._alpha)

    def mean_gradient(self, u: Array, k: int) -> tuple[Array, Array]:
        """The posterior mean of f_k and its gradient."""
        return self.mean(u, k), np.einsum("qnd,n->qd", self._cross_gradient(u, k), self._alpha)

    def covariance(self, u: Array, k: int, other: int) -> Array:
        """The posterior covariance of f_k and f_other at each row of u."""
        v = self._solve(self._cross(u, k))
        w = v if other == k else self._solve(self._cross(u, other))
        covariance = np.asarray(self._prior(k, other) - np.einsum("nq,nq->q", v, w))
        return np.maximum(covariance, 0.0) if other == k else covariance

    def covariance_gradient(self, u: Array, k: int, other: int) -> tuple[Array, Array]:
        """The same with its gradient; the prior part is constant."""
        slope = -np.einsum("qnd,nq->qd", self._cross_gradient(u, k), self._apply_inverse(self._cross(u, other)))
        if other == k:
            return self.covariance(u, k, k), 2 * slope
        slope -= np.einsum("qnd,nq->qd", self._cross_gradient(u, other), self._apply_inverse(self._cross(u, k)))
        return self.covariance(u, k, other), slope

    @overload
    def log_marginal_likelihood(self, grad: Literal[False] = False) -> float: ...
    @overload
    def log_marginal_likelihood(self, grad: Literal[True]) -> tuple[float, Array]: ...
    def log_marginal_likelihood(self, grad: bool = False) -> float | tuple[float, Array]:
        """log p(y), and its derivatives in (log ℓ_1..d, log scale, log noise, mean) of each level, then in every ρ."""
        n = len(self._z)
        value = float(-0.5 * self._z @ self._z - np.log(np.diag(self._chol)).sum() - 0.5 * n * _LOG_2PI)
        if not grad:
            return value
        # ∂ log p/∂θ = ½ Σ W ∘ ∂K/∂θ + αᵀ ∂(E y)/∂θ with W = ααᵀ − K⁻¹.
        weight = np.outer(self._alpha, self._alpha) - cho_solve((self._chol, True), np.eye(n), check_finite=False)
        slopes: list[float] = []
        mixes = [_products(self._rhos, i) for i in range(len(self._rhos))]
        by_rho = [float(self._alpha @ (mix[self._level] @ self._means)) for mix in mixes]
        for j, (rows, points) in enumerate(self._touched):
            block = weight[np.ix_(rows, rows)]
            by_hyper = self._kernels[j].hyper_gradient(points, points)
            slopes += (0.5 * np.einsum("ab,abh->h", block * self._share(j), by_hyper)).tolist()
            own = self._level == j
            slopes.append(0.5 * float(self._noises[j] * weight.diagonal()[own].sum()))
            slopes.append(float(self._alpha @ self._weights[:, j]))
            # ∂(r rᵀ)/∂ρ = r′ rᵀ + r r′ᵀ, and W ∘ c_j is symmetric; c_j itself is its derivative in log scale.
            product = (block * by_hyper[:, :, -1]) @ self._weights[rows, j]
            levels = self._level[rows]
            by_rho = [slope + float(mix[levels, j] @ product) for slope, mix in zip(by_rho, mixes, strict=True)]
        return value, np.array([*slopes, *by_rho])

    def _share(self, j: int) -> Array:
        """R_kj R_lj for all pairs of rows that δ_j touches."""
        weights = self._weights[self._touched[j][0], j]
        return np.outer(weights, weights)

    def _prior(self, k: int, other: int) -> float:
        return float(np.sum(self._mix[k] * self._mix[other] * self._scales))

    def _prior_mean(self, k: int) -> float:
        return float(self._mix[k] @ self._means)

    def _cross(self, u: Array, k: int) -> Array:
        """cov(rows, f_k(u)), (n, q)."""
        cross = np.zeros((len(self._u), len(u)))
        for j, (rows, points) in enumerate(self._touched[: k + 1]):
            cross[rows] += (self._mix[k, j] * self._weights[rows, j, None]) * self._kernels[j](points, u)
        return cross

    def _cross_gradient(self, u: Array, k: int) -> Array:
        """∂cov(rows, f_k(u))/∂u, (q, n, d)."""
        slope = np.zeros((len(u), len(self._u), u.shape[1]))
        for j, (rows, points) in enumerate(self._touched[: k + 1]):
            slope[:, rows] += (self._mix[k, j] * self._weights[rows, j, None]) * self._kernels[j].gradient(u, points)
        return slope

    def _solve(self, cross: Array) -> Array:
        return np.asarray(solve_triangular(self._chol, cross, lower=True, check_finite=False))

    def _apply_inverse(self, cross: Array) -> Array:
        return np.asarray(cho_solve((self._chol, True), cross, check_finite=False))


def _products(rhos: Sequence[float], by: int | None = None) -> Array:
    """R, (K, K); with `by` = i its derivative in ρ_{i+1}, the scale between the levels i and i + 1."""
    count = len(rhos) + 1
    mix = np.zeros((count, count))
    for k in range(count):
        for j in range(k + 1):
            factors = [rho for i, rho in enumerate(rhos) if j <= i < k and i != by]
            if by is None or j <= by < k:
                mix[k, j] = np.prod(factors)
    return mix
