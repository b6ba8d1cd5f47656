"""An autoregressive Gaussian process over fidelities with fixed hyper-parameters (Kennedy and O'Hagan, 2000).

    f_0 = δ_0,   f_k = ρ_k f_{k−1} + δ_k,   δ_j ~ GP(m_j, s_j g_j) independent

so f_k = Σ_{j≤k} R_kj δ_j with R_kj = ρ_{j+1} ··· ρ_k, R_jj = 1, and with A_kj = R_kj √s_j

    E f_k = Σ_j R_kj m_j,   cov(f_k(x), f_l(z)) = Σ_j A_kj A_lj g_j(x, z).

With a_k = ‖A_k‖, the deviation of f_k, and b_k = E f_k the functions (f_k − b_k)/a_k are a mixture as mfopt_core has
it: rows of all fidelities are rows of one process there, and a row is added to its factor at O(n²).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

import mfopt_core
from mfopt.protocols import Array
from mfopt_plugins.surrogates.gp.process import Hyper
from mfopt_plugins.surrogates.groups import LevelledProcess


class Relation:
    """R, A, a and b for one Hyper per level (that of δ_j; its noise is the level's) and the scales ρ_1..ρ_{K−1}."""

    def __init__(self, hypers: Sequence[Hyper], rhos: Sequence[float]) -> None:
        self.rhos = [float(rho) for rho in rhos]
        self.means = np.array([h.mean for h in hypers])
        self.roots = np.sqrt([h.scale for h in hypers])
        self.noises = np.array([h.noise for h in hypers])
        self.products = _multiply(self.rhos)
        self.amounts = self.products * self.roots
        self.factors = np.sqrt(np.square(self.amounts).sum(axis=1))
        self.shifts = self.products @ self.means

    def mixture(self, kernel: str, nu: float | None, hypers: Sequence[Hyper]) -> mfopt_core.Mixture:
        """The functions (f_k − b_k)/a_k."""
        return mfopt_core.Mixture([mfopt_core.Kernel(kernel, h.lengthscale, 1.0, nu) for h in hypers], self.amounts)

    def differentiate(self, by_weight: Array, by_shift: Array) -> tuple[Array, Array, Array]:
        """The derivatives in log s_j, in m_j and in ρ_j, from those in A_kj/a_k (with a_k fixed) and in b_k."""
        by_amount = by_weight / self.factors[:, None]
        by_scale = 0.5 * (self.amounts * by_amount).sum(axis=0)
        changes = [_multiply(self.rhos, i) for i in range(len(self.rhos))]
        by_rho = [float((change * self.roots * by_amount).sum() + by_shift @ change @ self.means) for change in changes]
        return by_scale, self.products.T @ by_shift, np.array(by_rho)


class Autoregression(LevelledProcess[mfopt_core.GP]):
    """The process with one Hyper per level and the scales ρ_1..ρ_{K−1}."""

    def __init__(
        self, kernel: str, nu: float | None, hypers: Sequence[Hyper], rhos: Sequence[float], threads: int = 1
    ) -> None:
        self._threads = threads
        relation = Relation(hypers, rhos)
        self._mixture = relation.mixture(kernel, nu, hypers)
        super().__init__(relation.factors, relation.shifts, relation.noises)
        self._levels: list[mfopt_core.Level] = []

    def _make(self) -> mfopt_core.GP:
        return mfopt_core.GP.mixed(self._mixture, self._threads)

    def encode(self, u: Array, k: int) -> Array:
        """The points (u, k)."""
        return np.column_stack([u, np.full(len(u), float(k))])

    def level(self, k: int) -> mfopt_core.Level:
        """Fidelity k, with what it remembers of points that come back."""
        if not self._levels or self._levels[0].gp is not self.gp:
            units = zip(self.factors, self.shifts, strict=True)
            self._levels = [mfopt_core.Level(self.gp, [j], a, b) for j, (a, b) in enumerate(units)]
        return self._levels[k]

    def pair(self, k: int, other: int) -> mfopt_core.Pair:
        """Two fidelities together."""
        return mfopt_core.Pair(self.level(k), self.level(other))


def _multiply(rhos: Sequence[float], by: int | None = None) -> Array:
    """R, (K, K); with `by` = i its derivative in ρ_{i+1}, the scale between the levels i and i + 1."""
    count = len(rhos) + 1
    factors = [1.0 if i == by else rho for i, rho in enumerate(rhos)]
    mix = [[prod(factors[j:k]) if j <= k else 0.0 for j in range(count)] for k in range(count)]
    if by is not None:
        mix = [[one if j <= by < k else 0.0 for j, one in enumerate(row)] for k, row in enumerate(mix)]
    return np.array(mix)
