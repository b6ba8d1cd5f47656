"""One model per fidelity, each conditioned on its own fidelity's data only (section "MF-GP-UCB" of the paper).

When to relearn: the hyper-parameters of fidelity m are learnt again as soon as its rows have grown by GROWTH (10 %)
since they were last learnt, at least by one row. The number of fits up to n rows is then about log n / log 1.1, so that
their total cost is a constant times the cost of the last one, while few rows (when a row changes most) are refitted
each time. Between fits rows are appended.

The paper assumes one kernel for all fidelities. Where one surrogate serves several and offers `fit_together`, the
kernel is learnt from the rows of all of them, as soon as those of any have grown so.

Otherwise each fidelity learns alone. One with fewer than `own` rows (2 dim, at least 3) cannot say much about its
hyper-parameters, and nothing at all about its scale with none. It borrows them from the nearest fidelity that has
enough (the lower one if there are two): its model is fitted to those rows, then emptied, and conditioned on its own
rows. So the scale of its prior follows the data's.

A surrogate that models all fidelities jointly (protocols.JointModel) is conditioned on all data at once, and learns
again as soon as the rows of any fidelity have grown so; nothing is borrowed there. One that offers `joint` always does,
one that offers `coupled` where the method asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import ceil

import numpy as np
from numpy.random import Generator

from mfopt.protocols import Array, JointModel, Model, Query, Record, Surrogate
from mfopt_plugins.method.softening import Softening

Rows = tuple[Array, Array]

GROWTH = 0.1
_LEARNING_STREAM = 2  # keeps the generators used here apart from those of the initial design


class FidelityModels:
    """The models of the fidelities `used`, positions 0..K−1 in everything below standing for used[0] < used[1] < ..."""

    def __init__(
        self,
        surrogates: Sequence[Surrogate],
        noises: Sequence[float | None],
        used: Sequence[int],
        dim: int,
        seed: int,
        own: int | None = None,
        coupled: bool = False,
    ) -> None:
        self.used = tuple(used)
        self._position = {m: k for k, m in enumerate(self.used)}
        self._seed = seed
        self._dim = dim
        self._own = max(3, 2 * dim) if own is None else own
        self._noises = [noises[m] for m in self.used]
        serving = [surrogates[m] for m in self.used]
        self.joint = _joint(serving, "joint", dim, self._noises)
        if self.joint is None and coupled:
            self.joint = _joint(serving, "coupled", dim, self._noises)
        self.models: list[Model] = (
            [surrogates[m].model(dim, noises[m]) for m in self.used] if self.joint is None else list(self.joint.models)
        )
        self._fit_together = _together(serving) if self.joint is None else None
        self._u: list[list[Array]] = [[] for _ in self.used]
        self._y: list[list[float]] = [[] for _ in self.used]
        self._learnt_at = [-1] * len(self.used)  # rows when last learnt; −1: never
        self._lender: list[tuple[int, int] | None] = [None] * len(self.used)

    def add(self, record: Record) -> None:
        """Take a told value; failed evaluations and fidelities not in use are passed over."""
        k = self._position.get(record.fidelity)
        if k is not None and record.y is not None:
            self._u[k].append(record.u)
            self._y[k].append(record.y)

    def soften(self, softening: Softening) -> None:
        """See all values told so far through `softening`; everything is learnt anew at the next update."""
        self._y = [softening(np.array(y)).tolist() for y in self._y]
        self._learnt_at = [-1] * len(self.used)
        self._lender = [None] * len(self.used)

    def count(self, k: int) -> int:
        """Number of values known at position k."""
        return len(self._y[k])

    def rows(self, k: int) -> tuple[Array, Array]:
        """Points (n, dim) and values (n,) of position k, in the order told."""
        u = np.array(self._u[k]) if self._u[k] else np.empty((0, self._dim))
        return u, np.array(self._y[k])

    @property
    def spread(self) -> float:
        """The largest range of values within one fidelity."""
        return max((float(np.ptp(y)) for y in self._y if y), default=0.0)

    def noiseless(self, k: int) -> bool:
        """Whether asking the same point again at position k would tell nothing new.

        Known noise decides; otherwise repeated points do, by whether they ever disagreed; otherwise the learnt noise,
        by whether it is below 1e-4 of the values' variance.
        """
        known = self._noises[k]
        if known is not None:
            return known == 0.0
        first: dict[bytes, float] = {}
        for u, y in zip(self._u[k], self._y[k], strict=True):
            if first.setdefault(u.tobytes(), y) != y:
                return False
        if len(first) < self.count(k):
            return True
        learnt = self.models[k].describe().get("noise", 0.0)
        return bool(learnt <= 1e-4 * np.var(self._y[k])) if self.count(k) > 1 else True

    def noise(self, k: int) -> float:
        """The noise variance at position k: known, or learnt; 0 where the fidelity passes for noiseless."""
        known = self._noises[k]
        if known is not None:
            return known
        unlearnt = self._learnt_at[k] < 0 or self.noiseless(k)
        return 0.0 if unlearnt else float(self.models[k].describe().get("noise", 0.0))

    def update(self) -> None:
        """Bring every model up to date with the values told: learn where it is due, otherwise append."""
        every = range(len(self.models))
        if self.joint is None and self._fit_together is None:
            for k in every:
                self._learn_alone(k)
        elif any(self._due(k) for k in every):
            rows, rng = [self.rows(k) for k in every], self._generator(len(every) - 1)
            if self.joint is not None:
                self.joint.fit(rows, rng)
            elif self._fit_together is not None:
                self._fit_together(self.models, rows, rng)
            self._learnt_at = [self.count(k) for k in every]
        for k, model in enumerate(self.models):
            if model.n < self.count(k):
                u, y = self.rows(k)
                model.extend(u[model.n :], y[model.n :])

    def _learn_alone(self, k: int) -> None:
        if self.count(k) < self._own:
            self._borrow(k)
        elif self._due(k):
            self.models[k].fit(*self.rows(k), self._generator(k))
            self._learnt_at[k] = self.count(k)

    def _due(self, k: int) -> bool:
        """Whether position k has so many more rows that learning again is worth its cost."""
        n, before = self.count(k), self._learnt_at[k]
        return before < 0 or n - before >= max(1, ceil(GROWTH * before))

    def _borrow(self, k: int) -> None:
        """Give model k the hyper-parameters that the lender's rows suggest, and no rows."""
        enough = [j for j in range(len(self.models)) if self.count(j) >= self._own]
        # No fidelity has enough rows: the one that has most lends what it can, possibly to itself.
        lenders = enough or [max(range(len(self.models)), key=self.count)]
        j = min(lenders, key=lambda j: (abs(j - k), j))
        n = self.count(j)
        before = self._lender[k]
        if n == 0 or (before is not None and before[0] == j and n < (1 + GROWTH) * before[1]):
            return
        self.models[k].fit(*self.rows(j), self._generator(k))
        self.models[k].truncate(0)
        self._lender[k] = (j, n)

    def _generator(self, k: int) -> Generator:
        return np.random.default_rng([self._seed, _LEARNING_STREAM, self.used[k], self.count(k)])

    @contextmanager
    def hallucinated(self, pending: Sequence[Query]) -> Iterator[None]:
        """Within, each pending query counts as told with its model's mean there: widths shrink, means stay."""
        before = [model.n for model in self.models]
        try:
            for k, model in enumerate(self.models):
                points = [q.u for q in pending if self._position.get(q.fidelity) == k]
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


def _joint(surrogates: Sequence[Surrogate], how: str, dim: int, noises: Sequence[float | None]) -> JointModel | None:
    """The joint model of several fidelities that one surrogate serves, if it offers one under this name."""
    offer = getattr(surrogates[0], how, None)
    if offer is None or len(surrogates) == 1 or any(surrogate is not surrogates[0] for surrogate in surrogates):
        return None
    joint: JointModel = offer(dim, noises)
    return joint


def _together(surrogates: Sequence[Surrogate]) -> Callable[[Sequence[Model], Sequence[Rows], Generator], None] | None:
    """How the one surrogate that serves several fidelities fits them together, if it can."""
    if len(surrogates) == 1 or any(surrogate is not surrogates[0] for surrogate in surrogates):
        return None
    return getattr(surrogates[0], "fit_together", None)
