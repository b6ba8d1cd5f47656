"""An affine correction of each cheap fidelity towards the target, g_m = a_m f⁽ᵐ⁾ + b_m; not in the paper.

MF-GP-UCB takes a cheap fidelity as it is: if f⁽ᵐ⁾ is the target halved and shifted, ‖f⁽ᴹ⁾ − f⁽ᵐ⁾‖∞ is large, so ζ_m
becomes large and the cheap bound useless. The correction is learnt from pairs: at every point queried at the target,
the value y there and the posterior mean x of fidelity m (its own value, where it has one). Weighted least squares of
y on x,

    weight = 1/(variance of x + noise of y),

with the slope drawn to 1 by one more pair whose spread is that of fidelity m's values: few pairs, or pairs from one
corner of X, hardly change it. With fewer than 3 pairs nothing is corrected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mfopt.protocols import Array, Model
from mfopt_plugins.method.kept import Kept, array, fields
from mfopt_plugins.method.models import FidelityModels

FEWEST = 3


class Affine(Kept):
    """a_m and b_m of the positions 0..K−1; those not `correctable`, and the target, keep a = 1, b = 0.

    `active` says whether any position is corrected.
    """

    kept = fields(a=array, b=array)

    def __init__(self, correctable: Sequence[bool]) -> None:
        self._correctable = [*correctable[:-1], False]
        self.active = any(self._correctable)
        self.a = np.ones(len(correctable))
        self.b = np.zeros(len(correctable))

    def learn(self, models: FidelityModels) -> None:
        """Learn every correction anew from all pairs."""
        top = len(self.a) - 1
        observations = models.observations
        u, y = observations.rows(top)
        for k, correctable in enumerate(self._correctable):
            if not correctable or len(y) < FEWEST or observations.counts[k] < FEWEST:
                continue
            x, var = models.models[k].posterior(u)
            own = float(np.var(observations.rows(k)[1]))
            weight = 1.0 / (var + models.noise(top) + 1e-6 * own) if own > 0 else np.ones(len(y))
            weight = weight / weight.sum() * len(y)
            centre, level = np.average(x, weights=weight), np.average(y, weights=weight)
            spread = float(weight @ (x - centre) ** 2) + own
            gain = float(weight @ ((x - centre) * (y - x - level + centre))) / spread if spread > 0 else 0.0
            self.a[k] = 1.0 + gain
            self.b[k] = level - self.a[k] * centre

    def value(self, k: int, y: float) -> float:
        """A value of position k, corrected."""
        return float(self.a[k] * y + self.b[k])

    def model(self, k: int, model: Model) -> Model:
        """The model of position k, corrected."""
        return model if self.a[k] == 1.0 and self.b[k] == 0.0 else CorrectedModel(model, self.a[k], self.b[k])


class CorrectedModel:
    """The posterior of a f + b, where `model` is that of f."""

    def __init__(self, model: Model, a: float, b: float) -> None:
        self._model = model
        self._a, self._b = a, b

    @property
    def n(self) -> int:
        """Number of rows conditioned on."""
        return self._model.n

    def fit(self, u: Array, y: Array, rng: np.random.Generator) -> None:
        """Learn from values of a f + b."""
        self._model.fit(u, (y - self._b) / self._a, rng)

    def extend(self, u: Array, y: Array) -> None:
        """Condition on more values of a f + b."""
        self._model.extend(u, (y - self._b) / self._a)

    def truncate(self, n: int) -> None:
        """Forget all rows but the first `n`."""
        self._model.truncate(n)

    def posterior(self, u: Array) -> tuple[Array, Array]:
        """Mean and variance of a f + b."""
        mean, var = self._model.posterior(u)
        return self._a * mean + self._b, self._a**2 * var

    def posterior_gradient(self, u: Array) -> tuple[Array, Array, Array, Array]:
        """Mean, variance and their gradients."""
        mean, var, dmean, dvar = self._model.posterior_gradient(u)
        return self._a * mean + self._b, self._a**2 * var, self._a * dmean, self._a**2 * dvar

    def describe(self) -> Mapping[str, Any]:
        """The model's description, and the correction."""
        return {**self._model.describe(), "slope": self._a, "offset": self._b}
