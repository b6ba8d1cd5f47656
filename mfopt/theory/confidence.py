"""The constants of the paper's theorems: β_t and γ_m.

Notation: t the iteration (from 1), d the dimension, |X| the number of points of a finite X, r the side of the cube
[0, r]^d around a compact X, M the number of fidelities, δ the failure probability, ξ = P(A2) the probability that the
bounds ζ_m hold under the prior (eq. (gtwoprob)), and a, b the constants of the assumption on the kernel
(asm:kernelAssumption): P(sup |∂f/∂x_i| > J) ≤ a exp(−(J/b)²).

Every β_t takes one iteration or an array of them, and gives a float or an array.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from math import log, pi, sqrt
from typing import TypeVar

import numpy as np

from mfopt.errors import InputError
from mfopt.protocols import Array
from mfopt.theory._checks import require_increasing, require_nonnegative, require_positive, require_probability

Times = TypeVar("Times", float, Array)


def beta_practical(t: Times, d: int, factor: float = 0.2) -> Times:
    """β_t = 0.2 d log(2t), the choice of the section "Some Implementation Details"."""
    require_positive(t=t, d=d, factor=factor)
    return factor * d * _log(2 * t)


def beta_gpucb_discrete(t: Times, size: int, delta: float) -> Times:
    """β_t = 2 log(|X| t² π² / (6δ)), Theorem (gpucb), finite X."""
    require_positive(t=t, size=size)
    require_probability(delta=delta)
    return 2 * _log(size * t**2 * pi**2 / (6 * delta))


def beta_gpucb_compact(t: Times, d: int, delta: float, r: float = 1.0, a: float = 1.0, b: float = 1.0) -> Times:
    """β_t = 2 log(2π²t²/(3δ)) + 2d log(t² b d r √(4ad/δ)), Theorem (gpucb), X = [0, r]^d.

    Srinivas et al. have √log(4ad/δ) in the place of √(4ad/δ), which is smaller; the paper's form is used.
    """
    require_positive(t=t, d=d, r=r, a=a, b=b)
    require_probability(delta=delta)
    return 2 * _log(2 * pi**2 * t**2 / (3 * delta)) + 2 * d * _log(t**2 * b * d * r * sqrt(4 * a * d / delta))


def beta_mf_discrete(t: Times, size: int, fidelities: int, delta: float, xi: float = 1.0) -> Times:
    """β_t = 2 log(M |X| π² t² / (3ξδ)), Theorem (discreteThm)."""
    require_positive(t=t, size=size, fidelities=fidelities)
    require_probability(delta=delta)
    _require_xi(xi)
    return 2 * _log(fidelities * size * pi**2 * t**2 / (3 * xi * delta))


def beta_mf_compact(
    t: Times,
    d: int,
    fidelities: int,
    delta: float,
    r: float = 1.0,
    a: float = 1.0,
    b: float = 1.0,
    xi: float = 1.0,
) -> Times:
    """β_t = 2 log(Mπ²t²/(2ξδ)) + 4d log t + max{0, 2d log(b r d √log(6Mad/(ξδ)))}, Theorem (compactThm)."""
    require_positive(t=t, d=d, fidelities=fidelities, r=r, a=a, b=b)
    require_probability(delta=delta)
    _require_xi(xi)
    inner = 6 * fidelities * a * d / (xi * delta)
    # log(inner) ≤ 0 makes the term's argument ≤ 0: its limit, −∞, loses against the 0 of the maximum.
    smoothness = 2 * d * log(b * r * d * sqrt(log(inner))) if inner > 1 else 0.0
    return 2 * _log(fidelities * pi**2 * t**2 / (2 * xi * delta)) + 4 * d * _log(1.0 * t) + max(0.0, smoothness)


def gamma_from_zeta(zetas: Sequence[float], costs: Sequence[float]) -> tuple[float, ...]:
    """γ_m = ζ_m √(λ_m / λ_{m+1}) for m = 1..M−1 (section "Choice of γ"): M − 1 values for M costs.

    With it the cost spent at the fidelities below m is of the order of the cost spent at m.
    """
    if len(zetas) not in (len(costs), len(costs) - 1):
        raise InputError(f"zetas must hold M or M - 1 values for M = {len(costs)} costs, got {list(zetas)}")
    require_nonnegative(zetas=zetas)
    require_increasing(costs)
    return tuple(z * sqrt(low / high) for z, low, high in zip(zetas, costs, costs[1:], strict=False))


def _log(value: Times) -> Times:
    """Plain floats stay plain: they go into reasons and stored runs."""
    return np.log(value) if isinstance(value, np.ndarray) else math.log(value)


def _require_xi(xi: float) -> None:
    if not 0 < xi <= 1:
        raise InputError(f"xi must lie in (0, 1], got {xi}")
