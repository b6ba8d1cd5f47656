"""Crashes: a latent Gaussian process behind outcomes that are either a value or a failure.

An evaluation at u, at position k of the fidelities in use, fails where the latent h(u, k) is positive, and with a
chance ε (`rate`) wherever it is:

    P(failed | h) = ε + (1 − ε) Φ(h/√LINK),   E h = MEAN,   cov(h(u, k), h(u′, k′)) = ρ^|k−k′| (LEVEL + e^−r)

r is the distance |A (u − u′)|. The exponential kernel suits regions with an edge: a latent that is rough may change its
sign anywhere. LEVEL lets the chance be high everywhere. A scale of h would change no sign, so there is none to learn.

The posterior is made Gaussian by expectation propagation (Rasmussen and Williams, section 3.6): every outcome is a site
e^(ν h′ − τ h′²/2) in h′ = h − MEAN, and all sites are updated at once. A failure that ε explains better than its
surroundings gets a flat site, and says nothing about them.

Notation: n outcomes, K (n, n) their covariance, S = diag(τ), L Lᵀ = I + S^½ K S^½, P = (K + S⁻¹)⁻¹ =
S^½ (L Lᵀ)⁻¹ S^½.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.linalg import cholesky, solve_triangular

from mfopt.protocols import Array, BoolArray
from mfopt_plugins.method.scipy_functions import cdist, log_ndtr

IntArray: TypeAlias = npt.NDArray[np.intp]

MEAN = -1.0  # of the latent: before anything is known a fifth of X fails
LEVEL = 0.5  # variance of the overall level, in units of that of the variation
LINK = 1e-4  # variance of the step from a value to a failure
VARIANCE = 1.0 + LEVEL  # of the latent, before anything is known
_STEP, _LEAST = 0.7, 0.15  # by which a site moves when it is updated: moved all the way at once, sites overshoot
_SHRINK = 0.8  # of the change before: a larger one halves the step, for many outcomes near one point overshoot together
_SETTLED = 0.02  # change of the latent's mean, per step, at which the sites have settled
_SWEEPS = 15


@dataclass(frozen=True)
class Theta:
    """What is chosen by evidence."""

    metric: Array  # A (rows, dim)
    rate: float  # ε
    coupling: float  # ρ

    def couple(self, gaps: IntArray) -> Array:
        """ρ^|gap| for gaps between positions."""
        gaps = np.abs(gaps)
        return np.asarray((self.coupling ** np.arange(int(gaps.max(initial=0)) + 1))[gaps])


@dataclass(frozen=True)
class Outcomes:
    """Where evaluations were asked, and which of them failed."""

    u: Array
    k: IntArray
    failed: BoolArray

    def __len__(self) -> int:
        return len(self.k)

    def extend(self, more: Sequence[tuple[Array, int, bool]]) -> Outcomes:
        """The same, and more."""
        points, positions, failures = zip(*more, strict=True)
        return Outcomes(np.vstack([self.u, *points]), np.append(self.k, positions), np.append(self.failed, failures))


@dataclass(frozen=True)
class Sites:
    """What each outcome says about the latent there."""

    precision: Array  # τ
    shift: Array  # ν

    @classmethod
    def flat(cls, count: int) -> Sites:
        """Sites that say nothing."""
        return cls(np.zeros(count), np.zeros(count))

    def extend(self, count: int) -> Sites:
        """The same, and more that say nothing."""
        more = np.zeros(count)
        return Sites(np.append(self.precision, more), np.append(self.shift, more))


@dataclass(frozen=True)
class Belief:
    """The posterior: mean MEAN + cᵀ weights, variance VARIANCE − cᵀ P c, with the covariances c to outcomes."""

    z: Array  # A u of the outcomes
    k: IntArray
    weights: Array
    inverse: Array  # P


class Crashes:
    """The latent, given outcomes; the sites begin with those given, or say nothing."""

    def __init__(self, outcomes: Outcomes, theta: Theta, sites: Sites | None = None) -> None:
        self.sites = Sites.flat(len(outcomes)) if sites is None else sites
        self._k, self._failed, self._rate = outcomes.k, outcomes.failed, theta.rate
        self._z = outcomes.u @ theta.metric.T
        self._covariance = theta.couple(self._k[:, None] - self._k) * (LEVEL + np.exp(-cdist(self._z, self._z)))

    def settle(self) -> None:
        """Update the sites until they change no more."""
        self._solve()
        step, last = _STEP, np.inf
        for _ in range(_SWEEPS):
            before = self._mean
            self._update(step)
            self._solve()
            change = float(np.abs(self._mean - before).max()) / step
            if change < _SETTLED:
                break
            step, last = step if change < _SHRINK * last else max(0.5 * step, _LEAST), change

    def evidence(self) -> float:
        """log P(outcomes), as expectation propagation has it, of sites that have settled."""
        mean, var = self._cavity()
        tau, nu = self.sites.precision, self.sites.shift
        log_z, _, _ = self._moments(mean, var)
        own = 0.5 * ((mean / var + nu) ** 2 / (1.0 / var + tau) - mean**2 / var - np.log1p(tau * var))
        return float(np.sum(log_z - own) + 0.5 * nu @ self._mean - self._half_log_det)

    def believe(self) -> Belief:
        """The posterior that the sites make."""
        factor, root = self._factor()
        half = solve_triangular(factor, np.diag(root), lower=True, check_finite=False)
        inverse = half.T @ half
        weights = self.sites.shift - inverse @ (self._covariance @ self.sites.shift)
        return Belief(self._z, self._k, weights, inverse)

    def _factor(self) -> tuple[Array, Array]:
        """L and the diagonal of S^½."""
        root = np.sqrt(self.sites.precision)
        inner = root[:, None] * self._covariance * root
        inner[np.diag_indices_from(inner)] += 1.0
        return cholesky(inner, lower=True, overwrite_a=True, check_finite=False), root

    def _solve(self) -> None:
        """Mean of h′ and variance at the outcomes: with V = L⁻¹ S^½ K the covariance is K − Vᵀ V."""
        factor, root = self._factor()
        part = self._covariance @ self.sites.shift
        right = np.column_stack([self._covariance, part]) * root[:, None]
        right = solve_triangular(factor, right, lower=True, overwrite_b=True, check_finite=False)
        half = right[:, :-1]
        self._mean = part - half.T @ right[:, -1]
        self._var = np.maximum(VARIANCE - np.einsum("ij,ij->j", half, half), 1e-10)
        self._half_log_det = float(np.log(np.diag(factor)).sum())

    def _cavity(self) -> tuple[Array, Array]:
        """Mean of h′ and variance at each outcome, without its own site."""
        var = 1.0 / np.maximum(1.0 / self._var - self.sites.precision, 1e-10)
        return var * (self._mean / self._var - self.sites.shift), var

    def _moments(self, mean: Array, var: Array) -> tuple[Array, Array, Array]:
        """log Z = log E P(outcome | h) over h′ ~ N(mean, var), its slope and minus its curvature in the mean."""
        works = np.log1p(-self._rate)
        deviation = np.sqrt(var + LINK)
        sign = np.where(self._failed, 1.0, -1.0)
        z = (MEAN + mean) / deviation
        log_z = works + log_ndtr(sign * z)
        log_z = np.where(self._failed, np.logaddexp(np.log(self._rate), log_z), log_z)
        density = np.exp(works - 0.5 * z**2 - 0.5 * np.log(2.0 * np.pi) - log_z)
        slope = sign * density / deviation
        return log_z, slope, slope * (slope + z / deviation)

    def _update(self, step: float) -> None:
        """Move every site towards the one that has the moments of its outcome."""
        mean, var = self._cavity()
        _, slope, curvature = self._moments(mean, var)
        curvature = np.clip(curvature, 0.0, (1.0 - 1e-6) / var)  # below 0 where ε explains the failure
        rest = 1.0 - var * curvature
        precision, shift = curvature / rest, (slope + mean * curvature) / rest
        kept, old = 1.0 - step, self.sites
        self.sites = Sites(kept * old.precision + step * precision, kept * old.shift + step * shift)
