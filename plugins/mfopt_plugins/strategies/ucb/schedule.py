"""Schedules: what β_t, ζ_m and γ_m are at each ask, and which bounds make φ.

    Practical   the section "Some Implementation Details": β_t = 0.2 d log 2t, ζ and γ learnt from data unless given
    Theory      Theorems (gpucb), (discreteThm) and (compactThm): their β_t, ζ given, γ_m = ζ_m √(λ_m/λ_{m+1})

Where the two leave something open, the departures of the method (departures.py) say what is done.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import inf, log

import numpy as np

from mfopt import theory
from mfopt.errors import InputError
from mfopt.hooks import TellsLearnt
from mfopt.protocols import Array, Domain, Problem, Query, Record
from mfopt_plugins.method.kept import Kept, fields, flag, many, number
from mfopt_plugins.method.observations import Observations
from mfopt_plugins.strategies.ucb.departures import Departures
from mfopt_plugins.strategies.ucb.zeta import START, ZetaRule

NOISY_DIM = 20  # dimensions of which noisy values take at least the β_t, so that it is 4 log 2t
CALM = 0.1  # by which β is multiplied in queries for the target's share
_PROBES = 256  # points of the cube that tell whether X is all of it


@dataclass(frozen=True)
class Given:
    """What a schedule starts from: the fidelities in use with their costs, and the ζ_m and γ_m that were given."""

    used: Sequence[int]
    costs: Sequence[float]
    zetas: Sequence[float | None]  # None where it is to be learnt, 0 for the target
    gammas: Sequence[float] | None  # None: to be learnt

    @classmethod
    def check(
        cls,
        problem: Problem,
        used: Sequence[int],
        zetas: Sequence[float | None] | None,
        gammas: Sequence[float] | None,
    ) -> Given:
        """ζ_m as given to the method, otherwise to the problem; γ_m as given to the method."""
        below = len(used) - 1
        for name, values, sizes in (("zetas", zetas, (below, below + 1)), ("gammas", gammas, (below,))):
            if values is not None and len(values) not in sizes:
                raise InputError(
                    f"{name} must hold one value per fidelity below the target, {below}, got {list(values)}"
                )
        known = [problem.zetas[m] for m in used] if zetas is None else [*zetas[:below], 0.0]
        return cls(used, [problem.costs[m] for m in used], known, gammas)

    @property
    def any(self) -> bool:
        """Whether any ζ_m below the target, or γ, was given."""
        return any(zeta is not None for zeta in self.zetas[:-1]) or self.gammas is not None


class Adherence(Kept):
    """Whether a run is the algorithm's and nothing else's: `strict` until it strays.

    No theorem is about values that nobody asked for, evaluations that fail, costs that change, or asks that do not wait
    for a value.
    """

    kept = fields(strict=flag)

    def __init__(self) -> None:
        self.strict = True


class Schedule(ABC):
    """β_t, and the rules of ζ and γ; `adherence` is that to an algorithm of the theorems, None where it is none."""

    adherence: Adherence | None = None

    def __init__(self, given: Given, gamma_shrink: float = 1.0, by_capital: bool = True) -> None:
        self._used = given.used
        self.zeta = ZetaRule(given.zetas, given.used)
        self.gamma = GammaRule(given.costs, given.gammas, gamma_shrink, by_capital)

    @abstractmethod
    def beta(self, t: int, noisy: bool) -> float:
        """β_t."""

    @abstractmethod
    def informed_positions(self, counts: Sequence[int]) -> list[int]:
        """The positions whose bounds make φ, where the positions have so many values."""

    @property
    def theorem(self) -> str | None:
        """The theorem that is about the run so far, if any."""
        return None

    def first_visit(self, observations: Observations, u: Array, k: int) -> bool:
        """Whether the fidelity at position k is to be asked because it never was at this point."""
        return False

    def see(self, pending: Sequence[Query]) -> None:
        """Take note of an ask beside these pending queries."""
        if self.adherence is not None and pending:
            self.adherence.strict = False

    def hear(self, record: Record) -> None:
        """Take note of what was told."""
        if self.adherence is not None and record.fidelity in self._used and not (record.asked and record.y is not None):
            self.adherence.strict = False

    def reprice(self, costs: Sequence[float]) -> None:
        """Reckon with other costs from now on."""
        self.gamma.reprice(costs)
        if self.adherence is not None:
            self.adherence.strict = False

    def start(self, spread: float) -> None:
        """Give ζ and γ their start values, as soon as the range of the values is known and not 0."""
        if spread > 0:
            for rule in (self.zeta, self.gamma):
                if not rule.started:
                    rule.start(spread)


class Practical(Schedule):
    """The paper's practical choices; `factor` is the 0.2 of β_t = 0.2 d log 2t.

    With noise where φ is the target's own bound, which is not in the paper, d counts as NOISY_DIM at least. Noisy
    bounds hardly settle, so doubt comes late there, and 4 log t is how β_t grows in the theorem about finite X.
    """

    def __init__(self, given: Given, gamma_shrink: float, factor: float, dim: int, departures: Departures) -> None:
        super().__init__(given, gamma_shrink, departures.by_capital)
        self._factor = factor
        self._dim = dim
        self._informed = departures.informed

    def beta(self, t: int, noisy: bool) -> float:
        """β_t = 0.2 d log 2t (theory.beta_practical), with noise that of NOISY_DIM dimensions where they are fewer."""
        return self._factor * (max(self._dim, NOISY_DIM) if noisy else self._dim) * log(2 * t)

    def informed_positions(self, counts: Sequence[int]) -> list[int]:
        """All positions in the paper, those that have values by default.

        Before its first value a fidelity's bound is a flat guess, which in the minimum would hide the peaks that the
        others show.
        """
        return [k for k, count in enumerate(counts) if count or not self._informed]


@dataclass(frozen=True)
class Constants:
    """δ, ξ and the constants a, b of the kernel in the theorems (see mfopt.theory)."""

    delta: float
    xi: float = 1.0  # of no matter with one fidelity
    a: float = 1.0  # of no matter where X is finite, as b
    b: float = 1.0

    @classmethod
    def check(
        cls, delta: float, xi: float | None, a: float | None, b: float | None, count: int, domain: Domain
    ) -> Constants:
        """The constants as given; an InputError where a theorem needs one that was not."""
        if xi is None and count > 1:
            raise InputError("xi must be given in theory mode, P(A2) or less (theory.xi_monte_carlo), got None")
        for name, value in (("a", a), ("b", b)):
            if value is None and domain.points is None:
                raise InputError(
                    f"{name} must be given in theory mode where X is not finite (theory.smoothness_se), got None"
                )
        return cls(delta, xi or 1.0, a or 1.0, b or 1.0)


def _meets_assumptions(problem: Problem, used: Sequence[int]) -> bool:
    """Whether the problem is one of the theorems: prior and noise known, X finite or a cube."""
    priors = (problem.surrogates[m] for m in used)
    given = all(isinstance(prior, TellsLearnt) and not prior.learnt for prior in priors)
    known = all(problem.noises[m] is not None for m in used)
    return given and known and (problem.domain.points is not None or _is_cube(problem.domain))


def _is_cube(domain: Domain) -> bool:
    """Whether X is all of [0, 1]^d: no parameter is discrete, and there are no constraints, which may be convex or not.

    Both leave next to nothing of random points, or are listed by the domain.
    """
    probes = np.random.default_rng(0).random((_PROBES, domain.dim))
    return not domain.describe().get("constraints") and bool(domain.contains(probes).all())


class Theory(Schedule):
    """The theorems' choices; X is finite, or [0, 1]^d. `theorem` is None where its assumptions are not met."""

    def __init__(self, given: Given, problem: Problem, constants: Constants, initial_capital: float | None) -> None:
        domain = problem.domain
        zetas = [zeta for zeta in given.zetas if zeta is not None]
        if len(zetas) < len(given.zetas):
            raise InputError(
                f"zetas must be given for every fidelity below the target in theory mode, got {list(given.zetas)}"
            )
        if given.gammas is None:
            given = replace(given, gammas=theory.gamma_from_zeta(zetas, given.costs))
        if not all(gamma > 0 for gamma in given.gammas or ()):
            raise InputError(
                "gammas must be positive in theory mode, as they are where every zeta is, or no fidelity above is "
                f"ever queried, got {list(given.gammas or ())}"
            )
        super().__init__(given)
        self.adherence = Adherence()
        self._fidelities = len(given.used)
        self._dim = domain.dim
        self._size = None if domain.points is None else len(domain.points)
        self._constants = constants
        self._applies = not initial_capital and _meets_assumptions(problem, given.used)

    @property
    def theorem(self) -> str | None:
        """Theorem (discreteThm), (compactThm) or (gpucb), as long as the run adheres to the algorithm."""
        if not (self._applies and self.adherence is not None and self.adherence.strict):
            return None
        several = "discreteThm" if self._size is not None else "compactThm"
        return f"Theorem ({several if self._fidelities > 1 else 'gpucb'})"

    def beta(self, t: int, noisy: bool) -> float:
        """β_t of the theorem for this X and this number of fidelities."""
        c, size, dim, count = self._constants, self._size, self._dim, self._fidelities
        if size is not None and count == 1:
            beta = theory.beta_gpucb_discrete(t, size, c.delta)
        elif size is not None:
            beta = theory.beta_mf_discrete(t, size, count, c.delta, c.xi)
        elif count == 1:
            beta = theory.beta_gpucb_compact(t, dim, c.delta, 1.0, c.a, c.b)
        else:
            beta = theory.beta_mf_compact(t, dim, count, c.delta, 1.0, c.a, c.b, c.xi)
        return max(beta, 0.0)

    def informed_positions(self, counts: Sequence[int]) -> list[int]:
        """All positions."""
        return list(range(len(counts)))

    def first_visit(self, observations: Observations, u: Array, k: int) -> bool:
        """The extra condition of the discrete case: every fidelity is asked once at a point before the next one is."""
        return self._size is not None and observations.value(u, k) is None


