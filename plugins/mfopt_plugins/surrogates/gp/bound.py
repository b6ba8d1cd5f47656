"""The bound φ = min_m φ_m of eq. (mfgpucbDefn) over one process of mfopt_core per fidelity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import mfopt_core
from mfopt.protocols import Array, BoolArray
from mfopt_plugins.method.pieces import take_lowest
from mfopt_plugins.surrogates.gp.compiled import CompiledModel
from mfopt_plugins.surrogates.gp.memory import keys_of


class CompiledBound:
    """φ(u) = min_m μ_m + β½σ_m + ζ_m over compiled models."""

    def __init__(self, models: Sequence[CompiledModel], beta: float, zetas: Sequence[float]) -> None:
        self._models = models
        self._gps = [model.gp for model in models]
        self._beta = beta
        self._zetas = np.array(zetas)

    def __call__(self, u: Array) -> Array:
        """φ at the rows of u."""
        return mfopt_core.mf_ucb(self._gps, u, self._beta, self._zetas)

    def gradient(self, u: Array) -> tuple[Array, Array]:
        """φ and the gradient of the smallest φ_m at the rows of u."""
        return take_lowest(*self.pieces(u))

    def pieces(self, u: Array) -> tuple[Array, Array]:
        """Every φ_m, (M, q), and their gradients, (M, q, dim)."""
        return mfopt_core.ucb_pieces(self._gps, u, self._beta, self._zetas)

    def recurring(self, u: Array) -> Array:
        """φ at points that will come back: what is found out about them is kept."""
        keys = keys_of(u)
        bounds = [
            model.recall().bounds(u, keys, self._beta, zeta)
            for model, zeta in zip(self._models, self._zetas.tolist(), strict=True)
        ]
        return np.asarray(np.min(bounds, axis=0))

    @property
    def rows(self) -> int:
        """Rows of the largest model: what an evaluation costs."""
        return max(model.n for model in self._models)

    def argmax(self, points: Array, avoid: BoolArray | None) -> int:
        """The row of the largest φ, the first among equals; only rows that could be it are computed."""
        tracked = [model.recall().track(points) for model in self._models]
        return mfopt_core.argmax_ucb(tracked, self._beta, self._zetas, avoid)[0]
