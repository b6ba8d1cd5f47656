"""What the surrogates over mfopt_core share: a process of a named kernel, and the fused bound of eq. (mfgpucbDefn)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast, overload

import mfopt_core
from mfopt.protocols import Array
from mfopt_plugins.surrogates._gp import GaussianProcess, Hyper
from mfopt_plugins.surrogates._learning import Fixed
from mfopt_plugins.surrogates._model import GPModel


class CompiledSurrogate:
    """Models over mfopt_core.GP with one kernel."""

    def __init__(self, kernel: str, nu: float | None, given: Fixed) -> None:
        self.kernel = kernel
        self.nu = nu
        self._given = given

    def model(self, dim: int, noise: float | None = None) -> GPModel:
        """A fresh model without data; `noise` is the known noise variance, None when it is to be learnt."""
        return GPModel(self._make, self.kernel, dim, noise, self._given)

    @overload
    def upper_bound(
        self, models: Sequence[GPModel], u: Array, beta: float, zetas: Sequence[float], grad: Literal[False] = False
    ) -> Array: ...
    @overload
    def upper_bound(
        self, models: Sequence[GPModel], u: Array, beta: float, zetas: Sequence[float], grad: Literal[True]
    ) -> tuple[Array, Array]: ...
    def upper_bound(
        self, models: Sequence[GPModel], u: Array, beta: float, zetas: Sequence[float], grad: bool = False
    ) -> Array | tuple[Array, Array]:
        """φ(u) = min_m μ_m + β½σ_m + ζ_m over these models, and with `grad` the gradient of the smallest bound."""
        gps = [cast(mfopt_core.GP, model.gp) for model in models]
        if grad:
            return mfopt_core.mf_ucb(gps, u, beta, zetas, grad=True)
        return mfopt_core.mf_ucb(gps, u, beta, zetas)

    def _make(self, hyper: Hyper) -> GaussianProcess:
        return mfopt_core.GP(self.kernel, hyper.lengthscale, hyper.scale, hyper.noise, mean=hyper.mean, nu=self.nu)
