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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mfopt import registry
from mfopt.analysis.estimates import (
    Interval,
    estimate_correlation,
    estimate_noise,
    estimate_ratio,
    estimate_share,
    estimate_zeta,
    fit_line,
)
from mfopt.analysis.pairs import Pairs, collect_pairs, evaluate_pairs
from mfopt.checks import direction_sign, integer
from mfopt.domains import as_domain
from mfopt.errors import InputError
from mfopt.hooks import tie_scales
from mfopt.protocols import Array
from mfopt.run.tables import align

WORTH = 0.8  # a share above this is not worth the trouble
_LOOK = 2000  # points of X at which the difference is predicted


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
        """The verdict on each fidelity below the target."""
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
        return "\n".join([*align(rows), *(f"fidelity {c.fidelity}: {c.advice}" for c in self.checks)])


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
        paired = evaluate_pairs(data, space, count, generator)
    else:
        paired = collect_pairs(data)
    prices = paired.prices(costs)
    look = space.sample(_LOOK, generator)
    noises = [estimate_noise(groups) for groups in paired.repeats]
    kind = tie_scales([registry.resolve(registry.SURROGATES, surrogate)], space)[0]

    def measure(x: Array, difference: Array, variance: float) -> Interval:
        return estimate_zeta(kind.model(space.dim), space.encode(x), difference, variance, look, generator)

    ratios = [estimate_ratio(price, prices[-1]) for price in prices[:-1]]
    checks = [_judge(m, paired, ratio, noises, sign, measure) for m, ratio in enumerate(ratios)]
    return Preflight(tuple(checks), noises[-1])


def _judge(
    m: int,
    paired: Pairs,
    ratio: Interval,
    noises: Sequence[Interval | None],
    sign: float,
    measure: Callable[[Array, Array, float], Interval],
) -> FidelityCheck:
    """What the pairs say of fidelity m; `measure` estimates ζ from points, differences there and their variance."""
    both = np.isfinite(paired.y[m]) & np.isfinite(paired.y[-1])
    if both.sum() < 4:
        raise InputError(f"fidelity {m} must share at least 4 points with the target, got {int(both.sum())}")
    x, low, high = paired.x[both], sign * paired.y[m][both], sign * paired.y[-1][both]
    variance = sum(0.0 if one is None else one.value**2 for one in (noises[m], noises[-1]))
    slope, intercept = fit_line(low, high)
    corrected = intercept + slope * low
    zeta, corrected_zeta = measure(x, low - high, variance), measure(x, corrected - high, variance)
    share = estimate_share(low, high, zeta, ratio)
    corrected_share = estimate_share(corrected, high, corrected_zeta, ratio)
    return FidelityCheck(
        fidelity=m,
        pairs=len(low),
        zeta=zeta,
        correlation=estimate_correlation(low, high),
        noise=noises[m],
        cost_ratio=ratio,
        share=share,
        intercept=sign * intercept,
        slope=slope,
        corrected_zeta=corrected_zeta,
        corrected_share=corrected_share,
        verdict=_decide(zeta, share, corrected_zeta, corrected_share),
    )


def _decide(zeta: Interval, share: Interval, corrected_zeta: Interval, corrected_share: Interval) -> str:
    better = corrected_share.value <= WORTH and corrected_zeta.high <= 0.5 * zeta.low
    if better or (corrected_share.value <= WORTH < share.value):
        return "correct"
    return "use" if share.value <= WORTH else "drop"
