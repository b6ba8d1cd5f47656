"""What the authors' code does otherwise than their paper says, as patches of paper mode.

Facts about their code (github.com/kirthevasank/mf-gp-ucb), not options of mfopt; authors.py runs them. Left out is a
perturbation of points asked before, which is 0 on the unit cube.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from math import ceil, exp, log, sqrt
from typing import Any

import nlopt
import numpy as np
from scipy.cluster.vq import kmeans2

import mfopt_core
from mfopt.protocols import Array, Domain
from mfopt_plugins.maximisers.nlopt_direct import NloptDirect
from mfopt_plugins.method.fitting import Alone
from mfopt_plugins.strategies.base import initial
from mfopt_plugins.strategies.ucb import schedule, zeta
from mfopt_plugins.strategies.ucb.zeta_checks import ZetaChecks
from mfopt_plugins.surrogates.gp import learning, model
from mfopt_plugins.surrogates.gp.process import Hyper
from mfopt_plugins.surrogates.units import Standard

Patch = tuple[Any, str, Any]  # an attribute of a module or a class, and what takes its place
Process = model.GPModel[Any]


class Initial:
    """What the authors' code fixes at the beginning of a run."""

    values = np.zeros(0)  # of the first fidelity in use
    limits = (0.0, 0.0)  # of the scale of the process that learns, in its standard units
    points = 0  # at the first fidelity in use

    @classmethod
    def see(cls, y: Array) -> None:
        """Take the first values that a process learns from."""
        cls.values = cls.values if len(cls.values) else y.copy()

    @classmethod
    def range(cls) -> float:
        """Of the values."""
        return float(np.ptp(cls.values))


# ---------------------------------------------------------------------------------------------- models


def _make_fit(*parts: str) -> Callable[..., None]:
    """Learning with these `parts` as in their code: mean, noise, scale, likelihood."""

    def fit(process: Process, u: Array, y: Array, rng: np.random.Generator) -> None:
        Initial.see(y)
        if "mean" in parts:
            process.given = replace(process.given, mean=float(Initial.values.max() + 2 * Initial.range()))
        if "noise" in parts:
            process.noise = 1e-4 * float(Initial.values.var())
        if "scale" in parts:
            low = Initial.range() / Standard.of(y, process.noise).unit ** 2
            Initial.limits = (low, 10 * low)
        if "likelihood" in parts:
            process.adopt(_search_likelihood(process, u, y), Standard(), u, y)
        else:
            _FIT(process, u, y, rng)

    return fit


def _limit_scale(*given: Any, **others: Any) -> Any:
    return replace(_SCALE_PART(*given, **others), limits=Initial.limits)


def _search_likelihood(process: Process, u: Array, y: Array) -> Hyper:
    """The likeliest ℓ in √d [0.001, 10] and scale in range [1, 10], by DIRECT with 200 evaluations."""
    root, spread = sqrt(u.shape[1]), Initial.range()

    def make(theta: Array) -> Hyper:
        return Hyper(np.full(u.shape[1], exp(theta[0])), exp(theta[1]), process.noise or 0.0, process.given.mean or 0.0)

    def objective(theta: Array, gradient: Array) -> float:
        gp = process.make(make(theta))
        gp.extend(u, y)
        return -float(gp.log_marginal_likelihood())

    direct = nlopt.opt(nlopt.GN_DIRECT, 2)
    direct.set_lower_bounds([log(1e-3 * root), log(spread)])
    direct.set_upper_bounds([log(10 * root), log(10 * spread)])
    direct.set_min_objective(objective)
    direct.set_maxeval(200)
    return make(direct.optimize([log(0.1 * root), log(sqrt(10) * spread)]))


def _lend(alone: Alone) -> None:
    """From 10 values, or as many as the fidelity below has, one learns by itself; before it has the kernel below.

    So where two fidelities have no values the upper one "learns" from none: its kernel is the middle of the limits.
    """
    when: Any = alone._when
    counts = when.observations.counts
    for k, process in enumerate(alone.models if when.any_due() else ()):
        assert isinstance(process, model.GPModel)
        u, y = when.observations.rows(k)
        below: Any = alone.models[max(k - 1, 0)]
        if k > 0 and counts[k] < min(10, counts[k - 1]):
            process.adopt(below.hyper, Standard(), u, y)
        elif counts[k] == 0:
            d = u.shape[1]
            middle = replace(below.hyper, lengthscale=np.full(d, 0.1 * sqrt(d)), scale=sqrt(10) * Initial.range())
            process.adopt(middle, Standard(), u, y)
        else:
            process.fit(u, y, when.generator(k))
        when.mark_learnt(k)


