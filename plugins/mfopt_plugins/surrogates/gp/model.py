"""The model behind every built-in surrogate: a Gaussian process of one fidelity that learns in standard units.

The process itself is built in the unit of y, so that its posterior needs no conversion and bounds of several fidelities
can be combined.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic

import numpy as np

from mfopt.hooks import Rows
from mfopt.protocols import Array
from mfopt_plugins.method.kept import array, count, group, mapping, maybe
from mfopt_plugins.surrogates.given import Given
from mfopt_plugins.surrogates.gp.learning import learn
from mfopt_plugins.surrogates.gp.process import Hyper, MakeGP, Process
from mfopt_plugins.surrogates.groups import Groups
from mfopt_plugins.surrogates.priors import central_hyper
from mfopt_plugins.surrogates.rows import is_start
from mfopt_plugins.surrogates.theta import AFRESH, NOTHING
from mfopt_plugins.surrogates.units import Standard


@dataclass(frozen=True)
class Learnt:
    """What the next search is to know of the last one."""

    searched: int  # rows, of all fidelities, when a search last started at the centre of the priors too
    inverse: Array | None  # its H (surrogates/climb.py)


class GPModel(Generic[Process]):
    """The posterior of one fidelity, by a process that `make` makes; `given` is in the unit of y."""

    def __init__(self, make: MakeGP[Process], kernel: str, dim: int, noise: float | None, given: Given) -> None:
        self.make = make
        self.noise = noise  # known variance, None where it is to be learnt
        self.given = given.broadcast(dim)
        self.learnt: Learnt | None = None  # by the last fit
        self._kernel = kernel
        self._hyper = central_hyper(self.given.groups)
        if self.given.lengthscale is not None:
            self._hyper = replace(self._hyper, lengthscale=self.given.lengthscale)
        self._hyper = Standard().restore(self._hyper, self.given, noise)
        self._begin(dim)

    def _begin(self, dim: int) -> None:
        """A process with the present hyper-parameters and no rows."""
        self.gp = self.make(self._hyper)
        self._rows: Rows = (np.empty((0, dim)), np.empty(0))
        self._groups = Groups()

    @property
    def hyper(self) -> Hyper:
        """The hyper-parameters, in the unit of y."""
        return self._hyper

    @property
    def n(self) -> int:
        """Number of rows conditioned on."""
        return self.gp.n

    def fit(self, u: Array, y: Array, rng: np.random.Generator) -> None:
        """Learn the hyper-parameters from these rows and condition on them alone."""
        fit_together([self], [(u, y)], rng)

    def adopt(self, hyper: Hyper, standard: Standard, u: Array, y: Array) -> None:
        """Take over hyper-parameters that were learnt in these units, and condition on these rows alone."""
        self._hyper = standard.restore(hyper, self.given, self.noise)
        self._begin(u.shape[1])
        self.extend(u, y)

    def begins(self, u: Array, y: Array) -> bool:
        """Whether these rows begin with those conditioned on."""
        return is_start(self._rows, (u, y))

    def extend(self, u: Array, y: Array) -> None:
        """Condition on more rows; hyper-parameters stay."""
        if len(y) == 0:
            return
        self.gp.extend(u, y)
        self._rows = (np.vstack([self._rows[0], u]), np.concatenate([self._rows[1], y]))
        self._groups.add(len(y), self.gp.jitter)

    def truncate(self, n: int) -> None:
        """Forget all rows but the first `n`; hyper-parameters stay."""
        self.gp.truncate(n)
        self._rows = (self._rows[0][:n], self._rows[1][:n])
        self._groups.cut(n)

    def state(self) -> dict[str, Any] | None:
        """What was learnt, and how the rows were added; None where that is not known."""
        groups, learnt = self._groups.state(self.n), self.learnt
        if groups is None:
            return None
        return {
            "learnt": None if learnt is None else [learnt.searched, learnt.inverse],
            "hyper": self._hyper.state(),
            "groups": groups,
        }

    def restore(self, state: Mapping[str, Any], rows: Sequence[Rows]) -> None:
        """Be as another one was that told this state, with these rows, (u, y) of its one fidelity."""
        given = mapping(state, "learnt", "hyper", "groups")
        learnt, hyper = maybe(group(count, maybe(array)))(given["learnt"]), Hyper.read(given["hyper"])
        (u, y), size = rows[0], len(self._hyper.lengthscale)
        if len(hyper.lengthscale) != size:
            raise ValueError(f"there must be {size} length-scales, got {len(hyper.lengthscale)}")
        self.learnt = None if learnt is None else Learnt(*learnt)
        if not (hyper.is_same(self._hyper) and self.begins(u, y)):
            self._hyper = hyper
            self._begin(u.shape[1])
        self._groups.rebuild(self.gp, given["groups"], u, y)
        self._rows = (np.array(u), np.array(y))

    def posterior(self, u: Array) -> tuple[Array, Array]:
        """Mean and variance of the function (without the noise of an observation)."""
        return self.gp.posterior(u)

    def posterior_gradient(self, u: Array) -> tuple[Array, Array, Array, Array]:
        """Mean, variance and their gradients in u."""
        return self.gp.posterior_gradient(u)

    def describe(self) -> Mapping[str, Any]:
        """Hyper-parameters in the unit of y, and the jitter that the factorisation needed."""
        return {
            "kernel": self._kernel,
            "lengthscale": [float(v) for v in self._hyper.lengthscale],
            "scale": self._hyper.scale,
            "noise": self._hyper.noise,
            "mean": self._hyper.mean,
            "jitter": float(self.gp.jitter),
        }


def fit_together(models: Sequence[GPModel[Process]], rows: Sequence[Rows], rng: np.random.Generator) -> None:
    """Learn one kernel for all these models from their rows, (u, y) each, and condition each on its own alone."""
    counts = [len(y) for _, y in rows]
    total, first = sum(counts), models[0]
    if total == 0:
        for model in models:
            model.truncate(0)
        return
    standard = Standard.of_several([y for _, y in rows], [model.noise for model in models])
    before = [model.learnt for model in models if model.learnt is not None]
    known = len(before) == len(models)
    searched = before[0].searched if known else 0
    afresh = total >= AFRESH * searched
    if afresh:
        searched = total
    hypers, found = learn(
        first.make,
        [(u, standard.standardise(y)) for u, y in rows],
        standard.standardise_given(first.given),
        [standard.standardise_variance(model.noise) for model in models],
        [standard.standardise_hyper(model.hyper) for model in models] if known else None,
        before[0].inverse if known else None,
        afresh,
        rng,
    )
    for model, hyper, (u, y) in zip(models, hypers, rows, strict=True):
        model.learnt = Learnt(searched, found.inverse)
        if found.gain > NOTHING or not model.begins(u, y):
            model.adopt(hyper, standard, u, y)
        else:
            model.extend(u[model.n :], y[model.n :])
