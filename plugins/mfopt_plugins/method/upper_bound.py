"""The upper bound φ of MF-GP-UCB as a function on X, and its maximum over any domain."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mfopt.errors import Exhausted
from mfopt.protocols import Acquisition, Array, BoolArray, Domain, Maximiser, Model, Surrogate

CHUNK = 8192  # rows of a finite X evaluated at once: bounds memory, results do not depend on it


class MultiFidelityUCB:
    """φ(u) = min_m φ_m(u), φ_m = μ_m + β_t^½ σ_m + ζ_m, eq. (mfgpucbDefn).

    At a kink, where two bounds are equal, the gradient is that of the lowest m. Where the models come from
    surrogates of one class that offers a fused `bound`, that does the work.
    """

    def __init__(
        self, models: Sequence[Model], surrogates: Sequence[Surrogate], beta: float, zetas: Sequence[float]
    ) -> None:
        self._models = list(models)
        self._beta = beta
        self._zetas = [float(z) for z in zetas]
        fused = getattr(surrogates[0], "bound", None) if len({type(each) for each in surrogates}) == 1 else None
        self._fused = None if fused is None else fused(self._models, beta, self._zetas)

    def __call__(self, u: Array) -> Array:
        """φ at the rows of u."""
        if self._fused is not None:
            return np.asarray(self._fused(u))
        bounds = []
        for model, zeta in zip(self._models, self._zetas, strict=True):
            mean, var = model.posterior(u)
            bounds.append(mean + np.sqrt(self._beta * var) + zeta)
        return np.asarray(np.min(bounds, axis=0))

    def gradient(self, u: Array) -> tuple[Array, Array]:
        """φ and the gradient of the smallest bound at the rows of u."""
        values, slopes = self.pieces(u)
        lowest = np.argmin(values, axis=0)
        rows = np.arange(len(u))
        return values[lowest, rows], slopes[lowest, rows]

    def pieces(self, u: Array) -> tuple[Array, Array]:
        """Every φ_m at the rows of u, (K, q), and their gradients, (K, q, dim)."""
        if self._fused is not None:
            values, slopes = self._fused.pieces(u)
            return values, slopes
        values = np.empty((len(self._models), len(u)))
        slopes = np.empty((len(self._models), *u.shape))
        root = np.sqrt(self._beta)
        for k, (model, zeta) in enumerate(zip(self._models, self._zetas, strict=True)):
            mean, var, dmean, dvar = model.posterior_gradient(u)
            sigma = np.sqrt(var)
            values[k] = mean + root * sigma + zeta
            # σ has no gradient where it is 0 (at a noiseless row): the mean's alone is used there.
            half = 0.5 * root / np.where(sigma > 0, sigma, np.inf)
            slopes[k] = dmean + half[:, None] * dvar
        return values, slopes

    @property
    def rows(self) -> int:
        """Rows of the largest model: what an evaluation costs."""
        rows = max(model.n for model in self._models)
        return rows if self._fused is None else int(getattr(self._fused, "rows", rows))

    def recurring(self, u: Array) -> Array:
        """φ at the rows of u, which will come back."""
        return self(u) if self._fused is None else np.asarray(self._fused.recurring(u))

    def argmax(self, points: Array, avoid: BoolArray | None) -> int:
        """The row of the largest φ, the first among equals."""
        return argmax_in_chunks(self, points, avoid) if self._fused is None else int(self._fused.argmax(points, avoid))


def argmax(
    acquisition: Acquisition,
    domain: Domain,
    maximiser: Maximiser,
    rng: np.random.Generator,
    t: int,
    avoid: BoolArray | None = None,
) -> Array:
    """The maximum of the acquisition over X: exact on a finite set, by the maximiser otherwise.

    `avoid` marks points of a finite set that must not be chosen; the first of equal points is taken.
    """
    points = domain.points
    if points is None:
        return maximiser.maximise(acquisition, domain, rng, t)
    if avoid is not None and avoid.all():
        raise Exhausted("every point of the finite set has been queried", which="points")
    find = getattr(acquisition, "argmax", None)
    row = argmax_in_chunks(acquisition, points, avoid) if find is None else find(points, avoid)
    return np.array(points[row])


def argmax_in_chunks(acquisition: Acquisition, points: Array, avoid: BoolArray | None) -> int:
    """The row of the largest value over all points, the first among equals."""
    best, best_value = -1, -np.inf
    for start in range(0, len(points), CHUNK):
        values = acquisition(points[start : start + CHUNK])
        if avoid is not None:
            values = np.where(avoid[start : start + CHUNK], -np.inf, values)
        i = int(np.argmax(values))
        if best < 0 or values[i] > best_value:
            best, best_value = start + i, float(values[i])
    return best
