"""What mfopt_core does for the surrogates: processes of a named kernel, and the fused bound of eq. (mfgpucbDefn).

A level of the core (mfopt_core.Level) remembers what was found out about points that come back from ask to ask. It
belongs to one process; other hyper-parameters mean another process, and so new levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy

import numpy as np

import mfopt_core
from mfopt.hooks import FullAcquisition, Rows
from mfopt.protocols import Array, Model
from mfopt_plugins.surrogates.base import KernelSurrogate, require_all
from mfopt_plugins.surrogates.coupled.learning import CoupledHyper, Evaluate
from mfopt_plugins.surrogates.coupled.model import CoupledGP, CoupledModel
from mfopt_plugins.surrogates.given import Given
from mfopt_plugins.surrogates.gp.model import GPModel
from mfopt_plugins.surrogates.gp.process import Hyper
from mfopt_plugins.surrogates.rows import stack


class CompiledSurrogate(KernelSurrogate[mfopt_core.GP]):
    """Models over mfopt_core.GP; `nu` is the smoothness of the general Matérn kernel, None for the others."""

    def __init__(self, kernel: str, nu: float | None, given: Given) -> None:
        super().__init__(kernel, given)
        self.nu = nu
        self.threads = 1

    def make(self, hyper: Hyper) -> mfopt_core.GP:
        """A process without data."""
        return mfopt_core.GP(
            self.kernel, hyper.lengthscale, hyper.scale, hyper.noise, hyper.mean, nu=self.nu, threads=self.threads
        )

    def threaded(self, threads: int) -> CompiledSurrogate:
        """The same surrogate, whose processes may use so many threads."""
        other = copy(self)
        other.threads = threads
        return other

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
            levels = [first.joint.level(k) for k in first.joint.levels_of(models)]
        else:
            levels = [model.level() for model in require_all(CompiledModel, models)]
        return mfopt_core.Bound(levels, beta, zetas)


class CompiledModel(GPModel[mfopt_core.GP]):
    """A model over mfopt_core.GP."""

    _level: mfopt_core.Level | None = None

    def level(self) -> mfopt_core.Level:
        """The process as its only level."""
        if self._level is None or self._level.gp is not self.gp:
            self._level = mfopt_core.Level(self.gp)
        return self._level


class CompiledCoupledGP(CoupledGP[mfopt_core.GP]):
    """A coupled process over mfopt_core.GP."""

    def _evaluate(self, rows: Sequence[Rows]) -> Evaluate:
        u, level, y = stack(rows)
        likelihood = mfopt_core.LevelLikelihood(u, level, y, len(rows))

        def evaluate(hyper: CoupledHyper) -> tuple[float, Array, Array, Array, Array]:
            kernel, calibration = self._make(hyper.kernel).kernel, hyper.calibration
            return likelihood(kernel, hyper.kernel.mean, hyper.noises, calibration.a, calibration.b)

        return evaluate

    def level(self, k: int) -> mfopt_core.Level:
        """Fidelity k of the process, in its own unit and with its own zero."""
        process = self._process
        if not process.levels or process.levels[0].gp is not process.gp:
            a, b = self.calibration.a, self.calibration.b
            codes = [self.encode(np.zeros((1, 0)), j)[0] for j in range(len(self.models))]
            process.levels = [mfopt_core.Level(process.gp, code, a[j], b[j]) for j, code in enumerate(codes)]
        level: mfopt_core.Level = process.levels[k]
        return level
