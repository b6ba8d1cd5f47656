"""Why a query was chosen: what `trial.reason` holds and prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, isnan, nan

from mfopt.hooks import Estimate
from mfopt.run.tables import align


@dataclass(frozen=True)
class Reason:
    """The terms of eq. (mfgpucbDefn) at the chosen point, one entry per fidelity that the method looks at.

    φ_m = μ_m + β_t^½ σ_m + ζ_m; φ = min_m φ_m. A fidelity without data has φ_m = +∞ (it is left out of the minimum)
    and width +∞. `gamma` is +∞ for the target, which has no threshold, and for all where `worth` decides: then φ is the
    target's own bound, too. For minimisation φ_m is a lower bound.
    """

    kind: str  # "initial design", "ucb", "share", "check of ζ", "refinement", "doubt", "last target query"
    text: str  # why this fidelity, in words
    fidelity: int  # the fidelity chosen, 0-based
    t: int = 0
    beta: float = 0.0
    fidelities: tuple[int, ...] = ()
    mean: tuple[float, ...] = ()  # μ_m(x)
    width: tuple[float, ...] = ()  # β_t^½ σ_m(x)
    zeta: tuple[float, ...] = ()
    phi: tuple[float, ...] = ()
    gamma: tuple[float, ...] = ()
    bound: str = "upper"
    far: tuple[int, ...] = ()  # values far below the rest of their fidelity, which count as failures
    lowest: tuple[float, ...] = ()  # the lowest value of the rest
    failure: float | None = None  # the estimated chance that this evaluation fails; None before the first failure
    worth: tuple[float, ...] = ()  # the part of the target's variance here that a value would remove, where it decided
    costs: tuple[float, ...] = ()  # what a query at each fidelity is expected to cost, where costs are learnt
    factors: tuple[float, ...] = ()  # by which these are uncertain

    @property
    def minimum(self) -> int | None:
        """The fidelity whose bound is the tightest one, and so φ; None when no bound is known."""
        if not any(isfinite(p) for p in self.phi):
            return None
        sign = 1.0 if self.bound == "upper" else -1.0
        return self.fidelities[min(range(len(self.phi)), key=lambda k: sign * self.phi[k])]

    def priced(self, estimates: Sequence[Estimate]) -> Reason:
        """The same choice with what queries are expected to cost, one estimate per fidelity."""
        return replace(self, costs=tuple(e.cost for e in estimates), factors=tuple(e.factor for e in estimates))

    def negated(self) -> Reason:
        """The same choice told in the user's unit when the user minimises: means and bounds change their sign."""
        return replace(
            self,
            mean=tuple(-v for v in self.mean),
            phi=tuple(-v for v in self.phi),
            lowest=tuple(-v for v in self.lowest),
            bound="lower" if self.bound == "upper" else "upper",
        )

    def __str__(self) -> str:
        head = f"{self.kind}: fidelity {self.fidelity}, {self.text}"
        if not self.fidelities:
            lines = [*_show_failure(self.failure), *_show_costs(self.costs, self.factors)]
            return "\n".join([head, *("  " + line for line in lines)])
        sign = "+" if self.bound == "upper" else "-"
        columns: tuple[str, ...] = (
            "fidelity",
            "mean μ",
            "width β½σ",
            "ζ",
            f"{self.bound} bound φ = μ {sign} β½σ {sign} ζ",
        )
        columns += ("explains",) if self.worth else ("γ",) if any(isfinite(gamma) for gamma in self.gamma) else ()
        rows: list[tuple[str, ...]] = [columns]
        for k, m in enumerate(self.fidelities):
            marks = ("*" if m == self.minimum else "") + ("<" if m == self.fidelity else "")
            values = (self.mean[k], self.width[k], self.zeta[k], self.phi[k], self.gamma[k])
            last = f"{100 * self.worth[k]:.0f} %" if self.worth else _show(values[-1])
            rows.append((f"{m}{marks}", *(_show(v) for v in values[:-1]), last)[: len(columns)])
        tightest = "smallest" if self.bound == "upper" else "largest"
        foot = f"t = {self.t}, β = {self.beta:.4g}; * the {tightest} bound, < the fidelity chosen"
        far = _show_far(self.fidelities, self.far, self.lowest, "below" if self.bound == "upper" else "above")
        lines = [*align(rows, right=True), foot, *far, *_show_failure(self.failure)]
        lines += _show_costs(self.costs, self.factors)
        return "\n".join([head, *("  " + line for line in lines)])


