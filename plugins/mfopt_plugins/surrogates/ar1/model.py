"""The joint model behind `ar1`: one autoregressive process, seen through one Model per fidelity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from mfopt.hooks import Rows
from mfopt.protocols import Array
from mfopt_plugins.method.kept import mapping, maybe
from mfopt_plugins.surrogates.ar1.learning import Scales, central_scales, learn
from mfopt_plugins.surrogates.ar1.process import Autoregression
from mfopt_plugins.surrogates.ar1.units import LevelUnits
from mfopt_plugins.surrogates.rows import stack


class JointGP:
    """The posterior of all fidelities together; coordinates of one of the `groups` share a length-scale per level."""

    def __init__(
        self, kernel: str, nu: float | None, groups: Sequence[int], noises: Sequence[float | None], rho: float | None
    ) -> None:
        self._kernel, self._nu = kernel, nu
        self._noises = tuple(noises)
        self._rho = rho
        self._groups = tuple(groups)
        self._learnt: Scales | None = None  # in standard units: the next warm start
        self._rows = [(np.empty((0, len(groups))), np.empty(0)) for _ in self._noises]
        count = len(self._noises)
        self._scales = LevelUnits(np.zeros(count), np.ones(count)).restore(central_scales(count, groups), self._noises)
        self._process: Autoregression | None = None  # made when it is next used
        self.models = [LevelModel(self, k) for k in range(len(self._noises))]

    def fit(self, rows: Sequence[Rows], rng: np.random.Generator) -> None:
        """Learn all hyper-parameters from these rows, (u, y) per fidelity, and condition on them alone."""
        self._rows = [(np.array(u), np.array(y)) for u, y in rows]
        self._process = None
        if not any(len(y) for _, y in rows):
            return
        units = LevelUnits.of(self._rows, self._rho)
        noises = units.standardise_noises(self._noises)
        standard = units.standardise(self._rows)
        self._learnt = learn(self._kernel, self._nu, self._groups, standard, noises, self._rho, self._learnt, rng)
        self._scales = units.restore(self._learnt, self._noises)

    def covariance(self, u: Array, k: int, other: int) -> Array:
        """The posterior covariance of fidelities k and other at each row of u."""
        return self.condition().covariance(u, k, other)

    def covariance_gradient(self, u: Array, k: int, other: int) -> tuple[Array, Array]:
        """The same with its gradient."""
        return self.condition().covariance_gradient(u, k, other)

    def condition(self) -> Autoregression:
        """Condition the process on the present rows, and return it."""
        if self._process is None:
            self._process = Autoregression(self._kernel, self._nu, self._scales.hypers, self._scales.rhos)
            self._process.condition(*stack(self._rows))
        return self._process

    def rows(self, k: int) -> Rows:
        """The rows of one fidelity."""
        return self._rows[k]

    def replace(self, k: int, u: Array, y: Array) -> None:
        """Condition on these rows of one fidelity instead of its present ones; hyper-parameters stay."""
        self._rows[k] = (u, y)
        self._process = None

    def state(self) -> dict[str, Any]:
        """What was learnt. The process is always made anew from all rows, so that nothing else matters."""
        return {"learnt": None if self._learnt is None else self._learnt.state(), "scales": self._scales.state()}

    def restore(self, state: Mapping[str, Any], rows: Sequence[Rows]) -> None:
        """Be as another one was that told this state, with these rows, (u, y) per fidelity."""
        given = mapping(state, "learnt", "scales")
        levels, dim = len(self._noises), len(self._groups)
        read = partial(Scales.read, levels=levels, dim=dim)
        self._learnt, self._scales = maybe(read)(given["learnt"]), read(given["scales"])
        self._rows = [(np.array(u), np.array(y)) for u, y in rows]
        self._process = None

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
            "jitter": self.condition().jitter,
        }


class LevelModel:
    """One fidelity of a joint model, as a Model; its rows also move the posteriors of the others."""

    def __init__(self, joint: JointGP, k: int) -> None:
        self._joint = joint
        self._k = k

    @property
    def n(self) -> int:
        """Number of rows of this fidelity."""
        return len(self._joint.rows(self._k)[1])

    def fit(self, u: Array, y: Array, rng: np.random.Generator) -> None:
        """Replace the rows of this fidelity, and learn all hyper-parameters anew."""
        self._joint.replace(self._k, u, y)
        self._joint.fit([self._joint.rows(k) for k in range(len(self._joint.models))], rng)

    def extend(self, u: Array, y: Array) -> None:
        """Condition on more rows of this fidelity; hyper-parameters stay."""
        before = self._joint.rows(self._k)
        self._joint.replace(self._k, np.vstack([before[0], u]), np.concatenate([before[1], y]))

    def truncate(self, n: int) -> None:
        """Forget all rows of this fidelity but the first `n`; hyper-parameters stay."""
        u, y = self._joint.rows(self._k)
        self._joint.replace(self._k, u[:n], y[:n])

    def posterior(self, u: Array) -> tuple[Array, Array]:
        """Mean and variance of this fidelity given the rows of all."""
        process = self._joint.condition()
        return process.mean(u, self._k), process.covariance(u, self._k, self._k)

    def posterior_gradient(self, u: Array) -> tuple[Array, Array, Array, Array]:
        """Mean, variance and their gradients in u."""
        process = self._joint.condition()
        mean, dmean = process.mean_gradient(u, self._k)
        var, dvar = process.covariance_gradient(u, self._k, self._k)
        return mean, var, dmean, dvar

    def describe(self) -> Mapping[str, Any]:
        """Hyper-parameters of this fidelity, in the unit of y."""
        return self._joint.describe(self._k)
