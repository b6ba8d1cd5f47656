"""Estimates with intervals, from few values.

Each is computed from paired values of two fidelities, to be maximised: `low` at the cheap one, `high` at the target.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import atanh, inf, sqrt, tanh
from typing import Any

import numpy as np

from mfopt.protocols import Array
from mfopt.theory.contract import excess

_Z = 1.96  # the normal deviate of a 95 % interval


@dataclass(frozen=True)
class Interval:
    """An estimate with the ends of its interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3g} [{self.low:.3g}, {self.high:.3g}]"


def fit_line(low: Array, high: Array) -> tuple[float, float]:
    """b and a of the least squares line a + b·low."""
    spread = low - low.mean()
    square = float(spread @ spread)
    slope = float(spread @ high) / square if square > 0 else 0.0
    return slope, float(high.mean() - slope * low.mean())


def estimate_zeta(
    model: Any, u: Array, difference: Array, noise: float, look: Array, rng: np.random.Generator
) -> Interval:
    """How large |f⁽ᵐ⁾ − f⁽ᴹ⁾| may be over X, from differences at the points u, which the model is fitted to.

    `noise` is the variance of a difference; X is looked at in the points `look`.
    """
    seen = excess(float(np.abs(difference).max()), noise)
    if not np.ptp(difference) > 0:
        return Interval(seen, seen, seen)
    model.fit(u, difference, rng)
    mean, var = model.posterior(look)
    mean = np.abs(mean)
    value = max(seen, float(mean.max()))
    return Interval(value, seen, max(value, float((mean + 2 * np.sqrt(var)).max())))


def estimate_share(low: Array, high: Array, zeta: Interval, ratio: Interval) -> Interval:
    """λ_m/λ_M + the part of X in J⁽ᵐ⁾_{3γ}."""
    limit = high.max() - zeta.value * (1 + 3 * sqrt(min(1.0, ratio.value)))
    n, k = len(low), int((low >= limit).sum())
    centre = (k + _Z**2 / 2) / (n + _Z**2)
    half = _Z / (n + _Z**2) * sqrt(k * (n - k) / n + _Z**2 / 4)
    return Interval(ratio.value + k / n, ratio.low + max(0.0, centre - half), ratio.high + min(1.0, centre + half))


def estimate_correlation(low: Array, high: Array) -> Interval:
    """Pearson's r, with Fisher's interval."""
    if np.ptp(low) == 0 or np.ptp(high) == 0:
        return Interval(0.0, -1.0, 1.0)
    r = float(np.clip(np.corrcoef(low, high)[0, 1], -1.0, 1.0))
    z, half = atanh(np.clip(r, -1 + 1e-15, 1 - 1e-15)), _Z / sqrt(len(low) - 3)
    return Interval(r, tanh(z - half), tanh(z + half))


def estimate_noise(groups: list[Array]) -> Interval | None:
    """The standard deviation pooled over repeats, with the χ² interval; None without repeats."""
    from scipy.special import chdtri  # slow to import

    freedom = sum(len(g) - 1 for g in groups)
    if freedom == 0:
        return None
    squares = sum(float(((g - g.mean()) ** 2).sum()) for g in groups)
    low, high = (sqrt(squares / float(chdtri(freedom, p))) for p in (0.025, 0.975))
    return Interval(sqrt(squares / freedom), low, high)


def estimate_ratio(low: Array, high: Array) -> Interval:
    """Mean cost over mean cost, with the delta method's interval."""
    value = float(low.mean() / high.mean())
    relative = sum(float(c.var(ddof=1)) / len(c) / float(c.mean()) ** 2 for c in (low, high) if len(c) > 1)
    half = _Z * value * sqrt(relative)
    return Interval(value, max(0.0, value - half), value + half if half < inf else inf)
