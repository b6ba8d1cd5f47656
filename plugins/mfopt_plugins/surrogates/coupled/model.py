"""One process over points and fidelities: f(u, m), seen through one Model per fidelity.

Each step from a fidelity to the next is a coordinate of its own: fidelity k of K has the code c(k) ∈ {0, 1}^(K−1) whose
first k entries are 1, and κ((u, m), (u′, m′)) is the kernel at the points (u, c(m)) and (u′, c(m′)). A long
length-scale of a step says that the two fidelities are nearly the same function, a short one that they have nothing in
common; it is learnt like any other (learning.py). So all fidelities have one kernel in u (the paper's assumption), a
cheap value also tells something about the target, and how much is learnt, not assumed.

The paper conditions each fidelity on its own values alone; docs/defaults.md says why this is the default.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Generic

import numpy as np

from mfopt.hooks import Rows
from mfopt.protocols import Array, Model
from mfopt_plugins.surrogates.coupled.learning import CoupledHyper, lay_out, learn, unpack
from mfopt_plugins.surrogates.given import Given
from mfopt_plugins.surrogates.gp.process import MakeGP, Process
from mfopt_plugins.surrogates.rows import thin
from mfopt_plugins.surrogates.theta import AFRESH, Layout
from mfopt_plugins.surrogates.units import Standard


class CoupledGP(Generic[Process]):
    """The posterior of several fidelities, by a process that `make` makes.

    `noises` holds the known noise variance of each fidelity, None where it is to be learnt; `given` is in the unit of
    y.
    """

    def __init__(
        self, make: MakeGP[Process], kernel: str, dim: int, noises: Sequence[float | None], given: Given
    ) -> None:
        self._make = make
        self._kernel = kernel
        self._dim = dim
        self._noises = tuple(noises)
        self._given = given.broadcast(dim)
        self._learnt: Array | None = None  # θ in standard units: the next warm start
        self._searched = 0  # rows when the search last started from the centre of the priors too
        self._rows = [(np.empty((0, dim)), np.empty(0)) for _ in noises]
        self._process = self._make_prior()
        self.models: Sequence[CoupledModel[Process]] = [CoupledModel(self, k) for k in range(len(noises))]

    def fit(self, rows: Sequence[Rows], rng: np.random.Generator) -> None:
        """Learn all hyper-parameters from these rows, (u, y) per fidelity, and condition on them alone."""
        self._rows = [(np.array(u), np.array(y)) for u, y in rows]
        counts = [len(y) for _, y in rows]
        if not any(counts):
            self._process = self._make_prior()
            return
        most = int(np.argmax(counts))
        standard = Standard.of(rows[most][1], self._noises[most])
        layout = self._lay_out(standard)
        afresh = sum(counts) >= AFRESH * self._searched
        if afresh:
            self._searched = sum(counts)
        starts = layout.choose_starts(self._learnt, afresh, rng)
        some = [(self.encode(u, k), standard.standardise(y)) for k, (u, y) in enumerate(thin(self._rows, rng))]
        self._learnt = learn(self._make, some, layout, starts)
        self._process = self._make_process(unpack(layout, self._learnt), standard)

    def condition(self) -> Process:
        """Condition the process on the present rows, and return it."""
        return self._process.follow(self._rows)

    def encode(self, u: Array, k: int) -> Array:
        """The points (u, c(k)) of the process."""
        return _encode(u, k, len(self._noises))

    def levels_of(self, models: Sequence[Model]) -> list[int]:
        """The fidelities that these models of this process are; a TypeError if one is not its own."""
        own = [model.k for model in models if isinstance(model, CoupledModel) and model.joint is self]
        if len(own) < len(models):
            raise TypeError(f"models must all be fidelities of one coupled process, got {list(models)}")
        return own

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
        self._process.forget(k, n)

    def refit(self, k: int, u: Array, y: Array, rng: np.random.Generator) -> None:
        """Replace the rows of fidelity k, and learn all hyper-parameters anew."""
        self.fit([(u, y) if j == k else rows for j, rows in enumerate(self._rows)], rng)

    def describe(self, k: int) -> Mapping[str, Any]:
        """Hyper-parameters in the unit of y; `step` are the length-scales of the steps between fidelities."""
        hyper = self._process.hyper
        return {
            "kernel": f"{self._kernel} over fidelities",
            "lengthscale": hyper.kernel.lengthscale[: self._dim].tolist(),
            "step": hyper.kernel.lengthscale[self._dim :].tolist(),
            "scale": hyper.kernel.scale,
            "noise": float(hyper.noises[k]),
            "mean": hyper.kernel.mean,
            "jitter": float(self.condition().jitter),
        }

    def _lay_out(self, standard: Standard) -> Layout:
        noises = [standard.standardise_variance(noise) for noise in self._noises]
        return lay_out(standard.standardise_given(self._given), noises)

    def _make_prior(self) -> CoupledProcess[Process]:
        """The process before anything is learnt: at the centre of the priors, but for what is given."""
        layout = self._lay_out(Standard())
        return self._make_process(unpack(layout, layout.fix(layout.centre)), Standard())

    def _make_process(self, hyper: CoupledHyper, standard: Standard) -> CoupledProcess[Process]:
        """The process with these hyper-parameters, which are in standard units; its rows come when it is used."""
        learnt = hyper.noises * standard.unit**2
        # A noise that is known to be 0 has no logarithm, so the known value is taken as it is.
        noises = np.array([learnt[k] if noise is None else noise for k, noise in enumerate(self._noises)])
        kernel = standard.restore(hyper.kernel, self._given, 0.0)
        return CoupledProcess(self._make, CoupledHyper(kernel, noises))


class CoupledModel(Generic[Process]):
    """One fidelity of a coupled process, as a Model; its rows also move the posteriors of the others."""

    def __init__(self, joint: CoupledGP[Process], k: int) -> None:
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
        return self.joint.condition().posterior(self.joint.encode(u, self.k))

    def posterior_gradient(self, u: Array) -> tuple[Array, Array, Array, Array]:
        """Mean, variance and their gradients in u."""
        mean, var, dmean, dvar = self.joint.condition().posterior_gradient(self.joint.encode(u, self.k))
        return mean, var, dmean[:, : u.shape[1]], dvar[:, : u.shape[1]]

    def describe(self) -> Mapping[str, Any]:
        """Hyper-parameters of this fidelity, in the unit of y."""
        return self.joint.describe(self.k)


class CoupledProcess(Generic[Process]):
    """The process with fixed hyper-parameters, in the unit of y.

    Rows are added behind those that are there, whatever their fidelity, which costs O(n²) a row. They are only brought
    up to date by `follow`, so that rows which come and go unseen cost nothing.
    """

    def __init__(self, make: MakeGP[Process], hyper: CoupledHyper) -> None:
        self.hyper = hyper
        self._gp = make(hyper.kernel)
        self._order: list[int] = []  # the fidelity of each row of the process
        self._matching = 0  # how many leading rows of the process still match those of the fidelities

    def forget(self, k: int, n: int) -> None:
        """Note that only the first n rows of fidelity k are left."""
        forgotten = np.flatnonzero(np.array(self._order, dtype=np.int64) == k)[n:]
        if len(forgotten):
            self._matching = min(self._matching, int(forgotten[0]))

    def follow(self, rows: Sequence[Rows]) -> Process:
        """The process, conditioned on these rows, (u, y) per fidelity.

        They are those of the last call, less those forgotten since, with others behind them.
        """
        if self._matching == len(self._order) == sum(len(y) for _, y in rows):
            return self._gp
        if self._matching < len(self._order):
            self._gp.truncate(self._matching)
            del self._order[self._matching :]
        for k, (u, y) in enumerate(rows):
            known = self._order.count(k)
            if known < len(y):
                noises = np.full(len(y) - known, self.hyper.noises[k])
                self._gp.extend(_encode(u[known:], k, len(rows)), y[known:], noises)
                self._order += [k] * (len(y) - known)
        self._matching = len(self._order)
        return self._gp


def _encode(u: Array, k: int, count: int) -> Array:
    """The points (u, c(k)) for fidelity k of `count`."""
    dim = u.shape[1]
    coded = np.zeros((len(u), dim + count - 1))
    coded[:, :dim] = u
    coded[:, dim : dim + k] = 1.0
    return coded
