"""Preflight: what a few paired evaluations say about cheap fidelities, before capital is spent on them.

A pair is a point with a value at fidelity m and one at the target. From the pairs of each fidelity:

    ζ             the largest difference: seen (low end), of a model's mean over X (value), with two standard deviations
                  of the model on top (high end)
    correlation   Pearson's r, 95 % interval by Fisher's transformation
    noise         standard deviation from repeated evaluations, 95 % interval; unknown without repeats
    cost ratio    λ_m/λ_M
    share         the capital that two fidelities need, as a share of what the target alone needs for the same regret:
                  λ_m/λ_M + vol(J⁽ᵐ⁾_{3γ})/vol(X). The bounds on the simple regret differ by √(Ψ(H⁽ᴹ⁾)/Ψ(X)), about
                  √(vol(H⁽ᴹ⁾)/vol(X)), so the capital for one regret by vol(H⁽ᴹ⁾)/vol(X); the rest of X is explored at
                  fidelity m. The volume is the part of the pairs in the set, its interval Wilson's; f* is the best
                  target value seen, which makes the set too large rather than too small. γ = ζ√(λ_m/λ_M).

The same for a + b·f⁽ᵐ⁾ with a, b by least squares, since a fidelity that is only shifted or scaled is a good one.
Verdicts: "use" when the share is at most WORTH; "correct" (use it after the affine correction) when that is so only
after the correction, or when the correction clearly halves ζ, by the ends of the intervals; otherwise "drop".

Random points see what is common, not what is rare: a ζ that is attained only near a narrow peak is underestimated.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import atanh, inf, nan, sqrt, tanh
from typing import Any

import numpy as np

from mfopt import registry
from mfopt.checks import direction_sign, integer, one_each, real_number, shown
from mfopt.domains import as_domain
from mfopt.errors import InputError
from mfopt.protocols import Array, Domain
from mfopt.theory._checks import require_increasing
from mfopt.theory.contract import excess

WORTH = 0.8  # a share above this is not worth the trouble
REPEATS = 3  # points evaluated twice, for the noise
_LOOK = 2000  # points of X at which the difference is predicted
_Z = 1.96


@dataclass(frozen=True)
class Interval:
    """An estimate with the ends of its interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3g} [{self.low:.3g}, {self.high:.3g}]"


@dataclass(frozen=True)
class FidelityCheck:
    """What is known of one cheap fidelity."""

    fidelity: int
    pairs: int
    zeta: Interval
    correlation: Interval
    noise: Interval | None
    cost_ratio: Interval
    share: Interval
    intercept: float
    slope: float
    corrected_zeta: Interval
    corrected_share: Interval
    verdict: str  # "use", "correct" or "drop"

    def corrected(self, function: Callable[[Array], Any]) -> Callable[[Array], Any]:
        """a + b·f⁽ᵐ⁾, to be evaluated in the place of f⁽ᵐ⁾."""
        return lambda x: self.intercept + self.slope * function(x)

    @property
    def advice(self) -> str:
        """The verdict in words."""
        if self.verdict == "drop":
            return f"drop it: predicted to need {self.share.value:.0%} of the capital of the target alone"
        if self.verdict == "use":
            return f"use it: predicted to need {self.share.value:.0%} of the capital of the target alone"
        return (
            f"use it as {self.intercept:.4g} + {self.slope:.4g}·y: predicted to need {self.corrected_share.value:.0%} "
            f"of the capital of the target alone (uncorrected {self.share.value:.0%})"
        )


@dataclass(frozen=True)
class Preflight:
    """A check per fidelity below the target; prints as a table with the verdicts."""

    checks: tuple[FidelityCheck, ...]
    target_noise: Interval | None

    @property
    def verdicts(self) -> tuple[str, ...]:
        return tuple(check.verdict for check in self.checks)

    def __str__(self) -> str:
        head = (
            "fidelity",
            "pairs",
            "ζ",
            "correlation",
            "noise",
            "cost ratio",
            "share",
            "ζ corrected",
            "share corrected",
        )
        rows: list[tuple[str, ...]] = [head]
        for c in self.checks:
            cells = (c.zeta, c.correlation, c.noise or "-", c.cost_ratio, c.share, c.corrected_zeta, c.corrected_share)
            rows.append((str(c.fidelity), str(c.pairs), *(str(cell) for cell in cells)))
        widths = [max(len(row[j]) for row in rows) for j in range(len(head))]
        lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows]
        return "\n".join([*lines, *(f"fidelity {c.fidelity}: {c.advice}" for c in self.checks)])


