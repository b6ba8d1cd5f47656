"""The joint model behind `ar1`: one autoregressive process, seen through one Model per fidelity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import mfopt_core
from mfopt.hooks import Rows
from mfopt.protocols import Array
from mfopt_plugins.method.kept import array, flag, mapping, maybe
from mfopt_plugins.surrogates.ar1.improvement import JointImprovement
from mfopt_plugins.surrogates.ar1.learning import Scales, central_scales, lay_out, learn, pack, unpack
from mfopt_plugins.surrogates.ar1.process import Autoregression
from mfopt_plugins.surrogates.ar1.units import LevelUnits
from mfopt_plugins.surrogates.rows import is_start
from mfopt_plugins.surrogates.theta import NOTHING


class JointGP:
    """The posterior of all fidelities together; coordinates of one of the `groups` share a length-scale per level."""

    def __init__(
        self,
        kernel: str,
        nu: float | None,
        groups: Sequence[int],
        noises: Sequence[float | None],
        rho: float | None,
        threads: int = 1,
    ) -> None:
        self._kernel, self._nu, self._threads = kernel, nu, threads
        self._noises = tuple(noises)
        self._rho = rho
        self._groups = tuple(groups)
        self._learnt = False
        self._inverse: Array | None = None  # H of the last search (surrogates/climb.py)
        self._rows = [(np.empty((0, len(groups))), np.empty(0)) for _ in self._noises]
        count = len(self._noises)
        plain = LevelUnits(np.zeros(count), np.ones(count))
        self._use(plain.restore(central_scales(count, groups), self._noises))
        self.models = [LevelModel(self, k) for k in range(count)]

    def _use(self, scales: Scales) -> None:
        """Let these be the hyper-parameters, without rows."""
        self._scales = scales
        self.process = Autoregression(self._kernel, self._nu, scales.hypers, scales.rhos, self._threads)

    def fit(self, rows: Sequence[Rows], rng: np.random.Generator) -> None:
        """Learn all hyper-parameters from these rows, (u, y) per fidelity, and condition on them alone."""
        before, self._rows = self._rows, [(np.array(u), np.array(y)) for u, y in rows]
        if not any(len(y) for _, y in rows):
            self._use(self._scales)
            return
        units = LevelUnits.of(self._rows, self._rho)
        noises = units.standardise_noises(self._noises)
        layout = lay_out(self._groups, noises, self._rho)
        previous = pack(layout, units.standardise_scales(self._scales)) if self._learnt else None
        standard = units.standardise(self._rows)
        found = learn(self._kernel, self._nu, standard, layout, self._groups, noises, previous, self._inverse, rng)
        self._learnt, self._inverse = True, found.inverse
        if found.gain > NOTHING:
            self._use(units.restore(unpack(layout, found.theta, noises), self._noises))
        elif not all(map(is_start, before, self._rows)):
            self._use(self._scales)
        self.process.follow(self._rows)

    def covariance(self, u: Array, k: int, other: int) -> Array:
        """The posterior covariance of fidelities k and other at each row of u."""
        return self.process.pair(k, other)(u)[2]

    def covariance_gradient(self, u: Array, k: int, other: int) -> tuple[Array, Array]:
        """The same with its gradient."""
        _, _, covariance, _, _, slope = self.process.pair(k, other).gradient(u)
        return covariance, slope

    def improvement(
        self, best: float, unit: float, noises: Sequence[float], offsets: Sequence[float], tail: float
    ) -> JointImprovement:
        """The augmented expected improvement over `best` of all fidelities (mfopt_core._improvement)."""
        levels = [self.process.level(k) for k in range(len(self._noises))]
        return JointImprovement(mfopt_core.Improvement(levels, best, unit, noises, offsets, tail))

    def count(self, k: int) -> int:
        """Number of rows of fidelity k."""
        return len(self._rows[k][1])

    def extend(self, k: int, u: Array, y: Array) -> None:
        """Condition on more rows of fidelity k; hyper-parameters stay."""
        before = self._rows[k]
        self._rows[k] = (np.vstack([before[0], u]), np.concatenate([before[1], y]))
        self.process.follow(self._rows)

    def truncate(self, k: int, n: int) -> None:
        """Forget all rows of fidelity k but the first n; hyper-parameters stay."""
        self._rows[k] = (self._rows[k][0][:n], self._rows[k][1][:n])
        self.process.forget(k, n)
        self.process.follow(self._rows)

    def refit(self, k: int, u: Array, y: Array, rng: np.random.Generator) -> None:
        """Replace the rows of fidelity k, and learn all hyper-parameters anew."""
        self.fit([(u, y) if j == k else rows for j, rows in enumerate(self._rows)], rng)

    def state(self) -> dict[str, Any] | None:
        """What was learnt, and how the rows were added; None where that is not known."""
        process = self.process.state()
        if process is None:
            return None
        return {
            "learnt": self._learnt,
            "inverse": None if self._inverse is None else self._inverse.copy(),
            "scales": self._scales.state(),
            "process": process,
        }

    def restore(self, state: Mapping[str, Any], rows: Sequence[Rows]) -> None:
        """Be as another one was that told this state, with these rows, (u, y) per fidelity."""
        given = mapping(state, "learnt", "inverse", "scales", "process")
        scales = Scales.read(given["scales"], len(self._noises), len(self._groups))
        learnt, inverse = flag(given["learnt"]), maybe(array)(given["inverse"])
        if inverse is not None and inverse.ndim != 2:
            raise ValueError(f"inverse must be a matrix, got shape {inverse.shape}")
        if not (scales.is_same(self._scales) and all(map(is_start, self._rows, rows))):
            self._use(scales)
        self._learnt, self._inverse = learnt, inverse
        self._rows = [(np.array(u), np.array(y)) for u, y in rows]
        self.process.rebuild(given["process"], self._rows)

    def describe(self, k: int) -> Mapping[str, Any]:
        """Hyper-parameters of δ_k, ρ_k and the level's noise in the unit of y."""
        hyper = self._scales.hypers[k]
        return {
            "kernel": f"ar1 over {self._kernel}",
            "rho": self._scales.rhos[k - 1] if k else None,
            "lengthscale": [float(v) for v in hyper.lengthscale],
            "scale": hyper.scale,
            "noise": hyper.noise,
            "mean": hyper.mean,
            "jitter": float(self.process.gp.jitter),
        }


