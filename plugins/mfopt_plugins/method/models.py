"""The models of the fidelities in use, and the three ways in which they learn.

    Jointly         one posterior of all fidelities (protocols.JointModel): a row of one moves all of them. The default
                    of mf-gp-ucb is of this kind, one process over points and fidelities
    WithOneKernel   a model per fidelity, conditioned on its own rows alone, with one kernel learnt from all rows: the
                    paper's assumption, f⁽ᵐ⁾ ~ GP(0, κ) for every m
    Alone           a model per fidelity that learns by itself, for surrogates that offer nothing else or differ

When to learn again: as soon as the rows of a fidelity have grown by GROWTH (10 %) since it last learnt, at least by one
row. The number of fits up to n rows is then about log n / log 1.1, so that their total cost is a constant times the
cost of the last one, while few rows (when a row changes most) are refitted each time. Between fits rows are appended.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from math import ceil
from typing import Any, Protocol

import numpy as np
from numpy.random import Generator

from mfopt.hooks import (
    FullAcquisition,
    FusesBounds,
    KeepsFit,
    Rows,
    SharesKernel,
    TellsFactors,
    joint_model,
    shared_surrogate,
)
from mfopt.protocols import Array, JointModel, Model, Query, Surrogate
from mfopt_plugins.method.kept import Kept, count, fields, finite, group, many, mapping, maybe
from mfopt_plugins.method.observations import AGREE, Observations
from mfopt_plugins.method.upper_bound import PlainBound

GROWTH = 0.1
NOISELESS = 1e-4  # of the values' variance: learnt noise below it counts as none
ENOUGH = 5  # values of a fidelity before a learnt noise is believed
_LEARNING_STREAM = 2  # keeps the generators used here apart from those of the initial design


class FidelityModels:
    """The models of the fidelities that `observations` holds; positions k as there.

    `own` is the number of rows from which a fidelity that learns alone has something to say about its
    hyper-parameters; by default 2 dim, at least 3. With `coupled` a surrogate that can models all as one process, and
    with `calibrated` it learns the unit and the zero of each fidelity.
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
    ) -> None:
        self.used = observations.used
        self.observations = observations
        self._noises = [noises[m] for m in self.used]
        self._surrogates = [surrogates[m] for m in self.used]
        self._assumed = list(self._noises)  # what the models take the noises for; None where they learn them
        self._make = partial(_choose_learning, self._surrogates, observations, dim, seed, own, coupled, calibrated)
        self._learning = self._make(self._assumed)
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
            self._assumed, self._learning = assumed, self._make(assumed)
            self.models = list(self._learning.models)

    def forget(self) -> None:
        """Learn everything anew at the next update: the values are seen differently, maybe in another unit."""
        self._learning.forget()
        if self._assumed != self._noises:
            self._assumed = list(self._noises)
            self._learning = self._make(self._assumed)
            self.models = list(self._learning.models)

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
        if self._noises[k] is not None or self.observations.counts[k] < ENOUGH or not self._learning.has_learnt(k):
            return False
        return self.observations.is_repeatable(k) is None and (self.is_noisy(k) or self.observations.jumps(k))

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

    def noise_is_certain(self) -> bool:
        """Whether a fidelity is noisy because it was said, or because values of one point differ."""
        return any(
            self.observations.is_repeatable(k) is False if known is None else known > 0
            for k, known in enumerate(self._noises)
        )

    def noise(self, k: int) -> float:
        """The noise variance at position k: known, or learnt; 0 where the fidelity passes for noiseless."""
        known = self._noises[k]
        if known is not None:
            return known
        return self._learnt_noise(k) if self._learning.has_learnt(k) and not self.is_noiseless(k) else 0.0

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
        if agree and self._learning.has_learnt(k) and self._learnt_noise(k) > NOISELESS * np.var(values):
            return (AGREE * float(np.ptp(values))) ** 2
        return None

    # ----------------------------------------------------------------------------------------------- state

    def state(self) -> dict[str, Any] | None:
        """What the models have learnt, and when; None where one of them cannot tell."""
        learning = self._learning.state()
        if learning is None:
            return None
        rows = [model.n for model in self.models]
        return {"assumed": list(self._assumed), "rows": rows, "learning": learning}

    def restore(self, state: object) -> None:
        """Be as other models were of the same observations, which are restored before."""
        given = mapping(state, "assumed", "rows", "learning")
        assumed = many(maybe(finite), len(self.used))(given["assumed"])
        if assumed != self._assumed:
            self._assumed, self._learning = assumed, self._make(assumed)
            self.models = list(self._learning.models)
        counts = many(count, len(self.used))(given["rows"])
        if any(n > known for n, known in zip(counts, self.observations.counts, strict=True)):
            raise ValueError(f"models must have at most {self.observations.counts} rows, got {counts}")
        rows = [
            (u[:n], y[:n]) for n, (u, y) in zip(counts, map(self.observations.rows, range(len(counts))), strict=True)
        ]
        self._learning.restore(given["learning"], rows)

    def _learnt_noise(self, k: int) -> float:
        return float(self.models[k].describe().get("noise", 0.0))


