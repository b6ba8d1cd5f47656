"""The models of the fidelities in use: kept up to date with what was told, and asked. learning.py: how they learn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from mfopt.hooks import FullAcquisition, FusesBounds, TellsFactors
from mfopt.protocols import Array, JointModel, Query, Surrogate
from mfopt_plugins.method.kept import count, finite, many, mapping, maybe
from mfopt_plugins.method.learning import Clock, Growing, Jointly, Periodic, choose_learning
from mfopt_plugins.method.observations import AGREE, Observations
from mfopt_plugins.method.upper_bound import PlainBound

NOISELESS = 1e-4  # of the values' variance: learnt noise below it counts as none
ENOUGH = 5  # values of a fidelity before a learnt noise is believed


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
        when = periodic if period else partial(Growing, observations, seed)
        enough = max(3, 2 * dim) if own is None else own
        self._make = partial(choose_learning, self._surrogates, dim, when, enough, coupled, calibrated, one_kernel)
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
