"""What the surrogates over mfopt_core share: processes of a named kernel, and the fused bound of eq. (mfgpucbDefn)."""

from __future__ import annotations

from collections.abc import Sequence

import mfopt_core
from mfopt.hooks import FullAcquisition
from mfopt.protocols import Model
from mfopt_plugins.surrogates.base import KernelSurrogate, require_all
from mfopt_plugins.surrogates.coupled.bound import CoupledBound
from mfopt_plugins.surrogates.coupled.compiled import CompiledCoupledGP
from mfopt_plugins.surrogates.coupled.model import CoupledModel
from mfopt_plugins.surrogates.given import Given
from mfopt_plugins.surrogates.gp.bound import CompiledBound
from mfopt_plugins.surrogates.gp.compiled import CompiledModel
from mfopt_plugins.surrogates.gp.process import Hyper


class CompiledSurrogate(KernelSurrogate[mfopt_core.GP]):
    """Models over mfopt_core.GP; `nu` is the smoothness of the general Matérn kernel, None for the others."""

    def __init__(self, kernel: str, nu: float | None, given: Given) -> None:
        super().__init__(kernel, given)
        self.nu = nu

    def make(self, hyper: Hyper) -> mfopt_core.GP:
        """A process without data."""
        return mfopt_core.GP(self.kernel, hyper.lengthscale, hyper.scale, hyper.noise, mean=hyper.mean, nu=self.nu)

    def model(self, dim: int, noise: float | None = None) -> CompiledModel:
        """A fresh model without data; `noise` is the known noise variance, None when it is to be learnt."""
        return CompiledModel(self.make, self.kernel, dim, noise, self._given)

    def coupled(self, dim: int, noises: Sequence[float | None]) -> CompiledCoupledGP:
        """A model of several fidelities without data, one known noise variance (or None) per fidelity."""
        return CompiledCoupledGP(self.make, self.kernel, dim, noises, self._given)

    def bound(self, models: Sequence[Model], beta: float, zetas: Sequence[float]) -> FullAcquisition:
        """φ over these models, fused: all of one coupled process, or each with a process of its own."""
        first = models[0]
        if isinstance(first, CoupledModel) and isinstance(first.joint, CompiledCoupledGP):
            return CoupledBound(first.joint, [model.k for model in require_all(CoupledModel, models)], beta, zetas)
        return CompiledBound(require_all(CompiledModel, models), beta, zetas)