class GammaRule(Kept):
    """The thresholds γ_m of the positions 0..K−2, below which a fidelity is left for the next one; the target has none.

    γ_m starts at 1 % of the range of the initial values and is doubled when nothing above m was queried for more than
    λ_{m+1}/λ_m iterations (section "Choice of γ_m's"); the count then starts again.

    Two options are not in the paper. With `by_capital` an iteration at a fidelity l < m counts as λ_l/λ_m of one: what
    matters is the capital, λ_{m+1} of it, that went by without a query above. With two fidelities that is the same;
    with more, the paper's rule lets a few queries at fidelity 1 drive up the thresholds of all others. With `shrink`
    > 1 γ_m is divided by it after each query above m, but not below its start.

    values   γ_m of every position, +∞ for the target
    started  whether every γ_m has its start value
    """

    kept = fields(started=flag, _gamma=many(number), _waited=many(number), _least=many(number))

    values: Array

    def __init__(
        self, costs: Sequence[float], given: Sequence[float] | None, shrink: float, by_capital: bool = True
    ) -> None:
        self.reprice(costs)
        self._by_capital = by_capital
        self._fixed = given is not None
        self._shrink = shrink
        self._set([float(gamma) for gamma in given or [0.0] * len(self._patience)])
        self.restart()

    def reprice(self, costs: Sequence[float]) -> None:
        """Wait as long as these costs ask for from now on."""
        self._costs = list(costs)
        self._patience = [high / low for low, high in pairwise(costs)]

    def restart(self) -> None:
        """Begin anew with the next start; what was given stays."""
        self.started = self._fixed
        self._waited = [0.0] * len(self._patience)
        if not self._fixed:
            self._set([0.0] * len(self._patience))
        self._least = list(self._gamma)

    def start(self, spread: float) -> None:
        """Set every γ_m from the range of the initial values."""
        self._set([START * spread] * len(self._patience))
        self._least = list(self._gamma)
        self.started = True

    def count(self, k: int, widths: Array) -> None:
        """Count an iteration that queried position k at a point where the positions have these β_t^½ σ_m."""
        if self._fixed:
            return
        gamma = list(self._gamma)
        for m, patience in enumerate(self._patience):
            if k > m:
                self._waited[m] = 0.0
                gamma[m] = max(gamma[m] / self._shrink, self._least[m])
                continue
            self._waited[m] += self._costs[k] / self._costs[m] if self._by_capital else 1.0
            if self._waited[m] > patience:
                # Twice 0 is 0: a γ that started from constant values takes the width that holds the method here.
                stuck = gamma[m] or (float(widths[m]) if np.isfinite(widths[m]) else 0.0)
                gamma[m] = 2 * stuck
                self._waited[m] = 0.0
        self._set(gamma)

    def restore(self, state: object) -> None:
        """Take up the state that another one has told."""
        super().restore(state)
        self._set(self._gamma)

    def _set(self, gamma: list[float]) -> None:
        self._gamma = gamma
        self.values = np.array([*gamma, np.inf])


@dataclass(frozen=True)
class Share:
    """The target's share: at least this `part` of what is spent goes to target queries.

    Bounds that are wide call for cheap queries for a long time, and whoever has capital for five full evaluations then
    ends without any. So the target is asked as soon as it has had less than its share, where its own bound with β times
    CALM is largest. The paper has no such rule.
    """

    part: float
    costs: Sequence[float]
    observations: Observations

    def is_owed(self, pending: Sequence[Query], part: float | None = None) -> bool:
        """Whether the target has had less than its share, or `part`; values, failures and pending queries count."""
        asked = list(self.observations.counts)
        for _, k in self.observations.failures():
            asked[k] += 1
        for query in pending:
            asked[self.observations.used.index(query.fidelity)] += 1
        spent = [count * cost for count, cost in zip(asked, self.costs, strict=True)]
        return spent[-1] < (self.part if part is None else part) * sum(spent)


def require_not_negative(name: str, values: Sequence[float | None]) -> None:
    """Refuse bounds and thresholds that are negative or not finite."""
    if any(value is not None and not 0 <= value < inf for value in values):
        raise InputError(f"{name} must be finite and not negative, got {list(values)}")
