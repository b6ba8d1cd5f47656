"""What MF-GP-UCB and GP-UCB share: Algorithm (mfgpucb) with the rules of "Some Implementation Details", in ask/tell.

The fidelities in use are numbered by position k = 0..K−1; the last position is the target. An ask takes the first of
these steps that applies:

    1. the initial design, then random queries as long as no value at all is known
    2. a check of ζ: a query above the first position whose value was off the mean one position below by more than ζ is
       repeated there
    3. x_t = argmax φ (eq. (mfgpucbDefn)); m_t = the smallest m with β_t^½ σ_m(x_t) ≥ γ_m, else M

Capital: a query below the target is made only if λ_M can still be paid afterwards, so the last one payable is always a
target query. The last target query of all explores no more: it goes to the maximum of φ with β = 0.

Pending queries count as told with their posterior mean. A failed point lowers φ around itself for the next outcomes.
On a noiseless fidelity no point is queried twice: the query moves up to the next fidelity or, if the target knows the
point too, to the next best point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isfinite, sqrt
from typing import Literal

import numpy as np

from mfopt import theory
from mfopt.acquisition import MultiFidelityUCB, argmax
from mfopt.design import initial_counts, initial_point
from mfopt.errors import Exhausted, InputError
from mfopt.models import FidelityModels
from mfopt.protocols import Acquisition, Array, Problem, Query, Record, Suggestion, View
from mfopt.reason import Reason
from mfopt_plugins.strategies._avoid import Avoiding, elsewhere
from mfopt_plugins.strategies._gamma import GammaRule
from mfopt_plugins.strategies._visited import Visited
from mfopt_plugins.strategies._zeta import ZetaRule, excess

Mode = Literal["practical", "theory"]
APART = 1e-6  # on a noiseless fidelity a query keeps this distance from earlier ones, in unit coordinates
_TRIES = 1000  # draws for an initial point that was not queried before, on a finite set


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


class UCBStrategy:
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
        if initial_capital is not None and not 0 <= initial_capital < inf:
            raise InputError(f"initial_capital must be finite and not negative, got {initial_capital}")
        self._mode = mode
        self._given_zetas = None if zetas is None else _checked("zetas", zetas)
        self._given_gammas = None if gammas is None else [g or 0.0 for g in _checked("gammas", gammas)]
        self._initial_capital = initial_capital
        self._beta_factor = beta_factor
        self._gamma_shrink = gamma_shrink
        self._delta, self._xi, self._a, self._b = delta, xi, a, b

    def fidelities(self, count: int) -> tuple[int, ...]:
        """The fidelities that the method uses, of a problem with `count` of them."""
        return tuple(range(count))

    # ------------------------------------------------------------------------------------------- the protocol

    def start(self, problem: Problem) -> None:
        """Called once, before the first ask."""
        used = self.fidelities(len(problem.costs))
        costs = [problem.costs[m] for m in used]
        domain = problem.domain
        zetas = self._start_zetas(problem, used)
        gammas = self._given_gammas
        if gammas is not None and len(gammas) != len(used) - 1:
            raise InputError(f"gammas must hold one value per fidelity below the target, {len(used) - 1}, got {gammas}")
        if self._mode == "theory" and gammas is None:
            gammas = list(theory.gamma_from_zeta([z or 0.0 for z in zetas], costs))
        size = None if domain.points is None else len(domain.points)
        self._counts = list(initial_counts(costs, problem.capital, self._initial_capital, domain.dim, size))
        self._problem = problem
        self._used = used
        self._costs = costs
        self._zeta = ZetaRule(zetas, used)
        self._gamma = GammaRule(costs, gammas, self._gamma_shrink)
        self._models = FidelityModels(problem.surrogates, problem.noises, used, domain.dim, problem.seed)
        self._visited = Visited(len(used), domain.dim, domain.points)
        self._drawn = [0] * len(used)  # initial points drawn, by position
        self._issued: list[list[Array]] = [[] for _ in used]  # initial points asked for
        self._unasked = [0] * len(used)  # values that nobody asked for
        self._to_check: list[tuple[Array, int, float]] = []  # queries whose value is to be held against ζ
        self._checks: list[tuple[Array, int]] = []  # check queries to be made

    def ask(self, view: View) -> Suggestion:
        """The next query. Raises Exhausted when no useful query is left."""
        if view.remaining < self._costs[-1]:
            raise Exhausted(
                f"a target query must be payable, it costs {self._costs[-1]}, got {view.remaining} remaining", "capital"
            )
        pending = [q for q in view.pending if q.fidelity in self._used]
        initial = self._next_initial(view, pending)
        if initial is not None:
            return initial
        self._models.update()
        spread = self._models.spread
        if spread > 0 and not self._zeta.started:
            self._zeta.start(spread)
        if spread > 0 and not self._gamma.started:
            self._gamma.start(spread)
        check = self._next_check(view, pending)
        if check is not None:
            return check
        beta = self._beta(view.t)
        with self._models.hallucinated(pending):
            choice = self._choose(view, pending, beta, beta, last=False)
            last = choice.k == len(self._used) - 1 and view.remaining < 2 * self._costs[-1]
            if last:
                choice = self._choose(view, pending, 0.0, beta, last=True)
        self._gamma.queried(choice.k, choice.width)
        kind = "last target query" if last else "ucb"
        return Suggestion(choice.u, self._used[choice.k], self._reason(kind, view.t, beta, choice))

    def tell(self, record: Record) -> None:
        """Learn the outcome of a query, or data that nobody asked for, in the order told."""
        if record.fidelity not in self._used:
            return
        k = self._used.index(record.fidelity)
        if record.y is not None:
            self._compare(record.u, k, record.y)
            self._models.add(record)
            if not record.asked:
                self._unasked[k] += 1
            elif k > 0 and not any(np.array_equal(record.u, u) for u in self._issued[k]):
                self._to_check.append((record.u, k, record.y))
        self._visited.add(record.u, k, record.y)

    @property
    def violations(self) -> dict[int, float]:
        """By fidelity, the largest difference seen that contradicts a ζ_m that was given."""
        return dict(self._zeta.violations)

    # ------------------------------------------------------------------------------------------- step 1

    def _next_initial(self, view: View, pending: Sequence[Query]) -> Suggestion | None:
        for k, count in enumerate(self._counts):
            # The last target query is never left to chance, whatever the fidelity of this one.
            if len(self._issued[k]) < count - self._unasked[k] and self._costs[k] + self._costs[-1] <= view.remaining:
                u = self._draw(k, pending)
                if u is not None:
                    text = f"point {len(self._issued[k]) + 1} of {count - self._unasked[k]} at this fidelity"
                    return self._initial(u, k, view.t, text)
                self._counts[k] = 0
        if any(self._models.count(k) for k in range(len(self._used))) or self._mode == "theory":
            return None
        k = 0 if self._payable(0, view.remaining) else len(self._used) - 1
        u = self._draw(k, pending)
        if u is None:
            raise Exhausted("a finite set must have a point left to query, got none", "points")
        return self._initial(u, k, view.t, "no value is known yet")

    def _draw(self, k: int, pending: Sequence[Query]) -> Array | None:
        """The next uniform point for position k; None when a finite set seems to have no fresh one."""
        domain, fidelity = self._problem.domain, self._used[k]
        taken = None
        if domain.points is not None:
            taken = self._visited.finished(k, pending, fidelity)
        for _ in range(_TRIES):
            u = initial_point(domain, self._problem.seed, fidelity, self._drawn[k])
            self._drawn[k] += 1
            if taken is None or not taken[self._visited.rows([u])[0]]:
                return u
        return None

    def _initial(self, u: Array, k: int, t: int, text: str) -> Suggestion:
        self._issued[k].append(u)
        return Suggestion(u, self._used[k], Reason("initial design", text, self._used[k], t))

    # ------------------------------------------------------------------------------------------- step 2

    def _next_check(self, view: View, pending: Sequence[Query]) -> Suggestion | None:
        for u, k, y in self._to_check:
            if self._zeta.learnt(k - 1) and self._visited.value(u, k - 1) is None:
                mean = self._models.at(u)[0][k - 1]
                if excess(abs(y - mean), self._models.noise(k)) > self._zeta.neighbour:
                    self._checks.append((u, k - 1))
        self._to_check.clear()
        while self._checks:
            u, k = self._checks.pop(0)
            known = self._visited.value(u, k) is not None
            known = known or any(q.fidelity == self._used[k] and np.array_equal(q.u, u) for q in pending)
            if known or not self._payable(k, view.remaining):
                continue
            beta = self._beta(view.t)
            text = f"fidelity {self._used[k + 1]} differed here from this one's mean by more than ζ"
            choice = self._at(u, k, text, beta)
            self._gamma.queried(k, choice.width)
            return Suggestion(u, self._used[k], self._reason("check of ζ", view.t, beta, choice))
        return None

    def _compare(self, u: Array, k: int, y: float) -> None:
        """Hold the value against those of the same point at other fidelities."""
        for other in range(len(self._used)):
            value = None if other == k else self._visited.value(u, other)
            if value is not None:
                self._zeta.compare(k, y, other, value, self._models.noise(k) + self._models.noise(other))

    # ------------------------------------------------------------------------------------------- step 3

    def _choose(self, view: View, pending: Sequence[Query], beta: float, width_beta: float, last: bool) -> _Choice:
        """x_t and m_t; `beta` is for x_t, `width_beta` for what is compared with γ."""
        domain, top = self._problem.domain, len(self._used) - 1
        acquisition: Acquisition = self._acquisition(beta)
        noiseless = self._models.noiseless(top)
        avoid = None
        if domain.points is not None:
            avoid = np.zeros(len(domain.points), dtype=np.bool_)
            if noiseless:
                avoid |= self._visited.finished(top, pending, self._used[top])
            failed = avoid.copy()
            failed[self._visited.rows([u for u, _ in self._visited.failed_recently()])] = True
            # Where only failed points are left they are tried again.
            avoid = avoid if failed.all() else failed
        else:
            acquisition = self._avoiding(acquisition)
        u = argmax(acquisition, domain, self._problem.maximiser, view.rng, view.t, avoid)
        choice = self._fidelity_at(u, view, pending, width_beta, last)
        if domain.points is None and noiseless and choice.k == top and self._taken(u, top, pending):
            taken = [self._visited.queried(top), *(q.u[None] for q in pending if q.fidelity == self._used[top])]
            u = elsewhere(acquisition, domain, u, np.vstack(taken), APART, view.rng)
            choice = self._fidelity_at(u, view, pending, width_beta, last)
        return choice

    def _acquisition(self, beta: float) -> MultiFidelityUCB:
        """φ over the fidelities that have data; in theory mode, as in the algorithm, over all."""
        informed = self._informed()
        return MultiFidelityUCB(
            [self._models.models[k] for k in informed],
            [self._problem.surrogates[self._used[k]] for k in informed],
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

    def _avoiding(self, acquisition: Acquisition) -> Acquisition:
        failures = self._visited.failed_recently()
        if not failures:
            return acquisition
        depth = self._models.spread or 1.0
        return Avoiding(acquisition, failures, depth, self._problem.domain.dim)

    def _fidelity_at(self, u: Array, view: View, pending: Sequence[Query], beta: float, last: bool) -> _Choice:
        """m_t at x_t: the smallest m with β_t^½ σ_m ≥ γ_m, else M."""
        top = len(self._used) - 1
        choice = self._at(u, top, "", beta)
        if last:
            return _moved(choice, top, "the capital pays for one more target query: it goes where the means are best")
        discrete = self._mode == "theory" and self._problem.domain.points is not None
        for k in range(top):
            wide = choice.width[k] >= choice.gammas[k]
            if not (wide or (discrete and self._visited.count(u, k) == 0)):
                continue
            if not self._payable(k, view.remaining):
                return _moved(choice, top, "a cheaper query would leave too little capital for a target query")
            if self._models.noiseless(k) and self._taken(u, k, pending):
                continue
            if wide:
                return _moved(choice, k, "β½σ ≥ γ: this fidelity is still uncertain here")
            return _moved(choice, k, "never queried here at this fidelity")
        if top == 0:
            return _moved(choice, top, "the only fidelity in use")
        return _moved(choice, top, "every cheaper fidelity is certain here (β½σ < γ)")

    def _taken(self, u: Array, k: int, pending: Sequence[Query]) -> bool:
        """Whether this point was queried at position k, or is about to be."""
        return bool(
            (np.abs(self._visited.queried(k) - u).max(axis=1, initial=0.0) <= APART).any()
            or any(q.fidelity == self._used[k] and np.abs(q.u - u).max() <= APART for q in pending)
        )

    # ------------------------------------------------------------------------------------------- quantities

    def _at(self, u: Array, k: int, text: str, beta: float) -> _Choice:
        mean, sigma = self._models.at(u)
        width = sqrt(beta) * sigma
        zetas, gammas = self._zeta.values(), self._gamma.values()
        phi = mean + width + zetas
        unknown = np.ones(len(self._used), dtype=np.bool_)
        unknown[self._informed()] = False
        width[unknown] = phi[unknown] = inf
        return _Choice(u, k, text, mean, width, zetas, phi, gammas)

    def _reason(self, kind: str, t: int, beta: float, choice: _Choice) -> Reason:
        return Reason(
            kind,
            choice.text,
            self._used[choice.k],
            t,
            beta,
            self._used,
            tuple(choice.mean.tolist()),
            tuple(choice.width.tolist()),
            tuple(choice.zetas.tolist()),
            tuple(choice.phi.tolist()),
            tuple(choice.gammas.tolist()),
        )

    def _payable(self, k: int, remaining: float) -> bool:
        """Whether a query at position k leaves enough for a target query (the target itself need not)."""
        reserve = 0.0 if k == len(self._used) - 1 else self._costs[-1]
        return self._costs[k] + reserve <= remaining

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


def _checked(name: str, values: Sequence[float | None]) -> list[float | None]:
    for value in values:
        if value is not None and not 0 <= value < inf:
            raise InputError(f"{name} must be finite and not negative, got {list(values)}")
    return list(values)


def _moved(choice: _Choice, k: int, text: str) -> _Choice:
    return _Choice(choice.u, k, text, choice.mean, choice.width, choice.zetas, choice.phi, choice.gammas)
