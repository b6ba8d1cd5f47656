"""The joint model behind `ar1`: one autoregressive process, seen through one Model per fidelity.

Learning sees each level standardised by (y − offset_k)/unit_k with the mean and deviation of its rows. A unit is at
least a tenth of that of the level below: rows that were asked for near the maximum alone vary less than the function.
A level without rows takes over from the one below (or, at the bottom, from the first that has rows). Where ρ is given,
which is in the unit of y, all levels have one unit, the largest. Since f_k = offset_k + unit_k f′_k and
f′_k = ρ′_k f′_{k−1} + δ′_k, in the unit of y

    ρ_k = ρ′_k unit_k/unit_{k−1},   m_k = offset_k − ρ_k offset_{k−1} + unit_k m′_k,   var δ_k = unit_k² var δ′_k.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mfopt.protocols import Array
from mfopt_plugins.surrogates.ar1.learning import Scales, default_scales, learn_scales, stacked
from mfopt_plugins.surrogates.ar1.process import Autoregression
from mfopt_plugins.surrogates.gp.process import Hyper

_LEAST_UNIT = 0.1  # of the unit of the level below


class JointGP:
    """The posterior of all fidelities together."""

    def __init__(
        self, kernel: str, nu: float | None, dim: int, noises: Sequence[float | None], rho: float | None
    ) -> None:
        self._kernel, self._nu = kernel, nu
        self._noises = tuple(noises)
        self._rho = rho
        self._learnt: Scales | None = None  # in standardised units: the next warm start
        self._rows = [(np.empty((0, dim)), np.empty(0)) for _ in self._noises]
        self._scales = self._in_unit_of_y(
            default_scales(len(self._noises), dim), np.zeros(len(self._noises)), np.ones(len(self._noises))
        )
        self._process: Autoregression | None = None
        self.models = [LevelModel(self, k) for k in range(len(self._noises))]

    def fit(self, rows: Sequence[tuple[Array, Array]], rng: np.random.Generator) -> None:
        """Learn all hyper-parameters from these rows, (u, y) per fidelity, and condition on them alone."""
        self._rows = [(np.array(u), np.array(y)) for u, y in rows]
        self._process = None
        if not any(len(y) for _, y in rows):
            return
        offsets, units = self._standard()
        standard = [(u, (y - offset) / unit) for (u, y), offset, unit in zip(self._rows, offsets, units, strict=True)]
        noises = [None if noise is None else noise / unit**2 for noise, unit in zip(self._noises, units, strict=True)]
        self._learnt = learn_scales(self._kernel, self._nu, standard, noises, self._rho, self._learnt, rng)
        self._scales = self._in_unit_of_y(self._learnt, offsets, units)

    def covariance(self, u: Array, k: int, other: int) -> Array:
        """The posterior covariance of fidelities k and other at each row of u."""
        return self.process.covariance(u, k, other)

    def covariance_gradient(self, u: Array, k: int, other: int) -> tuple[Array, Array]:
        """The same with its gradient."""
        return self.process.covariance_gradient(u, k, other)

    @property
    def process(self) -> Autoregression:
        """The process, conditioned on the present rows."""
        if self._process is None:
            self._process = Autoregression(self._kernel, self._nu, self._scales.hypers, self._scales.rhos)
            self._process.condition(*stacked(self._rows))
        return self._process

    def rows(self, k: int) -> tuple[Array, Array]:
        """The rows of one fidelity."""
        return self._rows[k]

    def replace(self, k: int, u: Array, y: Array) -> None:
        """Condition on these rows of one fidelity instead of its present ones; hyper-parameters stay."""
        self._rows[k] = (u, y)
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
            "jitter": self.process.jitter,
        }

    def _standard(self) -> tuple[Array, Array]:
        counts = [len(y) for _, y in self._rows]
        first = next(k for k, n in enumerate(counts) if n)
        offsets, units = np.zeros(len(counts)), np.ones(len(counts))
        offset, unit = _location(self._rows[first][1], 0.0)
        if self._rho is not None:  # one unit for all: the largest
            unit = max(_location(y, 0.0)[1] if len(y) > 1 else 0.0 for _, y in self._rows) or unit
        for k, (_, y) in enumerate(self._rows):
            if len(y) and self._rho is None:
                offset, unit = _location(y, _LEAST_UNIT * unit if k > first else 0.0)
            elif len(y):
                offset = float(np.mean(y))
            offsets[k], units[k] = offset, unit
        return offsets, units

    def _in_unit_of_y(self, scales: Scales, offsets: Array, units: Array) -> Scales:
        rhos = [rho * units[k + 1] / units[k] for k, rho in enumerate(scales.rhos)]
        hypers = []
        for k, hyper in enumerate(scales.hypers):
            below = rhos[k - 1] * offsets[k - 1] if k else 0.0
            noise = self._noises[k]
            hypers.append(
                Hyper(
                    hyper.lengthscale,
                    float(hyper.scale * units[k] ** 2),
                    float(hyper.noise * units[k] ** 2) if noise is None else noise,
                    float(offsets[k] - below + units[k] * hyper.mean),
                )
            )
        return Scales(tuple(hypers), tuple(float(rho) for rho in rhos))


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
        process = self._joint.process
        return process.mean(u, self._k), process.covariance(u, self._k, self._k)

    def posterior_gradient(self, u: Array) -> tuple[Array, Array, Array, Array]:
        """Mean, variance and their gradients in u."""
        process = self._joint.process
        mean, dmean = process.mean_gradient(u, self._k)
        var, dvar = process.covariance_gradient(u, self._k, self._k)
        return mean, var, dmean, dvar

    def describe(self) -> Mapping[str, Any]:
        """Hyper-parameters of this fidelity, in the unit of y."""
        return self._joint.describe(self._k)


def _location(y: Array, least: float) -> tuple[float, float]:
    """Mean, and deviation of at least `least`; what is constant (up to rounding) takes its size for a deviation."""
    offset, unit = float(np.mean(y)), float(np.std(y))
    if unit <= 1e-14 * abs(offset):
        unit = least or abs(offset) or 1.0
    return offset, max(unit, least)
