"""Salsa: additive kernel ridge regression of a power plant's output, tuned with 2,000, 4,000 and 8,000 points.

The paper's experiment: the regularisation penalty η, the scale s of the kernel and a bandwidth h_j for each of the 4
features, all in (1e-3, 1e4), here on log scales. The kernel is additive (SALSA, Kandasamy and Yu, of the first order),

    k(x, x') = s Σ_j exp(−(x_j − x'_j)²/2h_j²),

on standardised features. f is −log of the mean squared error of 5-fold cross-validation in units of the output's
variance: errors have no upper end, are above 100 where the kernel is badly chosen, and all good ones lie between 0.04
and 0.1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mfopt.domains.box import Box
from mfopt.problems.benchmark import Benchmark
from mfopt.problems.data import POWER_PLANT
from mfopt.problems.recorded import Recorded
from mfopt.protocols import Array

SIZES = (2000, 4000, 8000)
BEST = (  # f and x, the best that we have seen
    3.020567669025301,
    *(0.08670307985042232, 0.6453426963879847, 0.16138562743062057, 0.01, 57.6270728563794, 11.928532490934918),
)
_FOLDS = 5
_SEED = 0  # of the choice of points
_RANGE = (1e-3, 1e4)


def salsa(data: str | None = None, record: str | None = None) -> Benchmark:
    """The problem with the data in the directory `data` and the file `record` of evaluations (recorded.py)."""
    table = np.loadtxt(POWER_PLANT.find(data), delimiter=",", skiprows=1)
    chosen = np.random.default_rng(_SEED).permutation(len(table))[: max(SIZES)]
    return make_salsa(table[chosen], SIZES, record)


def make_salsa(table: Array, sizes: Sequence[int], record: str | None = None) -> Benchmark:
    """The problem for these rows, features and then the output, of which each fidelity has the first so many."""
    scaled = (table - table.mean(axis=0)) / table.std(axis=0)
    functions = [Recorded(Ridge(scaled[:size]), f"salsa log {size}", m, record) for m, size in enumerate(sizes)]
    features = table.shape[1] - 1
    names = ["penalty", "scale", *(f"bandwidth_{j}" for j in range(features))]
    return Benchmark(
        name="salsa",
        functions=list(functions),
        domain=Box([_RANGE] * len(names), names=names, log=[True] * len(names)),
        costs=[2.5e-11 * size**3 for size in sizes],  # seconds, to begin with
        optimum=BEST[0],
        argmax=np.array(BEST[1 : len(names) + 1]),
        zetas=[None] * (len(sizes) - 1) + [0.0],
        cost="total-time",
    )


class Ridge:
    """−log of the cross-validated mean squared error of the regression on these rows; the last column is the output."""

    def __init__(self, table: Array) -> None:
        self._x, self._y = np.ascontiguousarray(table[:, :-1]), table[:, -1]

    def __call__(self, x: Array) -> float:
        """At x = (penalty, scale, bandwidths)."""
        from scipy.linalg import cho_factor, cho_solve  # slow to import

        penalty, scale, *bandwidths = x.tolist()
        kernel = np.zeros((len(self._y), len(self._y)))
        for j, bandwidth in enumerate(bandwidths):
            kernel += np.exp(-0.5 / bandwidth**2 * (self._x[:, j, None] - self._x[:, j]) ** 2)
        kernel *= scale
        fold = np.arange(len(self._y)) % _FOLDS
        error = 0.0
        for k in range(_FOLDS):
            held = fold == k
            inner = kernel[np.ix_(~held, ~held)]
            inner[np.diag_indices_from(inner)] += penalty
            weights = cho_solve(cho_factor(inner, lower=True, overwrite_a=True, check_finite=False), self._y[~held])
            error += float(np.square(self._y[held] - kernel[np.ix_(held, ~held)] @ weights).sum())
        return -math.log(error / len(self._y))
