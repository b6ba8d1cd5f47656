"""MF-GP-UCB in one dimension, step by step, as a picture can show it.

Algorithm (mfgpucb) on a grid, with the kernel, ζ and γ given, so that every step follows from the formulas alone: five
random queries at the first fidelity, then

    φ_m = μ_m + β_t^½ σ_m + ζ_m,  φ = min_m φ_m,  x_t = argmax φ,  m_t = 1 if β_t^½ σ_1(x_t) ≥ γ_1, else 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mfopt import problems
from mfopt.protocols import Array
from mfopt.theory import squared_exponential

PANELS = (6, 8, 10, 11, 14, 50)  # the steps t that the paper shows
_INITIAL = 5
_NOISE = 1e-6
_GAMMA = 0.1
_BETA = 1.5  # β_t = this · log 2t
_KERNEL = squared_exponential(lengthscale=0.1, scale=0.25)
_MEAN = 0.3


@dataclass(frozen=True)
class Step:
    """What is known before query t, and the query."""

    t: int
    grid: Array  # (q,)
    functions: Array  # (2, q)
    bounds: Array  # (2, q), φ_1 and φ_2
    width: Array  # (q,), β_t^½ σ_1
    queries: tuple[Array, Array]  # the points queried so far, by fidelity
    x: float
    fidelity: int
    zeta: float
    gamma: float
    optimum: float
    argmax: float

    @property
    def phi(self) -> Array:
        """φ = min_m φ_m."""
        return np.asarray(self.bounds.min(axis=0))

    @property
    def width_at_x(self) -> float:
        """β_t^½ σ_1(x_t), which decides the fidelity."""
        return float(self.width[np.argmin(np.abs(self.grid - self.x))])

    @property
    def good(self) -> Array:
        """The good set {x: f⁽²⁾(x*) − f⁽¹⁾(x) ≤ ζ_1}, as a mask of the grid."""
        return np.asarray(self.optimum - self.functions[0] <= self.zeta)


def steps(last: int = PANELS[-1], seed: int = 1) -> list[Step]:
    """The steps after the initial queries, up to t = last."""
    problem = problems.get("illustration")
    grid = np.linspace(0, 1, 501)
    values = np.array([function(grid[:, None]) for function in problem.functions])
    zetas = np.array(problem.zetas)
    first = np.random.default_rng(seed).choice(len(grid), _INITIAL, replace=False)
    queried: tuple[list[int], list[int]] = (first.tolist(), [])
    out = []
    for t in range(_INITIAL + 1, last + 1):
        half = np.sqrt(_BETA * np.log(2 * t))
        posterior = [_posterior(grid, np.array(rows, dtype=int), values[m]) for m, rows in enumerate(queried)]
        bounds = np.array([mean + half * sigma + zetas[m] for m, (mean, sigma) in enumerate(posterior)])
        width = half * posterior[0][1]
        best = int(np.argmax(bounds.min(axis=0)))
        m = 0 if width[best] >= _GAMMA else 1
        seen = (grid[queried[0]], grid[queried[1]])
        out.append(
            Step(
                t, grid, values, bounds, width, seen, float(grid[best]), m, problem.zetas[0], _GAMMA, problem.optimum,
                float(problem.argmax[0]),
            )
        )  # fmt: skip
        queried[m].append(best)
    return out


def _posterior(grid: Array, rows: Array, values: Array) -> tuple[Array, Array]:
    """Mean and standard deviation on the grid given the values at these rows of it."""
    x = grid[:, None]
    prior = _KERNEL(x[:1], x[:1])[0, 0]
    if len(rows) == 0:
        return np.full(len(grid), _MEAN), np.full(len(grid), np.sqrt(prior))
    cross = _KERNEL(x, x[rows])
    covariance = cross[rows] + _NOISE * np.eye(len(rows))
    mean = _MEAN + cross @ np.linalg.solve(covariance, values[rows] - _MEAN)
    variance = prior - np.einsum("ij,ji->i", cross, np.linalg.solve(covariance, cross.T))
    return np.asarray(mean), np.sqrt(np.maximum(variance, 0.0))