# ---------------------------------------------------------------------------------------------- β, γ, ζ and x_t


def _beta(practical: schedule.Practical, t: int, noisy: bool) -> float:
    """β_t = 0.2 d log 2dt."""
    return practical._factor * practical._dim * log(2 * practical._dim * t)


def _count_five(rule: schedule.GammaRule, k: int, widths: Array) -> None:
    """A γ that was to be doubled is multiplied by 5, and no other stays below it."""
    before = rule.values[:-1].copy()
    _COUNT(rule, k, widths)
    after = rule.values[:-1]
    if (after > before).any():
        raised = 5 * before[after > before].max()
        rule._set(np.maximum(np.where(after > before, 5 * before, before), raised).tolist())


def _count_once(rule: schedule.GammaRule, k: int, widths: Array) -> None:
    """One count for all γ, of iterations without the target; when it reaches λ_{k+1}/λ_k at fidelity k, γ_k is raised.

    It is multiplied by 5, and no other stays below it.
    """
    rule._waited[0] = 0.0 if k == len(rule._patience) else rule._waited[0] + 1.0
    if k < len(rule._patience) and rule._waited[0] >= rule._patience[k]:
        rule._set(np.maximum(rule.values[:-1], 5 * rule.values[k]).tolist())
        rule._waited[0] = 0.0


def _start_zeta(rule: zeta.ZetaRule, spread: float) -> None:
    """ζ starts at 0."""
    _ZETA_START(rule, 0.0)


def _compare_upwards(rule: zeta.ZetaRule, k: int, y: float, other: int, y_other: float, noise: float) -> None:
    """Only a higher fidelity that is above the lower one violates ζ."""
    if (y - y_other) * (k - other) > 0:
        _COMPARE(rule, k, y, other, y_other, noise)


def _grow_nearly(rule: zeta.ZetaRule, difference: float) -> None:
    """0.9 ζ is as far as values may differ."""
    if difference > 0.9 * rule.neighbour:
        rule._set(2 * difference)


def _is_nearly_off(checks: ZetaChecks, u: Array, k: int, y: float, widths: float) -> bool:
    return bool(abs(y - checks._models.at(u)[0][k - 1]) > 0.9 * checks._zeta.neighbour)


def _search_less(maximiser: NloptDirect, acquisition: Any, domain: Any, rng: np.random.Generator, t: int) -> Array:
    """DIRECT with 7 min(5, d)² √t evaluations in iteration t."""
    maximiser._budget = _count_evaluations(maximiser, domain.dim)
    return _MAXIMISE(maximiser, acquisition, domain, rng, t)


def _search_widely(maximiser: NloptDirect, acquisition: Any, domain: Any, rng: np.random.Generator, t: int) -> Array:
    """The same with Jones's ε = 1e-4: rectangles that promise less are not divided. NLopt's DIRECT has no ε."""
    budget, told = _count_evaluations(maximiser, domain.dim), 0
    direct = mfopt_core.Direct(domain.dim, epsilon=1e-4)
    while told < budget and len(centres := direct.centres()):
        direct.tell(acquisition(centres))
        told += len(centres)
    centres, values = direct.seen()
    return np.array(centres[int(np.argmax(values))])


def _count_evaluations(maximiser: Any, dim: int) -> int:
    """How many the next iteration of this run has."""
    maximiser.calls = getattr(maximiser, "calls", 0) + 1
    return ceil(7 * min(5, dim) ** 2 * sqrt(min(maximiser.calls, 1000)))


# ---------------------------------------------------------------------------------------------- initial design


def _count_design(
    costs: Sequence[float], capital: float | None, initial_capital: float | None, dim: int, size: int | None = None
) -> tuple[int, ...]:
    """5 points at the second fidelity, and at the first 10 M d, at most 200; one fidelity has 10."""
    Initial.points = 10 if len(costs) == 1 else min(200, 10 * len(costs) * dim)
    return (Initial.points,) if len(costs) == 1 else (Initial.points, 5, *[0] * (len(costs) - 2))