class LevelModel:
    """One fidelity of a joint model, as a Model; its rows also move the posteriors of the others."""

    def __init__(self, joint: JointGP, k: int) -> None:
        self._joint = joint
        self._k = k

    @property
    def n(self) -> int:
        """Number of rows of this fidelity."""
        return self._joint.count(self._k)

    def fit(self, u: Array, y: Array, rng: np.random.Generator) -> None:
        """Replace the rows of this fidelity, and learn all hyper-parameters anew."""
        self._joint.refit(self._k, u, y, rng)

    def extend(self, u: Array, y: Array) -> None:
        """Condition on more rows of this fidelity; hyper-parameters stay."""
        self._joint.extend(self._k, u, y)

    def truncate(self, n: int) -> None:
        """Forget all rows of this fidelity but the first `n`; hyper-parameters stay."""
        self._joint.truncate(self._k, n)

    def posterior(self, u: Array) -> tuple[Array, Array]:
        """Mean and variance of this fidelity given the rows of all."""
        return self._joint.process.posterior(u, self._k)

    def posterior_gradient(self, u: Array) -> tuple[Array, Array, Array, Array]:
        """Mean, variance and their gradients in u."""
        return self._joint.process.posterior_gradient(u, self._k)

    def describe(self) -> Mapping[str, Any]:
        """Hyper-parameters of this fidelity, in the unit of y."""
        return self._joint.describe(self._k)