def preflight(
    data: Any,
    domain: object,
    costs: Sequence[float] | None = None,
    *,
    direction: str = "maximize",
    pairs: int | None = None,
    surrogate: object = "se",
    rng: int | np.random.Generator | None = None,
) -> Preflight:
    """Judge every fidelity below the target from paired evaluations.

    data       f⁽¹⁾..f⁽ᴹ⁾ as a list of callables, evaluated here at `pairs` random points of X; or a history, or any
               object with its columns x, fidelity and y, of which the points with several fidelities are used
    costs      λ_1 < .. < λ_M; by default a history's own mean costs, and for callables the seconds that they took
    pairs      by default 5 + 3·dim
    surrogate  models the difference of two fidelities, to see how large it may be where nobody looked
    """
    space = as_domain(domain)
    generator = np.random.default_rng(rng)
    sign = direction_sign(direction)
    if isinstance(data, Sequence):
        count = 5 + 3 * space.dim if pairs is None else integer(pairs, "pairs")
        if count < 4:
            raise InputError(f"pairs must be at least 4, got {count}")
        table = _evaluated(data, space, count, generator)
    else:
        table = _from_history(data)
    prices = _prices(costs, table)
    look = space.sample(_LOOK, generator)
    noises = [_noise(groups) for groups in table.repeats]
    kind = registry.resolve(registry.SURROGATES, surrogate)
    checks = []
    for m in range(len(prices) - 1):
        both = np.isfinite(table.y[m]) & np.isfinite(table.y[-1])
        if both.sum() < 4:
            raise InputError(f"fidelity {m} must share at least 4 points with the target, got {int(both.sum())}")
        u = space.encode(table.x[both])
        low, high = sign * table.y[m][both], sign * table.y[-1][both]
        variance = sum(0.0 if one is None else one.value**2 for one in (noises[m], noises[-1]))
        ratio = _ratio(prices[m], prices[-1])
        slope, intercept = _line(low, high)
        fitted = intercept + slope * low
        zeta = _zeta(kind.model(space.dim), u, low - high, variance, look, generator)
        corrected_zeta = _zeta(kind.model(space.dim), u, fitted - high, variance, look, generator)
        share, corrected_share = _share(low, high, zeta, ratio), _share(fitted, high, corrected_zeta, ratio)
        checks.append(
            FidelityCheck(
                fidelity=m,
                pairs=len(low),
                zeta=zeta,
                correlation=_correlation(low, high),
                noise=noises[m],
                cost_ratio=ratio,
                share=share,
                intercept=sign * intercept,
                slope=slope,
                corrected_zeta=corrected_zeta,
                corrected_share=corrected_share,
                verdict=_verdict(zeta, share, corrected_zeta, corrected_share),
            )
        )
    return Preflight(tuple(checks), noises[-1])


def _verdict(zeta: Interval, share: Interval, corrected_zeta: Interval, corrected_share: Interval) -> str:
    better = corrected_share.value <= WORTH and corrected_zeta.high <= 0.5 * zeta.low
    if better or (corrected_share.value <= WORTH < share.value):
        return "correct"
    return "use" if share.value <= WORTH else "drop"


# ------------------------------------------------------------------------------------------------ data


@dataclass(frozen=True)
class _Table:
    """Values by fidelity at common points, NaN where there is none; repeats; what each evaluation cost."""

    x: Array  # (n, d), user units
    y: Array  # (M, n)
    repeats: list[list[Array]]  # by fidelity, groups of values at one point
    costs: list[Array]  # by fidelity


def _evaluated(functions: Sequence[Any], domain: Domain, count: int, rng: np.random.Generator) -> _Table:
    if len(functions) < 2 or not all(callable(f) for f in functions):
        raise InputError(f"functions must be at least two callables, cheapest first, got {shown(functions)}")
    x = domain.decode(domain.sample(count, rng))
    y = np.empty((len(functions), len(x)))
    repeats: list[list[Array]] = [[] for _ in functions]
    seconds: list[list[float]] = [[] for _ in functions]
    for m, function in enumerate(functions):
        for i, point in enumerate(x):
            values = []
            for _ in range(2 if i < REPEATS else 1):
                start = time.perf_counter()
                value = function(point.copy())
                seconds[m].append(time.perf_counter() - start)
                values.append(real_number(value, f"the value of function {m} at {point.tolist()}"))
            y[m, i] = np.mean(values)
            if len(values) > 1:
                repeats[m].append(np.array(values))
    return _Table(x, y, repeats, [np.array(s) for s in seconds])


