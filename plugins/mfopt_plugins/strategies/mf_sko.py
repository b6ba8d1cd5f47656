"""MF-SKO, multi-fidelity sequential kriging optimisation."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, log
from typing import NamedTuple

import numpy as np

from mfopt.hooks import AcquisitionDefaults, FusesImprovement
from mfopt.protocols import Acquisition, Array, CovariantModel, Query, Suggestion, Surrogate, View
from mfopt_plugins.method.improvement import ExpectedImprovement, Tamed
from mfopt_plugins.method.models import FidelityModels
from mfopt_plugins.strategies.base.improvement import DEPTH, improvement_reason
from mfopt_plugins.strategies.base.joint import JointStrategy
from mfopt_plugins.strategies.base.manner import Mode, check_initial_capital, find_manner
from mfopt_plugins.surrogates.ar1 import AR1

_TINY = 1e-307  # a variance whose inverse does not overflow
_NUGGET = 1e-4  # of the range of values: deviation of a noise that is always there, numerically
_LEAST = 1e-8  # correlation that passes for none
_NO_TAIL = 1e300  # below which values are drawn in: none


def tell_noise(models: FidelityModels, k: int, unit: float) -> float:
    """η_k², the noise variance of position k, at least a nugget; `unit` is a typical size of values."""
    return max(models.noise(k), (_NUGGET * unit) ** 2, _TINY)


class AugmentedImprovement(AcquisitionDefaults):
    """log of Huang et al.'s augmented expected improvement of position k at u,

        EI_M(u) · |corr(f_k(u), f_M(u))| · (1 − η_k/√(σ_k²(u) + η_k²)) · λ_M/λ_k

    with the posterior correlation, the noise η_k² of position k (at least a nugget) and `ratio` = λ_M/λ_k.
    """

    def __init__(self, models: FidelityModels, k: int, best: float, ratio: float, unit: float) -> None:
        self._models = models
        self._k, self._top = k, len(models.used) - 1
        self._improvement = ExpectedImprovement(models.models[self._top], best, unit)
        self._log_ratio = log(ratio)
        joint = models.joint
        # Without one no other fidelity tells about the target.
        self._joint: CovariantModel | None = joint if isinstance(joint, CovariantModel) else None
        self._noise = tell_noise(models, k, unit)

    @property
    def rows(self) -> int:
        """Rows of all models, which together make an evaluation costly."""
        return sum(model.n for model in self._models.models)

    def __call__(self, u: Array) -> Array:
        """Values at the rows of u."""
        mean, var, cov = self._look(u)
        value = self._improvement.value(mean[1], var[1]) + self._use(var[0])[0] + self._log_ratio
        return value if self._is_alone else np.asarray(value + self._log_correlation(cov, var[0], var[1]))

    def gradient(self, u: Array) -> tuple[Array, Array]:
        """Values and gradients."""
        mean, both, cov, dmean, dboth, dcov = self._look_around(u)
        value, slope = self._improvement.slope(mean[1], both[1], dmean[1], dboth[1])
        (var, top), (dvar, dtop) = both, dboth
        use, by_var = self._use(var)
        value, slope = value + use + self._log_ratio, slope + by_var[:, None] * dvar
        if self._is_alone:
            return value, slope
        correlation = self._log_correlation(cov, var, top)
        # ∂ log |c|/√(v w) = ∂c/c − ½ ∂v/v − ½ ∂w/w; nothing where the correlation passes for none or for 1.
        # Zeros are left out by themselves: NumPy's logarithm of _LEAST may be above Python's by its last bit.
        inside = (cov != 0.0) & (var > 0.0) & (top > 0.0) & (correlation > log(_LEAST)) & (correlation < 0.0)
        c, v, w = (np.where(inside, part, 1.0)[:, None] for part in (cov, var, top))
        by_correlation = dcov / c - 0.5 * dvar / v - 0.5 * dtop / w
        return value + correlation, slope + np.where(inside[:, None], by_correlation, 0.0)

    @property
    def _is_alone(self) -> bool:
        """Whether position k is the target itself, or nothing is known of their relation."""
        return self._joint is None or self._k == self._top

    def _look(self, u: Array) -> tuple[Array, Array, Array]:
        """Means and variances (2, q) at position k and at the target, and their covariance (q,)."""
        both = [self._models.models[k].posterior(u) for k in sorted({self._k, self._top})]
        mean, var = (np.array([part[0], part[-1]]) for part in zip(*both, strict=True))
        if self._joint is None or self._is_alone:
            return mean, var, np.zeros(len(u))
        return mean, var, self._joint.covariance(u, self._k, self._top)

    def _look_around(self, u: Array) -> tuple[Array, Array, Array, Array, Array, Array]:
        """The same, then all gradients."""
        both = [self._models.models[k].posterior_gradient(u) for k in sorted({self._k, self._top})]
        mean, var, dmean, dvar = (np.array([part[0], part[-1]]) for part in zip(*both, strict=True))
        if self._joint is None or self._is_alone:
            return mean, var, np.zeros(len(u)), dmean, dvar, np.zeros(u.shape)
        cov, dcov = self._joint.covariance_gradient(u, self._k, self._top)
        return mean, var, cov, dmean, dvar, dcov

    def _use(self, var: Array) -> tuple[Array, Array]:
        """log(1 − η/√(σ² + η²)) and its derivative in σ²: how much of σ a value with noise would take away.

        With s = √(σ² + η²) the factor is σ²/(s (s + η)), which does not cancel for small σ.
        """
        eta = np.sqrt(self._noise)
        s = np.sqrt(var + self._noise)
        floor = np.maximum(var, max(1e-12 * self._noise, _TINY))
        value = np.log(floor / (s * (s + eta)))
        inside = var > floor * (1 - 1e-15)
        slope = np.where(inside, 1.0 / floor, 0.0) - 1.0 / (2 * s**2) - 1.0 / (2 * s * (s + eta))
        return value, slope

    def _log_correlation(self, cov: Array, var: Array, top: Array) -> Array:
        product = np.sqrt(var) * np.sqrt(top)  # var · top may overflow
        known = product > 0  # a value that is known without doubt has nothing left to correlate
        correlation = np.where(known, np.abs(cov) / np.where(known, product, 1.0), 0.0)
        return np.asarray(np.log(np.clip(correlation, _LEAST, 1.0)))


class _Candidate(NamedTuple):
    """The best query that was found at a position."""

    worth: float  # the acquisition, lowered where evaluations fail
    value: float  # as it is
    k: int
    u: Array


class MFSKO(JointStrategy):
    """Multi-fidelity sequential kriging optimisation (Huang, Allen, Notz and Miller, 2006).

        (x_t, m_t) = argmax EI_M(x) · corr(f⁽ᵐ⁾(x), f⁽ᴹ⁾(x)) · (1 − η_m/√(σ_m²(x) + η_m²)) · λ_M/λ_m

    under a kriging model of the differences between fidelities, f⁽ᵐ⁾ = f⁽ᵐ⁻¹⁾ + δ_m (surrogate ar1 with ρ = 1). EI_M is
    the expected improvement at the target; the factors are what a query at fidelity m tells about it, how much of
    the uncertainty a noisy value removes, and the cost.

    initial_capital  Λ₀ of the initial design; by default see method/design.py. 0 for none.
    mode             "practical", or "paper": the design, the search and the rest as mf-gp-ucb has them in that mode
                     (base/manner.py), by a DIRECT of our own; the model is the method's own.

    Differences from the literature: the incumbent y* is taken at points queried at the target only (the reference: at
    points of any fidelity, by μ − σ), noiseless ones as observed; a small nugget stands for η_m where values are
    noiseless, since without one a known point would be as good as a new one; |corr|, for models (ar1 with a learnt
    ρ) where it can be negative; the initial design is the one that all methods share; the logarithm is maximised.

    With λ_1 ≪ λ_M the cost ratio outweighs a small correlation for long: it then stays at the first fidelity.
    """

    kind = "augmented expected improvement"
    _batched = True

    def __init__(self, initial_capital: float | None = None, mode: Mode = "practical") -> None:
        self.initial_capital = check_initial_capital(initial_capital)
        self.mode: Mode = mode
        self._manner = find_manner(mode)

    def _own_surrogate(self) -> Surrogate:
        return AR1(rho=1.0)

    def _improve(self, view: View, pending: Sequence[Query], best: float) -> Suggestion:
        positions = [k for k in self._payable_positions(view) if k == self._top or not self._is_used_up(k, pending)]
        found = self._look_at_all(positions, view, pending, best)
        if found is None:
            found = max((self._look_at_one(k, view, pending, best) for k in positions), key=lambda each: each.worth)
        text = "where a query at this fidelity promises most per cost"
        k, u = found.k, found.u
        reason = improvement_reason(self.kind, text, k, view.t, best, found.value, self._models, u)
        return Suggestion(u, self._used[k], reason)

    def _look_at_all(
        self, positions: Sequence[int], view: View, pending: Sequence[Query], best: float
    ) -> _Candidate | None:
        """The best query by one search over these positions together; None where each has rules of its own.

        So it is where evaluations fail, on a finite set, and where the best query would tell nothing new.
        """
        joint: object = self._models.joint
        if not isinstance(joint, FusesImprovement) or self._observations.failed > 0:
            return None
        if self._problem.domain.points is not None:
            return None
        acquisition = self._fuse(joint, positions, best, Tamed.TAIL)
        u, _ = self._search.maximum(acquisition, self._top, view, pending, DEPTH)
        values = [float(self._acquisition(k, best)(u[None])[0]) for k in positions]
        value, k = max(zip(values, positions, strict=True))
        if self._search.is_needless(u, k, pending) or self._search.is_crowded(u, k, pending):
            return None
        return _Candidate(value, value, k, u)

    def _look_at_one(self, k: int, view: View, pending: Sequence[Query], best: float) -> _Candidate:
        """The best query at position k."""
        acquisition = self._acquisition(k, best)
        u, worth = self._search.point_and_value(Tamed(acquisition), k, view, pending, DEPTH)
        return _Candidate(worth, float(acquisition(u[None])[0]), k, u)

    def _acquisition(self, k: int, best: float) -> Acquisition:
        """The augmented expected improvement of position k."""
        joint: object = self._models.joint
        if isinstance(joint, FusesImprovement):
            return self._fuse(joint, [k], best, _NO_TAIL)
        return AugmentedImprovement(self._models, k, best, self._costs[-1] / self._costs[k], self._unit)

    def _fuse(self, joint: FusesImprovement, positions: Sequence[int], best: float, tail: float) -> Acquisition:
        """The best of that over several positions."""
        unit, count = self._unit, len(self._used)
        noises = [tell_noise(self._models, k, unit) for k in range(count)]
        offsets = [log(self._costs[-1] / self._costs[k]) if k in positions else -inf for k in range(count)]
        return joint.improvement(best, unit, noises, offsets, tail)

    def _is_used_up(self, k: int, pending: Sequence[Query]) -> bool:
        """Whether a noiseless fidelity of a finite set has no point left to query."""
        return self._observations.all_finished(k, pending) and self._models.is_noiseless(k)