def _choose_learning(
    surrogates: Sequence[Surrogate],
    observations: Observations,
    dim: int,
    seed: int,
    own: int | None,
    coupled: bool,
    calibrated: bool,
    noises: Sequence[float | None],
) -> Learning:
    """The way in which models of these surrogates learn."""
    when = Schedule(observations, seed)
    joint = joint_model(surrogates, dim, noises, coupled, calibrated)
    if joint is not None:
        return Jointly(joint, when)
    models = [surrogate.model(dim, noise) for surrogate, noise in zip(surrogates, noises, strict=True)]
    one = shared_surrogate(surrogates)
    if isinstance(one, SharesKernel):
        return WithOneKernel(models, one, when)
    return Alone(models, when, max(3, 2 * dim) if own is None else own)


def _rows_or_never(value: object) -> int:
    return -1 if value == -1 else count(value)


class Schedule(Kept):
    """When which position learns again, from which rows, with which generator."""

    kept = fields(learnt_at=many(_rows_or_never))

    def __init__(self, observations: Observations, seed: int) -> None:
        self.observations = observations
        self._seed = seed
        self.learnt_at = [-1] * len(observations.used)  # rows when last learnt; −1: never

    def is_due(self, k: int) -> bool:
        """Whether position k has so many more rows that learning again is worth its cost."""
        n, before = self.observations.counts[k], self.learnt_at[k]
        return before < 0 or n - before >= max(1, ceil(GROWTH * before))

    def any_due(self) -> bool:
        """Whether any position is due."""
        return any(self.is_due(k) for k in range(len(self.learnt_at)))

    def all_rows(self) -> list[tuple[Array, Array]]:
        """The rows of every position."""
        return [self.observations.rows(k) for k in range(len(self.learnt_at))]

    def mark_learnt(self) -> None:
        """Every position has learnt from its present rows."""
        self.learnt_at = list(self.observations.counts)

    def forget(self) -> None:
        """Every position is due."""
        self.learnt_at = [-1] * len(self.learnt_at)

    def generator(self, k: int) -> Generator:
        """The generator with which position k learns from its present rows."""
        observations = self.observations
        return np.random.default_rng([self._seed, _LEARNING_STREAM, observations.used[k], observations.counts[k]])


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
            self._when.mark_learnt()

    def has_learnt(self, k: int) -> bool:
        """Whether anything was learnt."""
        return self._when.learnt_at[k] >= 0

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
            self._when.mark_learnt()

    def has_learnt(self, k: int) -> bool:
        """Whether anything was learnt."""
        return self._when.learnt_at[k] >= 0

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
        self._lender: list[tuple[int, int] | None] = [None] * len(models)  # position and rows that were borrowed

    def learn(self) -> None:
        """Learn where it is due; borrow where rows are few."""
        when, counts = self._when, self._when.observations.counts
        for k, model in enumerate(self.models):
            if counts[k] < self._own:
                self._borrow(k)
            elif when.is_due(k):
                model.fit(*when.observations.rows(k), when.generator(k))
                when.learnt_at[k] = counts[k]

    def has_learnt(self, k: int) -> bool:
        """Whether position k learnt from its own rows."""
        return self._when.learnt_at[k] >= 0

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
        if n == 0 or (before is not None and before[0] == j and n < (1 + GROWTH) * before[1]):
            return
        self.models[k].fit(*observations.rows(j), self._when.generator(k))
        self.models[k].truncate(0)
        self._lender[k] = (j, n)


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
