"""The bound φ = min_m φ_m of eq. (mfgpucbDefn) over the fidelities of one coupled process in mfopt_core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np

import mfopt_core
from mfopt.protocols import Array, BoolArray
from mfopt_plugins.surrogates.coupled.model import CoupledGP, CoupledModel
from mfopt_plugins.surrogates.gp.memory import Memory, keys_of


class CompiledCoupledGP(CoupledGP):
    """A coupled process over mfopt_core.GP."""

    _memories: list[Memory] | None = None
    _finite: tuple[Array, list[Array]] | None = None

    @property
    def core(self) -> mfopt_core.GP:
        """The process, conditioned on the present rows."""
        return cast(mfopt_core.GP, self.process)

    def memory(self, k: int) -> Memory:
        """What is kept about points of fidelity k that come back, for as long as the hyper-parameters stay."""
        core = self.core
        if self._memories is None or self._memories[0].gp is not core:
            self._memories = [Memory(core) for _ in self.models]
        return self._memories[k]

    def coded_set(self, points: Array, k: int) -> Array:
        """The points of a finite set (the same array at every call) at fidelity k, the same array at every call."""
        if self._finite is None or self._finite[0] is not points:
            self._finite = (points, [self.coded(points, j) for j in range(len(self.models))])
        return self._finite[1][k]


class CoupledBound:
    """φ(u) = min_m μ_m + β½σ_m + ζ_m over models of one coupled process."""

    def __init__(self, models: Sequence[CoupledModel], beta: float, zetas: Sequence[float]) -> None:
        self._joint = cast(CompiledCoupledGP, models[0].joint)
        self._levels = [model.k for model in models]
        self._beta = beta
        self._zetas = np.array(zetas)

    def __call__(self, u: Array) -> Array:
        """φ at the rows of u."""
        mean, var = self._joint.core.posterior(self._stacked(u))
        return np.asarray(np.min(self._by_level(mean + np.sqrt(self._beta * var)), axis=0))

    def pieces(self, u: Array) -> tuple[Array, Array]:
        """Every φ_m, (M, q), and their gradients, (M, q, dim)."""
        mean, var, dmean, dvar = self._joint.core.posterior_gradient(self._stacked(u))
        root, sigma = np.sqrt(self._beta), np.sqrt(var)
        # σ has no gradient where it is 0 (at a noiseless row): the mean's alone is used there.
        half = 0.5 * root / np.where(sigma > 0, sigma, np.inf)
        slopes = (dmean + half[:, None] * dvar)[:, : u.shape[1]]
        return self._by_level(mean + root * sigma), slopes.reshape(len(self._levels), *u.shape)

    def recurring(self, u: Array) -> Array:
        """φ at points that will come back: what is found out about them is kept."""
        keys = keys_of(u)
        bounds = [
            self._joint.memory(k).bounds(self._joint.coded(u, k), keys, self._beta, zeta)
            for k, zeta in zip(self._levels, self._zetas.tolist(), strict=True)
        ]
        return np.asarray(np.min(bounds, axis=0))

    def argmax(self, points: Array, avoid: BoolArray | None) -> int:
        """The row of the largest φ, the first among equals; only rows that could be it are computed."""
        tracked = [self._joint.memory(k).tracked(self._joint.coded_set(points, k)) for k in self._levels]
        return mfopt_core.argmax_ucb(tracked, self._beta, self._zetas, avoid)[0]

    @property
    def rows(self) -> int:
        """Rows of the process: what an evaluation costs."""
        return self._joint.core.n

    def _stacked(self, u: Array) -> Array:
        """The points at all fidelities, below each other."""
        return np.vstack([self._joint.coded(u, k) for k in self._levels])

    def _by_level(self, bounds: Array) -> Array:
        return np.asarray(bounds.reshape(len(self._levels), -1) + self._zetas[:, None])
