"""The ways in which models of several fidelities learn where each has a process of its own (models.py has Jointly).

WithOneKernel   a model per fidelity, conditioned on its own rows alone, with one kernel learnt from all rows: the
                assumption of the paper's theory, f⁽ᵐ⁾ ~ GP(0, κ) for every m
Alone           a model per fidelity that learns by itself, as in the paper's experiments, and for surrogates that
                offer nothing else or differ
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from mfopt.hooks import KeepsFit, Rows, SharesKernel, shared_surrogate
from mfopt.protocols import Model, Surrogate
from mfopt_plugins.method.kept import count, group, many, mapping, maybe

if TYPE_CHECKING:  # models.py has both, so that an ask which learns nothing does not come here
    from mfopt_plugins.method.models import Schedule


def choose_learning(
    surrogates: Sequence[Surrogate],
    dim: int,
    own: int,
    one_kernel: bool,
    when: Schedule,
    noises: Sequence[float | None],
) -> Learning:
    """The way in which models of these surrogates learn, one for each fidelity."""
    models = [surrogate.model(dim, noise) for surrogate, noise in zip(surrogates, noises, strict=True)]
    one = shared_surrogate(surrogates)
    if one_kernel and isinstance(one, SharesKernel):
        return WithOneKernel(models, one, when)
    return Alone(models, when, own)


class Learning(Protocol):
    """How the models learn their hyper-parameters."""

    @property
    def models(self) -> Sequence[Model]:
        """One per position."""

    def learn(self) -> None:
        """Learn from the values told, now that some fidelity is due."""

    def forget(self) -> None:
        """What was learnt no longer counts."""

    def state(self) -> dict[str, Any] | None:
        """What the models have learnt; None where one of them cannot tell."""

    def restore(self, state: object, rows: Sequence[Rows]) -> None:
        """Be as another one was that told this state, with models that had these rows, (u, y) per position."""


class WithOneKernel:
    """One kernel for all models, learnt as soon as any of them is due."""

    def __init__(self, models: Sequence[Model], surrogate: SharesKernel, when: Schedule) -> None:
        self.models = models
        self._surrogate = surrogate
        self._when = when

    def learn(self) -> None:
        """Learn the kernel from all rows."""
        rng = self._when.generator(len(self.models) - 1)
        self._surrogate.fit_together(self.models, self._when.all_rows(), rng)
        self._when.mark_all_learnt()

    def forget(self) -> None:
        """What was learnt no longer counts."""
        self._when.forget()

    def state(self) -> dict[str, Any] | None:
        """What the models have learnt; None where one of them cannot tell."""
        return tell_models(self.models)

    def restore(self, state: object, rows: Sequence[Rows]) -> None:
        """Be as another one was that told this state, with models that had these rows."""
        restore_models(self.models, mapping(state, "models"), [[row] for row in rows])


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

    def forget(self) -> None:
        """What was learnt or borrowed no longer counts."""
        self._when.forget()
        self._lender = [None] * len(self.models)

    def state(self) -> dict[str, Any] | None:
        """What the models have learnt or borrowed; None where one of them cannot tell."""
        told = tell_models(self.models)
        return None if told is None else {**told, "lenders": [one and list(one) for one in self._lender]}

    def restore(self, state: object, rows: Sequence[Rows]) -> None:
        """Be as another one was that told this state, with models that had these rows."""
        given = mapping(state, "models", "lenders")
        lenders = many(maybe(group(count, count)), len(self.models))(given["lenders"])
        restore_models(self.models, given, [[row] for row in rows])
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


def tell_models(models: Sequence[object]) -> dict[str, Any] | None:
    """What each of these models, joint or not, has learnt; None where one cannot tell."""
    states = [model.state() if isinstance(model, KeepsFit) else None for model in models]
    return None if any(state is None for state in states) else {"models": states}


def restore_models(models: Sequence[object], given: Mapping[str, Any], rows: Sequence[Sequence[Rows]]) -> None:
    """The same back; a joint model has the rows of all positions, others those of one."""
    states: list[Any] = many(lambda state: state, len(models))(given["models"])
    for model, state, own in zip(models, states, rows, strict=True):
        if not isinstance(model, KeepsFit):
            raise ValueError("models must be able to be restored, got one that is not")
        model.restore(state, own)
