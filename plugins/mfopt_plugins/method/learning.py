"""The three ways in which the models of several fidelities learn, and when.

    Jointly         one posterior of all fidelities (protocols.JointModel): a row of one moves all of them. The default
                    of mf-gp-ucb is of this kind, one process over points and fidelities
    WithOneKernel   a model per fidelity, conditioned on its own rows alone, with one kernel learnt from all rows: the
                    assumption of the paper's theory, f⁽ᵐ⁾ ~ GP(0, κ) for every m
    Alone           a model per fidelity that learns by itself, as in the paper's experiments, and for surrogates that
                    offer nothing else or differ

When to learn again: as soon as the rows of a fidelity have grown by GROWTH (10 %) since it last learnt, at least by one
row. The number of fits up to n rows is then about log n / log 1.1, so that their total cost is a constant times the
cost of the last one, while few rows (when a row changes most) are refitted each time. Between fits rows are appended.
With a `period`, as in the paper, it is after so many iterations of the method instead.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, Protocol

import numpy as np
from numpy.random import Generator

from mfopt.hooks import KeepsFit, Rows, SharesKernel, joint_model, shared_surrogate
from mfopt.protocols import Array, JointModel, Model, Surrogate
from mfopt_plugins.method.kept import Kept, count, fields, group, many, mapping, maybe
from mfopt_plugins.method.observations import Observations

GROWTH = 0.1
_LEARNING_STREAM = 2  # keeps the generators used here apart from those of the initial design


@dataclass
class Clock(Kept):
    """How many iterations, t, a method has made."""

    kept = fields(t=count)

    t: int = 0


def choose_learning(
    surrogates: Sequence[Surrogate],
    dim: int,
    make_schedule: Callable[[], Schedule],
    own: int,
    coupled: bool,
    calibrated: bool,
    one_kernel: bool,
    noises: Sequence[float | None],
) -> Learning:
    """The way in which models of these surrogates learn."""
    when = make_schedule()
    joint = joint_model(surrogates, dim, noises, coupled, calibrated)
    if joint is not None:
        return Jointly(joint, when)
    models = [surrogate.model(dim, noise) for surrogate, noise in zip(surrogates, noises, strict=True)]
    one = shared_surrogate(surrogates)
    if one_kernel and isinstance(one, SharesKernel):
        return WithOneKernel(models, one, when)
    return Alone(models, when, own)


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


class Learning(Protocol):
    """How the models learn their hyper-parameters."""

    @property
    def models(self) -> Sequence[Model]:
        """One per position."""

    def learn(self) -> None:
        """Learn from the values told where that is due."""

    def has_learnt(self, k: int) -> bool:
        """Whether position k has learnt from rows of its own."""

    def forget(self) -> None:
        """What was learnt no longer counts."""

    def state(self) -> dict[str, Any] | None:
        """What the models have learnt, and when; None where one of them cannot tell."""

    def restore(self, state: object, rows: Sequence[Rows]) -> None:
        """Be as another one was that told this state, with models that had these rows, (u, y) per position."""


class Jointly:
    """One posterior of all fidelities, which learns as soon as any of them is due."""

    def __init__(self, joint: JointModel, when: Schedule) -> None:
        self.joint = joint
        self.models = joint.models
        self._when = when

    def learn(self) -> None:
        """Learn all hyper-parameters from all rows."""
        if self._when.any_due():
            self.joint.fit(self._when.all_rows(), self._when.generator(len(self.models) - 1))
            self._when.mark_all_learnt()

    def has_learnt(self, k: int) -> bool:
        """Whether anything was learnt."""
        return self._when.has_learnt(k)

    def forget(self) -> None:
        """What was learnt no longer counts."""
        self._when.forget()

    def state(self) -> dict[str, Any] | None:
        """What the process has learnt, and when."""
        return _tell_states(self._when, [self.joint])

    def restore(self, state: object, rows: Sequence[Rows]) -> None:
        """Be as another one was that told this state, with a process that had these rows."""
        _restore_states(self._when, [self.joint], mapping(state, "when", "models"), [rows])


class WithOneKernel:
    """One kernel for all models, learnt as soon as any of them is due."""

    def __init__(self, models: Sequence[Model], surrogate: SharesKernel, when: Schedule) -> None:
        self.models = models
        self._surrogate = surrogate
        self._when = when

    def learn(self) -> None:
        """Learn the kernel from all rows."""
        if self._when.any_due():
            rng = self._when.generator(len(self.models) - 1)
            self._surrogate.fit_together(self.models, self._when.all_rows(), rng)
            self._when.mark_all_learnt()

    def has_learnt(self, k: int) -> bool:
        """Whether anything was learnt."""
        return self._when.has_learnt(k)

    def forget(self) -> None:
        """What was learnt no longer counts."""
        self._when.forget()

    def state(self) -> dict[str, Any] | None:
        """What the models have learnt, and when."""
        return _tell_states(self._when, self.models)

    def restore(self, state: object, rows: Sequence[Rows]) -> None:
        """Be as another one was that told this state, with models that had these rows."""
        _restore_states(self._when, self.models, mapping(state, "when", "models"), [[row] for row in rows])


class Alone:
    """Each model learns from its own rows.

    One with fewer than `own` rows cannot say much about its hyper-parameters, and nothing at all about its scale with
    none. It borrows them from the nearest fidelity that has enough (the lower one if there are two): its model is
    fitted to those rows, then emptied, and conditioned on its own rows. So the scale of its prior follows the data's.
    """

    def __init__(self, models: Sequence[Model], when: Schedule, own: int) -> None:
        self.models = models
        self._when = when
        self._own = own
        self._lender: list[tuple[int, int] | None] = [None] * len(models)  # position that lent, and its stamp

    def learn(self) -> None:
        """Learn where it is due; borrow where rows are few."""
        when, counts = self._when, self._when.observations.counts
        for k, model in enumerate(self.models):
            if counts[k] < self._own:
                self._borrow(k)
            elif when.is_due(k):
                model.fit(*when.observations.rows(k), when.generator(k))
                when.mark_learnt(k)

    def has_learnt(self, k: int) -> bool:
        """Whether position k learnt from its own rows."""
        return self._when.has_learnt(k)

    def forget(self) -> None:
        """What was learnt or borrowed no longer counts."""
        self._when.forget()
        self._lender = [None] * len(self.models)

    def state(self) -> dict[str, Any] | None:
        """What the models have learnt or borrowed, and when."""
        told = _tell_states(self._when, self.models)
        return None if told is None else {**told, "lenders": [one and list(one) for one in self._lender]}

    def restore(self, state: object, rows: Sequence[Rows]) -> None:
        """Be as another one was that told this state, with models that had these rows."""
        given = mapping(state, "when", "models", "lenders")
        lenders = many(maybe(group(count, count)), len(self.models))(given["lenders"])
        _restore_states(self._when, self.models, given, [[row] for row in rows])
        self._lender = [None if one is None else (one[0], one[1]) for one in lenders]

    def _borrow(self, k: int) -> None:
        """Give model k the hyper-parameters that the lender's rows suggest, and no rows."""
        observations = self._when.observations
        counts = observations.counts
        enough = [j for j in range(len(self.models)) if counts[j] >= self._own]
        # No fidelity has enough rows: the one that has most lends what it can, possibly to itself.
        lenders = enough or [max(range(len(self.models)), key=lambda j: counts[j])]
        j = min(lenders, key=lambda j: (abs(j - k), j))
        n = counts[j]
        before = self._lender[k]
        if n == 0 or (before is not None and before[0] == j and not self._when.is_outdated(before[1], j)):
            return
        self.models[k].fit(*observations.rows(j), self._when.generator(k))
        self.models[k].truncate(0)
        self._lender[k] = (j, self._when.stamp(j))


def _tell_states(when: Schedule, models: Sequence[object]) -> dict[str, Any] | None:
    """When was learnt, and what each of these models, joint or not, has; None where one cannot tell."""
    states = [model.state() if isinstance(model, KeepsFit) else None for model in models]
    return None if any(state is None for state in states) else {"when": when.state(), "models": states}


def _restore_states(
    when: Schedule, models: Sequence[object], given: Mapping[str, Any], rows: Sequence[Sequence[Rows]]
) -> None:
    """The same back; a joint model has the rows of all positions, others those of one."""
    states: list[Any] = many(lambda state: state, len(models))(given["models"])
    when.restore(given["when"])
    for model, state, own in zip(models, states, rows, strict=True):
        if not isinstance(model, KeepsFit):
            raise ValueError("models must be able to be restored, got one that is not")
        model.restore(state, own)