def _find_centre(domain: Domain, seed: int, fidelity: int, i: int) -> Array:
    """The i-th centre of clusters of ten times as many random points; the second fidelity has the first of them."""
    return _find_centres(Initial.points, domain.dim, seed)[i].copy()


@lru_cache(maxsize=4)
def _find_centres(count: int, dim: int, seed: int) -> Array:
    rng = np.random.default_rng([seed, 1])
    centres, _ = kmeans2(rng.random((10 * count, dim)), count, iter=100, minit="++", rng=rng)
    return np.asarray(centres)


_FIT, _SCALE_PART, _MAXIMISE = model.GPModel.fit, learning.scale_part, NloptDirect.maximise
_COUNT, _ZETA_START, _COMPARE = schedule.GammaRule.count, zeta.ZetaRule.start, zeta.ZetaRule.compare
SCALE = (learning, "scale_part", _limit_scale)
OTHERS: dict[str, list[Patch]] = {
    "beta": [(schedule.Practical, "beta", _beta)],
    "gamma": [(schedule.GammaRule, "count", _count_five)],
    "zeta": [(zeta.ZetaRule, "start", _start_zeta), (zeta.ZetaRule, "compare", _compare_upwards)],
    "search": [(NloptDirect, "maximise", _search_less)],
    "design": [(initial, "initial_counts", _count_design)],
}
LATER: dict[str, list[Patch]] = {
    "lend": [(Alone, "learn", _lend)],
    "counter": [(schedule.GammaRule, "count", _count_once)],
    "near": [(zeta.ZetaRule, "_grow", _grow_nearly), (ZetaChecks, "_is_off", _is_nearly_off)],
    "centres": [(initial, "initial_point", _find_centre)],
    "epsilon": [(NloptDirect, "maximise", _search_widely)],
}


def _fitted(*parts: str) -> list[Patch]:
    return [(model.GPModel, "fit", _make_fit(*parts)), *([SCALE] if "scale" in parts else [])]


FIRST = ("mean", "noise", "scale")
EIGHT: list[Patch] = [*_fitted(*FIRST), *chain(*OTHERS.values())]
ALL: list[Patch] = [*_fitted(*FIRST, "likelihood"), *chain(*OTHERS.values(), *LATER.values())]
SCATTERED = [patched for patched in ALL if patched not in LATER["centres"]]
# By name: what is patched, options of mf-gp-ucb, and what it is.
CHANGES: dict[str, tuple[list[Patch], str, str]] = {
    "paper": ([], "", "`mode=paper`"),
    "mean": (_fitted("mean"), "", "prior mean max + 2 range of the initial values"),
    "noise": (_fitted("noise"), "", "noise fixed at 1e-4 of their variance"),
    "scale": (_fitted("scale"), "", "scale (a variance) within 1 to 10 times their range"),
    "beta": (OTHERS["beta"], "", "β_t = 0.2 d log 2dt"),
    "gamma": (OTHERS["gamma"], "", "γ times 5 instead of 2"),
    "zeta": (OTHERS["zeta"], "", "ζ from 0, one-sided"),
    "search": (OTHERS["search"], "", "DIRECT with 7 min(5, d)² √t evaluations"),
    "design": (OTHERS["design"], "", "10 M d (at most 200) initial points at the first, 5 at the second fidelity"),
    "all": (EIGHT, "", "the first eight together"),
    "lend": ([*EIGHT, *LATER["lend"]], "", "the eight, and a kernel of its own from ten values, or from none"),
    "counter": ([*EIGHT, *LATER["counter"]], "", "the eight, and one count of iterations for all γ"),
    "near": ([*EIGHT, *LATER["near"]], "", "the eight, and 0.9 ζ for ζ"),
    "centres": ([*EIGHT, *LATER["centres"]], "", "the eight, and initial points that are centres of clusters"),
    "epsilon": ([*EIGHT, *LATER["epsilon"]], "", "the eight, and ε = 1e-4 in DIRECT"),
    "likelihood": (
        [*_fitted(*FIRST, "likelihood"), *chain(*OTHERS.values())],
        "",
        "the eight, and likelihoods maximised by DIRECT",
    ),
    "everything": (ALL, "", "all fourteen together"),
    "scattered": (SCATTERED, "", "the same without the centres of clusters"),
    "kernel": ([], "one_kernel=True", "one kernel for all fidelities (our option `one_kernel`)"),
}