def _from_history(history: Any) -> _Table:
    try:
        points, fidelity, values = history.x, history.fidelity, history.y
    except AttributeError:
        raise InputError(
            f"data must be a list of functions or a history with x, fidelity and y, got {shown(history)}"
        ) from None
    points, fidelity, values = (np.asarray(column) for column in (points, fidelity, values))
    keep = np.isfinite(values)
    points, fidelity, values = np.array(points[keep], dtype=np.float64) + 0.0, fidelity[keep], values[keep]
    fidelities = int(fidelity.max(initial=0)) + 1
    if fidelities < 2:
        raise InputError(f"a history must hold values of at least two fidelities, got {fidelities}")
    x, row = np.unique(points, axis=0, return_inverse=True)
    row = row.reshape(-1)
    y = np.full((fidelities, len(x)), nan)
    repeats: list[list[Array]] = [[] for _ in range(fidelities)]
    for m in range(fidelities):
        for i in np.unique(row[fidelity == m]):
            here = values[(fidelity == m) & (row == i)]
            y[m, i] = here.mean()
            if len(here) > 1:
                repeats[m].append(here)
    spent = np.asarray(getattr(history, "cost", np.zeros(len(keep))), dtype=np.float64)[keep]
    return _Table(x, y, repeats, [spent[(fidelity == m) & (spent > 0)] for m in range(fidelities)])


def _prices(costs: Sequence[float] | None, table: _Table) -> list[Array]:
    """By fidelity the costs seen, or the one given."""
    if costs is not None:
        given = [real_number(c, "costs") for c in one_each(costs, len(table.y), "costs")]
        require_increasing(given)
        return [np.array([cost]) for cost in given]
    if any(len(seen) == 0 for seen in table.costs):
        raise InputError("costs must be given where the history does not tell them, got None")
    return table.costs


# ------------------------------------------------------------------------------------------------ estimates


def _line(low: Array, high: Array) -> tuple[float, float]:
    """b and a of the least squares line a + b·low."""
    spread = low - low.mean()
    square = float(spread @ spread)
    slope = float(spread @ high) / square if square > 0 else 0.0
    return slope, float(high.mean() - slope * low.mean())


def _zeta(model: Any, u: Array, difference: Array, noise: float, look: Array, rng: np.random.Generator) -> Interval:
    seen = excess(float(np.abs(difference).max()), noise)
    if not np.ptp(difference) > 0:
        return Interval(seen, seen, seen)
    model.fit(u, difference, rng)
    mean, var = model.posterior(look)
    mean = np.abs(mean)
    value = max(seen, float(mean.max()))
    return Interval(value, seen, max(value, float((mean + 2 * np.sqrt(var)).max())))


def _share(low: Array, high: Array, zeta: Interval, ratio: Interval) -> Interval:
    """λ_m/λ_M + the part of X in J⁽ᵐ⁾_{3γ}."""
    limit = high.max() - zeta.value * (1 + 3 * sqrt(min(1.0, ratio.value)))
    n, k = len(low), int((low >= limit).sum())
    centre = (k + _Z**2 / 2) / (n + _Z**2)
    half = _Z / (n + _Z**2) * sqrt(k * (n - k) / n + _Z**2 / 4)
    return Interval(ratio.value + k / n, ratio.low + max(0.0, centre - half), ratio.high + min(1.0, centre + half))


def _correlation(low: Array, high: Array) -> Interval:
    if np.ptp(low) == 0 or np.ptp(high) == 0:
        return Interval(0.0, -1.0, 1.0)
    r = float(np.clip(np.corrcoef(low, high)[0, 1], -1.0, 1.0))
    z, half = atanh(np.clip(r, -1 + 1e-15, 1 - 1e-15)), _Z / sqrt(len(low) - 3)
    return Interval(r, tanh(z - half), tanh(z + half))


def _noise(groups: list[Array]) -> Interval | None:
    """The standard deviation pooled over repeats, with the χ² interval."""
    from scipy.special import chdtri  # slow to import

    freedom = sum(len(g) - 1 for g in groups)
    if freedom == 0:
        return None
    squares = sum(float(((g - g.mean()) ** 2).sum()) for g in groups)
    low, high = (sqrt(squares / float(chdtri(freedom, p))) for p in (0.025, 0.975))
    return Interval(sqrt(squares / freedom), low, high)


def _ratio(low: Array, high: Array) -> Interval:
    """Mean cost over mean cost, with the delta method's interval."""
    value = float(low.mean() / high.mean())
    relative = sum(float(c.var(ddof=1)) / len(c) / float(c.mean()) ** 2 for c in (low, high) if len(c) > 1)
    half = _Z * value * sqrt(relative)
    return Interval(value, max(0.0, value - half), value + half if half < inf else inf)
