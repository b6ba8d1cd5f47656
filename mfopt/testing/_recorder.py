"""Surrogates to watch a strategy with: one that notes which rows its models know, and one whose models fail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from mfopt.protocols import Array, Model, Surrogate

Row = tuple[bytes, int]  # a point and its fidelity
_CLOSE = 1e-9  # of a value to the model's own mean, relative to the larger of the two


def key_of(u: Array) -> bytes:
    """A point (dim,) as something to look up; the way to user units and back may round it."""
    return bytes((np.round(u, 9) + 0.0).tobytes())


class Recorder:
    """The models of `surrogate` for one fidelity, watched; it offers nothing beyond its protocol."""

    def __init__(self, surrogate: Surrogate, fidelity: int) -> None:
        self._surrogate = surrogate
        self._fidelity = fidelity
        self._models: list[RecordedModel] = []
        self.seen: set[bytes] | None = None  # points known when a model was last asked; None: none was asked

    def left(self, believed: bool) -> list[Row]:
        """The rows that the newest model knows now: those whose value was its own mean, or the others."""
        rows = self._models[-1].rows if self._models else []
        return [(row, self._fidelity) for row, own in rows if own == believed]

    def model(self, dim: int, noise: float | None = None) -> Model:
        """A fresh model without data."""
        self._models.append(RecordedModel(self._surrogate.model(dim, noise), self))
        return self._models[-1]


class RecordedModel:
    """A model whose rows are noted."""

    def __init__(self, inner: Model, recorder: Recorder) -> None:
        self._inner = inner
        self._recorder = recorder
        self.rows: list[tuple[bytes, bool]] = []  # a point, and whether its value was the model's own mean

    @property
    def n(self) -> int:
        """Number of rows conditioned on."""
        return self._inner.n

    def fit(self, u: Array, y: Array, rng: np.random.Generator) -> None:
        """Learn from these rows and condition on them alone."""
        self._inner.fit(u, y, rng)
        self.rows = [(key_of(row), False) for row in u]

    def extend(self, u: Array, y: Array) -> None:
        """Condition on more rows."""
        own = np.isclose(y, self._inner.posterior(u)[0], rtol=_CLOSE, atol=0.0)
        self._inner.extend(u, y)
        self.rows += [(key_of(row), bool(one)) for row, one in zip(u, own, strict=True)]

    def truncate(self, n: int) -> None:
        """Forget all rows but the first n."""
        self._inner.truncate(n)
        del self.rows[n:]

    def posterior(self, u: Array) -> tuple[Array, Array]:
        """Mean and variance."""
        self._note()
        return self._inner.posterior(u)

    def posterior_gradient(self, u: Array) -> tuple[Array, Array, Array, Array]:
        """Mean, variance and their gradients."""
        self._note()
        return self._inner.posterior_gradient(u)

    def describe(self) -> Mapping[str, Any]:
        """Hyper-parameters."""
        return self._inner.describe()

    def _note(self) -> None:
        self._recorder.seen = (self._recorder.seen or set()) | {row for row, _ in self.rows}


class Broken:
    """The models of `surrogate`, which raise an error instead of an answer once they know values."""

    def __init__(self, surrogate: Surrogate) -> None:
        self._surrogate = surrogate
        self.raised = 0  # how many errors

    def model(self, dim: int, noise: float | None = None) -> Model:
        """A fresh model without data."""
        return BrokenModel(self._surrogate.model(dim, noise), self)


class BrokenModel:
    """A model that answers only while it has no rows."""

    def __init__(self, inner: Model, owner: Broken) -> None:
        self._inner = inner
        self._owner = owner

    @property
    def n(self) -> int:
        """Number of rows conditioned on."""
        return self._inner.n

    def fit(self, u: Array, y: Array, rng: np.random.Generator) -> None:
        """Learn from these rows and condition on them alone."""
        self._inner.fit(u, y, rng)

    def extend(self, u: Array, y: Array) -> None:
        """Condition on more rows."""
        self._inner.extend(u, y)

    def truncate(self, n: int) -> None:
        """Forget all rows but the first n."""
        self._inner.truncate(n)

    def posterior(self, u: Array) -> tuple[Array, Array]:
        """Mean and variance."""
        self._fail()
        return self._inner.posterior(u)

    def posterior_gradient(self, u: Array) -> tuple[Array, Array, Array, Array]:
        """Mean, variance and their gradients."""
        self._fail()
        return self._inner.posterior_gradient(u)

    def describe(self) -> Mapping[str, Any]:
        """Hyper-parameters."""
        return self._inner.describe()

    def _fail(self) -> None:
        if self.n:
            self._owner.raised += 1
            raise ArithmeticError("a model that cannot be asked")
