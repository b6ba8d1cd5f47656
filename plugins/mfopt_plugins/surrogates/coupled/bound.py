"""The bound φ = min_m φ_m of eq. (mfgpucbDefn) over the fidelities of one coupled process in mfopt_core."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import mfopt_core
from mfopt.protocols import Array, BoolArray
from mfopt_plugins.method.pieces import take_lowest, upper_bound_gradient
from mfopt_plugins.surrogates.coupled.compiled import CompiledCoupledGP
from mfopt_plugins.surrogates.gp.memory import keys_of


class CoupledBound:
    """φ(u) = min_m μ_m + β½σ_m + ζ_m over these levels, that is fidelities, of one coupled process."""

    def __init__(self, joint: CompiledCoupledGP, levels: Sequence[int], beta: float, zetas: Sequence[float]) -> None:
        self._joint = joint
        self._levels = levels
        self._beta = beta
        self._zetas = np.array(zetas)

    def __call__(self, u: Array) -> Array:
        """φ at the rows of u."""
        mean, var = self._joint.condition().posterior(self._stack(u))
        return np.asarray(np.min(self._split(mean + np.sqrt(self._beta * var)), axis=0))

    def gradient(self, u: Array) -> tuple[Array, Array]:
        """φ and the gradient of the smallest φ_m at the rows of u."""
        return take_lowest(*self.pieces(u))

    def pieces(self, u: Array) -> tuple[Array, Array]:
        """Every φ_m, (M, q), and their gradients, (M, q, dim)."""
        posterior = self._joint.condition().posterior_gradient(self._stack(u))
        values, slopes = upper_bound_gradient(*posterior, self._beta)
        return self._split(values), slopes[:, : u.shape[1]].reshape(len(self._levels), *u.shape)

    def recurring(self, u: Array) -> Array:
        """φ at points that will come back: what is found out about them is kept."""
        keys = keys_of(u)
        bounds = [
            self._joint.recall(k).bounds(self._joint.encode(u, k), keys, self._beta, zeta)
            for k, zeta in zip(self._levels, self._zetas.tolist(), strict=True)
        ]
        return np.asarray(np.min(bounds, axis=0))

    @property
    def rows(self) -> int:
        """Rows of the process, of all fidelities: what an evaluation costs."""
        return sum(model.n for model in self._joint.models)

    def argmax(self, points: Array, avoid: BoolArray | None) -> int:
        """The row of the largest φ, the first among equals; only rows that could be it are computed."""
        tracked = [self._joint.recall(k).track(self._joint.encode_set(points, k)) for k in self._levels]
        return mfopt_core.argmax_ucb(tracked, self._beta, self._zetas, avoid)[0]

    def _stack(self, u: Array) -> Array:
        """The points at all levels, below each other."""
        return np.vstack([self._joint.encode(u, k) for k in self._levels])

    def _split(self, bounds: Array) -> Array:
        """φ_m by level, (M, q), from μ_m + β½σ_m at the stacked points."""
        return np.asarray(bounds.reshape(len(self._levels), -1) + self._zetas[:, None])
