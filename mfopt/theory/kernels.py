"""Kernels as plain functions, and thin factors of the matrices that they make.

A kernel here takes rows a (n, d), b (q, d) and gives κ(a_i, b_j), (n, q). It is stationary, as the paper assumes
(asm:kernelAssumption): κ(x, x) = κ_0 for all x. Smooth kernels make matrices of low numerical rank: `factor` finds
K ≈ ΦΦᵀ with as many columns as K needs, which is what makes grids of 10⁴ points cheap to sample.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt

import numpy as np
import numpy.typing as npt

from mfopt.errors import InputError
from mfopt.protocols import Array
from mfopt.theory._checks import as_points, require_positive

Kernel = Callable[[Array, Array], Array]
_MATERN = (0.5, 1.5, 2.5)


def squared_exponential(lengthscale: float = 1.0, scale: float = 1.0) -> Kernel:
    """κ(a, b) = scale · exp(−‖a − b‖²/(2h²)), h the length-scale (the paper's bandwidth)."""
    require_positive(lengthscale=lengthscale, scale=scale)

    def kernel(a: Array, b: Array) -> Array:
        return np.asarray(scale * np.exp(-0.5 * _distances(a, b) ** 2 / lengthscale**2))

    return kernel


def matern(nu: float, lengthscale: float = 1.0, scale: float = 1.0) -> Kernel:
    """The Matérn kernel for ν = 1/2, 3/2 or 5/2, where it has a closed form."""
    require_positive(lengthscale=lengthscale, scale=scale)
    if nu not in _MATERN:
        raise InputError(f"nu must be one of {_MATERN}, got {nu}")

    def kernel(a: Array, b: Array) -> Array:
        z = sqrt(2 * nu) * _distances(a, b) / lengthscale
        polynomial = 1.0 if nu == 0.5 else 1.0 + z if nu == 1.5 else 1.0 + z + z**2 / 3
        return np.asarray(scale * polynomial * np.exp(-z))

    return kernel


@dataclass(frozen=True)
class Factor:
    """K ≈ ΦΦᵀ by Cholesky with diagonal pivoting.

    `phi` (n, r) is lower triangular in the rows `pivots`: the value at the i-th pivot depends on the first i columns
    only. Each pivot is the point of the largest variance given those before it. What is left of any variance is at most
    the tolerance; a sample Φz differs from one of the full process by no more than that.
    """

    phi: Array
    pivots: npt.NDArray[np.int64]

    @property
    def rank(self) -> int:
        return len(self.pivots)

    @property
    def diagonal(self) -> Array:
        """Φ at the pivots: the standard deviation of each pivot given those before it."""
        return np.asarray(self.phi[self.pivots, np.arange(self.rank)])


def factor(kernel: Kernel, points: Array, tolerance: float = 1e-12) -> Factor:
    """K ≈ ΦΦᵀ over the points, in O(n r²); `tolerance` is relative to κ_0."""
    points = as_points(points)
    n = len(points)
    left = np.full(n, variance(kernel, points))
    limit = tolerance * float(left[0])
    columns: list[Array] = []
    pivots: list[int] = []
    while len(pivots) < n:
        i = int(np.argmax(left))
        if left[i] <= limit:
            break
        column = kernel(points, points[i : i + 1])[:, 0]
        for earlier in columns:
            column = column - earlier * earlier[i]
        column = column / sqrt(left[i])
        # Exactly triangular: what rounding leaves in the rows of earlier pivots is not information.
        column[pivots] = 0.0
        columns.append(column)
        pivots.append(i)
        left = np.maximum(left - column**2, 0.0)
        left[pivots] = 0.0
    return Factor(np.array(columns).T.reshape(n, len(pivots)), np.array(pivots, dtype=np.int64))


def variance(kernel: Kernel, points: Array) -> float:
    """κ_0 = κ(x, x), the same at every x."""
    return float(kernel(points[:1], points[:1])[0, 0])


def _distances(a: Array, b: Array) -> Array:
    squares = np.zeros((len(a), len(b)))
    for j in range(a.shape[1]):
        squares += np.subtract.outer(a[:, j], b[:, j]) ** 2
    return np.sqrt(squares)
