"""Beliefs: what the values of a run say about its functions, by models fitted to the whole history at once.

A run's own models grew with it and belong to its strategy; these are for looking at the run afterwards, whatever
strategy it had, and for answers (answers.py) where the strategy has no models.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from mfopt import registry
from mfopt.checks import direction_sign
from mfopt.fidelities import Fidelity
from mfopt.hooks import Rows, SharesKernel, joint_model, shared_surrogate, tie_scales
from mfopt.protocols import Domain, Model, Surrogate
from mfopt.run.history import History

_STREAM = 2  # of the generator that models learn with
_SMALLEST_NOISE = 1e-4  # of the values' variance: learnt noise below it counts as none


class Beliefs:
    """One model per fidelity, of values to be maximised."""

    def __init__(self, models: Sequence[Model], rows: Sequence[Rows], noises: Sequence[float | None]) -> None:
        self.models = list(models)
        self._values = [y for _, y in rows]
        self._noises = list(noises)

    def count(self, m: int) -> int:
        """Number of values of fidelity m."""
        return len(self._values[m])

    def noise(self, m: int) -> float:
        """The noise variance of fidelity m: known, or learnt; 0 where it passes for noiseless."""
        known = self._noises[m]
        if known is not None or self.count(m) == 0:
            return known or 0.0
        learnt = float(self.models[m].describe().get("noise", 0.0))
        return learnt if learnt > _SMALLEST_NOISE * np.var(self._values[m]) else 0.0


class Described(Protocol):
    """What a run is about, of which a Setup and an Optimizer tell."""

    @property
    def domain(self) -> Domain:
        """X."""

    @property
    def fidelities(self) -> tuple[Fidelity, ...]:
        """From the cheapest to the target."""

    @property
    def direction(self) -> str:
        """Which value is wanted: "maximize" or "minimize"."""

    @property
    def seed(self) -> int:
        """Root of every random stream."""


def fit_beliefs(run: Described, history: History, surrogate: object, coupled: bool = False) -> Beliefs:
    """Models of this kind from the whole history; `coupled`: as one process over all fidelities where it can be."""
    count, dim = len(run.fidelities), run.domain.dim
    noises = [fidelity.noise for fidelity in run.fidelities]
    rows = _rows(run, history)
    surrogates = tie_scales(registry.resolve_each(registry.SURROGATES, surrogate, count), run.domain)
    rng = np.random.default_rng([run.seed, _STREAM, count - 1, len(rows[-1][1])])
    if not any(len(y) for _, y in rows):
        models: Sequence[Model] = [one.model(dim, noise) for one, noise in zip(surrogates, noises, strict=True)]
    else:
        models = _fit(surrogates, dim, noises, rows, coupled, rng)
    return Beliefs(models, rows, noises)


def _rows(run: Described, history: History) -> list[Rows]:
    """Points in unit coordinates and values to be maximised, per fidelity."""
    sign = direction_sign(run.direction)
    u, y, level = run.domain.encode(history.x), sign * history.y, history.fidelity
    known = np.isfinite(y)
    return [(u[known & (level == m)], y[known & (level == m)]) for m in range(len(run.fidelities))]


def _fit(
    surrogates: Sequence[Surrogate],
    dim: int,
    noises: Sequence[float | None],
    rows: Sequence[Rows],
    coupled: bool,
    rng: np.random.Generator,
) -> Sequence[Model]:
    """One model per fidelity, fitted to these rows: together where one surrogate serves all and offers it."""
    joint = joint_model(surrogates, dim, noises, coupled, calibrated=coupled)
    if joint is not None:
        joint.fit(rows, rng)
        return joint.models
    models = [each.model(dim, noise) for each, noise in zip(surrogates, noises, strict=True)]
    one = shared_surrogate(surrogates)
    if isinstance(one, SharesKernel):
        one.fit_together(models, rows, rng)
    else:
        _fit_alone(models, rows, rng)
    return models


def _fit_alone(models: Sequence[Model], rows: Sequence[Rows], rng: np.random.Generator) -> None:
    """Fit each model to its own rows; a fidelity without any takes its scale from the nearest that has some."""
    for m, model in enumerate(models):
        near = min((k for k, (_, y) in enumerate(rows) if len(y)), key=lambda k: (abs(k - m), k))
        model.fit(*rows[near], rng)
        if near != m:
            model.truncate(0)
