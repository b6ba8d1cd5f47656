"""Report: where a run's queries went, and whether the bounds ζ that it was given held.

The paper's claim is that most capital at points of H⁽ᵐ⁾ is spent on queries at fidelity m, and so that most target
queries fall into H⁽ᴹ⁾, the small set that the cheap fidelities cannot exclude. For a problem whose functions are known
the sets are computed. Otherwise they are estimated: f⁽ᵐ⁾ by the mean of a model fitted to the values of fidelity m, f*
by the best target value, ζ_m by what was given or by how far target values are from the mean of fidelity m, γ_m by
ζ_m √(λ_m/λ_{m+1}).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np

from mfopt.checks import direction_sign, one_each, real_number, show
from mfopt.domains.params import argument_of
from mfopt.errors import InputError
from mfopt.hooks import FollowsTheorem, TakesBounds
from mfopt.optimizer import Optimizer
from mfopt.protocols import Array
from mfopt.run.beliefs import Beliefs, fit_beliefs
from mfopt.run.history import History
from mfopt.run.tables import align
from mfopt.run.trial import Recommendation
from mfopt.theory.confidence import gamma_from_zeta
from mfopt.theory.contract import Violation, violations
from mfopt.theory.counting import Counts, queries_by_set
from mfopt.theory.goodsets import partition, volumes

_LOOK = 2000  # points of X for the volumes


@dataclass(frozen=True)
class Report:
    """What a run did. `print(report)` is readable."""

    fidelities: tuple[str, ...]
    costs: tuple[float, ...]
    queries: tuple[int, ...]  # by fidelity, failed ones included
    spent: tuple[float, ...]  # by fidelity
    best: float | None
    recommended: Recommendation | None  # where values at the target are noisy
    zetas: tuple[float, ...]  # ζ_m behind the sets
    gammas: tuple[float, ...]
    estimated: bool  # whether the sets are estimated from the posterior
    sets: Counts | None  # queries, one row per set H⁽ᵐ⁾, one column per fidelity; None when nothing can be said
    volumes: tuple[float, ...] | None  # of the sets, as fractions of X
    violations: tuple[Violation, ...]  # of the ζ that were given
    theorem: str | None  # that is about this run, of a strategy in theory mode
    oddities: tuple[str, ...] = ()  # learnt costs that are out of order or nearly equal

    @property
    def void_since(self) -> int | None:
        """The number of the value that first contradicted a ζ that was given; None while there is none."""
        return self.violations[0].n if self.violations else None

    @property
    def target_inside(self) -> float:
        """The part of the target queries inside H⁽ᴹ⁾; NaN when it is not known."""
        if self.sets is None or self.sets[:, -1].sum() == 0:
            return float("nan")
        return float(self.sets[-1, -1] / self.sets[:, -1].sum())

    def __str__(self) -> str:
        lines = [f"best at the target: {'none' if self.best is None else f'{self.best:.8g}'}"]
        if self.recommended is not None:
            where = ", ".join(f"{name} = {value!r}" for name, value in self.recommended.params.items())
            lines.append(f"recommended: {where}; mean {self.recommended.mean:.8g} ± {self.recommended.std:.3g}")
        for name, cost, n, spent in zip(self.fidelities, self.costs, self.queries, self.spent, strict=True):
            lines.append(f"{name}: {n} queries at {cost:g}, {spent:g} spent")
        lines += [f"costs: {oddity}" for oddity in self.oddities]
        if self.sets is not None and self.volumes is not None:
            how = "estimated from the posterior" if self.estimated else "of the functions given"
            lines.append(f"queries by good set, {how} (ζ {_row(self.zetas)}; γ {_row(self.gammas)}):")
            table = [("", "part of X", *self.fidelities)]
            for m, counts in enumerate(self.sets.tolist()):
                table.append((f"H({m + 1})", f"{self.volumes[m]:.1%}", *(str(c) for c in counts)))
            lines += [f"  {line}" for line in align(table, right=True)]
            if self.sets[:, -1].sum():
                lines.append(f"  {self.target_inside:.0%} of the target queries are in H({len(self.costs)})")
        count = len(self.violations)
        if self.violations:
            lines.append(f"zetas: {count} pairs of values contradict those given, the first at value {self.void_since}")
            lines += [f"  {violation}" for violation in self.violations]
        if self.theorem is not None:  # nothing else promises anything
            void = f"void since value {self.void_since}, which contradicts the zetas given"
            lines.append(f"guarantee of {self.theorem}: {void if count else 'no value contradicts the zetas given'}")
        return "\n".join(lines)


def report(
    optimizer: Optimizer,
    functions: Sequence[Callable[[Array], Any]] | None = None,
    *,
    optimum: float | None = None,
    zetas: Sequence[float] | None = None,
    gammas: Sequence[float] | None = None,
    surrogate: object = "se",
    rng: int = 0,
) -> Report:
    """Where the queries of a run went by H⁽ᵐ⁾, and whether the ζ that it was given held.

    functions   f⁽¹⁾..f⁽ᴹ⁾ without noise, when they are known; each takes one point, as in mfopt.maximize
    optimum     f*, by default the best value seen or known
    zetas       for the sets; by default those given to the strategy or to the optimiser, where there are none the
                largest differences
    gammas      for the sets; by default those given to the strategy, otherwise γ_m = ζ_m √(λ_m/λ_{m+1})
    surrogate   estimates the functions when they are not known
    """
    history, costs, strategy = optimizer.believed_history(), optimizer.costs, optimizer.strategy
    models = fit_beliefs(optimizer, history, surrogate)
    look = optimizer.domain.sample(_LOOK, np.random.default_rng(rng))
    # One column per query, then one per point for the volumes.
    u = np.vstack([optimizer.domain.encode(history.x), look])
    values = _predict(models, u) if functions is None else _evaluate(optimizer, functions, u)
    given, thresholds = _find_given(optimizer)
    found = _GoodSets()
    # One fidelity makes no sets, nor do learnt costs that are out of order, to which no γ belongs.
    if values is not None and len(costs) > 1 and sorted(set(costs)) == list(costs):
        bounds = given[:-1] if zetas is None else one_each(zetas, len(costs) - 1, "zetas")
        limits = thresholds if gammas is None else gammas
        found = _find_sets(optimizer, history, values, functions is not None, optimum, bounds, limits)
    noises = [models.noise(m) for m in range(len(costs))]
    return Report(
        fidelities=tuple(fidelity.name for fidelity in optimizer.fidelities),
        costs=costs,
        queries=tuple(np.bincount(history.fidelity, minlength=len(costs)).tolist()),
        spent=tuple(float(history.cost[history.fidelity == m].sum()) for m in range(len(costs))),
        best=None if optimizer.best is None else optimizer.best.y,
        recommended=optimizer.recommend_if_noisy(),
        zetas=found.zetas,
        gammas=found.gammas,
        estimated=functions is None,
        sets=found.queries,
        volumes=found.volumes,
        violations=tuple(violations(history, given, noises, optimizer.domain)),
        theorem=strategy.theorem if isinstance(strategy, FollowsTheorem) else None,
        oddities=tuple(optimizer.cost_oddities),
    )


@dataclass(frozen=True)
class _GoodSets:
    """The partition of X: the ζ and γ behind it, how many queries each set has, its volume; empty without data."""

    zetas: tuple[float, ...] = ()
    gammas: tuple[float, ...] = ()
    queries: Counts | None = None
    volumes: tuple[float, ...] | None = None


def _find_given(optimizer: Optimizer) -> tuple[Sequence[float | None], Sequence[float] | None]:
    """The ζ and γ that the run goes by: the strategy's own before the problem's; None where none were given."""
    strategy, zetas = optimizer.strategy, [fidelity.zeta for fidelity in optimizer.fidelities]
    if not isinstance(strategy, TakesBounds):
        return zetas, None
    return (zetas if strategy.zetas is None else [*strategy.zetas[: len(zetas) - 1], 0.0]), strategy.gammas


def _find_sets(
    optimizer: Optimizer,
    history: History,
    values: Array,
    known: bool,
    optimum: float | None,
    given: Sequence[float | None],
    gammas: Sequence[float] | None,
) -> _GoodSets:
    """The sets from values (M, n) at the queries and then at points for the volumes, `known` or predicted."""
    costs, sign = optimizer.costs, direction_sign(optimizer.direction)
    seen = np.abs(values[-1] - values[:-1]) if known else _compare_with_target(history, values, sign)
    bounds = tuple(float(seen[m].max()) if zeta is None else float(zeta) for m, zeta in enumerate(given))
    thresholds = gamma_from_zeta(bounds, costs) if gammas is None else tuple(gammas)
    if optimum is not None:
        best = sign * optimum
    else:
        best = float(values[-1].max()) if known or optimizer.best is None else sign * optimizer.best.y
    labels = partition(values, bounds, thresholds, best)
    queries = queries_by_set(history, labels[: len(history)], len(costs))
    return _GoodSets(bounds, thresholds, queries, tuple(volumes(labels[len(history) :], len(costs)).tolist()))


def _evaluate(optimizer: Optimizer, functions: Sequence[Callable[[Array], Any]], u: Array) -> Array:
    """The functions' values, to be maximised, (M, n)."""
    known = one_each(functions, len(optimizer.costs), "functions, one per fidelity,")
    if not all(callable(f) for f in known):
        raise InputError(f"functions must be callable, got {show(functions)}")
    given = [argument_of(optimizer.domain, x) for x in optimizer.domain.decode(u)]
    values = np.array(
        [[real_number(f(copy(x)), f"the value of function {m}") for x in given] for m, f in enumerate(known)]
    )
    return direction_sign(optimizer.direction) * values


def _predict(models: Beliefs, u: Array) -> Array | None:
    """The means of the models, (M, n); None when a fidelity has no value."""
    if not all(models.count(k) for k in range(len(models.models))):
        return None
    return np.array([model.posterior(u)[0] for model in models.models])


def _compare_with_target(history: History, means: Array, sign: float) -> Array:
    """How far each target value is from the means of the lower fidelities there, (M − 1, n)."""
    target = (history.fidelity == len(means) - 1) & np.isfinite(history.y)
    return np.asarray(np.abs(sign * history.y[target] - means[:-1, : len(history)][:, target]))


def _row(values: tuple[float, ...]) -> str:
    return ", ".join(f"{value:.4g}" for value in values)
