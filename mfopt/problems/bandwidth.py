"""The bandwidth of a kernel density estimate, the paper's introductory example.

f⁽²⁾(h) is the 5-fold cross-validated log-likelihood per point of a Gaussian kernel density estimate with bandwidth h on
3,000 points, f⁽¹⁾(h) the same on the first 300 of them. The paper does not say where its points come from; these come
from a mixture of three normal distributions.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from mfopt.domains.box import Box
from mfopt.problems.benchmark import Benchmark, Function, by_rows
from mfopt.protocols import Array

SIZES = (300, 3000)
_FOLDS = 5
_WEIGHTS = (0.5, 0.3, 0.2)
_MEANS = np.array([0.0, 3.0, -2.5])
_DEVIATIONS = np.array([1.0, 0.35, 0.25])


def kde() -> Benchmark:
    """The problem. A target query costs 100 times as much as a cheap one: it sums over 100 times as many pairs."""
    return Benchmark(
        name="kde",
        functions=[_likelihood(size) for size in SIZES],
        domain=Box([(0.05, 1.0)], names=["h"], log=[True]),
        costs=[1.0, 100.0],
        optimum=-1.7800776163396095,
        argmax=np.array([0.10164234801965069]),
        zetas=[0.12854455411174714, 0.0],  # at h = 0.05
    )


@lru_cache(maxsize=1)
def points() -> Array:
    """The 3,000 points. Drawn from the raw bits of a generator, whose stream NumPy never changes."""
    from scipy.special import ndtri  # slow to import

    bits = np.random.PCG64(2).random_raw(2 * 3000).reshape(2, -1)
    uniform = (np.right_shift(bits, 11) + 0.5) * 2.0**-53
    part = np.searchsorted(np.cumsum(_WEIGHTS[:-1]), uniform[0])
    return np.asarray(_MEANS[part] + _DEVIATIONS[part] * ndtri(uniform[1]))


def _likelihood(size: int) -> Function:
    @by_rows
    def likelihood(h: Array) -> Array:
        x = points()[:size]
        total = np.zeros(len(h))
        for fold in range(_FOLDS):
            held = np.arange(size) % _FOLDS == fold
            squares = (x[held, None] - x[~held]) ** 2
            for i, bandwidth in enumerate(h[:, 0]):
                density = np.exp(squares * (-0.5 / bandwidth**2)).mean(axis=1) / (bandwidth * np.sqrt(2 * np.pi))
                total[i] += np.log(density).sum()
        return total / size

    return likelihood
