"""One process over points and fidelities: f(u, m), seen through one Model per fidelity.

Each step from a fidelity to the next is a coordinate of its own: fidelity k of K has the code c(k) ∈ {0, 1}^(K−1) whose
first k entries are 1, and κ((u, m), (u′, m′)) is the kernel at the points (u, c(m)) and (u′, c(m′)). A long
length-scale of a step says that the two fidelities are nearly the same function, a short one that they have nothing in
common; it is learnt like any other (learning.py). So all fidelities have one kernel in u (the paper's assumption), a
cheap value also tells something about the target, and how much is learnt, not assumed. Where `calibrate` was called,
each cheap fidelity has a unit and a zero of its own (calibration.py).

The paper conditions each fidelity on its own values alone; docs/defaults.md says why this is the default.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic

import numpy as np

from mfopt.hooks import Rows
from mfopt.protocols import Array, Model
from mfopt_plugins.method.kept import array, count, flag, mapping, maybe
from mfopt_plugins.surrogates.coupled.calibration import SOME, Calibration
from mfopt_plugins.surrogates.coupled.doubted import Doubted
from mfopt_plugins.surrogates.coupled.learning import (
    CoupledHyper,
    Evaluate,
    evaluate_with,
    lay_out,
    log_likelihood,
    pack,
    unpack,
)
from mfopt_plugins.surrogates.given import Given
from mfopt_plugins.surrogates.gp.process import MakeGP, Process
from mfopt_plugins.surrogates.groups import LevelledProcess
from mfopt_plugins.surrogates.priors import NOISY, QUIET, Expectation
from mfopt_plugins.surrogates.rows import is_start, show_noise, thin
from mfopt_plugins.surrogates.theta import AFRESH, NOTHING, Layout, Optimum
from mfopt_plugins.surrogates.units import Standard

_FAR = 0.5  # distance between the codes of two fidelities, in length-scales, from which they have little in common
_ODDS = 2.0  # logarithm of the prior odds against a negative relation


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
        self._calibrated = False
        self._signs = np.ones(len(noises))  # of a_1..a_K
        self._learnt = False
        self._inverse: Array | None = None  # H of the last search (surrogates/climb.py)
        self._searched = 0  # rows when the search last started from the centre of the priors too
        self._rows = [(np.empty((0, dim)), np.empty(0)) for _ in noises]
        self._process = self._make_prior()
        self._longest = self._process.hyper.kernel.lengthscale  # the centres of the priors, or what is given
        self._doubted: Doubted[Process] | None = None  # the process in doubt, where there was any
        self._sure: CoupledProcess[Process] | None = None  # while it is in use, the other
        self.models: Sequence[CoupledModel[Process]] = [CoupledModel(self, k) for k in range(len(noises))]

    def calibrate(self) -> None:
        """Let each fidelity below the target have a unit and a zero of its own, from the next fit on."""
        self._calibrated = True

    @property
    def factors(self) -> Array:
        """a_1..a_K."""
        return self.calibration.a

    @property
    def calibration(self) -> Calibration:
        """The units and zeros in use."""
        return self._process.hyper.calibration

    def fit(self, rows: Sequence[Rows], rng: np.random.Generator) -> None:
        """Learn all hyper-parameters from these rows, (u, y) per fidelity, and condition on them alone."""
        before, self._rows = self._rows, [(np.array(u), np.array(y)) for u, y in rows]
        counts = [len(y) for _, y in rows]
        if not any(counts):
            self._process, self._doubted = self._make_prior(), None
            return
        guess = Calibration.guess(self._rows) if self._calibrated else Calibration.none(len(rows))
        moved = guess.undo(self._rows)
        noises = [None if noise is None else noise / a**2 for noise, a in zip(self._noises, guess.a, strict=True)]
        standard = Standard.of_several([y for _, y in moved], noises)
        expected = NOISY if not self._given.flat and show_noise(self._rows) else QUIET
        layout = self._lay_out(standard, noises, expected)
        afresh = sum(counts) >= AFRESH * self._searched or self._is_surprised(expected, standard)
        if afresh:
            self._searched = sum(counts)
        chosen = moved if self._given.flat else thin(moved)
        some = [(self.encode(u, k), standard.standardise(y)) for k, (u, y) in enumerate(chosen)]
        present = self._pack_present(layout, standard, guess) if self._learnt else None
        found = self._learn(some, layout, present, afresh, rng)
        self._learnt, self._inverse = True, found.inverse
        if found.gain > NOTHING or not all(map(is_start, before, self._rows)):
            self._process = self._make_process(unpack(layout, found.theta, self._signs), standard, guess)
            same = all(map(is_start, before, self._rows))
            if self._doubted is not None and not (same and self._doubted.lasts(sum(counts), self._signs)):
                self._doubted = None
        self._process.follow(self._rows)

    def doubt(self, told: Sequence[int] | None = None) -> None:
        """From now on no length-scale, of a coordinate or of a step, is longer than the centre of its prior.

        Values that crowd at one maximum say that some coordinates do not matter, and that fidelities differ by their
        units alone. Both may hold nowhere else.
        """
        if self._doubted is None:
            self._doubted = self._make_doubted()
        self._sure, self._process = self._process, self._doubted.process
        if told is not None:  # rows that are soon forgotten must not be of one group with others, which would go too
            self._process.follow([(u[:n], y[:n]) for n, (u, y) in zip(told, self._rows, strict=True)])
        self._process.follow(self._rows)

    def believe(self) -> None:
        """Be as before `doubt` again."""
        sure, self._sure = self._sure, None
        if sure is not None:
            self._process = sure
            self._process.follow(self._rows)

    def _make_doubted(self) -> Doubted[Process]:
        """The process in doubt, without rows."""
        hyper = self._process.hyper
        shorter = replace(hyper.kernel, lengthscale=np.minimum(hyper.kernel.lengthscale, self._longest))
        return Doubted(CoupledProcess(self._make, replace(hyper, kernel=shorter)), sum(len(y) for _, y in self._rows))

    def _pack_present(self, layout: Layout, standard: Standard, guess: Calibration) -> Array:
        """θ of the present process in these standard units after this guess."""
        hyper = self._process.hyper
        calibration = hyper.calibration.before(guess).standardise(standard.offset, standard.unit)
        noises = hyper.noises / (standard.unit * guess.a) ** 2
        return pack(layout, CoupledHyper(standard.standardise_hyper(hyper.kernel), noises, calibration))

    def _learn(
        self, rows: Sequence[Rows], layout: Layout, previous: Array | None, afresh: bool, rng: np.random.Generator
    ) -> Optimum:
        """The best θ for rows of coded points in standard units, with the signs that go with it."""
        evaluate = self._evaluate(rows)
        likelihood = log_likelihood(evaluate, self._dim, layout, self._signs)
        found = layout.search(likelihood, previous, self._inverse, afresh, rng)
        top = len(rows) - 1
        for k in range(top if self._calibrated and len(rows[top][1]) >= SOME else 0):
            # Fidelities that seem to have little in common may be each other's opposite.
            step = np.exp(found.theta[layout["step"]])
            if len(rows[k][1]) < SOME or np.sum(step[k:] ** -2.0) < _FAR**2:
                continue
            signs, start = self._signs.copy(), found.theta.copy()
            signs[k] *= -1.0
            start[layout["step"]] = layout.centre[layout["step"]]
            other = layout.find_maximum(log_likelihood(evaluate, self._dim, layout, signs), [start])
            if other.density > found.density - _ODDS * signs[k]:
                found, self._signs = other, signs
        return found

    def _evaluate(self, rows: Sequence[Rows]) -> Evaluate:
        """The log likelihood of rows of coded points, (u, y) per fidelity."""
        return evaluate_with(self._make, rows)

    @property
    def process(self) -> CoupledProcess[Process]:
        """The process with its units and zeros, conditioned on the rows of all fidelities."""
        return self._process

    @property
    def gp(self) -> Process:
        """The process, conditioned on the rows of all fidelities."""
        return self._process.gp

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
        self._process.follow(self._rows)

    def truncate(self, k: int, n: int) -> None:
        """Forget all rows of fidelity k but the first n; hyper-parameters stay."""
        self._rows[k] = (self._rows[k][0][:n], self._rows[k][1][:n])
        (self._sure or self._process).forget(k, n)
        if self._doubted is not None:
            self._doubted.process.forget(k, n, whole=True)
        self._process.follow(self._rows)

    def refit(self, k: int, u: Array, y: Array, rng: np.random.Generator) -> None:
        """Replace the rows of fidelity k, and learn all hyper-parameters anew."""
        self.fit([(u, y) if j == k else rows for j, rows in enumerate(self._rows)], rng)

    def state(self) -> dict[str, Any] | None:
        """What was learnt, and how the rows were added; None where that is not known."""
        process, hyper = self._process.state(), self._process.hyper
        doubted = None if self._doubted is None else self._doubted.state()
        if process is None or (doubted is None) != (self._doubted is None):
            return None
        return {
            "learnt": self._learnt,
            "inverse": None if self._inverse is None else self._inverse.copy(),
            "searched": self._searched,
            "signs": self._signs.copy(),
            "hyper": hyper.state(),
            "process": process,
            "doubted": doubted,
        }

    def restore(self, state: Mapping[str, Any], rows: Sequence[Rows]) -> None:
        """Be as another one was that told this state, with these rows, (u, y) per fidelity."""
        given = mapping(state, "learnt", "inverse", "searched", "signs", "hyper", "process", "doubted")
        hyper = CoupledHyper.read(given["hyper"], self._dim, len(self._noises))
        inverse, signs = maybe(array)(given["inverse"]), array(given["signs"])
        if signs.shape != self._signs.shape or (inverse is not None and inverse.ndim != 2):
            raise ValueError(f"there must be {len(self._signs)} signs and a matrix, got other shapes")
        if not (hyper.is_same(self._process.hyper) and all(map(is_start, self._rows, rows))):
            self._process = CoupledProcess(self._make, hyper)
        self._learnt, self._searched = flag(given["learnt"]), count(given["searched"])
        self._inverse, self._signs = inverse, signs
        self._rows = [(np.array(u), np.array(y)) for u, y in rows]
        self._process.rebuild(given["process"], self._rows)
        self._doubted = None
        if given["doubted"] is not None:
            doubted = mapping(given["doubted"], "hyper", "rows", "process")
            older = CoupledHyper.read(doubted["hyper"], self._dim, len(self._noises))
            self._doubted = Doubted(CoupledProcess(self._make, older), count(doubted["rows"]))
            self._doubted.process.rebuild_later(doubted["process"], self._rows)  # the next asks may do without it

    def describe(self, k: int) -> Mapping[str, Any]:
        """Hyper-parameters in the unit of the target; `step` are the length-scales of the steps between fidelities.

        Values of this fidelity are those of the process times `factor` plus `shift`; `noise` is theirs.
        """
        hyper = self._process.hyper
        return {
            "kernel": f"{self._kernel} over fidelities",
            "lengthscale": hyper.kernel.lengthscale[: self._dim].tolist(),
            "step": hyper.kernel.lengthscale[self._dim :].tolist(),
            "factor": float(hyper.calibration.a[k]),
            "shift": float(hyper.calibration.b[k]),
            "scale": hyper.kernel.scale,
            "noise": float(hyper.noises[k]),
            "mean": hyper.kernel.mean,
            "jitter": float(self.gp.jitter),
        }

    def _is_surprised(self, expected: Expectation, standard: Standard) -> bool:
        """Whether the values show a noise that the present process does not know of."""
        return expected is NOISY and self._learnt and NOISY.doubts(self._process.hyper.noises / standard.unit**2)

    def _lay_out(self, standard: Standard, noises: Sequence[float | None], expected: Expectation = QUIET) -> Layout:
        known = [standard.standardise_variance(noise) for noise in noises]
        return lay_out(standard.standardise_given(self._given), known, self._calibrated, expected)

    def _make_prior(self) -> CoupledProcess[Process]:
        """The process before anything is learnt: at the centre of the priors, but for what is given."""
        layout = self._lay_out(Standard(), self._noises)
        hyper = unpack(layout, layout.fix(layout.centre), self._signs)
        return self._make_process(hyper, Standard(), Calibration.none(len(self._noises)))

    def _make_process(self, hyper: CoupledHyper, standard: Standard, guess: Calibration) -> CoupledProcess[Process]:
        """The process with these hyper-parameters, which are in standard units after this guess, without rows."""
        learnt = hyper.noises * (standard.unit * guess.a) ** 2
        # A noise that is known to be 0 has no logarithm, so the known value is taken as it is.
        noises = np.array([learnt[k] if noise is None else noise for k, noise in enumerate(self._noises)])
        kernel = standard.restore(hyper.kernel, self._given, 0.0)
        calibration = guess.after(hyper.calibration.restore(standard.offset, standard.unit))
        return CoupledProcess(self._make, CoupledHyper(kernel, noises, calibration))


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
        return self.joint.process.posterior(u, self.k)

    def posterior_gradient(self, u: Array) -> tuple[Array, Array, Array, Array]:
        """Mean, variance and their gradients in u."""
        return self.joint.process.posterior_gradient(u, self.k)

    def describe(self) -> Mapping[str, Any]:
        """Hyper-parameters of this fidelity, in the unit of y."""
        return self.joint.describe(self.k)


class CoupledProcess(LevelledProcess[Process]):
    """The process with fixed hyper-parameters, in the unit of y."""

    def __init__(self, make: MakeGP[Process], hyper: CoupledHyper) -> None:
        self.hyper = hyper
        self._make_gp = make
        super().__init__(hyper.calibration.a, hyper.calibration.b, hyper.noises)
        self.levels: Sequence[Any] = ()  # what a surrogate has made of its fidelities (compiled.py)

    def _make(self) -> Process:
        return self._make_gp(self.hyper.kernel)

    def encode(self, u: Array, k: int) -> Array:
        """The points (u, c(k))."""
        return _encode(u, k, len(self.noises))


def _encode(u: Array, k: int, count: int) -> Array:
    """The points (u, c(k)) for fidelity k of `count`."""
    dim = u.shape[1]
    coded = np.zeros((len(u), dim + count - 1))
    coded[:, :dim] = u
    coded[:, dim : dim + k] = 1.0
    return coded
