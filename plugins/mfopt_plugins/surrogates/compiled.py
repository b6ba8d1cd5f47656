"""What mfopt_core does for the surrogates: processes of a named kernel, and the fused bound of eq. (mfgpucbDefn).

Two kinds of points come back from ask to ask: the candidates of a finite set, and the centres of DIRECT's rectangles,
which lie on a fixed lattice. For both the posterior is kept current by mfopt_core.Tracked, O(n) a point for a new row
instead of O(n²). Such a memory belongs to one process; other hyper-parameters mean another process and so a new memory.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import mfopt_core
from mfopt.hooks import FullAcquisition
from mfopt.protocols import Array, BoolArray, Model
from mfopt_plugins.method.upper_bound import take_lowest
from mfopt_plugins.surrogates.base import KernelSurrogate, require_all
from mfopt_plugins.surrogates.coupled.model import CoupledGP, CoupledModel
from mfopt_plugins.surrogates.given import Given
from mfopt_plugins.surrogates.gp.model import GPModel
from mfopt_plugins.surrogates.gp.process import Hyper

CAPACITY = 8192  # lattice points remembered, at most
BYTES = 40 << 20  # what they may take: 8 n for each with n rows


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
            return CoupledBound(first.joint, first.joint.levels_of(models), beta, zetas)
        return CompiledBound(require_all(CompiledModel, models), beta, zetas)


class CompiledModel(GPModel[mfopt_core.GP]):
    """A model over mfopt_core.GP."""

    _memory: Memory | None = None

    def recall(self) -> Memory:
        """What is kept about points that come back; it starts empty whenever the hyper-parameters have changed."""
        if self._memory is None or self._memory.gp is not self.gp:
            self._memory = Memory(self.gp)
        return self._memory


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


class CompiledCoupledGP(CoupledGP[mfopt_core.GP]):
    """A coupled process over mfopt_core.GP."""

    _memories: list[Memory] | None = None
    _finite: tuple[Array, list[Array]] | None = None

    def recall(self, k: int) -> Memory:
        """What is kept about points of fidelity k that come back; empty whenever the hyper-parameters have changed."""
        process = self.condition()
        if self._memories is None or self._memories[0].gp is not process:
            self._memories = [Memory(process) for _ in self.models]
        return self._memories[k]

    def encode_set(self, points: Array, k: int) -> Array:
        """The points of a finite set at fidelity k; for the same array `points`, the same array at every call."""
        if self._finite is None or self._finite[0] is not points:
            self._finite = (points, [self.encode(points, j) for j in range(len(self.models))])
        return self._finite[1][k]


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
        mean, var, dmean, dvar = self._joint.condition().posterior_gradient(self._stack(u))
        root, sigma = np.sqrt(self._beta), np.sqrt(var)
        # σ has no gradient where it is 0 (at a noiseless row): the mean's alone is used there.
        half = 0.5 * root / np.where(sigma > 0, sigma, np.inf)
        slopes = dmean + half[:, None] * dvar
        return self._split(mean + root * sigma), slopes[:, : u.shape[1]].reshape(len(self._levels), *u.shape)

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


class Memory:
    """The posterior of `gp` at points that come back."""

    def __init__(self, gp: mfopt_core.GP) -> None:
        self.gp = gp
        self._known: dict[bytes, int] = {}
        self._lattice: mfopt_core.Tracked | None = None
        self._points: Array | None = None
        self._finite: mfopt_core.Tracked | None = None

    def bounds(self, u: Array, keys: Sequence[bytes], beta: float, zeta: float) -> Array:
        """μ + β½σ + ζ at the rows of u; a row whose key was seen before is the same point as then."""
        room = min(CAPACITY, BYTES // (8 * self.gp.n + 8))
        if len(keys) > room:  # too many at once to remember any
            mean, var = self.gp.posterior(u)
            return np.asarray(mean + np.sqrt(beta * var) + zeta)
        new = {key: i for i, key in enumerate(keys) if key not in self._known}  # a key may come twice
        if self._lattice is None or len(self._known) + len(new) > room:
            self._lattice = self.gp.track(np.empty((0, u.shape[1])), capacity=CAPACITY)
            self._known.clear()
            new = {key: i for i, key in enumerate(keys)}
        if new:
            first = self._lattice.add(u[list(new.values())])
            self._known.update({key: first + k for k, key in enumerate(new)})
        return self._lattice.bounds([self._known[key] for key in keys], beta, zeta)

    def track(self, points: Array) -> mfopt_core.Tracked:
        """Track the points of a finite set, which is known by its array: the same one at every call."""
        if self._finite is None or self._points is not points:
            self._finite = self.gp.track(points, lazy=True)
            self._points = points
        return self._finite


def keys_of(u: Array) -> list[bytes]:
    """One key per row, equal for equal rows."""
    rows: list[bytes] = np.ascontiguousarray(u).view(f"V{8 * u.shape[1]}").ravel().tolist()
    return rows
