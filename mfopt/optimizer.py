"""Optimizer: the ask/tell cycle.

    ask    the strategy suggests a point and a fidelity; it becomes a pending Trial, its cost is promised
    tell   the trial's value (or failure) goes to the strategy and into the history; its cost is spent
    add    values that nobody asked for take the same way

User units and the user's direction end here: a strategy sees unit coordinates and values to be maximised. Every call
checks all it was given before it changes anything.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any, overload

import numpy as np

from mfopt import registry
from mfopt.capital import Capital
from mfopt.checks import integer, one_each, one_or_each, real_array, real_number, shown
from mfopt.domains import as_domain
from mfopt.errors import AlreadyTold, Exhausted, InputError, PluginError, UnknownTrial
from mfopt.fidelities import Fidelity, as_fidelities
from mfopt.history import History
from mfopt.protocols import Array, Domain, Problem, Query, Record, Suggestion, View
from mfopt.trial import Best, Trial

LARGEST = 1e140  # of a value: its square, and a sum of many, must not overflow


class Optimizer:
    """Decides where (x) and how accurately (fidelity) to evaluate next; the user's code evaluates.

    domain      mfopt.Box, mfopt.FiniteSet, [(lo, hi), ...], or any object with the methods of protocols.Domain
    costs       λ_1 < ... < λ_M, one per fidelity, the last is the target; or `fidelities`, a list of mfopt.Fidelity
    strategy    name of an installed plugin (`mfopt plugins` lists them) or an instance; so are the next two
    surrogate   also a list of M, one per fidelity
    maximiser   of the acquisition; finite sets do not use it
    direction   "maximize" or "minimize"
    capital     Λ, the total budget in the unit of the costs; None for no limit
    noise       known noise variance of the values, one for all or one per fidelity; None: to be learnt
    rng         seed or numpy Generator (one number is drawn from it); None: a fresh seed
    """

    def __init__(
        self,
        domain: object,
        costs: Sequence[float] | None = None,
        *,
        fidelities: Sequence[Fidelity] | None = None,
        strategy: object = "mf-gp-ucb",
        surrogate: object = "se",
        maximiser: object = "direct",
        direction: str = "maximize",
        capital: float | None = None,
        noise: object = None,
        rng: int | np.random.Generator | None = None,
    ) -> None:
        self._domain = as_domain(domain)
        self._fidelities = as_fidelities(costs, fidelities, noise)
        self._sign = _sign(direction)
        self._seed = _seed(rng)
        prices = self.costs
        if capital is not None:
            capital = real_number(capital, "capital")
            if capital < prices[-1]:
                raise InputError(f"capital must pay for a target query, which costs {prices[-1]}, got {capital}")
        self._domain.sample(1, np.random.default_rng([self._seed, 0]))  # an empty X is reported here
        self._called = registry.name_of(registry.STRATEGIES, strategy)
        self._strategy = registry.resolve(registry.STRATEGIES, strategy)
        self._strategy.start(
            Problem(
                domain=self._domain,
                costs=prices,
                zetas=tuple(fidelity.zeta for fidelity in self._fidelities),
                noises=tuple(fidelity.noise for fidelity in self._fidelities),
                capital=capital,
                surrogates=registry.resolve_each(registry.SURROGATES, surrogate, len(prices)),
                maximiser=registry.resolve(registry.MAXIMISERS, maximiser),
                seed=self._seed,
            )
        )
        self._capital = Capital(capital, prices)
        self._history = History(self._domain.names)
        self._pending: dict[int, tuple[Trial, Query]] = {}
        self._told: set[int] = set()
        self._asks = 0
        self._next_id = 0
        self._best: Best | None = None
        self._exhausted: Exhausted | None = None  # what the strategy last said, until something new is told
        # A finite X whose target is known to be noiseless is used up when each of its points was a target query.
        points = self._domain.points
        self._size = len(points) if points is not None and self._fidelities[-1].noise == 0.0 else None
        self._used: set[int | None] = set()

    # ------------------------------------------------------------------------------------------------ ask

    @overload
    def ask(self) -> Trial: ...

    @overload
    def ask(self, n: int) -> list[Trial]: ...

    def ask(self, n: int | None = None) -> Trial | list[Trial]:
        """The next trial; with `n` a list of them, shorter when no more are to be had.

        Raises Exhausted when not even one is.
        """
        if n is None:
            return self._ask()
        if integer(n, "n") < 1:
            raise InputError(f"n must be at least 1, got {n}")
        trials = [self._ask()]
        try:
            while len(trials) < n and not self.done:
                trials.append(self._ask())
        except Exhausted:
            pass
        except BaseException:
            for trial in trials:  # nobody will ever hold these
                self._withdraw(trial)
            raise
        return trials

    def _ask(self) -> Trial:
        finished = self._finished()
        if finished is not None:
            raise Exhausted(str(finished), finished.which)
        t = self._asks + 1
        queries = tuple(query for _, query in self._pending.values())
        stream = np.random.default_rng([self._seed, t])
        try:
            suggestion = self._strategy.ask(View(t, self._capital.remaining, queries, stream))
        except Exhausted as exhausted:
            self._exhausted = exhausted
            raise
        u, m = self._checked(suggestion)
        x = _read_only(self._domain.decode(u[None])[0])
        reason = suggestion.reason
        if self._sign < 0.0 and hasattr(reason, "negated"):
            reason = reason.negated()
        trial = Trial(self._next_id, x, m, self.costs[m], self._domain.locate(u), reason)
        self._pending[trial.id] = (trial, Query(trial.id, u, m))
        self._capital.promise(m)
        self._asks = t
        self._next_id += 1
        return trial

    def _checked(self, suggestion: object) -> tuple[Array, int]:
        """The strategy's answer, or a PluginError that names it."""
        if not isinstance(suggestion, Suggestion):
            raise PluginError(f"ask must return a Suggestion, got {shown(suggestion)}", *self._called)
        try:
            u = _read_only(real_array(suggestion.u, "a suggested point"))
            m = self._fidelity(suggestion.fidelity)  # any can be paid: a run with less than λ_M left is done
        except InputError as error:
            raise PluginError(str(error), *self._called) from error
        if u.shape != (self._domain.dim,) or not self._domain.contains(u[None])[0]:
            raise PluginError(
                f"a suggested point must have shape ({self._domain.dim},) and lie in X, "
                f"got {shown(u.tolist())} in unit coordinates",
                *self._called,
            )
        return u, m

    def _withdraw(self, trial: Trial) -> None:
        del self._pending[trial.id]
        self._capital.release(trial.fidelity)
        self._asks -= 1
        self._next_id -= 1

    # ----------------------------------------------------------------------------------------------- tell

    def tell(self, trial: Trial | int, y: object = None, status: str = "ok") -> None:
        """The outcome of a trial (or of its id): a finite value, or status="failed" when there is none.

        A failed trial costs as much as any other. Trials may be told in any order, each once.
        """
        told, query = self._awaited(trial)
        value = _outcome(y, status)
        self._strategy.tell(Record(told.id, query.u, told.fidelity, self._inward(value), asked=True))
        del self._pending[told.id]
        self._told.add(told.id)
        self._capital.pay(told.fidelity)
        self._record(told.id, told.x, told.index, told.fidelity, value, told.cost)

    def _awaited(self, trial: object) -> tuple[Trial, Query]:
        id = trial.id if isinstance(trial, Trial) else integer(trial, "a trial")
        if id in self._told:
            raise AlreadyTold(f"a trial must be told once, got trial {id} again")
        pending = self._pending.get(id)
        if pending is None:
            raise UnknownTrial(f"a trial must be pending to be told, got {id}; pending are {list(self._pending)}")
        ours = pending[0]
        if isinstance(trial, Trial) and (trial.fidelity != ours.fidelity or not np.array_equal(trial.x, ours.x)):
            raise UnknownTrial(f"a trial must come from this optimiser, got another one's trial {id}")
        return pending

    def add(self, x: object, fidelity: object, y: object, cost: object = None) -> None:
        """Data that nobody asked for: one point, or arrays x (q, d), fidelity (q,) or one for all, y (q,).

        It costs nothing unless `cost` says so (one number for all rows or one each). All or nothing is taken.
        """
        values = real_array(y, "y")
        if values.ndim > 1 or values.size == 0:
            raise InputError(f"y must be one value or an array (q,) with q at least 1, got shape {values.shape}")
        if not (np.abs(values) <= LARGEST).all():
            raise InputError(
                f"y must be finite and at most {LARGEST} in size, got {shown(values.tolist())}; "
                "leave failed evaluations out"
            )
        rows = [x] if values.ndim == 0 else one_each(x, values.size, "x")
        levels = [self._fidelity(m) for m in one_or_each(fidelity, len(rows), "fidelity")]
        charged = [real_number(c, "cost") for c in one_or_each(0.0 if cost is None else cost, len(rows), "cost")]
        if min(charged) < 0.0 or sum(charged) > self._capital.remaining:
            raise InputError(f"cost must be from 0 to the remaining {self._capital.remaining}, got {shown(cost)}")
        points = [_read_only(self._domain.validate(row)) for row in rows]
        units = self._domain.encode(np.array(points))
        for point, u, m, value, price in zip(points, units, levels, values.reshape(-1).tolist(), charged, strict=True):
            id = self._next_id
            self._strategy.tell(Record(id, _read_only(u.copy()), m, self._inward(value), asked=False))
            self._next_id += 1
            self._capital.charge(price)
            self._record(id, point, self._domain.locate(u), m, value, price)

    def _record(self, id: int, x: Array, index: int | None, m: int, y: float | None, cost: float) -> None:
        """What the strategy has been told becomes part of the state."""
        self._history.append(id, x, m, y, cost)
        self._exhausted = None
        if m == len(self.costs) - 1:
            self._used.add(index)
            if y is not None and (self._best is None or self._sign * y > self._sign * self._best.y):
                self._best = Best(x, y, id)

    def _inward(self, y: float | None) -> float | None:
        """The user's value as one to be maximised."""
        return None if y is None else self._sign * y

    def _fidelity(self, m: object) -> int:
        number = integer(m, "fidelity")
        if not 0 <= number < len(self._fidelities):
            raise InputError(f"fidelity must be from 0 to {len(self._fidelities) - 1}, got {number}")
        return number

    # ---------------------------------------------------------------------------------------------- state

    @property
    def domain(self) -> Domain:
        return self._domain

    @property
    def fidelities(self) -> tuple[Fidelity, ...]:
        return self._fidelities

    @property
    def costs(self) -> tuple[float, ...]:
        """λ_1 < ... < λ_M."""
        return tuple(fidelity.cost for fidelity in self._fidelities)

    @property
    def direction(self) -> str:
        return "maximize" if self._sign > 0.0 else "minimize"

    @property
    def strategy(self) -> Any:
        """The strategy's instance."""
        return self._strategy

    @property
    def seed(self) -> int:
        """Root of every random stream of this run."""
        return self._seed

    @property
    def history(self) -> History:
        return self._history

    @property
    def pending(self) -> list[Trial]:
        """Trials asked and not yet told, in the order asked."""
        return [trial for trial, _ in self._pending.values()]

    @property
    def best(self) -> Best | None:
        """The best value observed at the target fidelity; None before the first. The first of equal values stays."""
        return self._best

    @property
    def capital(self) -> float | None:
        """Λ; None when unlimited."""
        return self._capital.total

    @property
    def spent(self) -> float:
        """Cost of all that was told, failed trials included."""
        return self._capital.spent

    @property
    def remaining(self) -> float:
        """Capital neither spent nor promised to pending trials; inf when unlimited."""
        return self._capital.remaining

    @property
    def done(self) -> bool:
        """Whether an ask is known to be refused.

        So it is when the remaining capital is below λ_M: no target query can be paid any more, and only those improve
        the result, so cheaper ones would be wasted. Also when each point of a finite set was a target query and the
        target is noiseless: by noise = 0, or, where the noise is not known, in the judgement of the strategy.
        """
        return self._finished() is not None

    def _finished(self) -> Exhausted | None:
        """Why no trial is to be had, or None."""
        left = self._capital.remaining
        if left < self.costs[-1]:
            return Exhausted(
                f"a target query costs {self.costs[-1]} and {left} of the capital {self.capital} remains "
                f"({self.spent} spent, {len(self._pending)} trials pending)",
                "capital",
            )
        if self._size is not None:
            target = len(self.costs) - 1
            pending = {trial.index for trial, _ in self._pending.values() if trial.fidelity == target}
            if len(self._used | pending) >= self._size:
                return Exhausted(f"all {self._size} points of X were queried at the noiseless target", "points")
        elif self._domain.points is not None and self._strategy_exhausted():
            return Exhausted(
                f"all {len(self._domain.points)} points of X were queried at the target, which seems noiseless; "
                "a positive noise would have them queried again",
                "points",
            )
        return self._exhausted

    def _strategy_exhausted(self) -> bool:
        judge = getattr(self._strategy, "exhausted", None)
        return judge is not None and bool(judge([query for _, query in self._pending.values()]))


def _sign(direction: object) -> float:
    if direction not in ("maximize", "minimize"):
        raise InputError(f'direction must be "maximize" or "minimize", got {shown(direction)}')
    return 1.0 if direction == "maximize" else -1.0


def _seed(rng: object) -> int:
    if rng is None:
        return secrets.randbits(63)
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**63 - 1))
    seed = integer(rng, "rng, unless it is a numpy Generator or None,")
    if seed < 0:
        raise InputError(f"rng must be a non-negative seed, a numpy Generator or None, got {seed}")
    return seed


def _outcome(y: object, status: object) -> float | None:
    """The value of an evaluation; None for one that failed."""
    if status == "failed":
        if y is not None:
            raise InputError(f'y must be left out with status="failed", got {shown(y)}')
        return None
    if status != "ok":
        raise InputError(f'status must be "ok" or "failed", got {shown(status)}')
    try:
        value = real_number(y, "y")
        if abs(value) > LARGEST:
            raise InputError(f"y must be at most {LARGEST} in size, got {value}")
        return value
    except InputError as error:
        raise InputError(f'{error}; when there is no value use status="failed"') from None


def _read_only(array: Array) -> Array:
    array.flags.writeable = False
    return array
