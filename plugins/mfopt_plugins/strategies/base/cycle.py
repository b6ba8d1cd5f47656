"""The cycle that every method with models goes through; a method adds its own choice.

The fidelities in use are numbered by position k = 0..K−1; the last position is the target. An ask is

    1. a look at what was told: which values are outliers (method/outliers.py), where evaluations fail
    2. the initial design, then random queries as long as no value at all is known
    3. the models, brought up to date with the values told
    4. a second query of a point, where values seem to be noisy, or a finite set is known, and none was asked twice
    5. the method's own choice

The method's own choice looks for its point with Search: the maximum of an acquisition over X, away from where
evaluations fail (method/failures.py) and from points that need no second look.

Capital: a query below the target is made only if λ_M can still be paid afterwards, so the last one payable is always a
target query.

Steps 1, 4, the last rule and how models learn belong to the manner of a method (manner.py), which may be the paper's.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mfopt.errors import Exhausted
from mfopt.hooks import with_defaults
from mfopt.protocols import (
    SAME,
    Acquisition,
    Array,
    BoolArray,
    Posterior,
    Problem,
    Query,
    Record,
    Suggestion,
    Surrogate,
    View,
)
from mfopt.run.reason import Reason
from mfopt_plugins.method.failures import FailureModel
from mfopt_plugins.method.models import Clock, FidelityModels
from mfopt_plugins.method.observations import Observations, apart
from mfopt_plugins.strategies.base.avoid import Avoiding, find_elsewhere
from mfopt_plugins.strategies.base.initial import InitialDesign
from mfopt_plugins.strategies.base.manner import PRACTICAL, Manner
from mfopt_plugins.strategies.base.parts import Part, restore_parts, tell_parts

SAMPLE = 64  # points of X at which the range of an acquisition is looked at


class Cycle(ABC):
    """A strategy that models the fidelities it uses."""

    initial_capital: float | None
    _manner: Manner = PRACTICAL
    _batched: bool = False  # whether points cost so much that a plain DIRECT looks at many at once
    _believed: tuple[bytes, FidelityModels] | None = None  # the values that these models were brought up to date with

    @abstractmethod
    def fidelities(self, count: int) -> tuple[int, ...]:
        """The fidelities that the method uses, of a problem with `count` of them; the target is the last."""

    @abstractmethod
    def _choose(self, view: View, pending: Sequence[Query]) -> Suggestion:
        """The method's own choice, with models that are up to date."""

    def _surrogates(self, problem: Problem) -> Sequence[Surrogate]:
        """One surrogate per fidelity of the problem."""
        return problem.surrogates

    def _learn(self, view: View) -> None:
        """Bring the models up to date with the values told."""
        self._models.update()

    def _see_anew(self) -> None:
        """Take note that all values are seen differently now."""
        self._models.forget()

    def _couples(self) -> bool:
        """Whether a surrogate that can is to model all fidelities as one process."""
        return False

    def _shares_kernel(self) -> bool:
        """Whether processes of their own for each fidelity are to have one kernel."""
        return True

    def _calibrates(self) -> bool:
        """Whether that process is to learn the unit and the zero of each fidelity."""
        return False

    def _starts_cheap(self) -> bool:
        """Whether the initial design is made of the cheapest fidelity and one target query."""
        return False

    def _promotes(self) -> bool:
        """Whether that target query goes to the best point of the cheapest fidelity."""
        return False

    def _needs_values(self) -> bool:
        """Whether the method cannot choose before a value is known."""
        return True

    def start(self, problem: Problem) -> None:
        """Called once, before the first ask."""
        problem, manner = self._manner.adapt(problem, self._batched), self._manner
        domain, used = problem.domain, self.fidelities(len(problem.costs))
        self._problem = problem
        self._clock = Clock()  # counts the method's own choices
        self._used = used
        self._top = len(used) - 1  # the target's position
        self._costs = [problem.costs[m] for m in used]  # one list, which the other parts keep: see _reprice
        self._observations = Observations(used, domain)
        self._models = FidelityModels(
            manner.vary(self._surrogates(problem)),
            problem.noises,
            self._observations,
            domain.dim,
            problem.seed,
            coupled=self._couples(),
            calibrated=self._calibrates(),
            one_kernel=self._shares_kernel(),
            period=manner.learn_every,
            clock=self._clock,
        )
        self._failures = FailureModel(self._observations, self._costs, domain.dim)
        initial_capital = manner.choose_initial_capital(self.initial_capital, problem)
        self._design = InitialDesign(
            problem,
            self._costs,
            self._observations,
            self._failures,
            initial_capital,
            cheap=self._starts_cheap(),
            promoted=self._promotes(),
            distinct=manner.distinct,
            reserved=manner.last_query,
        )
        self._search = Search(problem, self._models, self._failures, manner.distinct)

    def ask(self, view: View) -> Suggestion:
        """The next query. Raises Exhausted when no useful query is left."""
        costs = [view.costs[m] for m in self._used]
        if costs != self._costs:
            self._reprice(costs)
        if view.remaining < self._costs[-1]:
            raise Exhausted(
                f"a target query must be payable, it costs {self._costs[-1]}, got {view.remaining} remaining", "capital"
            )
        pending = [q for q in view.pending if q.fidelity in self._used]
        if self._manner.outliers and self._observations.update_outliers():  # first: they count as failures
            self._see_anew()
        if self._observations.failed == 0:
            return self._suggest_next(view, pending)
        self._failures.update()
        suggestion = self._suggest_next(view, pending)
        k = self._used.index(suggestion.fidelity)
        chance = float(self._failures.probability(suggestion.u[None], k)[0])
        return replace(suggestion, reason=replace(suggestion.reason, failure=chance))

    def _reprice(self, costs: Sequence[float]) -> None:
        """Reckon with other costs from now on: they are learnt from those that were told."""
        self._costs[:] = costs
        self._design.reconsider()

    def _suggest_next(self, view: View, pending: Sequence[Query]) -> Suggestion:
        """The next query; a reason that does not speak of failures yet."""
        if not self._design.complete:
            initial = self._design.next(view, pending)
            if initial is not None:
                return initial
        if self._needs_values() and not any(self._observations.counts):
            k = self._position_without_values(view, pending)
            return self._design.another(k, view, pending, "no value is known yet")
        self._learn(view)
        test = self._test_noise(view, pending) if self._manner.noise_tests else None
        if test is not None:
            return self._tell_outliers(test)
        self._clock.t += 1
        return self._tell_outliers(self._choose(view, pending))

    def _test_noise(self, view: View, pending: Sequence[Query]) -> Suggestion | None:
        """A second query of the best point, where a fidelity seems to be noisy and no point was asked twice yet.

        What a model takes for noise may be a function that it cannot follow. Two values of one point tell, and where
        there is noise the second is worth as much as any. The last test is made of the target alone.
        """
        for k, fidelity in enumerate(self._used):
            seems, last = self._models.may_be_noisy(k), k == self._top and self._is_last_test_due(pending)
            if not (seems or last) or not self._can_pay(k, view.remaining):
                continue
            points, _ = self._observations.worked(k)
            u = points[int(np.argmax(self._models.models[k].posterior(points)[0]))].copy()
            if any(q.fidelity == fidelity and self._observations.same(points, q.u).any() for q in pending):
                continue
            if not last and self._observations.same(self._observations.just_failed(k), u).any():
                continue
            why = "the values seem to be noisy" if seems else "all points are known, but not whether values are noisy"
            text = f"{why}: a second one of this point tells"
            return Suggestion(u, fidelity, Reason("test of noise", text, fidelity, view.t))
        return None

    def _tell_outliers(self, suggestion: Suggestion) -> Suggestion:
        """The same suggestion, with a reason that tells of values far below the rest."""
        observations, positions = self._observations, range(len(self._used))
        far = tuple(observations.count_far(k) for k in positions)
        if not any(far):
            return suggestion
        lowest = tuple(observations.lowest(k) for k in positions)
        return replace(suggestion, reason=replace(suggestion.reason, far=far, lowest=lowest))

    def _position_without_values(self, view: View, pending: Sequence[Query]) -> int:
        """Where to ask while no value is known: the position on which failures have cost least, of those with points.

        Where all points of a finite set failed at each that can be paid, the target is left to say so.
        """
        failed = [k for _, k in self._observations.failures()]
        payable = [k for k in range(self._top + 1) if self._can_pay(k, view.remaining)]
        left = [k for k in payable if not self._observations.all_finished(k, pending)]
        return min(left, key=lambda k: self._costs[k] * (1 + failed.count(k)), default=self._top)

    def exhausted(self, pending: Sequence[Query]) -> bool:
        """Whether a finite set has no useful query left: its target, taken for noiseless, knows every point."""
        known = self._observations.all_finished(self._top, pending) and self._models.is_noiseless(self._top)
        return known and not self._is_last_test_due(pending)

    def _is_last_test_due(self, pending: Sequence[Query]) -> bool:
        """Whether a second query of a point is to tell, once the target knows a finite set, that it is noiseless.

        A dozen values are no more than a model can follow, however noisy they are. One that fails is not tried again.
        """
        if not (self._manner.noise_tests and self._models.may_be_repeated(self._top)):
            return False
        waiting = any(q.fidelity == self._used[self._top] for q in pending)
        if waiting or not self._observations.all_finished(self._top, pending):
            return False
        return not self._observations.has_failed_again(self._top)

    def posterior(self, fidelity: int) -> Posterior | None:
        """What the models say of a fidelity in use, as soon as any value is known."""
        if fidelity not in self._used or not any(self._observations.counts):
            return None
        models, k = self._believe(), self._used.index(fidelity)
        lowest = self._observations.lowest(k) if self._observations.count_far(k) else None
        return Posterior(models.models[k], models.is_noisy(k), self._way_back(), self._failures.foresee(k), lowest)

    def _believe(self) -> FidelityModels:
        """A copy of the models with all that was told: the models themselves learn only when asks make them."""
        values = b"".join(self._observations.rows(k)[1].tobytes() for k in range(len(self._used)))
        if self._believed is None or self._believed[0] != values:
            models = copy.deepcopy(self._models)
            models.update()
            self._believed = (values, models)
        return self._believed[1]

    def _way_back(self) -> Callable[[Array], Array] | None:
        """The map from the models' values to those told; None where they are the same."""
        return None

    def tell(self, record: Record) -> None:
        """Learn the outcome of a query, or data that nobody asked for, in the order told."""
        if record.fidelity in self._used:
            k = self._used.index(record.fidelity)
            self._design.count(record, k)
            self._observations.add(record.u, k, record.y, record.bound)
            if self._manner.noise_tests:
                self._models.reconsider_noise()

    # ----------------------------------------------------------------------------------------------- state

    def _parts(self) -> dict[str, Part]:
        """The parts whose states make that of the strategy, in the order in which they are restored."""
        return {
            "clock": self._clock,
            "observations": self._observations,
            "failures": self._failures,
            "design": self._design,
            "models": self._models,
        }

    def state(self) -> dict[str, Any] | None:
        """All that later asks depend on, beyond what was told; None where a model cannot tell it just now."""
        return tell_parts(self._parts(), self._costs)

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on as the strategy does that told this state, after being told the same records."""
        restore_parts(self._parts(), state, self._costs, self._reprice)

    def _can_pay(self, k: int, remaining: float) -> bool:
        """Whether a query at position k leaves enough for a target query (the target itself need not)."""
        reserve = 0.0 if k == self._top or not self._manner.last_query else self._costs[-1]
        return self._costs[k] + reserve <= remaining


class Search:
    """Looks for the next query at a position k of the fidelities in use.

    The acquisition is lowered where a query at position k or at the target is likely to fail, or at a cheaper one that
    fails where the target does. Where position k is noiseless no point is queried there twice, and, unless noise is
    certain, none that is nearly pending: the next best is taken. Nor is one that has just failed. If not `distinct`,
    points may come back.
    """

    def __init__(self, problem: Problem, models: FidelityModels, failures: FailureModel, distinct: bool = True) -> None:
        self._domain = problem.domain
        self._points = problem.domain.points  # None: X is not finite
        self._maximiser = problem.maximiser
        self._models = models
        self._failures = failures
        self._observations = models.observations
        self._distinct = distinct

    def point(
        self,
        acquisition: Acquisition,
        k: int,
        view: View,
        pending: Sequence[Query],
        depth: float,
        hope: float | None = None,
    ) -> Array:
        """The best point that is worth a query at position k."""
        return self.point_and_value(acquisition, k, view, pending, depth, hope)[0]

    def point_and_value(
        self,
        acquisition: Acquisition,
        k: int,
        view: View,
        pending: Sequence[Query],
        depth: float,
        hope: float | None = None,
    ) -> tuple[Array, float]:
        """The same with the value of the acquisition, lowered where queries fail."""
        u, lowered = self.maximum(acquisition, k, view, pending, depth, hope)
        if self.is_needless(u, k, pending) or self.is_crowded(u, k, pending):
            u = self.find_fresh(lowered, u, k, view, pending)
        return u, float(lowered(u[None])[0])

    def maximum(
        self,
        acquisition: Acquisition,
        k: int,
        view: View,
        pending: Sequence[Query],
        depth: float,
        hope: float | None = None,
    ) -> tuple[Array, Acquisition]:
        """The best point, and the acquisition as it was maximised: lowered where queries fail.

        It is lowered in units of `depth`, or of its own range where that is larger; with `hope` see method/failures.py.

        On a finite set this point is fresh at position k; on a box see `is_needless`, and `find_fresh` for another.
        """
        if self._observations.failed > 0:
            top = len(self._models.used) - 1
            positions = sorted({k, top, *(j for j in range(top) if self._failures.tells(j))})
            depth = max(depth, float(np.ptp(acquisition(self._domain.sample(SAMPLE, view.rng)))))
            flukes = [(u, age) for u, j, age in self._observations.recent_failures() if self._is_fluke(u, j)]
            acquisition = Avoiding(acquisition, self._failures, positions, flukes, depth, hope)
        if self._points is not None:
            avoid = self._find_avoided(k, pending)
            if avoid.all():
                raise Exhausted("every point of the finite set has been queried", which="points")
            return np.array(self._points[with_defaults(acquisition).argmax(self._points, avoid)]), acquisition
        return self._maximiser.maximise(acquisition, self._domain, view.rng, view.t), acquisition

    def is_needless(self, u: Array, k: int, pending: Sequence[Query]) -> bool:
        """Whether a query of this point at position k would tell nothing new."""
        if self._distinct and self._models.is_noiseless(k) and self._observations.is_taken(u, k, pending):
            return True
        if self._spreads(k) and self._observations.is_waiting(u, k, pending):
            return True
        return bool(self._observations.same(self._observations.just_failed(k), u).any())

    def _is_fluke(self, u: Array, k: int) -> bool:
        """Whether a failure of this point at position k is still a surprise."""
        return not self._failures.is_likely(u, k)

    def _spreads(self, k: int) -> bool:
        """Whether pending queries at position k keep apart: where noise is only learnt there may be none."""
        return self._distinct and not self._models.noise_is_certain(k)

    def is_crowded(self, u: Array, k: int, pending: Sequence[Query]) -> bool:
        """Whether a query of this point of a box at position k would nearly copy a pending one, and tell no more."""
        if self._points is not None or not self._spreads(k):
            return False
        waiting = self._observations.pending_points(k, pending)
        return bool((np.abs(waiting - u).max(axis=1) < apart(len(waiting))).any())

    def is_awaited(self, acquisition: Acquisition, k: int, view: View, pending: Sequence[Query], depth: float) -> bool:
        """Whether a pending query at position k is at the best point: where to ask next its value will say."""
        waiting = len(self._observations.pending_points(k, pending)) > 0
        return waiting and self.is_crowded(self.maximum(acquisition, k, view, pending, depth)[0], k, pending)

    def find_fresh(self, acquisition: Acquisition, u: Array, k: int, view: View, pending: Sequence[Query]) -> Array:
        """A good point of a box near u that is neither known nor nearly pending at position k; u on a finite set."""
        if self._points is not None:
            return u
        waiting = self._observations.pending_points(k, pending)
        taken = self._observations.queried_points(k)
        reach = np.concatenate([np.full(len(taken), SAME), np.full(len(waiting), apart(len(waiting)))])
        return find_elsewhere(acquisition, self._domain, u, np.vstack([taken, waiting]), reach, view.rng)

    def _find_avoided(self, k: int, pending: Sequence[Query]) -> BoolArray:
        """The points of a finite set that are no candidates for a query at position k."""
        avoid = np.zeros(0 if self._points is None else len(self._points), dtype=np.bool_)
        if self._distinct and self._models.is_noiseless(k):
            avoid |= self._observations.finished_rows(k, pending)
        elif self._spreads(k):
            waiting = avoid.copy()
            waiting[self._observations.rows_of(self._observations.pending_points(k, pending))] = True
            avoid = avoid if waiting.all() else waiting
        failed = avoid.copy()
        failed[self._observations.rows_of([u for u, _, _ in self._observations.recent_failures()])] = True
        # Where only failed points are left they are tried again.
        return avoid if failed.all() else failed


def incumbent(models: FidelityModels, pending: Sequence[Query]) -> float | None:
    """The value at the target (the last position) to be beaten; None when no target value is known.

    The best value observed where the target is noiseless; where it is noisy, the best posterior mean at the points
    queried, since the best of noisy values is mostly luck. Pending target queries count with their posterior mean,
    otherwise one that promises much would be asked for again.
    """
    top = len(models.used) - 1
    u, y = models.observations.rows(top)
    if len(y) == 0:
        return None
    best = float(y.max()) if models.is_noiseless(top) else float(models.models[top].posterior(u)[0].max())
    waiting = [q.u for q in pending if q.fidelity == models.used[top]]
    if waiting:
        best = max(best, float(models.models[top].posterior(np.array(waiting))[0].max()))
    return best
