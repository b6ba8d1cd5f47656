"""The constants a, b of the assumption on the kernel (asm:kernelAssumption): P(sup |∂f/∂x_i| > J) ≤ a exp(−(J/b)²).

The paper takes them as given. For stationary kernels on [0, r]^d they can be bounded. g = ∂f/∂x_i is a centred,
stationary Gaussian process. Let σ² be its variance, and L such that d(x, x')² = E (g(x) − g(x'))² ≤ L² ‖x − x'‖².

  1. d ≤ 2σ and d ≤ L r√d, and balls of d-radius u around the centres of (1 + rL√d/(2u))^d cubes cover X. With Dudley's
     integral, as Boucheron, Lugosi and Massart have it (Concentration Inequalities, Corollary 13.2), whose packing
     number at u is at most the covering number at u/2,

         E sup g ≤ μ = 12 ∫_0^w √(d log(1 + rL√d/u)) du,   w = min(σ, L r√d/2).

  2. By the inequality of Borell and of Tsirelson, Ibragimov and Sudakov, for g and −g,

         P(sup |g| > J) ≤ 2 exp(−(J − μ)²/(2σ²))   for J ≥ μ.

  3. (J − μ)² ≥ (1 − ε)J² − (1/ε − 1)μ² for 0 < ε < 1. With s = μ/σ and ε = s/(1 + s)

         P(sup |g| > J) ≤ a exp(−(J/b)²),   a = 2 exp(s/2),   b = σ √(2(1 + s)).

     For J < μ the right side is at least 1, since (J/b)² ≤ s²/(2(1 + s)) ≤ s/2.

Matérn kernels are mixtures of SE kernels whose squared length-scale is h²u/ν with u ~ Gamma(ν, 1), so E 1/u = 1/(ν − 1)
and E 1/u² = 1/((ν − 1)(ν − 2)) give σ² and L² from those of the SE kernel, κ_0/h² and 3κ_0/h⁴.
"""

from __future__ import annotations

from math import exp, log, sqrt

from mfopt.errors import InputError
from mfopt.theory._checks import require_positive


def smoothness_se(d: int, r: float = 1.0, lengthscale: float = 1.0, scale: float = 1.0) -> tuple[float, float]:
    """a and b for the SE kernel of length-scale h and κ_0 = `scale` on [0, r]^d; they bound, they are not the best."""
    require_positive(d=d, r=r, lengthscale=lengthscale, scale=scale)
    return _bound(d, r, sqrt(scale) / lengthscale, sqrt(3 * scale) / lengthscale**2)


def smoothness_matern(
    d: int, nu: float, r: float = 1.0, lengthscale: float = 1.0, scale: float = 1.0
) -> tuple[float, float]:
    """The same for the Matérn kernel, ν > 2: the derivatives of others need not be bounded in this way."""
    require_positive(d=d, r=r, lengthscale=lengthscale, scale=scale)
    if not nu > 2:
        raise InputError(f"nu must be above 2, got {nu}")
    deviation = sqrt(scale * nu / (nu - 1)) / lengthscale
    return _bound(d, r, deviation, sqrt(3 * scale * nu**2 / ((nu - 1) * (nu - 2))) / lengthscale**2)


def _bound(d: int, r: float, deviation: float, lipschitz: float) -> tuple[float, float]:
    """a and b from σ and L."""
    from scipy.integrate import quad  # slow to import

    reach = r * lipschitz * sqrt(d)
    width = min(deviation, reach / 2)
    # u = w v² takes the singularity of the integrand at 0 away.
    entropy = quad(lambda v: 2 * width * v * sqrt(d * log(1 + reach / (width * v**2))) if v > 0 else 0.0, 0.0, 1.0)[0]
    ratio = 12 * entropy / deviation
    return 2 * exp(ratio / 2), deviation * sqrt(2 * (1 + ratio))
