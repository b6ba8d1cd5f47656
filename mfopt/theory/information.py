"""Information gain of sets of points, and its maximum Ψ_n(A) (Definition (infGain)).

Two questions are answered in two ways. How much a given sequence of points tells, and which points tell most, is
computed from a model: the posterior variances of an incremental Cholesky factorisation, one row per point (Lemma
(IGformula)). How large Ψ_n(A) can be at most, for n far beyond what a model can hold, comes from the concave relaxation
over weights of the points.

A model is any `protocols.Model` without data and with known hyper-parameters, for example
`mfopt_plugins.surrogates.se.SE(lengthscale=1.0, scale=1.0, mean=0.0).model(dim, noise)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import e, log

import numpy as np
import numpy.typing as npt

from mfopt.errors import InputError
from mfopt.protocols import Array, Model
from mfopt.theory._checks import as_points, require_positive
from mfopt.theory.kernels import Kernel, factor, variance

GREEDY = 1 - 1 / e  # greedy selection reaches at least this part of Ψ_n: the gain is monotone and submodular
_BATCH = 64
_STEPS = 200
_RANK = 1e-12


def information_gain(model: Model, points: Array, noise: float) -> float:
    """I(y_A; f_A) = ½ Σ_t log(1 + σ²_{t−1}(x_t)/η²), Lemma (IGformula); `noise` is η².

    The points are added to the model one by one, and removed again at the end.
    """
    points = as_points(points)
    start = _require_empty(model, noise)
    gain = 0.0
    try:
        for x in points:
            gain += 0.5 * float(np.log1p(model.posterior(x[None])[1][0] / noise))
            model.extend(x[None], np.zeros(1))
    finally:
        model.truncate(start)
    return gain


@dataclass(frozen=True)
class Greedy:
    """n points chosen greedily: `rows` of the candidates in the order chosen, and the gain after each."""

    rows: npt.NDArray[np.int64]
    gains: Array

    @property
    def gain(self) -> float:
        """I(y; f) of the points chosen, a lower bound on Ψ_n."""
        return float(self.gains[-1])

    @property
    def upper(self) -> float:
        """Ψ_n ≤ I/(1 − 1/e) (Nemhauser, Wolsey and Fisher)."""
        return self.gain / GREEDY


def greedy_information_gain(model: Model, candidates: Array, n: int, noise: float) -> Greedy:
    """Points x_t = argmax σ²_{t−1}(x) over the candidates, t = 1..n; a point may be chosen again.

    Lazy: a variance never rises, so a stale one is a bound, and only candidates whose bound is above the best exact
    variance are brought up to date. The choice is that of the full computation (of equal ones, the first).
    """
    candidates = as_points(candidates)
    require_positive(n=n)
    start = _require_empty(model, noise)
    bound = np.asarray(model.posterior(candidates)[1], dtype=np.float64).copy()
    gains = np.empty(n)
    rows = np.empty(n, dtype=np.int64)
    total = 0.0
    try:
        for t in range(n):
            i = _largest(model, candidates, bound)
            total += 0.5 * log(1 + bound[i] / noise)
            rows[t], gains[t] = i, total
            model.extend(candidates[i : i + 1], np.zeros(1))
    finally:
        model.truncate(start)
    return Greedy(rows, gains)


def _largest(model: Model, candidates: Array, bound: Array) -> int:
    """The candidate of the largest variance now; `bound` holds earlier variances and is brought up to date."""
    stale = np.ones(len(bound), dtype=np.bool_)
    while True:
        best = int(np.argmax(bound))
        if not stale[best]:
            return best
        batch = np.argsort(-np.where(stale, bound, -np.inf), kind="stable")[:_BATCH]
        batch = batch[stale[batch]]
        fresh = model.posterior(candidates[batch])[1]
        bound[batch] = np.minimum(bound[batch], fresh)
        stale[batch] = False


def information_bound(kernel: Kernel, points: Array, n: int, noise: float, tolerance: float = 1e-3) -> float:
    """An upper bound on Ψ_n(A) for a finite A, repeated points included, at a cost that does not grow with n.

    With K = ΦΦᵀ, n_i queries at point i give I = ½ log det(I + η⁻² Φᵀ diag(n_i) Φ), which is concave in n_i. Let the
    n_i be any numbers w_i ≥ 0 with Σ w_i = n: at any w, concavity bounds the maximum by I(w) + max_i n g_i − Σ w_i g_i,
    where g_i = ∂I/∂w_i. The weights are improved by w_i ← w_i g_i n/Σ w_j g_j (Titterington) until both sides agree to
    `tolerance`; whenever it stops, the bound holds.
    """
    points = as_points(points)
    require_positive(n=n, noise=noise, tolerance=tolerance)
    phi = factor(kernel, points, _RANK).phi
    # What the factor leaves out of K adds at most half its trace: log det(I + A + E) ≤ log det(I + A) + tr E.
    left_out = 0.5 * n * _RANK * variance(kernel, points) / noise
    weights = np.full(len(points), n / len(points))
    best = np.inf
    for _ in range(_STEPS):
        information = np.eye(phi.shape[1]) + (phi.T * weights) @ phi / noise
        root = np.linalg.cholesky(information)
        gain = float(np.log(np.diag(root)).sum())
        slopes = 0.5 * np.sum(np.linalg.solve(root, phi.T) ** 2, axis=0) / noise
        mean = float(weights @ slopes) / n
        best = min(best, gain + n * (float(slopes.max()) - mean))
        if best - gain <= tolerance * max(gain, 1e-300):
            break
        weights = weights * slopes / mean
    return best + left_out


def growth_se(n: float, d: int, r: float = 1.0) -> float:
    """r^d (log n)^{d+1}: Ψ_n([0, r]^d) for the SE kernel grows no faster, up to a constant."""
    require_positive(n=n, d=d, r=r)
    return float(r**d * log(n) ** (d + 1))


def growth_matern(n: float, d: int, nu: float, r: float = 1.0) -> float:
    """r^d n^{d(d+1)/(2ν + d(d+1))} log n: the same for the Matérn kernel."""
    require_positive(n=n, d=d, nu=nu, r=r)
    return float(r**d * n ** (d * (d + 1) / (2 * nu + d * (d + 1))) * log(n))


def _require_empty(model: Model, noise: float) -> int:
    if not noise > 0:
        raise InputError(f"noise must be positive, the gain is infinite without, got {noise}")
    known = model.describe().get("noise")
    if known is not None and abs(known - noise) > 1e-9 * noise:
        raise InputError(f"noise must be the model's own, {known}, got {noise}")
    if model.n:
        raise InputError(f"model must hold no data, got {model.n} rows")
    return model.n
