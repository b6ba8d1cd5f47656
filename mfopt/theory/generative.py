"""The generative process (section "The Generative Process"): f⁽¹⁾..f⁽ᴹ⁾ ~ GP(0, κ), kept when every
‖f⁽ᴹ⁾ − f⁽ᵐ⁾‖∞ ≤ ζ_m (condition A2), on a finite set or a grid; and ξ = P(A2).

Plain rejection needs about 1/ξ draws. The sequential sampler draws from the same distribution, but looks only where A2
can hold. With K = ΦΦᵀ and f⁽ᵐ⁾ = Φ z_m, z_m ~ N(0, I_r) (theory.kernels.factor), let w_m = z_m − z_M:

    w_1 .. w_{M−1} have coordinates of covariance I + 11ᵀ, independent from coordinate to coordinate;
    w_k given w_1 .. w_{k−1}  ~ N((w_1 + .. + w_{k−1})/k, (k+1)/k)   coordinate by coordinate;
    z_M given all w           ~ N(−(w_1 + .. + w_{M−1})/M, I/M).

A2 is |Φ w_m| ≤ ζ_m in every row. In the rows of the pivots Φ is triangular, so that with earlier coordinates drawn the
constraint of the i-th pivot is an interval of length 2ζ_m/Φ_ii for w_{m,i}, and a normal variate truncated to it is
drawn (as Geweke, Hajivassiliou and Keane do). The density of such a proposal is that of the prior divided by the
product p of the intervals' probabilities. No interval is more likely than the one centred at its mean, which makes a
constant P ≥ p. Accepting with probability p/P, and only if A2 holds in all other rows too, gives exact independent
draws; and the mean of p·1{A2} over proposals is an unbiased estimate of ξ.

Exact up to the tolerance of the factor and to rounding. The cost grows with the number of directions that A2 really
constrains, those with Φ_ii > ζ: a few for smooth kernels at any ζ. For rough kernels and small ζ it is hopeless,
and SamplingError says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from mfopt.errors import InputError, MfoptError
from mfopt.protocols import Array, BoolArray
from mfopt.theory._checks import require_positive
from mfopt.theory.kernels import Factor, Kernel, factor

_BATCH = 512
_LOOK = 64  # rows looked at before all are, to throw bad proposals away early


class SamplingError(MfoptError):
    """No draw satisfied the bounds within the proposals allowed."""


@dataclass(frozen=True)
class Estimate:
    """A Monte Carlo estimate and its standard error."""

    value: float
    error: float


def sample_fidelities(
    kernel: Kernel,
    points: Array,
    zetas: Sequence[float],
    rng: np.random.Generator,
    size: int = 1,
    method: str = "sequential",
    proposals: int = 10_000_000,
) -> Array:
    """`size` independent draws of f⁽¹⁾..f⁽ᴹ⁾ at the points given A2: (size, M, N).

    zetas      ζ_1..ζ_{M−1}, one per fidelity below the target
    method     "sequential", see above, or "plain" rejection; their draws have the same distribution
    proposals  how many may be tried before a SamplingError
    """
    require_positive(size=size, proposals=proposals)
    if method not in ("sequential", "plain"):
        raise InputError(f'method must be "sequential" or "plain", got {method!r}')
    basis = factor(kernel, points)
    propose = _Plain(basis, _bounds(zetas)) if method == "plain" else _Sequential(basis, _bounds(zetas))
    found: list[Array] = []
    tried = kept = 0
    while kept < size:
        if tried >= proposals:
            raise SamplingError(f"a draw must satisfy the zetas {list(zetas)}, {kept} of {tried} proposals did")
        z = propose.draw(rng, _BATCH)
        tried += _BATCH
        kept += len(z)
        found.append(z)
    return np.asarray(np.concatenate(found)[:size] @ basis.phi.T)


def xi_monte_carlo(
    kernel: Kernel, points: Array, zetas: Sequence[float], rng: np.random.Generator, proposals: int = 4096
) -> Estimate:
    """ξ = P(A2) on these points, unbiased. A finer grid can only lower it: on compact X it is an upper bound."""
    require_positive(proposals=proposals)
    return _mean(_Sequential(factor(kernel, points), _bounds(zetas)).weights(rng, proposals))


def xi_lower_bound(
    kernel: Kernel, points: Array, zetas: Sequence[float], rng: np.random.Generator, proposals: int = 4096
) -> Estimate:
    """The lower bound of Lemma (gtwoprob): κ̃(ζ_{M−1}/2) Π_{m<M} κ̃(ζ_m/2), with κ̃(ε) = P(sup |f| < ε) by Monte Carlo."""
    require_positive(proposals=proposals)
    bounds = _bounds(zetas)
    basis = factor(kernel, points)
    value, relative = 1.0, 0.0
    for zeta in [bounds.min(), *bounds]:
        one = _mean(_Sequential(basis, np.array([zeta / 2]), single=True).weights(rng, proposals))
        if one.value == 0.0:
            return Estimate(0.0, 0.0)
        value *= one.value
        relative += (one.error / one.value) ** 2
    return Estimate(value, value * sqrt(relative))


class _Plain:
    """Draws from the prior, kept if A2 holds."""

    def __init__(self, basis: Factor, zetas: Array) -> None:
        self._basis, self._zetas = basis, zetas

    def draw(self, rng: np.random.Generator, count: int) -> Array:
        """Accepted z (k, M, r) of `count` proposals."""
        z = rng.standard_normal((count, len(self._zetas) + 1, self._basis.rank))
        return np.asarray(z[_within(self._basis, z[:, :-1] - z[:, -1:], self._zetas)])


class _Sequential:
    """Truncated proposals, pivot by pivot, fidelity by fidelity; the tightest fidelity first.

    With `single`, one process f = Φw with |f| ≤ ζ stands in the place of the differences.
    """

    def __init__(self, basis: Factor, zetas: Array, single: bool = False) -> None:
        self._basis, self._zetas = basis, zetas
        self._order = np.argsort(zetas, kind="stable")
        k = np.arange(1, len(zetas) + 1)
        self._deviation = np.ones(1) if single else np.sqrt((k + 1) / k)
        # log P: every interval at its most likely place.
        half = self._zetas[self._order, None] / (basis.diagonal * self._deviation[:, None])
        self._log_most = float(np.log(_probability_within(half)).sum())

    def draw(self, rng: np.random.Generator, count: int) -> Array:
        """Accepted z (k, M, r) of `count` proposals."""
        w, log_p = self._propose(rng, count)
        likely = np.log(rng.random(count)) <= log_p - self._log_most
        w = w[likely]
        w = w[_within(self._basis, w, self._zetas)]
        fidelities = len(self._zetas) + 1
        target = rng.standard_normal((len(w), 1, w.shape[2])) / sqrt(fidelities) - w.sum(1, keepdims=True) / fidelities
        return np.concatenate([w + target, target], axis=1)

    def weights(self, rng: np.random.Generator, count: int) -> Array:
        """p·1{A2} for `count` proposals."""
        parts = []
        for start in range(0, count, _BATCH):
            w, log_p = self._propose(rng, min(_BATCH, count - start))
            parts.append(np.where(_within(self._basis, w, self._zetas), np.exp(log_p), 0.0))
        return np.concatenate(parts)

    def _propose(self, rng: np.random.Generator, count: int) -> tuple[Array, Array]:
        """w (count, M − 1, r) with A2 at the pivots, and log p."""
        phi = self._basis.phi[self._basis.pivots]
        w = np.zeros((count, len(self._zetas), self._basis.rank))
        log_p = np.zeros(count)
        for i in range(self._basis.rank):
            drawn = np.zeros(count)
            for step, m in enumerate(self._order):
                centre = w[:, m, :i] @ phi[i, :i]
                mean, deviation = drawn / (step + 1), self._deviation[step]
                low = ((-self._zetas[m] - centre) / phi[i, i] - mean) / deviation
                high = ((self._zetas[m] - centre) / phi[i, i] - mean) / deviation
                z, p = _draw_truncated(low, high, rng)
                w[:, m, i] = mean + deviation * z
                drawn += w[:, m, i]
                log_p += np.log(p)
        return w, log_p


def _within(basis: Factor, w: Array, zetas: Array) -> BoolArray:
    """Which differences w (count, M − 1, r) satisfy |Φw| ≤ ζ in every row; a few rows are looked at first."""
    limits = zetas[:, None] * (1 + 1e-9)
    inside = np.ones(len(w), dtype=np.bool_)
    stride = max(1, len(basis.phi) // _LOOK)
    for rows in (basis.phi[::stride], basis.phi):
        left = np.flatnonzero(inside)
        if len(left):
            inside[left] = (np.abs(w[left] @ rows.T) <= limits).all(axis=(1, 2))
    return inside


def _draw_truncated(low: Array, high: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Standard normal variates between low and high, and the probabilities of the intervals."""
    from scipy.special import ndtr, ndtri  # slow to import

    # The lower tail is where ndtr keeps its relative accuracy.
    flipped = low + high > 0
    a, b = np.where(flipped, -high, low), np.where(flipped, -low, high)
    start = ndtr(a)
    p = np.maximum(ndtr(b) - start, 1e-300)
    z = np.clip(ndtri(start + rng.random(len(low)) * p), a, b)
    return np.where(flipped, -z, z), p


def _probability_within(half: Array) -> Array:
    """P(|Z| ≤ half)."""
    from scipy.special import erf  # slow to import

    return np.asarray(erf(half / sqrt(2)))


def _mean(weights: Array) -> Estimate:
    return Estimate(float(weights.mean()), float(weights.std() / sqrt(len(weights))))


def _bounds(zetas: Sequence[float]) -> Array:
    bounds = np.array(zetas, dtype=np.float64).reshape(-1)
    if bounds.size == 0 or not (np.isfinite(bounds) & (bounds > 0)).all():
        raise InputError(f"zetas must be positive and finite, one per fidelity below the target, got {list(zetas)}")
    return bounds
