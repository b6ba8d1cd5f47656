"""MF-GP-UCB in one dimension, step by step, as a picture can show it; gp-ucb, and what is difficult about fidelities.

Algorithm (mfgpucb) on a grid, with the kernel, ζ and γ given, so that every step follows from the formulas alone: five
random queries at the first fidelity, then

    φ_m = μ_m + β_t^½ σ_m + ζ_m,  φ = min_m φ_m,  x_t = argmax φ,  m_t = 1 if β_t^½ σ_1(x_t) ≥ γ_1, else 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mfopt import problems
from mfopt.protocols import Array, BoolArray
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
    zetas = np.array(problem.zetas, dtype=np.float64)
    first = np.random.default_rng(seed).choice(len(grid), _INITIAL, replace=False)
    return _walk(problem, values, zetas, (first.tolist(), []), range(_INITIAL + 1, last + 1))


def single_steps(last: int = 8, seed: int = 3) -> list[Step]:
    """Steps of GP-UCB on f⁽²⁾ alone after three random queries: the first fidelity says nothing."""
    problem = problems.get("illustration")
    grid = np.linspace(0, 1, 501)
    values = np.array([function(grid[:, None]) for function in problem.functions])
    first = np.random.default_rng(seed).choice(len(grid), 3, replace=False)
    return _walk(problem, values, np.array([np.inf, 0.0]), ([], first.tolist()), range(4, last + 1))


def _walk(
    problem: problems.Benchmark, values: Array, zetas: Array, queried: tuple[list[int], list[int]], times: range
) -> list[Step]:
    """The algorithm from these queries on."""
    grid = np.linspace(0, 1, 501)
    out = []
    for t in times:
        half = np.sqrt(_BETA * np.log(2 * t))
        posterior = [_posterior(grid, np.array(rows, dtype=int), values[m]) for m, rows in enumerate(queried)]
        bounds = np.array([mean + half * sigma + zetas[m] for m, (mean, sigma) in enumerate(posterior)])
        width = half * posterior[0][1]
        best = int(np.argmax(bounds.min(axis=0)))
        m = 0 if width[best] >= _GAMMA and np.isfinite(zetas[0]) else 1
        seen = (grid[queried[0]], grid[queried[1]])
        out.append(
            Step(
                t, grid, values, bounds, width, seen, float(grid[best]), m, float(zetas[0]), _GAMMA, problem.optimum,
                float(problem.argmax[0]),
            )
        )  # fmt: skip
        queried[m].append(best)
    return out


@dataclass(frozen=True)
class Challenge:
    """Two functions, and a set in which f⁽²⁾ is searched, as a mask of the grid."""

    title: str
    functions: Array  # (2, q)
    inside: BoolArray


def challenge() -> tuple[Array, list[Challenge]]:
    """What the section "Challenges" is about: where f⁽²⁾ is to be searched if f⁽¹⁾ and its maximum are known."""
    x = np.linspace(0, 1, 501)
    one = np.array([np.exp(-(((x - centre) / 0.25) ** 2)) for centre in (0.38, 0.55)])
    two = np.array(
        [0.85 * np.exp(-(((x - 0.25) / 0.1) ** 2)) + a * np.exp(-(((x - 0.75) / 0.1) ** 2)) for a in (0.75, 1.0)]
    )
    around = np.abs(x - x[int(np.argmax(one[0]))])
    # {f⁽²⁾(x*) − f⁽¹⁾ ≤ ζ}; a ζ of a fifth more than the largest difference leaves some room around x*.
    zetas = [1.2 * np.abs(np.diff(functions, axis=0)).max() for functions in (one, two)]
    good = [functions[1].max() - functions[0] <= zeta for functions, zeta in zip((one, two), zetas, strict=True)]
    return x, [
        Challenge("too small", one, around < 0.1),
        Challenge("too large", one, around < 0.36),
        Challenge("the good set", one, good[0]),
        Challenge("no neighbourhood", two, good[1]),
    ]


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
