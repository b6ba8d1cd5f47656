"""One process over points and fidelities: f(u, m), seen through one Model per fidelity.

Each step from a fidelity to the next is a coordinate of its own: fidelity m of K has the code c(m) ∈ {0, 1}^(K−1)
whose first m entries are 1, and κ((u, m), (u′, m′)) is the kernel at the points (u, c(m)) and (u′, c(m′)). A long
length-scale of a step says that the two fidelities are nearly the same function, a short one that they have nothing in
common; it is learnt like any other. So all fidelities have one kernel in u (the paper's assumption), a cheap value also
tells something about the target, and how much is learnt, not assumed.

Hyper-parameters are learnt as for single fidelities (_learning), with the same priors, and for the steps

    log step ~ N(log 4, 1)   neighbouring fidelities differ by a quarter of their deviation, give or take a factor e

Noise is each fidelity's own, but the log noises of two differ by N(0, 2²): with a few target values, noise would
otherwise be an easy explanation for whatever does not fit. The paper conditions each fidelity on its own values alone;
docs/defaults.md says why this is the default.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mfopt.protocols import Array
from mfopt_plugins.surrogates.gp.learning import LEARNING_ROWS, NOISE_FLOOR, Fixed, ascend, default_hyper, subsets
from mfopt_plugins.surrogates.gp.model import AFRESH, fixed_lengthscale, standard_unit
from mfopt_plugins.surrogates.gp.process import GaussianProcess, Hyper, MakeGP

_NOISES_APART = 2.0  # deviation of the difference between the log noises of two fidelities
_STEP, _STEP_SIGMA = 4.0, 1.0  # length-scale of a step: centre, and deviation of its logarithm


@dataclass(frozen=True)
class _Scales:
    """Hyper-parameters of the coupled process: those of the kernel, over (u, c), and one noise per fidelity."""

    kernel: Hyper
    noises: Array


class CoupledGP:
    """The posterior of several fidelities, by a process that `make` makes.

    `noises` holds the known noise variance of each fidelity, None where it is to be learnt; `given` is in the unit of
    y.
    """

    def __init__(self, make: MakeGP, kernel: str, dim: int, noises: Sequence[float | None], given: Fixed) -> None:
        self._make = make
        self._kernel = kernel
        self._dim = dim
        self._noises = tuple(noises)
        self._given = given
        self._lengthscale = fixed_lengthscale(given, dim)
        self._codes = np.tri(len(noises), len(noises) - 1, -1)
        self._learnt: Array | None = None  # θ in standardised units: the next warm start
        self._searched = 0  # rows when the search last started from the centre of the priors too
        self._rows = [(np.empty((0, dim)), np.empty(0)) for _ in noises]
        self._order: list[int] = []  # the fidelity of each row of the process
        self._valid = 0  # as many of them are still rows of ours
        self._set(self._centre(), 0.0, 1.0)
        self.models = [CoupledModel(self, k) for k in range(len(noises))]

    def fit(self, rows: Sequence[tuple[Array, Array]], rng: np.random.Generator) -> None:
        """Learn all hyper-parameters from these rows, (u, y) per fidelity, and condition on them alone."""
        self._rows = [(np.array(u), np.array(y)) for u, y in rows]
        counts = [len(y) for _, y in rows]
        if not any(counts):
            self._set(self._centre(), 0.0, 1.0)
            return
        most = int(np.argmax(counts))
        offset, unit = standard_unit(rows[most][1], self._noises[most])
        starts = [] if self._learnt is None else [self._learnt]
        if not starts or sum(counts) >= AFRESH * self._searched:
            starts.append(self._centre())
            self._searched = sum(counts)
        if self._learnt is None:
            starts.append(self._centre() + self._sigma() * rng.standard_normal(len(self._sigma())))
        standard = [(u, (y - offset) / unit) for u, y in subsets(self._rows, LEARNING_ROWS, rng)]
        self._learnt = self._learn(standard, starts, offset, unit)
        self._set(self._learnt, offset, unit)

    @property
    def process(self) -> GaussianProcess:
        """The process, conditioned on the present rows."""
        if self._valid == len(self._order) == sum(len(y) for _, y in self._rows):
            return self._gp
        if self._valid < len(self._order):
            self._gp.truncate(self._valid)
            del self._order[self._valid :]
        for k, (u, y) in enumerate(self._rows):
            known = self._order.count(k)
            if known < len(y):
                noises = np.full(len(y) - known, self._scales.noises[k])
                self._gp.extend(self.coded(u[known:], k), y[known:], noises)
                self._order += [k] * (len(y) - known)
        self._valid = len(self._order)
        return self._gp

    def coded(self, u: Array, k: int) -> Array:
        """The points (u, c(k)) of the process."""
        return np.hstack([u, np.broadcast_to(self._codes[k], (len(u), self._codes.shape[1]))])

    def count(self, k: int) -> int:
        """Number of rows of fidelity k."""
        return len(self._rows[k][1])

    def extend(self, k: int, u: Array, y: Array) -> None:
        """Condition on more rows of fidelity k; hyper-parameters stay."""
        before = self._rows[k]
        self._rows[k] = (np.vstack([before[0], u]), np.concatenate([before[1], y]))

    def truncate(self, k: int, n: int) -> None:
        """Forget all rows of fidelity k but the first n; hyper-parameters stay."""
        self._rows[k] = (self._rows[k][0][:n], self._rows[k][1][:n])
        forgotten = np.flatnonzero(np.array(self._order, dtype=np.int64) == k)[n:]
        if len(forgotten):
            self._valid = min(self._valid, int(forgotten[0]))

    def refit(self, k: int, u: Array, y: Array, rng: np.random.Generator) -> None:
        """Replace the rows of fidelity k, and learn all hyper-parameters anew."""
        self.fit([(u, y) if j == k else rows for j, rows in enumerate(self._rows)], rng)

    def describe(self, k: int) -> Mapping[str, Any]:
        """Hyper-parameters in the unit of y; `step` are the length-scales of the steps between fidelities."""
        hyper = self._scales.kernel
        return {
            "kernel": f"{self._kernel} over fidelities",
            "lengthscale": hyper.lengthscale[: self._dim].tolist(),
            "step": hyper.lengthscale[self._dim :].tolist(),
            "scale": hyper.scale,
            "noise": float(self._scales.noises[k]),
            "mean": hyper.mean,
            "jitter": float(self.process.jitter),
        }

    # θ = (log ℓ_1..d, log of the K − 1 steps, log scale, log noise_1..K, mean), on standardised values

    def _centre(self) -> Array:
        first, count = default_hyper(self._dim), len(self._noises)
        steps = np.full(count - 1, _STEP)
        scales = np.concatenate([first.lengthscale, steps, [first.scale], np.full(count, first.noise)])
        return np.append(np.log(scales), first.mean)

    def _sigma(self) -> Array:
        count = len(self._noises)
        return np.array([*[1.2] * self._dim, *[_STEP_SIGMA] * (count - 1), 2.0, *[4.0] * count, 1.0])

    def _learn(self, rows: Sequence[tuple[Array, Array]], starts: Sequence[Array], offset: float, unit: float) -> Array:
        """The maximum a posteriori for standardised rows."""
        centre, sigma = self._centre(), self._sigma()
        width, count = self._dim + len(rows) - 1, len(rows)
        noises = slice(width + 1, width + 1 + count)
        covariance = np.diag(sigma**2)
        covariance[noises, noises] = sigma[noises] ** 2 - 0.5 * _NOISES_APART**2 * (1.0 - np.eye(count))
        precision = np.linalg.inv(covariance)
        low, high = centre - 4 * sigma, centre + 4 * sigma
        low[noises], high[noises] = np.log(NOISE_FLOOR), np.log(2.0)
        self._fix(low, offset, unit)
        self._fix(high, offset, unit)
        u = np.vstack([self.coded(points, k) for k, (points, _) in enumerate(rows)])
        y = np.concatenate([values for _, values in rows])
        level = np.repeat(np.arange(count), [len(values) for _, values in rows])

        def posterior(theta: Array) -> tuple[float, Array]:
            gp = self._make(Hyper(np.exp(theta[:width]), float(np.exp(theta[width])), 0.0, float(theta[-1])))
            gp.extend(u, y, np.exp(theta[noises])[level])
            value, slope, by_row = gp.log_marginal_likelihood(grad=True, rows=True)
            pull = precision @ (theta - centre)
            by_noise = np.bincount(level, by_row, count)
            slope = np.concatenate([slope[: width + 1], by_noise, slope[-1:]]) - pull
            return value - 0.5 * float(pull @ (theta - centre)), slope

        return ascend(posterior, starts, low, high)

    def _fix(self, theta: Array, offset: float, unit: float) -> None:
        """Put in what is given, in standardised units."""
        given, width = self._given, self._dim + len(self._noises) - 1
        if self._lengthscale is not None:
            theta[: self._dim] = np.log(self._lengthscale)
        if given.scale is not None:
            theta[width] = np.log(given.scale / unit**2)
        for k, noise in enumerate(self._noises):
            if noise is not None:
                theta[width + 1 + k] = np.log(max(noise / unit**2, NOISE_FLOOR))
        if given.mean is not None:
            theta[-1] = (given.mean - offset) / unit

    def _set(self, theta: Array, offset: float, unit: float) -> None:
        """Make the process with these hyper-parameters; its rows come when it is next used."""
        theta = theta.copy()
        self._fix(theta, offset, unit)
        width, given = self._dim + len(self._noises) - 1, self._given
        learnt = np.exp(theta[width + 1 : -1]) * unit**2
        self._scales = _Scales(
            Hyper(
                np.exp(theta[:width]),
                float(np.exp(theta[width])) * unit**2 if given.scale is None else given.scale,
                0.0,
                float(theta[-1]) * unit + offset if given.mean is None else given.mean,
            ),
            # A noise that is known to be 0 has no logarithm, so the known value is taken as it is.
            np.array([learnt[k] if noise is None else noise for k, noise in enumerate(self._noises)]),
        )
        self._gp = self._make(self._scales.kernel)
        self._order, self._valid = [], 0


class CoupledModel:
    """One fidelity of a coupled process, as a Model; its rows also move the posteriors of the others."""

    def __init__(self, joint: CoupledGP, k: int) -> None:
        self.joint = joint
        self.k = k

    @property
    def n(self) -> int:
        """Number of rows of this fidelity."""
        return self.joint.count(self.k)

    def fit(self, u: Array, y: Array, rng: np.random.Generator) -> None:
        """Replace the rows of this fidelity, and learn all hyper-parameters anew."""
        self.joint.refit(self.k, u, y, rng)

    def extend(self, u: Array, y: Array) -> None:
        """Condition on more rows of this fidelity; hyper-parameters stay."""
        self.joint.extend(self.k, u, y)

    def truncate(self, n: int) -> None:
        """Forget all rows of this fidelity but the first `n`; hyper-parameters stay."""
        self.joint.truncate(self.k, n)

    def posterior(self, u: Array) -> tuple[Array, Array]:
        """Mean and variance of this fidelity given the rows of all."""
        return self.joint.process.posterior(self.joint.coded(u, self.k))

    def posterior_gradient(self, u: Array) -> tuple[Array, Array, Array, Array]:
        """Mean, variance and their gradients in u."""
        mean, var, dmean, dvar = self.joint.process.posterior_gradient(self.joint.coded(u, self.k))
        return mean, var, dmean[:, : u.shape[1]], dvar[:, : u.shape[1]]

    def describe(self) -> Mapping[str, Any]:
        """Hyper-parameters of this fidelity, in the unit of y."""
        return self.joint.describe(self.k)
