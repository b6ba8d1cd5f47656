"""The constants of the paper's theorems, as pure functions: β_t and γ_m.

Notation: t the iteration (from 1), d the dimension, |X| the number of points of a finite X, r the side of the cube
[0, r]^d around a compact X, M the number of fidelities, δ the failure probability, ξ = P(A2) the probability that the
bounds ζ_m hold under the prior (eq. (gtwoprob)), and a, b the constants of the assumption on the kernel
(asm:kernelAssumption): P(sup |∂f/∂x_i| > J) ≤ a exp(−(J/b)²).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import log, pi, sqrt

from mfopt.errors import InputError


def beta_practical(t: int, d: int, factor: float = 0.2) -> float:
    """β_t = 0.2 d log(2t), the choice of the section "Some Implementation Details"."""
    _require_positive(t=t, d=d, factor=factor)
    return factor * d * log(2 * t)


def beta_gpucb_discrete(t: int, size: int, delta: float) -> float:
    """β_t = 2 log(|X| t² π² / (6δ)), Theorem (gpucb), finite X."""
    _require_positive(t=t, size=size)
    _require_probability(delta=delta)
    return 2 * log(size * t**2 * pi**2 / (6 * delta))


def beta_gpucb_compact(t: int, d: int, delta: float, r: float = 1.0, a: float = 1.0, b: float = 1.0) -> float:
    """β_t = 2 log(2π²t²/(3δ)) + 2d log(t² b d r √(4ad/δ)), Theorem (gpucb), X = [0, r]^d.

    Srinivas et al. have √log(4ad/δ) in the place of √(4ad/δ), which is smaller; the paper's form is used.
    """
    _require_positive(t=t, d=d, r=r, a=a, b=b)
    _require_probability(delta=delta)
    return 2 * log(2 * pi**2 * t**2 / (3 * delta)) + 2 * d * log(t**2 * b * d * r * sqrt(4 * a * d / delta))


def beta_mf_discrete(t: int, size: int, fidelities: int, delta: float, xi: float = 1.0) -> float:
    """β_t = 2 log(M |X| π² t² / (3ξδ)), Theorem (discreteThm)."""
    _require_positive(t=t, size=size, fidelities=fidelities)
    _require_probability(delta=delta)
    _require_xi(xi)
    return 2 * log(fidelities * size * pi**2 * t**2 / (3 * xi * delta))


def beta_mf_compact(
    t: int,
    d: int,
    fidelities: int,
    delta: float,
    r: float = 1.0,
    a: float = 1.0,
    b: float = 1.0,
    xi: float = 1.0,
) -> float:
    """β_t = 2 log(Mπ²t²/(2ξδ)) + 4d log t + max{0, 2d log(b r d √log(6Mad/(ξδ)))}, Theorem (compactThm)."""
    _require_positive(t=t, d=d, fidelities=fidelities, r=r, a=a, b=b)
    _require_probability(delta=delta)
    _require_xi(xi)
    inner = 6 * fidelities * a * d / (xi * delta)
    # log(inner) ≤ 0 makes the term's argument ≤ 0: its limit, −∞, loses against the 0 of the maximum.
    smoothness = 2 * d * log(b * r * d * sqrt(log(inner))) if inner > 1 else 0.0
    return 2 * log(fidelities * pi**2 * t**2 / (2 * xi * delta)) + 4 * d * log(t) + max(0.0, smoothness)


def gamma_from_zeta(zetas: Sequence[float], costs: Sequence[float]) -> tuple[float, ...]:
    """γ_m = ζ_m √(λ_m / λ_{m+1}) for m = 1..M−1 (section "Choice of γ"): M − 1 values for M costs.

    With it the cost spent at the fidelities below m is of the order of the cost spent at m.
    """
    if len(zetas) not in (len(costs), len(costs) - 1):
        raise InputError(f"zetas must hold M or M - 1 values for M = {len(costs)} costs, got {list(zetas)}")
    _require_nonnegative(zetas)
    _require_increasing(costs)
    return tuple(z * sqrt(low / high) for z, low, high in zip(zetas, costs, costs[1:], strict=False))


def _require_positive(**values: float) -> None:
    for name, value in values.items():
        if not value > 0:
            raise InputError(f"{name} must be positive, got {value}")


def _require_probability(**values: float) -> None:
    for name, value in values.items():
        if not 0 < value < 1:
            raise InputError(f"{name} must lie strictly between 0 and 1, got {value}")


def _require_xi(xi: float) -> None:
    if not 0 < xi <= 1:
        raise InputError(f"xi must lie in (0, 1], got {xi}")


def _require_nonnegative(zetas: Sequence[float]) -> None:
    if not all(z >= 0 for z in zetas):
        raise InputError(f"zetas must not be negative, got {list(zetas)}")


def _require_increasing(costs: Sequence[float]) -> None:
    if not all(low < high for low, high in pairwise(costs)) or not all(c > 0 for c in costs):
        raise InputError(f"costs must be positive and strictly increasing, got {list(costs)}")
