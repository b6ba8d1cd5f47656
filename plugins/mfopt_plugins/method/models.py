"""The models of the fidelities in use: kept up to date with what was told, and asked; fitting.py says how they learn.

When to learn again: as soon as the rows of a fidelity have grown by GROWTH (10 %) since it last learnt, at least by one
row. The number of fits up to n rows is then about log n / log 1.1, so that their total cost is a constant times the
cost of the last one, while few rows (when a row changes most) are refitted each time. Between fits rows are appended.
With a `period`, as in the paper, it is after so many iterations of the method instead.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import Any

import numpy as np
from numpy.random import Generator

from mfopt.hooks import DoubtsFit, FullAcquisition, FusesBounds, Rows, TellsFactors, joint_model
from mfopt.protocols import Array, JointModel, Query, Surrogate
from mfopt_plugins.method.fitting import Learning, choose_learning, restore_models, tell_models
from mfopt_plugins.method.kept import Kept, count, fields, finite, many, mapping, maybe
from mfopt_plugins.method.observations import AGREE, Observations
from mfopt_plugins.method.upper_bound import PlainBound

NOISELESS = 1e-4  # of the values' variance: learnt noise below it counts as none
ENOUGH = 5  # values of a fidelity before a learnt noise is believed
GROWTH = 0.1
_LEARNING_STREAM = 2  # keeps the generators used here apart from those of the initial design


@dataclass
class Clock(Kept):
    """How many iterations, t, a method has made."""

    kept = fields(t=count)

    t: int = 0


class Schedule(Kept, ABC):
    """When which position learns again, from which rows, with which generator."""

    kept = fields(_learnt=many(maybe(count)))

    def __init__(self, observations: Observations, seed: int) -> None:
        self.observations = observations
        self._seed = seed
        self._learnt: list[int | None] = [None] * len(observations.used)  # stamps; None: never learnt

    @abstractmethod
    def stamp(self, k: int) -> int:
        """What is remembered of learning from the present rows of position k."""

    @abstractmethod
    def is_outdated(self, stamp: int, k: int) -> bool:
        """Whether learning from the rows of position k again is worth its cost."""

    def is_due(self, k: int) -> bool:
        """Whether position k never learnt, or is to learn again."""
        before = self._learnt[k]
        return before is None or self.is_outdated(before, k)

    def any_due(self) -> bool:
        """Whether any position is due."""
        return any(self.is_due(k) for k in range(len(self._learnt)))

    def has_learnt(self, k: int) -> bool:
        """Whether position k has learnt."""
        return self._learnt[k] is not None

    def all_rows(self) -> list[tuple[Array, Array]]:
        """The rows of every position."""
        return [self.observations.rows(k) for k in range(len(self._learnt))]

    def mark_learnt(self, k: int) -> None:
        """Position k has learnt from its present rows."""
        self._learnt[k] = self.stamp(k)

    def mark_all_learnt(self) -> None:
        """Every position has learnt from its present rows."""
        self._learnt = [self.stamp(k) for k in range(len(self._learnt))]

    def forget(self) -> None:
        """Every position is due."""
        self._learnt = [None] * len(self._learnt)

    def generator(self, k: int) -> Generator:
        """The generator with which position k learns from its present rows."""
        observations = self.observations
        return np.random.default_rng([self._seed, _LEARNING_STREAM, observations.used[k], observations.counts[k]])


class Growing(Schedule):
    """A position learns again when its rows have grown by GROWTH."""

    def stamp(self, k: int) -> int:
        """The number of rows."""
        return self.observations.counts[k]

    def is_outdated(self, stamp: int, k: int) -> bool:
        """Whether there are so many more rows."""
        return self.observations.counts[k] - stamp >= max(1, ceil(GROWTH * stamp))


class Periodic(Schedule):
    """A position learns again after `period` iterations of the method, which `clock` counts."""

    def __init__(self, observations: Observations, seed: int, period: int, clock: Clock) -> None:
        super().__init__(observations, seed)
        self._period = period
        self._clock = clock

    def stamp(self, k: int) -> int:
        """The iteration."""
        return self._clock.t

    def is_outdated(self, stamp: int, k: int) -> bool:
        """Whether so many iterations have passed."""
        return self._clock.t - stamp >= self._period


class Jointly:
    """One posterior of all fidelities, which learns as soon as any of them is due."""

    def __init__(self, joint: JointModel, when: Schedule) -> None:
        self.joint = joint
        self.models = joint.models
        self._when = when

    def learn(self) -> None:
        """Learn all hyper-parameters from all rows."""
        self.joint.fit(self._when.all_rows(), self._when.generator(len(self.models) - 1))
        self._when.mark_all_learnt()

    def forget(self) -> None:
        """What was learnt no longer counts."""
        self._when.forget()

    def state(self) -> dict[str, Any] | None:
        """What the process has learnt; None where it cannot tell."""
        return tell_models([self.joint])

    def restore(self, state: object, rows: Sequence[Rows]) -> None:
        """Be as another one was that told this state, with a process that had these rows."""
        restore_models([self.joint], mapping(state, "models"), [rows])


class FidelityModels:
    """The models of the fidelities that `observations` holds; positions k as there.

    `own` is the number of rows from which a fidelity that learns alone has something to say about its
    hyper-parameters; by default 2 dim, at least 3. With `coupled` a surrogate that can models all as one process, and
    with `calibrated` it learns the unit and the zero of each fidelity. Without `one_kernel` each fidelity that has a
    process of its own learns alone. With a `period` models learn again after so many iterations by the `clock`.
    """

    def __init__(
        self,
        surrogates: Sequence[Surrogate],
        noises: Sequence[float | None],
        observations: Observations,
        dim: int,
        seed: int,
        own: int | None = None,
        coupled: bool = False,
        calibrated: bool = False,
        one_kernel: bool = True,
        period: int = 0,
        clock: Clock | None = None,
    ) -> None:
        self.used = observations.used
        self.observations = observations
        self._noises = [noises[m] for m in self.used]
        self._surrogates = [surrogates[m] for m in self.used]
        self._assumed = list(self._noises)  # what the models take the noises for; None where they learn them
        periodic = partial(Periodic, observations, seed, period, clock or Clock())
        self._make_schedule = periodic if period else partial(Growing, observations, seed)
        enough = max(3, 2 * dim) if own is None else own
        self._make_joint = partial(joint_model, self._surrogates, dim, coupled=coupled, calibrated=calibrated)
        self._choose = partial(choose_learning, self._surrogates, dim, enough, one_kernel)
        self._begin()

    def _begin(self) -> None:
        """Make models that have seen nothing and assume these noises."""
        self._when: Schedule = self._make_schedule()
        joint = self._make_joint(self._assumed)
        self._learning: Learning = (
            self._choose(self._when, self._assumed) if joint is None else Jointly(joint, self._when)
        )
        self.models = list(self._learning.models)

    @property
    def joint(self) -> JointModel | None:
        """The posterior of all fidelities together, where there is one."""
        return self._learning.joint if isinstance(self._learning, Jointly) else None

    def ranges(self) -> Array:
        """The range of the values of each position, in the target's unit where the models know of several."""
        ranges = np.array(self.observations.ranges())
        return ranges / np.abs(self.joint.factors) if isinstance(self.joint, TellsFactors) else ranges

    def update(self) -> None:
        """Bring every model up to date with the values told: learn where it is due, otherwise append."""
        if self._when.any_due():
            self._learning.learn()
        for k, model in enumerate(self.models):
            known = model.n
            if known < self.observations.counts[k]:
                u, y = self.observations.rows(k)
                model.extend(u[known:], y[known:])

    def reconsider_noise(self) -> None:
        """Begin with new models where values told for the same point contradict the noise that these assume."""
        assumed = [self._assume_noise(k) for k in range(len(self.used))]
        if assumed != self._assumed:
            self._assumed = assumed
            self._begin()

    def forget(self) -> None:
        """Learn everything anew at the next update: the values are seen differently, maybe in another unit."""
        self._learning.forget()
        if self._assumed != self._noises:
            self._assumed = list(self._noises)
            self._begin()

    @contextmanager
    def hallucinate(self, pending: Sequence[Query]) -> Iterator[None]:
        """Within, each pending query counts as told with its model's mean there: widths shrink, means stay."""
        before = [model.n for model in self.models]
        try:
            for k, model in enumerate(self.models):
                points = [q.u for q in pending if q.fidelity == self.used[k]]
                if points:
                    u = np.array(points)
                    model.extend(u, model.posterior(u)[0])
            yield
        finally:
            for model, n in zip(self.models, before, strict=True):
                if model.n > n:
                    model.truncate(n)

    @contextmanager
    def doubt(self) -> Iterator[bool]:
        """Within, the models are less sure of what they have learnt; False where they cannot be."""
        joint: object = self.joint
        if not isinstance(joint, DoubtsFit):
            yield False
            return
        joint.doubt(self.observations.counts)
        try:
            yield True
        finally:
            joint.believe()

    def at(self, u: Array) -> tuple[Array, Array]:
        """Means and standard deviations (K,) of all models at one point."""
        both = [model.posterior(u[None, :]) for model in self.models]
        return np.array([mean[0] for mean, _ in both]), np.sqrt([var[0] for _, var in both])

    def explain(self, u: Array) -> Array:
        """By position, the part of the target's variance at the point u that a value there would remove, (K,)."""
        point, top = u[None, :], self.models[-1]
        before = float(top.posterior(point)[1][0])
        parts = np.zeros(len(self.models))
        for k, model in enumerate(self.models if before > 0.0 else []):
            n = model.n
            model.extend(point, model.posterior(point)[0])
            try:
                parts[k] = 1.0 - float(top.posterior(point)[1][0]) / before
            finally:
                model.truncate(n)
        return np.clip(parts, 0.0, 1.0)

    def bound(self, positions: Sequence[int], beta: float, zetas: Sequence[float]) -> FullAcquisition:
        """φ = min φ_m over these positions, eq. (mfgpucbDefn).

        Where their surrogates are of one class that fuses bounds, that does the work.
        """
        models, first = [self.models[k] for k in positions], self._surrogates[positions[0]]
        if isinstance(first, FusesBounds) and all(type(self._surrogates[k]) is type(first) for k in positions):
            return first.bound(models, beta, zetas)
        return PlainBound(models, beta, zetas)

    def is_noiseless(self, k: int) -> bool:
        """Whether asking the same point again at position k would tell nothing new.

        Known noise decides; otherwise points that were told twice do, by whether their values agree; otherwise the
        learnt noise, by whether it is small.
        """
        known = self._noises[k]
        if known is not None:
            return known == 0.0
        agree = self.observations.is_repeatable(k)
        if agree is not None:
            return agree
        if self.observations.counts[k] < 2:
            return True
        return bool(self._learnt_noise(k) <= NOISELESS * np.var(self.observations.rows(k)[1]))

    def may_be_noisy(self, k: int) -> bool:
        """Whether a noise was learnt at position k, or its values jump, and no point told twice has settled it."""
        if self._noises[k] is not None or self.observations.counts[k] < ENOUGH or not self._when.has_learnt(k):
            return False
        return self.observations.is_repeatable(k) is None and (self.is_noisy(k) or self.observations.jumps(k))

    def may_be_repeated(self, k: int) -> bool:
        """Whether a second value of a point would settle whether position k is noisy: nothing else has."""
        unknown = self._noises[k] is None and self.observations.is_repeatable(k) is None
        return unknown and self.observations.counts[k] > 1

    def is_noisy(self, k: int) -> bool:
        """Whether values of position k are noisy beyond doubt.

        Values of a fidelity that was asked only near a maximum vary little, and next to nothing looks large beside
        them. So a noise that is learnt must also be seen beside the values of all fidelities.
        """
        if self.is_noiseless(k):
            return False
        if self._noises[k] is not None or self.observations.is_repeatable(k) is False:
            return True
        largest = max(float(np.var(self.observations.rows(j)[1])) for j, n in enumerate(self.observations.counts) if n)
        return self._learnt_noise(k) > NOISELESS * largest

    def any_noise_is_certain(self) -> bool:
        """Whether a fidelity is noisy because it was said, or because values of one point differ."""
        return any(self.noise_is_certain(k) for k in range(len(self.used)))

    def noise_is_certain(self, k: int) -> bool:
        """The same of position k."""
        known = self._noises[k]
        return self.observations.is_repeatable(k) is False if known is None else known > 0

    def noise(self, k: int) -> float:
        """The noise variance at position k: known, or learnt; 0 where the fidelity passes for noiseless."""
        known = self._noises[k]
        if known is not None:
            return known
        return self._learnt_noise(k) if self._when.has_learnt(k) and not self.is_noiseless(k) else 0.0

    def _assume_noise(self, k: int) -> float | None:
        """The noise variance that the model of position k is to assume; None where it is to learn it.

        A model that cannot follow a function takes its ups and downs for noise, and then looks nowhere else. Where
        points that were told twice agree, there is none: the model has to follow.
        """
        if self._noises[k] is not None:
            return self._noises[k]
        agree = self.observations.is_repeatable(k)
        if self._assumed[k] is not None:
            return None if agree is False else self._assumed[k]
        values = self.observations.rows(k)[1]
        if agree and self._when.has_learnt(k) and self._learnt_noise(k) > NOISELESS * np.var(values):
            return (AGREE * float(np.ptp(values))) ** 2
        return None

    # ----------------------------------------------------------------------------------------------- state

    def state(self) -> dict[str, Any] | None:
        """What the models have learnt, and when; None where one of them cannot tell."""
        learning = self._learning.state()
        if learning is None:
            return None
        rows = [model.n for model in self.models]
        return {"assumed": list(self._assumed), "rows": rows, "when": self._when.state(), "learning": learning}

    def restore(self, state: object) -> None:
        """Be as other models were of the same observations, which are restored before."""
        given = mapping(state, "assumed", "rows", "when", "learning")
        assumed = many(maybe(finite), len(self.used))(given["assumed"])
        if assumed != self._assumed:
            self._assumed = assumed
            self._begin()
        counts = many(count, len(self.used))(given["rows"])
        if any(n > known for n, known in zip(counts, self.observations.counts, strict=True)):
            raise ValueError(f"models must have at most {self.observations.counts} rows, got {counts}")
        rows = [
            (u[:n], y[:n]) for n, (u, y) in zip(counts, map(self.observations.rows, range(len(counts))), strict=True)
        ]
        self._when.restore(given["when"])
        self._learning.restore(given["learning"], rows)

    def _learnt_noise(self, k: int) -> float:
        return float(self.models[k].describe().get("noise", 0.0))
