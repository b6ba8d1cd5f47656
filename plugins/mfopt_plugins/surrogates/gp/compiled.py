"""What the surrogates over mfopt_core share: a process of a named kernel, and the fused bound of eq. (mfgpucbDefn)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, cast

import numpy as np

import mfopt_core
from mfopt.protocols import Array, BoolArray
from mfopt_plugins.method.softening import Softening
from mfopt_plugins.surrogates.coupled.bound import CompiledCoupledGP, CoupledBound
from mfopt_plugins.surrogates.coupled.model import CoupledModel
from mfopt_plugins.surrogates.gp.evidence import likely_softening
from mfopt_plugins.surrogates.gp.learning import Fixed
from mfopt_plugins.surrogates.gp.memory import Memory, keys_of
from mfopt_plugins.surrogates.gp.model import GPModel, fit_together, options_of
from mfopt_plugins.surrogates.gp.process import GaussianProcess, Hyper


class CompiledModel(GPModel):
    """A model over mfopt_core.GP."""

    _memory: Memory | None = None

    @property
    def core(self) -> mfopt_core.GP:
        """The process."""
        return cast(mfopt_core.GP, self.gp)

    @property
    def memory(self) -> Memory:
        """What is kept about points that come back, for as long as the hyper-parameters stay."""
        if self._memory is None or self._memory.gp is not self.gp:
            self._memory = Memory(self.core)
        return self._memory


class CompiledBound:
    """φ(u) = min_m μ_m + β½σ_m + ζ_m over compiled models."""

    def __init__(self, models: Sequence[CompiledModel], beta: float, zetas: Sequence[float]) -> None:
        self._models = models
        self._gps = [model.core for model in models]
        self._beta = beta
        self._zetas = np.array(zetas)

    def __call__(self, u: Array) -> Array:
        """φ at the rows of u."""
        return mfopt_core.mf_ucb(self._gps, u, self._beta, self._zetas)

    def gradient(self, u: Array) -> tuple[Array, Array]:
        """φ and the gradient of the smallest bound at the rows of u."""
        return mfopt_core.mf_ucb(self._gps, u, self._beta, self._zetas, grad=True)

    def pieces(self, u: Array) -> tuple[Array, Array]:
        """Every φ_m, (M, q), and their gradients, (M, q, dim)."""
        return mfopt_core.ucb_pieces(self._gps, u, self._beta, self._zetas)

    def recurring(self, u: Array) -> Array:
        """φ at points that will come back: what is found out about them is kept."""
        keys = keys_of(u)
        bounds = [
            model.memory.bounds(u, keys, self._beta, zeta)
            for model, zeta in zip(self._models, self._zetas.tolist(), strict=True)
        ]
        return np.asarray(np.min(bounds, axis=0))

    def argmax(self, points: Array, avoid: BoolArray | None) -> int:
        """The row of the largest φ, the first among equals; only rows that could be it are computed."""
        tracked = [model.memory.tracked(points) for model in self._models]
        return mfopt_core.argmax_ucb(tracked, self._beta, self._zetas, avoid)[0]


class CompiledSurrogate:
    """Models over mfopt_core.GP with one kernel."""

    def __init__(self, kernel: str, nu: float | None, given: Fixed) -> None:
        self.kernel = kernel
        self.nu = nu
        self._given = given

    def model(self, dim: int, noise: float | None = None) -> CompiledModel:
        """A fresh model without data; `noise` is the known noise variance, None when it is to be learnt."""
        return CompiledModel(self._make, self.kernel, dim, noise, self._given)

    def coupled(self, dim: int, noises: Sequence[float | None]) -> CompiledCoupledGP:
        """A model of several fidelities without data, one known noise variance (or None) per fidelity."""
        return CompiledCoupledGP(self._make, self.kernel, dim, noises, self._given)

    def softening(self, u: Array, y: Array, rng: np.random.Generator) -> Softening:
        """How these values are to be softened to suit the kernel."""
        return likely_softening(partial(self.model, u.shape[1]), u, y, rng, self._given)

    def fit_together(
        self, models: Sequence[CompiledModel], rows: Sequence[tuple[Array, Array]], rng: np.random.Generator
    ) -> None:
        """Learn one kernel for all these models from their rows, (u, y) each, and condition each on its own alone."""
        fit_together(models, rows, rng)

    def bound(
        self, models: Sequence[CompiledModel] | Sequence[CoupledModel], beta: float, zetas: Sequence[float]
    ) -> CompiledBound | CoupledBound:
        """φ over these models, fused."""
        if isinstance(models[0], CoupledModel):
            return CoupledBound(cast(Sequence[CoupledModel], models), beta, zetas)
        return CompiledBound(cast(Sequence[CompiledModel], models), beta, zetas)

    def options(self) -> dict[str, Any]:
        """The arguments of the constructor, for studies."""
        return options_of(self._given)

    def _make(self, hyper: Hyper) -> GaussianProcess:
        return mfopt_core.GP(self.kernel, hyper.lengthscale, hyper.scale, hyper.noise, mean=hyper.mean, nu=self.nu)
