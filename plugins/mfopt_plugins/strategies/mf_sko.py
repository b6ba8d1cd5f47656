"""MF-SKO, multi-fidelity sequential kriging optimisation."""

from __future__ import annotations

from collections.abc import Sequence
from math import log

import numpy as np

from mfopt.hooks import AcquisitionDefaults, PairsFidelities
from mfopt.protocols import Array, CovariantModel, Query, Suggestion, Surrogate, View
from mfopt_plugins.method.improvement import ExpectedImprovement, Tamed
from mfopt_plugins.method.models import FidelityModels
from mfopt_plugins.strategies.base.improvement import DEPTH, improvement_reason
from mfopt_plugins.strategies.base.joint import JointStrategy
from mfopt_plugins.strategies.base.manner import Mode, check_initial_capital, find_manner
from mfopt_plugins.surrogates.ar1 import AR1

_NUGGET = 1e-4  # of the range of values: deviation of a noise that is always there, numerically
_LEAST = 1e-8  # correlation that passes for none


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
        self._paired: PairsFidelities | None = joint if isinstance(joint, PairsFidelities) else None
        self._noise = max(models.noise(k), (_NUGGET * unit) ** 2)

    @property
    def rows(self) -> int:
        """Rows of all models, which together make an evaluation costly."""
        return sum(model.n for model in self._models.models)

    def __call__(self, u: Array) -> Array:
        """Values at the rows of u."""
        return self._value(*self._look(u, False))

    def recurring(self, u: Array) -> Array:
        """The same for points that will come back."""
        return self._value(*self._look(u, True))

    def _value(self, mean: Array, var: Array, cov: Array) -> Array:
        """Values from means and variances (2, q) at position k and at the target, and their covariance (q,)."""
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

    def _look(self, u: Array, recurring: bool) -> tuple[Array, Array, Array]:
        """Means and variances (2, q) at position k and at the target, and their covariance (q,)."""
        if self._paired is not None:
            return self._paired.pair(u, self._k, self._top, recurring)
        both = [self._models.models[k].posterior(u) for k in sorted({self._k, self._top})]
        mean, var = (np.array([part[0], part[-1]]) for part in zip(*both, strict=True))
        if self._joint is None or self._is_alone:
            return mean, var, np.zeros(len(u))
        return mean, var, self._joint.covariance(u, self._k, self._top)

    def _look_around(self, u: Array) -> tuple[Array, Array, Array, Array, Array, Array]:
        """The same, then all gradients."""
        if self._paired is not None:
            return self._paired.pair_gradient(u, self._k, self._top)
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
        floor = np.maximum(var, max(1e-12 * self._noise, 1e-307))  # its inverse must not overflow
        value = np.log(floor / (s * (s + eta)))
        inside = var > floor * (1 - 1e-15)
        slope = np.where(inside, 1.0 / floor, 0.0) - 1.0 / (2 * s**2) - 1.0 / (2 * s * (s + eta))
        return value, slope

    def _log_correlation(self, cov: Array, var: Array, top: Array) -> Array:
        product = np.sqrt(var) * np.sqrt(top)  # var · top may overflow
        known = product > 0  # a value that is known without doubt has nothing left to correlate
        correlation = np.where(known, np.abs(cov) / np.where(known, product, 1.0), 0.0)
        return np.asarray(np.log(np.clip(correlation, _LEAST, 1.0)))


class MFSKO(JointStrategy):
    """Multi-fidelity sequential kriging optimisation (Huang, Allen, Notz and Miller, 2006).

        (x_t, m_t) = argmax EI_M(x) · corr(f⁽ᵐ⁾(x), f⁽ᴹ⁾(x)) · (1 − η_m/√(σ_m²(x) + η_m²)) · λ_M/λ_m

    under a kriging model of the differences between fidelities, f⁽ᵐ⁾ = f⁽ᵐ⁻¹⁾ + δ_m (surrogate ar1 with ρ = 1). EI_M is
    the expected improvement at the target; the factors are what a query at fidelity m tells about it, how much of
    the uncertainty a noisy value removes, and the cost.

    initial_capital  Λ₀ of the initial design; by default see method/design.py. 0 for none.
    mode             "practical", or "paper": the design, the search and the rest as mf-gp-ucb has them in that mode
                     (base/manner.py); the model is the method's own.

    Differences from the literature: the incumbent y* is taken at points queried at the target only (the reference: at
    points of any fidelity, by μ − σ), noiseless ones as observed; a small nugget stands for η_m where values are
    noiseless, since without one a known point would be as good as a new one; |corr|, for models (ar1 with a learnt
    ρ) where it can be negative; the initial design is the one that all methods share; the logarithm is maximised.

    With λ_1 ≪ λ_M the cost ratio outweighs a small correlation for long: it then stays at the first fidelity.
    """

    kind = "augmented expected improvement"

    def __init__(self, initial_capital: float | None = None, mode: Mode = "practical") -> None:
        self.initial_capital = check_initial_capital(initial_capital)
        self.mode: Mode = mode
        self._manner = find_manner(mode)

    def _own_surrogate(self) -> Surrogate:
        return AR1(rho=1.0)

    def _improve(self, view: View, pending: Sequence[Query], best: float) -> Suggestion:
        candidates = []
        for k in self._payable_positions(view):
            if k < self._top and self._is_used_up(k, pending):
                continue
            acquisition = AugmentedImprovement(self._models, k, best, self._costs[-1] / self._costs[k], self._unit)
            u, worth = self._search.point_and_value(Tamed(acquisition), k, view, pending, DEPTH)
            candidates.append((worth, float(acquisition(u[None])[0]), k, u))
        _, value, k, u = max(candidates, key=lambda candidate: candidate[0])
        text = "where a query at this fidelity promises most per cost"
        reason = improvement_reason(self.kind, text, k, view.t, best, value, self._models, u)
        return Suggestion(u, self._used[k], reason)

    def _is_used_up(self, k: int, pending: Sequence[Query]) -> bool:
        """Whether a noiseless fidelity of a finite set has no point left to query."""
        return self._observations.all_finished(k, pending) and self._models.is_noiseless(k)