@dataclass(frozen=True)
class ImprovementReason:
    """Why a method that looks for an improvement over an incumbent chose its query; one entry per fidelity in use."""

    kind: str  # "expected improvement", "probability of improvement", ...
    text: str  # why this point and this fidelity, in words
    fidelity: int
    t: int = 0
    incumbent: float = nan  # the value at the target to be beaten; NaN: none is known
    value: float = nan  # of the acquisition at the point, as a logarithm
    fidelities: tuple[int, ...] = ()
    mean: tuple[float, ...] = ()  # μ_m(x)
    sigma: tuple[float, ...] = ()  # σ_m(x)
    far: tuple[int, ...] = ()  # as in Reason
    lowest: tuple[float, ...] = ()
    worse: str = "below"  # where values far from the rest lie
    failure: float | None = None  # the estimated chance that this evaluation fails; None before the first failure
    costs: tuple[float, ...] = ()  # as in Reason
    factors: tuple[float, ...] = ()

    def priced(self, estimates: Sequence[Estimate]) -> ImprovementReason:
        """The same choice with what queries are expected to cost, one estimate per fidelity."""
        return replace(self, costs=tuple(e.cost for e in estimates), factors=tuple(e.factor for e in estimates))

    def negated(self) -> ImprovementReason:
        """The same choice told in the user's unit when the user minimises."""
        return replace(
            self,
            incumbent=-self.incumbent,
            mean=tuple(-v for v in self.mean),
            lowest=tuple(-v for v in self.lowest),
            worse="above" if self.worse == "below" else "below",
        )

    def __str__(self) -> str:
        rows = [("fidelity", "mean μ", "deviation σ")]
        for m, mean, sigma in zip(self.fidelities, self.mean, self.sigma, strict=True):
            rows.append((f"{m}<" if m == self.fidelity else f"{m}", _show(mean), _show(sigma)))
        foot = f"t = {self.t}, incumbent {_show(self.incumbent)}, log of the acquisition {_show(self.value)}"
        head = f"{self.kind}: fidelity {self.fidelity}, {self.text}"
        far = _show_far(self.fidelities, self.far, self.lowest, self.worse)
        lines = [*align(rows, right=True), f"{foot}; < the fidelity chosen", *far, *_show_failure(self.failure)]
        lines += _show_costs(self.costs, self.factors)
        return "\n".join([head, *("  " + line for line in lines)])


def _show_far(fidelities: tuple[int, ...], far: tuple[int, ...], lowest: tuple[float, ...], side: str) -> list[str]:
    """A line for each fidelity that has values far from the rest."""
    # Studies of older versions have reasons without these fields: the zip is then empty.
    return [
        f"fidelity {m}: {n} value{'s' * (n > 1)} far {side} the rest (whose worst is {_show(y)}), taken as failed"
        for m, n, y in zip(fidelities, far, lowest, strict=False)
        if n
    ]


def _show(value: float) -> str:
    """Six digits; a dash where there is nothing to show."""
    return "-" if isnan(value) or value in (inf, -inf) else f"{value:.6g}"


def _show_failure(chance: float | None) -> list[str]:
    """The line about the chance of failure, where one is known."""
    return [] if chance is None else [f"estimated chance of failure {100 * chance:.0f} %"]


def _show_costs(costs: tuple[float, ...], factors: tuple[float, ...]) -> list[str]:
    """The line about costs, where they are learnt."""
    each = [f"{cost:.3g} (×÷ {factor:.2f})" for cost, factor in zip(costs, factors, strict=True)]
    return [f"expected costs by fidelity: {', '.join(each)}"] if each else []
