"""The autoregressive surrogate over fidelities."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from math import isfinite

from mfopt.errors import InputError
from mfopt.protocols import Model
from mfopt_plugins.surrogates.ar1.model import JointGP
from mfopt_plugins.surrogates.compiled import CompiledSurrogate
from mfopt_plugins.surrogates.matern import Matern
from mfopt_plugins.surrogates.se import SE


class AR1:
    """f_m = ρ_m f_{m−1} + δ_m with independent processes δ_m (Kennedy and O'Hagan, 2000): all fidelities in one model.

    ρ_m and the kernel of each δ_m are learnt by marginal likelihood, with one length-scale per coordinate. The rows of
    different fidelities need not be at the same points, and a fidelity may have none.

    rho  one ρ_m for all levels, not learnt; 1 makes δ_m the difference between fidelities (Huang et al., 2006).
    nu   smoothness of Matérn kernels; None for the squared exponential.

    Where a method asks for a single fidelity, that is the plain process (se or matern).
    """

    def __init__(self, rho: float | None = None, nu: float | None = None) -> None:
        if rho is not None and not isfinite(rho):
            raise InputError(f"rho must be finite, got {rho}")
        self._rho = rho
        self._nu = nu
        self._single: CompiledSurrogate = SE() if nu is None else Matern(nu)
        self._groups: tuple[int, ...] = ()

    def model(self, dim: int, noise: float | None = None) -> Model:
        """A model of one fidelity alone, without data."""
        return self._single.model(dim, noise)

    def joint(self, dim: int, noises: Sequence[float | None]) -> JointGP:
        """A model of several fidelities without data, one known noise variance (or None) per fidelity."""
        groups = self._groups or tuple(range(dim))
        return JointGP(self._single.kernel, self._single.nu, groups, noises, self._rho, self._single.threads)

    def tied(self, groups: Sequence[int]) -> AR1:
        """The same surrogate with one length-scale per level for the coordinates of each group."""
        other = copy(self)
        other._single = self._single.tied(groups)
        other._groups = tuple(groups)
        return other

    def threaded(self, threads: int) -> AR1:
        """The same surrogate, whose processes may use so many threads."""
        other = copy(self)
        other._single = self._single.threaded(threads)
        return other
