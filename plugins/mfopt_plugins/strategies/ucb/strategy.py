"""What MF-GP-UCB and GP-UCB share: Algorithm (mfgpucb) with the rules of "Some Implementation Details", in ask/tell.

After the initial design (see base/cycle.py) an ask takes the first of these steps that applies:

    1. a check of ζ (zeta_checks.py): a value that was off the mean one position below is asked for there too
    2. the target, while it has had less than its share of the capital (Share in schedule.py), by GP-UCB and with a
       larger share where the cheap fidelities seem to tell nothing (hedge.py)
    3. x_t = argmax φ, and a fidelity for it:
       rule "worth"   φ = φ_M; m_t = the m whose value at x_t removes most of the target's variance there, per cost
       rule "gamma"   φ = min φ_m, eq. (mfgpucbDefn); m_t = the smallest m with β_t^½ σ_m(x_t) ≥ γ_m, else M

Rule "gamma" without a share is the paper's; departures.py lists what else differs, and a mode is a choice of these.
Rule "worth" needs one posterior of all fidelities, in which a cheap value moves the target's bound: how far is what it
is worth, so that no threshold is needed, a useless fidelity is left alone and a good one is asked as long as it helps.

β_t, ζ and γ come from a schedule (schedule.py). By default, and not in the paper: doubt (doubt.py) where the bounds
promise nothing; the last target query that the capital pays for maximises φ with β = 0; no point is queried twice on a
noiseless fidelity, the query moves up to the next one or, at the target, to the next best point. Pending queries count
as told with their posterior mean. Where evaluations fail φ is lowered (base/avoid.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf, sqrt

import numpy as np

from mfopt.hooks import FullAcquisition, blocks_of
from mfopt.protocols import Array, Problem, Query, Record, Suggestion, View
from mfopt.run.reason import Reason
from mfopt_plugins.method.upper_bound import PlainBound
from mfopt_plugins.strategies.base.avoid import CAUTION
from mfopt_plugins.strategies.base.cycle import Cycle, incumbent
from mfopt_plugins.strategies.base.parts import Part
from mfopt_plugins.strategies.base.risk import Risk
from mfopt_plugins.strategies.base.stall import Turn, find_away, find_turn
from mfopt_plugins.strategies.ucb.affine import Affine
from mfopt_plugins.strategies.ucb.caution import Caution
from mfopt_plugins.strategies.ucb.departures import Departures
from mfopt_plugins.strategies.ucb.doubt import FACTOR, SETTLED, STEPS, Doubt, settled
from mfopt_plugins.strategies.ucb.hedge import ALONE, Hedge
from mfopt_plugins.strategies.ucb.options import UCBOptions
from mfopt_plugins.strategies.ucb.schedule import CALM, Constants, Given, Practical, Schedule, Share, Theory
from mfopt_plugins.strategies.ucb.softener import Softener, find_judge
from mfopt_plugins.strategies.ucb.zeta_checks import ZetaChecks

CHECK = "check of ζ"  # a kind of reason
CHECKED = 0.5  # of the target's cost: the most that a check may cost where φ is the target's own bound


@dataclass(frozen=True)
class _Ask:
    """What an ask is about: the view, the pending queries of fidelities in use, and β_t."""

    view: View
    pending: Sequence[Query]
    beta: float


@dataclass(frozen=True)
class _Choice:
    """A point and a position, why, and the terms of φ behind them, one entry per position."""

    u: Array
    k: int
    text: str
    mean: Array
    width: Array  # β_t^½ σ_m; +∞ for positions that are not informed
    phi: Array
    worth: Array | None = None  # by position, the part of the target's variance that a value would remove

    def at(self, k: int, text: str) -> _Choice:
        """The same point at position k."""
        return replace(self, k=k, text=text)


class _Terms(UCBOptions, Cycle):
    """The terms of φ, and suggestions that tell them."""

    _manner: Departures
    _schedule: Schedule
    _affine: Affine
    _softener: Softener
    _checks: ZetaChecks
    _risk: Risk
    _doubt: Doubt | None
    _hedge: Hedge | None
    _weighs: bool  # whether a value's worth decides about the fidelity
    _settled: float  # of the spread: gains below it are refinements

    def _bounding_positions(self) -> list[int]:
        """The positions whose bounds make φ."""
        return [self._top] if self._weighs else self._schedule.informed_positions(self._observations.counts)

    def _bound(self, positions: list[int], beta: float) -> FullAcquisition:
        """φ over these positions."""
        zetas = self._schedule.zeta.values[positions].tolist()
        if self.affine:  # a surrogate's fused bound knows only its own models, not corrected ones
            return PlainBound([self._affine.model(k, self._models.models[k]) for k in positions], beta, zetas)
        return self._models.bound(positions, beta, zetas)

    def _terms_at(self, u: Array, beta: float) -> _Choice:
        """The terms of φ at one point, of (corrected) values."""
        mean, sigma = self._models.at(u)
        mean, width = self._affine.a * mean + self._affine.b, sqrt(beta) * (np.abs(self._affine.a) * sigma)
        phi = mean + width + self._schedule.zeta.values
        unknown = ~np.isin(np.arange(len(self._used)), self._schedule.informed_positions(self._observations.counts))
        width[unknown] = phi[unknown] = inf
        if self._weighs:
            phi[: self._top] = inf
        return _Choice(u, self._top, "", mean, width, phi)

    def _spread(self) -> float:
        """The largest range of (corrected) values within one fidelity."""
        return float(np.max(np.abs(self._affine.a) * self._models.ranges()))

    def _suggest(self, kind: str, ask: _Ask, choice: _Choice) -> Suggestion:
        """The choice with its reason; γ counts it."""
        zetas = self._schedule.zeta.values
        gammas = np.full(len(zetas), inf) if self._weighs else self._schedule.gamma.values
        terms = (choice.mean, choice.width, zetas, choice.phi, gammas)
        if self._softener.active:
            terms = self._softener.in_unit_of_y(*terms, self._observations.highest(), self._spread())
        mean, width, zeta, phi, gamma = (tuple(term.tolist()) for term in terms)
        fidelity = self._used[choice.k]
        reason = Reason(kind, choice.text, fidelity, ask.view.t, ask.beta, self._used, mean, width, zeta, phi, gamma)
        if choice.worth is not None:
            reason = replace(reason, worth=tuple(choice.worth.tolist()))
        if kind != CHECK or self._manner.all_queries:
            self._schedule.gamma.count(choice.k, choice.width)
        return Suggestion(choice.u, fidelity, reason)

    def _parts(self) -> dict[str, Part]:
        parts: dict[str, Part] = {
            **super()._parts(),
            "zeta": self._schedule.zeta,
            "gamma": self._schedule.gamma,
            "affine": self._affine,
            "checks": self._checks,
            "softener": self._softener,
            "risk": self._risk,
        }
        others = {"doubt": self._doubt, "hedge": self._hedge, "adherence": self._schedule.adherence}
        return parts | {name: part for name, part in others.items() if part is not None}


class _Learner(_Terms):
    """What the method learns from what it is told, on the fidelities that `fidelities` picks."""

    def fidelities(self, count: int) -> tuple[int, ...]:
        """The fidelities that the method uses, of a problem with `count` of them."""
        return tuple(range(count))

    def start(self, problem: Problem) -> None:
        """Called once, before the first ask."""
        used = self.fidelities(len(problem.costs))
        given = Given.check(problem, used, self.zetas, self.gammas)
        self._manner = rules = self.departures
        if self.mode == "theory":
            constants = Constants.check(self.delta, self.xi, self.a, self.b, len(used), problem.domain)
            self._schedule = Theory(given, problem, constants, self.initial_capital)
        else:
            dim = len(blocks_of(problem.domain))
            self._schedule = Practical(given, self.gamma_shrink, self.beta_factor, dim, rules)
        # ζ and γ that are given, and affine corrections, are in the unit of y: they hold for values as they are.
        free = len(used) > 1 and not (given.any or self.affine)
        self._weighs = free and rules.rule == "worth" and rules.coupled
        super().start(problem)
        self._weighs = self._weighs and self._models.joint is not None
        # A bound ζ_m that is given is one for the fidelity as it is.
        self._affine = Affine([self.affine and zeta is None for zeta in given.zetas])
        self._checks = ZetaChecks(self._schedule.zeta, self._models, self._design, self._affine, rules.contradictions)
        self._softener = Softener(find_judge(problem, used) if rules.softened and free else None)
        self._risk = Risk(self._failures, self._observations, self._costs)
        self._caution = Caution(self._risk, self._search, self._models)
        self._doubt, self._settled = Doubt() if rules.doubt else None, settled(len(used))
        self._share = Share(rules.share if self._weighs else 0.0, self._costs, self._observations)
        self._hedge = Hedge(problem, self._models, rules) if rules.hedged and self._weighs else None

    def tell(self, record: Record) -> None:
        """Learn the outcome of a query, or data that nobody asked for, in the order told."""
        self._schedule.hear(record)
        if self._hedge is not None and record.y is not None and record.fidelity == self._used[-1]:
            self._hedge.judge(record.u, self._observations.see(self._top, record.y))
        if record.y is not None and record.fidelity in self._used:
            self._checks.tell(record.u, self._used.index(record.fidelity), record.y, record.asked)
        super().tell(record)

    def _reprice(self, costs: Sequence[float]) -> None:
        super()._reprice(costs)
        self._schedule.reprice(costs)

    @property
    def violations(self) -> dict[int, float]:
        """By fidelity, the largest difference seen that contradicts a ζ_m that was given."""
        return dict(self._schedule.zeta.violations)

    @property
    def theorem(self) -> str | None:
        """The theorem about this run: in theory mode, with prior and noise given, while the algorithm alone asks."""
        return self._schedule.theorem

    def _needs_values(self) -> bool:
        return self.mode != "theory"  # where the prior is given

    def _way_back(self) -> Callable[[Array], Array] | None:
        if not self._softener.active:
            return None
        values = np.concatenate([self._observations.rows(k)[1] for k in range(len(self._used))])
        return partial(self._softener.unsoften, lowest=float(values.min()), highest=float(values.max()))

    def _couples(self) -> bool:
        return self._manner.coupled and not self.affine  # a correction is one of a process of its own

    def _shares_kernel(self) -> bool:
        return self._manner.one_kernel

    def _calibrates(self) -> bool:
        return self._manner.calibrated and self._weighs

    def _starts_cheap(self) -> bool:
        return self._weighs

    def _promotes(self) -> bool:
        return self._manner.promoted

    def _learn(self, view: View) -> None:
        due = max(self._observations.counts) >= self._softener.due_at
        if due and self._softener.judge(self._observations, view.rng):
            self._observations.soften(self._softener.softening)
            self._learn_anew()
        super()._learn(view)

    def _see_anew(self) -> None:
        self._softener.restart()
        if self._hedge is not None:
            self._hedge.restart()
        self._learn_anew()

    def _learn_anew(self) -> None:
        """Learn the models, ζ and γ from values that are seen differently now."""
        self._models.forget()
        if self._hedge is not None:
            self._hedge.forget()
        self._schedule.gamma.restart()
        self._checks.compare_all(self._spread())


class UCBStrategy(_Learner):
    """The upper confidence bound method: what to ask for next."""

    def _choose(self, view: View, pending: Sequence[Query]) -> Suggestion:
        if self.affine:
            # ζ grew from differences under the old corrections: it is learnt from all pairs again.
            self._affine.learn(self._models)
            self._checks.compare_all(self._spread())
        self._schedule.start(self._spread())
        self._schedule.see(pending)
        t = view.t if self._manner.all_queries else self._clock.t
        ask = _Ask(view, pending, self._schedule.beta(t, self._explores_noise()))
        check = self._checks.next(pending, partial(self._can_check, view), ask.beta)
        if check is not None:
            self._clock.t -= 1  # a check belongs to the iteration that it checks
            u, low = check
            text = f"fidelity {self._used[low + 1]} differed here from this one's mean by more than ζ"
            return self._suggest(CHECK, ask, self._terms_at(u, ask.beta).at(low, text))
        failing = self._observations.failed > 0
        probed = self._risk.find_probed(pending) if failing else None
        if probed is not None:
            choice = self._terms_at(probed, ask.beta).at(self._top, "a cheaper query did not fail here")
            return self._suggest("after a probe", ask, choice)
        if failing and self._weighs and self._risk.has_only_failed:
            return self._design.another(self._top, view, pending, "every target query has failed so far")
        with self._models.hallucinate(pending):
            kind, ask, choice = self._decide(ask)
            if failing:
                kind, ask, choice = self._beware(kind, ask, choice)
        return self._suggest(kind, ask, choice)

    def _explores_noise(self) -> bool:
        """Whether values are noisy where φ is the target's own bound, which then hardly settles: doubt comes late."""
        alone = self._hedge is not None and self._hedge.prefers_alone  # noise of others is no concern of its bound
        noisy = self._models.noise_is_certain(self._top) if alone else self._models.any_noise_is_certain()
        return noisy and self._manner.noise_tests and (self._top == 0 or self._weighs)

    def _can_check(self, view: View, u: Array, k: int) -> bool:
        """Whether a check at position k can be paid, costs less than it may tell, and is not likely to fail."""
        costly = self._weighs and self._costs[k] > CHECKED * self._costs[-1]
        return not costly and self._can_pay(k, view.remaining) and not self._failures.is_likely(u, k)

    def _decide(self, ask: _Ask) -> tuple[str, _Ask, _Choice]:
        """The rule that applies, the ask (doubt changes β), and the choice."""
        if self._hedge is not None and self._hedge.prefers_alone and self._share.is_owed(ask.pending, ALONE):
            return "hedge", ask, self._ask_alone(self._hedge, ask)
        if self._share.is_owed(ask.pending):
            text = f"the target has had less than {100 * self._share.part:.0f} % of what was spent"
            return "share", ask, self._ask_target(self._bound([self._top], CALM * ask.beta), ask, text)
        stalled = self._break_stall(ask)
        if stalled is not None:
            return "stall", ask, stalled
        kind, choice = "ucb", self._explore(ask)
        doubt = self._doubt if self._doubt is not None and self._is_settled(choice, ask) else None
        if doubt is not None and doubt.looks:
            kind, (ask, choice) = "doubt", self._look_elsewhere(ask)
            doubt.looks = doubt.looks - 1 if choice.k < self._top or self._top == 0 else 0
        if self._manner.last_query and choice.k == self._top and ask.view.remaining < 2 * self._costs[-1]:
            text = "the capital pays for one more target query: it goes where the means are best"
            bound = self._bound(self._bounding_positions(), 0.0)
            return "last target query", ask, self._ask_target(bound, ask, text, CAUTION)
        if doubt is not None and kind == "ucb":
            best, bound = incumbent(self._models, ()) or 0.0, self._bound([self._top], 0.0)
            doubt.refine(best, self._spread(), self._costs)
            if self._top == 0 or not self._search.is_awaited(bound, self._top, ask.view, ask.pending, self._spread()):
                text = "the bounds promise next to nothing: refine where the target's mean is best"
                refined = self._ask_target(bound, ask, text)
                if self._top > 0 or float(refined.mean[0]) - best > SETTLED * self._spread():
                    return "refinement", ask, refined
            return "doubt", *self._look_elsewhere(ask)  # the best is known well enough, or will be
        return kind, ask, choice

    def _break_stall(self, ask: _Ask) -> _Choice | None:
        """A query against a stall of one fidelity (base/stall.py), if it is its turn; the last one is for the best."""
        last = self._manner.last_query and ask.view.remaining < 2 * self._costs[-1]
        if self._top > 0 or self._doubt is None or last or not self._models.is_noiseless(0):
            return None
        whose = find_turn(self._observations.rows(0)[1], self._spread(), len(ask.pending))
        if whose is Turn.BEST:
            bound, text = self._bound([0], 0.0), "values bring no gain: where the mean is best"
            choice = self._ask_target(bound, replace(ask, beta=0.0), text)
            if not self._is_settled(choice, ask):
                return choice
        return self._leave(whose, ask)

    def _leave(self, whose: Turn, ask: _Ask) -> _Choice | None:
        """A target query away from those that bring no gain, or None (base/stall.py)."""
        found = find_away(whose, self._problem.domain, self._observations, self._failures, ask.pending, ask.view.rng)
        return None if found is None else self._terms_at(found[0], ask.beta).at(self._top, found[1])

    def _beware(self, kind: str, ask: _Ask, choice: _Choice) -> tuple[str, _Ask, _Choice]:
        """The same, or what is better asked before it because evaluations fail (base/risk.py)."""
        bound = self._bound(self._bounding_positions(), ask.beta)
        test = self._risk.find_test(bound, float(np.min(choice.phi)))
        if test is not None and self._can_pay(test[1], ask.view.remaining - self._costs[-1]):
            text = "the fidelity below fails here: whether this one does"
            return "test", ask, self._terms_at(test[0], ask.beta).at(test[1], text)
        k = self._risk.find_probe(choice.u, ask.pending) if choice.k == self._top else None
        if k is None or not self._can_pay(k, ask.view.remaining):
            return kind, ask, choice
        self._risk.wait_for(choice.u, k)
        return "probe", ask, choice.at(k, "whether the target fails here is found out at less cost")

    def _explore(self, ask: _Ask) -> _Choice:
        """x_t and m_t."""
        top, depth = self._top, self._spread() or 1.0
        bound = self._bound(self._bounding_positions(), ask.beta)
        u, lowered = self._search.maximum(bound, top, ask.view, ask.pending, depth)
        failing = self._observations.failed > 0
        if failing:
            u, lowered = self._caution.dare(bound, (u, lowered), ask.view, ask.pending, depth)
        choice = self._choose_fidelity(u, ask)
        if failing and choice.k == top and choice.worth is not None:
            lit = self._caution.find_lit(bound, u, choice.worth, ask.view, ask.pending, depth)
            if lit is not None:
                u, lowered = lit
                choice = self._choose_fidelity(u, ask)
        for left in reversed(range(len(self._used) + 1)):  # another point may call for another fidelity, and be taken
            k, text = choice.k, choice.text
            if not (self._search.is_crowded(u, k, ask.pending) or self._search.is_needless(u, k, ask.pending)):
                break
            u = self._search.find_fresh(lowered, u, k, ask.view, ask.pending)
            choice = self._choose_fidelity(u, ask) if left else self._choose_fidelity(u, ask).at(k, text)
        return choice

    def _look_elsewhere(self, ask: _Ask) -> tuple[_Ask, _Choice]:
        """An ask in doubt, with β so large that the bounds promise something, and what it chooses."""
        with self._models.doubt() as doubted:
            if not doubted:  # then the bounds are those that promise nothing
                ask = replace(ask, beta=FACTOR * ask.beta)
            choice = self._explore(ask)
            for _ in range(STEPS - (not doubted)):
                if not self._is_settled(choice, ask):
                    break
                ask = replace(ask, beta=FACTOR * ask.beta)
                choice = self._explore(ask)
        return ask, choice

    def _ask_target(self, bound: FullAcquisition, ask: _Ask, text: str, hope: float | None = None) -> _Choice:
        """A target query at the maximum of `bound`."""
        u = self._search.point(bound, self._top, ask.view, ask.pending, self._spread() or 1.0, hope)
        return self._terms_at(u, ask.beta).at(self._top, text)

    def _ask_alone(self, hedge: Hedge, ask: _Ask) -> _Choice:
        """A target query by GP-UCB, one of its beginning, or one against its stall."""
        waiting = self._observations.pending_points(self._top, ask.pending)
        first = hedge.find_first(waiting, self._failures)
        if first is not None:
            return self._terms_at(first, ask.beta).at(self._top, f"{hedge.why}; first where a cheap value is known")
        with hedge.hallucinate(waiting):
            bound = hedge.bound(ask.beta)
            choice = self._ask_target(bound, ask, hedge.why)
            gain = float(bound(choice.u[None])[0]) - (incumbent(self._models, ()) or 0.0)
        return self._leave(hedge.find_turn(gain, self._spread(), len(waiting), ask.view.t), ask) or choice

    def _choose_fidelity(self, u: Array, ask: _Ask) -> _Choice:
        """m_t at x_t."""
        return self._choose_by_worth(u, ask) if self._weighs else self._choose_by_gamma(u, ask)

    def _choose_by_worth(self, u: Array, ask: _Ask) -> _Choice:
        """The m whose value removes most of the target's variance at x_t per cost; the target removes all of it."""
        worth = self._models.explain(u)
        choice = replace(self._terms_at(u, ask.beta), worth=worth)
        best, highest = self._top, 1.0 / self._costs[-1]
        for k in range(self._top):
            per_cost = float(worth[k]) / self._costs[k]
            if per_cost <= highest or not self._can_pay(k, ask.view.remaining):
                continue
            if not (self._search.is_needless(u, k, ask.pending) or self._fails_alone(u, k)):
                best, highest = k, per_cost
        if best == self._top:
            return choice.at(best, "no cheaper value tells more about the target here, for what it costs")
        return choice.at(best, f"it removes {100 * worth[best]:.0f} % of the target's variance here, at less cost")

    def _choose_by_gamma(self, u: Array, ask: _Ask) -> _Choice:
        """The smallest m with β_t^½ σ_m ≥ γ_m, else M."""
        choice, gammas, top = self._terms_at(u, ask.beta), self._schedule.gamma.values, self._top
        for k in range(top):
            wide = choice.width[k] >= gammas[k]
            if not (wide or self._schedule.first_visit(self._observations, u, k)):
                continue
            if not self._can_pay(k, ask.view.remaining):
                return choice.at(top, "a cheaper query would leave too little capital for a target query")
            if self._search.is_needless(u, k, ask.pending) or self._fails_alone(u, k):
                continue
            text = "β½σ ≥ γ: this fidelity is still uncertain here" if wide else "never queried here at this fidelity"
            return choice.at(k, text)
        if top == 0:
            return choice.at(top, "the only fidelity in use")
        return choice.at(top, "every cheaper fidelity is certain here (β½σ < γ), known or likely to fail")

    def _fails_alone(self, u: Array, k: int) -> bool:
        return self._observations.failed > 0 and self._risk.fails_alone(u, k)

    def _is_settled(self, choice: _Choice, ask: _Ask) -> bool:
        """Whether the bounds promise no more than a refinement of the best target value, known or pending."""
        best = incumbent(self._models, ask.pending if self._top > 0 else ())  # of noisy values the largest is luck
        noise = self._models.noise(self._top) if self._models.noise_is_certain(self._top) else 0.0
        return best is not None and float(np.min(choice.phi)) - best <= max(self._settled * self._spread(), sqrt(noise))
