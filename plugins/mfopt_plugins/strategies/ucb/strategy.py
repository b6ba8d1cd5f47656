"""What MF-GP-UCB and GP-UCB share: Algorithm (mfgpucb) with the rules of "Some Implementation Details", in ask/tell.

After the initial design (see _cycle) an ask takes the first of these steps that applies:

    1. a check of ζ: a query above the first position whose value was off the mean one position below by more than ζ is
       repeated there
    2. x_t = argmax φ (eq. (mfgpucbDefn)); m_t = the smallest m with β_t^½ σ_m(x_t) ≥ γ_m, else M

Not in the paper, in practical mode (measured in docs/defaults.md):

    Contradictions. A value outside [μ − β½σ − ζ, μ + β½σ + ζ] of the position below contradicts the bounds. Values of
    the initial design are checked where they do, and the best target value at each ask, since models change.

    Doubt. Where φ(x_t) exceeds the best target value by at most SETTLED of the spread, the bounds say that nothing is
    left to find. If they are right, a target query at x_t gains next to nothing; if one of them is wrong, it gains
    nothing at all. So the target is asked by turns to refine, where its own mean is best, and elsewhere: at the
    maximum of φ with β multiplied by 4, up to three times, until it promises something.

The last target query that the capital pays for explores no more: it goes to the maximum of φ with β = 0.

Pending queries count as told with their posterior mean. A failed point lowers φ around itself for the next outcomes.
On a noiseless fidelity no point is queried twice: the query moves up to the next fidelity or, if the target knows the
point too, to the next best point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, sqrt
from typing import Literal

import numpy as np

from mfopt import theory
from mfopt.errors import InputError
from mfopt.protocols import Array, Problem, Query, Record, Suggestion, View
from mfopt.run.reason import Reason
from mfopt_plugins.method.softening import Softening
from mfopt_plugins.method.upper_bound import MultiFidelityUCB
from mfopt_plugins.strategies.base.cycle import Cycle
from mfopt_plugins.strategies.ucb.affine import Affine
from mfopt_plugins.strategies.ucb.gamma import GammaRule
from mfopt_plugins.strategies.ucb.softener import Softener, judge_of
from mfopt_plugins.strategies.ucb.zeta import ZetaRule, excess

Mode = Literal["practical", "theory"]

SETTLED = 1e-4  # of the spread: gains below it are refinements
_STEPS = 3  # factors of 4 by which doubt may raise β


@dataclass(frozen=True)
class _Choice:
    """A point, a position, and the numbers behind them."""

    u: Array
    k: int
    text: str
    mean: Array
    width: Array
    zetas: Array
    phi: Array
    gammas: Array


class UCBStrategy(Cycle):
    """The upper confidence bound method on the fidelities that `fidelities` picks."""

    def __init__(
        self,
        mode: Mode,
        zetas: Sequence[float | None] | None,
        gammas: Sequence[float] | None,
        initial_capital: float | None,
        beta_factor: float,
        gamma_shrink: float,
        delta: float,
        xi: float,
        a: float,
        b: float,
        affine: bool = False,
        doubt: bool = False,
        coupled: bool = False,
        softened: bool = False,
    ) -> None:
        if mode not in ("practical", "theory"):
            raise InputError(f'mode must be "practical" or "theory", got {mode!r}')
        for name, value in (("beta_factor", beta_factor), ("a", a), ("b", b)):
            if not (isfinite(value) and value > 0):
                raise InputError(f"{name} must be positive and finite, got {value}")
        if not (isfinite(gamma_shrink) and gamma_shrink >= 1):
            raise InputError(f"gamma_shrink must be at least 1, got {gamma_shrink}")
        if not 0 < delta < 1:
            raise InputError(f"delta must lie strictly between 0 and 1, got {delta}")
        if not 0 < xi <= 1:
            raise InputError(f"xi must lie in (0, 1], got {xi}")
        if affine and mode == "theory":
            raise InputError(
                'affine must be False in mode "theory", whose bounds ζ are those of the fidelities themselves'
            )
        super().__init__(initial_capital)
        self._corrects = affine
        self._doubts = doubt
        self._coupled = coupled
        self._softened = softened
        self._mode = mode
        self._given_zetas = None if zetas is None else _not_negative("zetas", zetas)
        self._given_gammas = None if gammas is None else [g or 0.0 for g in _not_negative("gammas", gammas)]
        self._beta_factor = beta_factor
        self._gamma_shrink = gamma_shrink
        self._delta, self._xi, self._a, self._b = delta, xi, a, b

    def fidelities(self, count: int) -> tuple[int, ...]:
        """The fidelities that the method uses, of a problem with `count` of them."""
        return tuple(range(count))

    def start(self, problem: Problem) -> None:
        """Called once, before the first ask."""
        used = self.fidelities(len(problem.costs))
        costs = [problem.costs[m] for m in used]
        zetas = self._start_zetas(problem, used)
        gammas = self._given_gammas
        if gammas is not None and len(gammas) != len(used) - 1:
            raise InputError(f"gammas must hold one value per fidelity below the target, {len(used) - 1}, got {gammas}")
        if self._mode == "theory" and gammas is None:
            gammas = list(theory.gamma_from_zeta([z or 0.0 for z in zetas], costs))
        super().start(problem)
        self._first_zetas = zetas
        self._zeta = ZetaRule(zetas, used)
        # A bound ζ_m that is given is one for the fidelity as it is.
        self._affine = Affine([self._corrects and zeta is None for zeta in zetas])
        self._gamma = GammaRule(costs, gammas, self._gamma_shrink)
        self._to_check: list[tuple[Array, int, float]] = []  # values to be held against ζ
        self._checked: set[tuple[bytes, int]] = set()  # points and positions that were asked for a check
        # ζ and γ that are given, and affine corrections, are in the unit of y: they hold for values as they are.
        as_they_are = any(zeta is not None for zeta in zetas[:-1]) or gammas is not None or self._corrects
        softens = self._softened and self._mode == "practical" and len(used) > 1 and not as_they_are
        self._softener = Softener(judge_of(problem, used) if softens else None)
        self._refined = False  # whether the last target query was a refinement, so that it is doubt's turn

    def _needs_values(self) -> bool:
        return self._mode == "practical"

    def _couples(self) -> bool:
        # The theorems are about one process per fidelity, and so are affine corrections.
        return self._coupled and self._mode == "practical" and not self._corrects

    def _learn(self, view: View) -> None:
        if self._softener.judge(self._models, view.rng):
            self._see_softened(self._softener.softening)
        super()._learn(view)

    def _see_softened(self, softening: Softening) -> None:
        """See all that is known through `softening`; ζ and γ begin anew."""
        self._models.soften(softening)
        self._visited.soften(softening)
        self._to_check = [(u, k, softening.value(y)) for u, k, y in self._to_check]
        self._gamma = GammaRule(self._costs, None, self._gamma_shrink)
        self._compare_all()

    def _choose(self, view: View, pending: Sequence[Query]) -> Suggestion:
        if self._corrects:
            self._correct()
        spread = self._spread
        if spread > 0 and not self._zeta.started:
            self._zeta.start(spread)
        if spread > 0 and not self._gamma.started:
            self._gamma.start(spread)
        beta = self._beta(view.t)
        check = self._next_check(view, pending, beta)
        if check is not None:
            return check
        with self._models.hallucinated(pending):
            choice = self._best(view, pending, beta, beta)
            kind = "ucb"
            settled = self._doubts and self._mode == "practical" and self._top > 0 and self._settled(choice)
            if settled and self._refined:
                beta, choice = self._elsewhere(view, pending, beta)
                kind, self._refined = "doubt", choice.k < self._top  # until the target was asked elsewhere
            if choice.k == self._top and view.remaining < 2 * self._costs[-1]:
                text = "the capital pays for one more target query: it goes where the means are best"
                kind, choice = "last target query", self._best(view, pending, 0.0, beta, None, text)
            elif settled and kind == "ucb":
                text = "the bounds promise next to nothing: refine where the target's mean is best"
                kind, choice = "refinement", self._best(view, pending, 0.0, beta, [self._top], text)
                self._refined = True
        self._gamma.queried(choice.k, choice.width)
        return Suggestion(choice.u, self._used[choice.k], self._reason(kind, view.t, beta, choice))

    def tell(self, record: Record) -> None:
        """Learn the outcome of a query, or data that nobody asked for, in the order told."""
        if record.y is not None and record.fidelity in self._used:
            k, y = self._used.index(record.fidelity), self._softener.softening.value(record.y)
            self._compare(record.u, k, y)
            if record.asked and k > 0:
                self._to_check.append((record.u, k, y))
            record = replace(record, y=y)
        super().tell(record)

    @property
    def violations(self) -> dict[int, float]:
        """By fidelity, the largest difference seen that contradicts a ζ_m that was given."""
        return dict(self._zeta.violations)

    # ------------------------------------------------------------------------------------------- step 1

    def _next_check(self, view: View, pending: Sequence[Query], beta: float) -> Suggestion | None:
        while self._to_check:
            u, k, y = self._to_check.pop(0)
            # The points of the initial design are where chance, not φ, put them: only contradictions count there.
            width = sqrt(beta) if self._design.issued(u, k) else 0.0
            if self._off(u, k, y, width) and self._checkable(u, k, view, pending):
                return self._check(u, k, view, beta)
        best = self._best_row()
        if best is not None and self._off(*best, sqrt(beta)) and self._checkable(*best[:2], view, pending):
            return self._check(*best[:2], view, beta)
        return None

    def _off(self, u: Array, k: int, y: float, widths: float) -> bool:
        """Whether the value y at position k lies off the mean one below by more than ζ and so many deviations."""
        if not self._zeta.learnt(k - 1):
            return False
        mean, sigma = self._posterior(u)
        noise = self._affine.a[k] ** 2 * self._models.noise(k)
        difference = excess(abs(self._affine(k, y) - mean[k - 1]), noise)
        return bool(difference > self._zeta.neighbour + widths * sigma[k - 1])

    def _checkable(self, u: Array, k: int, view: View, pending: Sequence[Query]) -> bool:
        """Whether the position below k does not know u yet, was not asked for it in vain, and can be paid."""
        low = k - 1
        waits = any(q.fidelity == self._used[low] and np.array_equal(q.u, u) for q in pending)
        asked = waits or (u.tobytes(), low) in self._checked or self._visited.value(u, low) is not None
        return not asked and self._payable(low, view.remaining)

    def _check(self, u: Array, k: int, view: View, beta: float) -> Suggestion:
        """The query of u one position below k."""
        low = k - 1
        self._checked.add((u.tobytes(), low))
        text = f"fidelity {self._used[k]} differed here from this one's mean by more than ζ"
        choice = self._at(u, low, text, beta)
        self._gamma.queried(low, choice.width)
        return Suggestion(u, self._used[low], self._reason("check of ζ", view.t, beta, choice))

    def _best_row(self) -> tuple[Array, int, float] | None:
        """The best target value with its point, where there is a fidelity below to hold it against."""
        u, y = self._models.rows(self._top)
        if self._top == 0 or self._mode == "theory" or len(y) == 0:
            return None
        row = int(np.argmax(y))
        return u[row], self._top, float(y[row])

    def _compare(self, u: Array, k: int, y: float) -> None:
        """Hold the value against those of the same point at other fidelities."""
        for other in range(len(self._used)):
            value = None if other == k else self._visited.value(u, other)
            if value is not None:
                self._compare_pair(k, y, other, value)

    def _compare_pair(self, k: int, y: float, other: int, value: float) -> None:
        noise = self._affine.a[k] ** 2 * self._models.noise(k) + self._affine.a[other] ** 2 * self._models.noise(other)
        self._zeta.compare(k, self._affine(k, y), other, self._affine(other, value), noise)

    def _correct(self) -> None:
        """Learn the corrections anew; ζ, which grew from differences under the old ones, from all pairs again."""
        self._affine.learn(self._models)
        self._compare_all()

    def _compare_all(self) -> None:
        """Learn ζ anew from all pairs of values."""
        spread = self._spread
        violations = self._zeta.violations
        self._zeta = ZetaRule(self._first_zetas, self._used)
        self._zeta.violations = violations
        if spread > 0:
            self._zeta.start(spread)
        for k in range(1, len(self._used)):
            if self._zeta.learnt(k - 1):
                for u, y in zip(*self._models.rows(k), strict=True):
                    value = self._visited.value(u, k - 1)
                    if value is not None:
                        self._compare_pair(k, float(y), k - 1, value)

    # ------------------------------------------------------------------------------------------- step 2

    def _best(
        self,
        view: View,
        pending: Sequence[Query],
        beta: float,
        width_beta: float,
        bounds: list[int] | None = None,
        text: str | None = None,
    ) -> _Choice:
        """x_t and m_t; `beta` is for x_t, `width_beta` for what is compared with γ.

        `bounds` are the positions whose bounds make φ, by default those informed; with a `text` the target is asked.
        """
        top, depth = self._top, self._spread or 1.0
        acquisition = self._acquisition(beta, self._informed() if bounds is None else bounds)
        u, lowered = self._search.maximum(acquisition, top, view, pending, depth)
        choice = self._fidelity_at(u, view, pending, width_beta, text)
        if choice.k == top and self._search.needless(u, top, pending):
            u = self._search.fresh(lowered, u, top, view, pending)
            choice = self._fidelity_at(u, view, pending, width_beta, text)
        return choice

    def _settled(self, choice: _Choice) -> bool:
        """Whether the bounds promise no more than a refinement of the best target value."""
        y = self._models.rows(self._top)[1]
        return len(y) > 0 and float(np.min(choice.phi)) - float(np.max(y)) <= SETTLED * self._spread

    def _elsewhere(self, view: View, pending: Sequence[Query], beta: float) -> tuple[float, _Choice]:
        """A β so large that the bounds promise something, and what it chooses."""
        for _ in range(_STEPS):
            beta *= 4
            choice = self._best(view, pending, beta, beta)
            if not self._settled(choice):
                break
        return beta, choice

    def _acquisition(self, beta: float, informed: list[int]) -> MultiFidelityUCB:
        """φ over these positions."""
        return MultiFidelityUCB(
            [self._affine.model(k, self._models.models[k]) for k in informed],
            # The fused bound of a surrogate knows only its own models, not corrected ones.
            [] if self._corrects else [self._problem.surrogates[self._used[k]] for k in informed],
            beta,
            self._zeta.values()[informed].tolist(),
        )

    def _informed(self) -> list[int]:
        """Positions whose bound enters φ.

        Before its first value a fidelity's bound is a flat guess, which in the minimum would hide the peaks that the
        others show; practical mode leaves it out.
        """
        every = range(len(self._used))
        return list(every) if self._mode == "theory" else [k for k in every if self._models.count(k)]

    def _fidelity_at(self, u: Array, view: View, pending: Sequence[Query], beta: float, text: str | None) -> _Choice:
        """m_t at x_t: the smallest m with β_t^½ σ_m ≥ γ_m, else M; M for the reason `text` where one is given."""
        top = len(self._used) - 1
        choice = self._at(u, top, "", beta)
        if text is not None:
            return _moved(choice, top, text)
        discrete = self._mode == "theory" and self._problem.domain.points is not None
        for k in range(top):
            wide = choice.width[k] >= choice.gammas[k]
            if not (wide or (discrete and self._visited.count(u, k) == 0)):
                continue
            if not self._payable(k, view.remaining):
                return _moved(choice, top, "a cheaper query would leave too little capital for a target query")
            if self._search.needless(u, k, pending):
                continue
            if wide:
                return _moved(choice, k, "β½σ ≥ γ: this fidelity is still uncertain here")
            return _moved(choice, k, "never queried here at this fidelity")
        if top == 0:
            return _moved(choice, top, "the only fidelity in use")
        return _moved(choice, top, "every cheaper fidelity is certain here (β½σ < γ)")

    # ------------------------------------------------------------------------------------------- quantities

    def _at(self, u: Array, k: int, text: str, beta: float) -> _Choice:
        mean, sigma = self._posterior(u)
        width = sqrt(beta) * sigma
        zetas, gammas = self._zeta.values(), self._gamma.values()
        phi = mean + width + zetas
        unknown = np.ones(len(self._used), dtype=np.bool_)
        unknown[self._informed()] = False
        width[unknown] = phi[unknown] = inf
        return _Choice(u, k, text, mean, width, zetas, phi, gammas)

    def _posterior(self, u: Array) -> tuple[Array, Array]:
        """Means and standard deviations (K,) at one point, corrected."""
        mean, sigma = self._models.at(u)
        return self._affine.a * mean + self._affine.b, np.abs(self._affine.a) * sigma

    @property
    def _spread(self) -> float:
        """The largest range of (corrected) values within one fidelity."""
        ranges = [np.ptp(self._models.rows(k)[1]) if self._models.count(k) else 0.0 for k in range(len(self._used))]
        return float(np.max(np.abs(self._affine.a) * ranges))

    def _reason(self, kind: str, t: int, beta: float, choice: _Choice) -> Reason:
        mean, width, zetas, phi, gammas = self._softener.told(
            choice.mean, choice.width, choice.zetas, choice.phi, choice.gammas
        )
        return Reason(
            kind,
            choice.text,
            self._used[choice.k],
            t,
            beta,
            self._used,
            tuple(mean.tolist()),
            tuple(width.tolist()),
            tuple(zetas.tolist()),
            tuple(phi.tolist()),
            tuple(gammas.tolist()),
        )

    def _beta(self, t: int) -> float:
        domain, count = self._problem.domain, len(self._used)
        if self._mode == "practical":
            return theory.beta_practical(t, domain.dim, self._beta_factor)
        if domain.points is not None:
            size = len(domain.points)
            beta = (
                theory.beta_gpucb_discrete(t, size, self._delta)
                if count == 1
                else theory.beta_mf_discrete(t, size, count, self._delta, self._xi)
            )
        else:
            beta = (
                theory.beta_gpucb_compact(t, domain.dim, self._delta, 1.0, self._a, self._b)
                if count == 1
                else theory.beta_mf_compact(t, domain.dim, count, self._delta, 1.0, self._a, self._b, self._xi)
            )
        return max(beta, 0.0)

    def _start_zetas(self, problem: Problem, used: Sequence[int]) -> list[float | None]:
        given = self._given_zetas
        if given is None:
            zetas = [problem.zetas[m] for m in used]
        elif len(given) in (len(used) - 1, len(used)):
            zetas = [*given[: len(used) - 1], 0.0]
        else:
            raise InputError(f"zetas must hold one value per fidelity below the target, {len(used) - 1}, got {given}")
        if self._mode == "theory" and any(z is None for z in zetas[:-1]):
            raise InputError(f"zetas must be given for every fidelity below the target in theory mode, got {zetas}")
        return zetas


def _not_negative(name: str, values: Sequence[float | None]) -> list[float | None]:
    for value in values:
        if value is not None and not 0 <= value < inf:
            raise InputError(f"{name} must be finite and not negative, got {list(values)}")
    return list(values)


def _moved(choice: _Choice, k: int, text: str) -> _Choice:
    return replace(choice, k=k, text=text)
