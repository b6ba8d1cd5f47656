"""Improvement over an incumbent, as acquisitions on one model: expected improvement and its probability.

Both are taken as logarithms. Far from the incumbent the expected improvement underflows to 0, and with it every hint
where to climb; its logarithm keeps values and gradients (Ament et al., 2023).
"""

from __future__ import annotations

import numpy as np

from mfopt.hooks import AcquisitionDefaults, with_defaults
from mfopt.protocols import Acquisition, Array, Model
from mfopt_plugins.method.scipy_functions import erfcx, log_ndtr, ndtr

_LOG_ROOT_2PI = 0.5 * float(np.log(2 * np.pi))
_FAR = -60.0  # below, log h is taken from its series: the closed form loses digits like z²
_SMALLEST_SIGMA = 1e-12  # of `unit`: a certain point still has a finite logarithm


def mills(z: Array) -> Array:
    """Φ(z)/φ(z) = √(π/2) erfcx(−z/√2), for z up to where it overflows (about 38)."""
    return np.asarray(np.sqrt(np.pi / 2) * erfcx(-z / np.sqrt(2)))


def excess_over_density(z: Array) -> Array:
    """h(z)/φ(z) = 1 + z Φ(z)/φ(z) for z < 0, where h(z) = φ(z) + z Φ(z).

    Far below, where the two terms cancel, it is z⁻² − 3z⁻⁴ + 15z⁻⁶ − 105z⁻⁸ + ...
    """
    inverse = np.minimum(z, _FAR) ** -2.0
    series = inverse * (1 - inverse * (3 - inverse * (15 - 105 * inverse)))
    return np.where(z < _FAR, series, 1.0 + z * mills(np.maximum(z, _FAR)))


def log_h(z: Array) -> Array:
    """log h(z) with h(z) = φ(z) + z Φ(z) (normal density and distribution), accurate for all z."""
    near, far = np.maximum(z, -1.0), np.minimum(z, -1.0)
    closed = np.log(_density(near) + near * ndtr(near))
    return np.where(z > -1.0, closed, -0.5 * z**2 - _LOG_ROOT_2PI + np.log(excess_over_density(far)))


def _density(z: Array) -> Array:
    return np.asarray(np.exp(-0.5 * z**2 - _LOG_ROOT_2PI))


class ExpectedImprovement(AcquisitionDefaults):
    """log(EI/unit), EI(u) = E max(0, f(u) − incumbent) = σ h((μ − incumbent)/σ); `unit` is a typical size of values."""

    def __init__(self, model: Model, incumbent: float, unit: float = 1.0) -> None:
        self._model = model
        self._incumbent = incumbent
        self._unit = unit

    def __call__(self, u: Array) -> Array:
        """Values at the rows of u."""
        return self.value(*self._model.posterior(u))

    def gradient(self, u: Array) -> tuple[Array, Array]:
        """Values and gradients."""
        return self.slope(*self._model.posterior_gradient(u))

    def value(self, mean: Array, var: Array) -> Array:
        """Values where the model has these means and variances."""
        z, sigma = self._score(mean, var)
        return np.asarray(log_h(z) + np.log(sigma / self._unit))

    def slope(self, mean: Array, var: Array, dmean: Array, dvar: Array) -> tuple[Array, Array]:
        """The same with gradients: ∂ log EI = (Φ/h ∂μ + φ/h ∂σ)/σ, since h′ = Φ and h − zΦ = φ."""
        z, sigma = self._score(mean, var)
        near, far = np.maximum(z, -1.0), np.minimum(z, -1.0)
        h, share = _density(near) + near * ndtr(near), excess_over_density(far)
        by_mean = np.where(z > -1.0, ndtr(near) / h, mills(far) / share) / sigma
        by_sigma = np.where(z > -1.0, _density(near) / h, 1.0 / share) / sigma
        dsigma = dvar / (2 * sigma[:, None])
        value = log_h(z) + np.log(sigma / self._unit)
        return np.asarray(value), np.asarray(by_mean[:, None] * dmean + by_sigma[:, None] * dsigma)

    def _score(self, mean: Array, var: Array) -> tuple[Array, Array]:
        sigma = np.maximum(np.sqrt(var), _SMALLEST_SIGMA * self._unit)
        return (mean - self._incumbent) / sigma, sigma


class ProbabilityOfImprovement(AcquisitionDefaults):
    """log Φ((μ − incumbent − margin)/σ), the probability that f(u) beats the incumbent by `margin`."""

    def __init__(self, model: Model, incumbent: float, margin: float, unit: float = 1.0) -> None:
        self._model = model
        self._level = incumbent + margin
        self._smallest = _SMALLEST_SIGMA * unit

    def __call__(self, u: Array) -> Array:
        """Values at the rows of u."""
        mean, var = self._model.posterior(u)
        return np.asarray(log_ndtr((mean - self._level) / np.maximum(np.sqrt(var), self._smallest)))

    def gradient(self, u: Array) -> tuple[Array, Array]:
        """Values and gradients: ∂ log Φ(z) = φ/Φ ∂z, ∂z = (∂μ − z ∂σ)/σ."""
        mean, var, dmean, dvar = self._model.posterior_gradient(u)
        sigma = np.maximum(np.sqrt(var), self._smallest)
        z = (mean - self._level) / sigma
        ratio = np.where(z < 0.0, 1.0 / mills(np.minimum(z, 0.0)), _density(z) / ndtr(np.maximum(z, 0.0))) / sigma
        dsigma = dvar / (2 * sigma[:, None])
        return np.asarray(log_ndtr(z)), np.asarray(ratio[:, None] * (dmean - z[:, None] * dsigma))


class Tamed(AcquisitionDefaults):
    """A logarithmic acquisition whose far tail is drawn in: v ≥ −c stays, below it becomes −c (1 + log(−v/c)).

    The order of points stays the same. Near noiseless data log EI falls to −1e20, and a maximiser that scales by the
    range of the values it saw would take everything else for flat.
    """

    TAIL = 20.0  # c: improvements below e^−20 units are drawn in

    def __init__(self, acquisition: Acquisition) -> None:
        self._acquisition = with_defaults(acquisition)

    def __call__(self, u: Array) -> Array:
        """Values at the rows of u."""
        return self._draw_in(self._acquisition(u))[0]

    def recurring(self, u: Array) -> Array:
        """Values at points that will come back."""
        return self._draw_in(self._acquisition.recurring(u))[0]

    @property
    def rows(self) -> int:
        """What an evaluation costs: that of the acquisition."""
        return self._acquisition.rows

    def gradient(self, u: Array) -> tuple[Array, Array]:
        """Values and gradients."""
        value, slope = self._acquisition.gradient(u)
        drawn, factor = self._draw_in(value)
        return drawn, factor[:, None] * slope

    def _draw_in(self, value: Array) -> tuple[Array, Array]:
        """The new values and their derivatives in the old ones."""
        depth = np.maximum(-value / self.TAIL, 1.0)
        return np.where(depth > 1.0, -self.TAIL * (1.0 + np.log(depth)), value), 1.0 / depth
