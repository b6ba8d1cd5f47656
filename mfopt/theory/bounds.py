"""The capital thresholds Λ_1, Λ_2 and the bounds on the simple regret of Theorems (gpucb), (discreteThm), (compactThm).

n_Λ = ⌊Λ/λ_M⌋ and n̄_Λ = ⌊Λ/λ_1⌋ are the fewest and the most queries that capital Λ pays for.

Three places where the paper's statements and its proofs differ; the proofs are followed:

  - The theorems print C_1 = 8/log(1 + η²); the proofs, and GP-UCB, have 8/log(1 + η⁻²), from Lemma (IGBoundLemma).
    The printed one would shrink the bound as noise grows. That lemma also takes κ(x, x) ≤ 1; for κ_0 = κ(x, x) the
    same step gives C_1 = 8κ_0/log(1 + κ_0/η²).
  - Eqs. (costonects), (costtwocts) print β^{p+1}/γ^{2p} with p = 1/2 (SE) and 1 (Matérn). Eq. (htncalmbound), from a
    covering by balls of radius ε ∝ γ/√β (SE) or γ²/β (Matérn) with ⌈2η²β/γ²⌉ queries in each, has β^{p+1}/γ^{2p+2}
    with p = d/2 and d. `printed=True` gives the printed form.
  - "The smallest Λ that satisfies" a condition need not satisfy it from there on, as ⌈·⌉ jumps; the theorems speak of
    all Λ > Λ_1. Here Λ_1 and Λ_2 are the smallest from which on the condition always holds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, log, pi, sqrt

import numpy as np

from mfopt.errors import InputError
from mfopt.protocols import Array
from mfopt.theory._checks import one_below_target, require_increasing, require_positive
from mfopt.theory.goodsets import Labels, above, dilation_radius, distances

Schedule = Callable[[float], float]  # β_t of an iteration, or ν_n of a number of queries
_LARGEST = 1e300


@dataclass(frozen=True)
class Thresholds:
    """The bounds of a theorem hold for capital above `first` (with β at n̄_Λ) and above `second` (with β at 2n_Λ)."""

    first: float
    second: float


def c1(noise: float, scale: float = 1.0) -> float:
    """C_1 = 8κ_0/log(1 + κ_0/η²), which is 8/log(1 + η⁻²) for κ_0 = 1; `noise` is η²."""
    require_positive(noise=noise, scale=scale)
    return 8 * scale / log(1 + scale / noise)


def c_kappa_se(d: int, lengthscale: float = 1.0, scale: float = 1.0) -> float:
    """C_κ = 2^{2+d/2} (dκ_0/h²)^{d/2} for the SE kernel."""
    require_positive(d=d, lengthscale=lengthscale, scale=scale)
    return float(2 ** (2 + d / 2) * (d * scale / lengthscale**2) ** (d / 2))


def c_kappa_matern(d: int, lipschitz: float, scale: float = 1.0) -> float:
    """C_κ = 2^{2+d} C_Mat^d d^{d/2} with C_Mat = 2κ_0 L, L a Lipschitz constant of κ(x, x')/κ_0 in ‖x − x'‖."""
    require_positive(d=d, lipschitz=lipschitz, scale=scale)
    return float(2 ** (2 + d) * (2 * scale * lipschitz) ** d * d ** (d / 2))


def discrete_thresholds(
    labels: Labels, gammas: Sequence[float], costs: Sequence[float], noise: float, beta: Schedule
) -> Thresholds:
    """Λ_1 of eq. (costonecondn) and Λ_2 of eq. (costtwocondn), for a finite X with the partition `labels`.

    `beta` is the theorem's β_t, for example `partial(beta_mf_discrete, size=..., fidelities=..., delta=..., xi=...)`.
    """
    fidelities, thresholds = _check_arguments(gammas, costs)
    require_positive(noise=noise)
    sizes = np.bincount(labels, minlength=fidelities)
    upward = [int(np.count_nonzero(labels >= m)) for m in range(fidelities - 1)]  # |H⁽ᵐ⁾ ∪ Ĥ⁽ᵐ⁾|
    once = float(sum(costs[m] * sizes[m - 1] for m in range(1, fidelities)))

    def first(capital: float) -> float:
        b = beta(max(1, capital // costs[0]))
        return once + sum(costs[m] * upward[m] * ceil(noise / g**2 * b) for m, g in enumerate(thresholds))

    def second(capital: float) -> float:
        b = beta(max(1, capital // costs[0]))
        return costs[-1] * (len(labels) + sum(upward[m] * ceil(noise / g**2 * b) for m, g in enumerate(thresholds)))

    return Thresholds(_settle(first, costs[-1]), _settle(second, costs[-1]))


def compact_thresholds(
    points: Array,
    labels: Labels,
    gammas: Sequence[float],
    costs: Sequence[float],
    noise: float,
    beta: Schedule,
    c_kappa: float,
    kernel: str = "se",
    nu: Schedule = sqrt,
    r: float = 1.0,
    printed: bool = False,
) -> Thresholds:
    """Λ_1 of eq. (costonects) and Λ_2 of eq. (costtwocts), for X = [0, r]^d seen on a uniform grid of points.

    kernel   "se" or "matern", for the exponents; `c_kappa` is its constant
    nu       the sequence ν_n, increasing, sublinear, without bound
    printed  the exponents as the equations print them
    """
    fidelities, thresholds = _check_arguments(gammas, costs)
    require_positive(noise=noise, c_kappa=c_kappa, r=r)
    if kernel not in ("se", "matern"):
        raise InputError(f'kernel must be "se" or "matern", got {kernel!r}')
    d = points.shape[1]
    p = (0.5 if kernel == "se" else 1.0) * (1 if printed else d)
    power = 2 * p if printed else 2 * p + 2
    # Sorted distances of points outside Ĥ⁽ᵐ⁾ to H⁽ᵐ⁾: the volume of a dilation is a look-up.
    reach = [np.sort(distances(points, labels == m)[~above(labels, m)]) for m in range(fidelities - 1)]
    upward = [float(np.mean(above(labels, m))) for m in range(fidelities - 1)]

    def dilated_volume(m: int, radius: float) -> float:
        inside = np.searchsorted(reach[m], radius, side="right") / len(points)
        return float(r**d * (inside + upward[m]))

    def demand(capital: float, prices: Sequence[float]) -> float:
        most, fewest = max(1.0, capital // costs[0]), max(1.0, capital // costs[-1])
        radius = dilation_radius(nu(fewest), d, r)
        volumes = sum(float(prices[m]) * dilated_volume(m, radius) / g**power for m, g in enumerate(thresholds))
        return float(costs[-1] * nu(most) + c_kappa * noise * beta(most) ** (p + 1) * volumes)

    return Thresholds(
        _last_crossing(lambda capital: demand(capital, costs), costs[-1]),
        _last_crossing(lambda capital: demand(capital, [costs[-1]] * fidelities), costs[-1]),
    )


def gpucb_bound(
    n: float, beta_n: float, information: float, noise: float, scale: float = 1.0, compact: bool = False
) -> float:
    """S_n ≤ √(C_1 β_n Ψ_n(X)/n), + 2/n for compact X; Theorem (gpucb). `information` is Ψ_n(X)."""
    require_positive(n=n, beta_n=beta_n, information=information)
    return sqrt(c1(noise, scale) * beta_n * information / n) + (2 / n if compact else 0.0)


def mf_bound(
    capital: float,
    costs: Sequence[float],
    thresholds: Thresholds,
    beta: Schedule,
    information: float,
    noise: float,
    scale: float = 1.0,
    compact: bool = False,
) -> float:
    """S(Λ) ≤ √(2C_1 β Ψ_{n_Λ}(H⁽ᴹ⁾)/n_Λ), + π²/(3n_Λ) for compact X; Theorems (discreteThm), (compactThm).

    β is β_{n̄_Λ} for Λ > Λ_1 and β_{2n_Λ} for Λ > Λ_2; the bound is +∞ for smaller capital. `information` is
    Ψ_{n_Λ}(H⁽ᴹ⁾), for compact X that of the dilated set.
    """
    require_increasing(costs)
    n = capital // costs[-1]
    if capital <= thresholds.first or n < 1:
        return np.inf
    require_positive(information=information)
    most = 2 * n if capital > thresholds.second else capital // costs[0]
    tail = pi**2 / (3 * n) if compact else 0.0
    return sqrt(2 * c1(noise, scale) * beta(most) * information / n) + tail


def _check_arguments(gammas: Sequence[float], costs: Sequence[float]) -> tuple[int, list[float]]:
    require_increasing(costs)
    thresholds = one_below_target("gammas", gammas, len(costs))
    require_positive(gammas=thresholds)
    return len(costs), thresholds.tolist()


def _settle(demand: Callable[[float], float], least: float) -> float:
    """The smallest Λ from which on 2·demand(Λ) ≤ Λ, for a non-decreasing step function.

    That is the largest fixed point of 2·demand. Beyond some Λ the condition always holds, as demand grows like log Λ;
    from there Λ ← 2·demand(Λ) comes down to it, step by step.
    """
    capital = least
    while 2 * demand(capital) > capital or 2 * demand(16 * capital) > 16 * capital:
        capital *= 2
        if capital > _LARGEST:
            return np.inf
    capital *= 1024
    while True:
        lower = 2 * demand(capital)
        if lower >= capital:
            return float(capital)
        capital = lower


def _last_crossing(demand: Callable[[float], float], least: float) -> float:
    """As above for a function that may also fall: the last crossing on a fine logarithmic grid, then by bisection."""
    grid = least * np.geomspace(1.0, 1e18, 1800)
    ok = np.array([2 * demand(capital) <= capital for capital in grid])
    if not ok[-1]:
        return np.inf
    if ok.all():
        return float(least)
    i = int(np.flatnonzero(~ok)[-1])
    low, high = float(grid[i]), float(grid[i + 1])
    while high - low > 1e-9 * high:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if 2 * demand(middle) <= middle else (middle, high)
    return high
