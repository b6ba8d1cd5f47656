"""Optimizer: the ask/tell cycle.

    ask    the strategy suggests a point and a fidelity; it becomes a pending Trial, its cost is promised
    tell   the trial's value (or failure) goes to the strategy and into the history; its cost is spent
    add    values that nobody asked for take the same way

Each of these is an event (run/events.py), which the books (run/ledger.py) and the strategy (run/learner.py) are shown
in order.
With a storage the event is written first: in one transaction the events of other processes are read, the call is
checked against them and its own events are written; only what is durable enters the books.

User units and the user's direction end here: a strategy sees unit coordinates and values to be maximised. Every call
checks all it was given before it changes anything.
"""

from __future__ import annotations

import copy
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from mfopt import registry
from mfopt.checks import LARGEST, integer, one_each, one_or_each, real_array, real_number, shown
from mfopt.domains import as_domain
from mfopt.errors import AlreadyTold, Exhausted, InputError
from mfopt.fidelities import Fidelity, as_fidelities
from mfopt.protocols import Array, Domain, Problem, Query
from mfopt.run.events import Event
from mfopt.run.history import History
from mfopt.run.learner import Learner
from mfopt.run.ledger import Books
from mfopt.run.trial import Best, Trial

if TYPE_CHECKING:
    from mfopt.storage.event_log import Log

AS_STORED: Any = object()  # the capital of a study that exists, whatever it is


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
    storage     where the study lives: "sqlite:///study.db", a path, "postgresql://..."; None: in memory only
    study       its name there. A study that exists is resumed, with the same arguments (rng may be left out)
    lease       seconds after which a trial of this optimiser is handed out again unless told or renewed; None: never
    worker      a name noted with each trial, for people

    With a storage every ask and tell is durable before it returns, and other processes may ask and tell at once; what
    they did is seen at each call that changes something, by `done` and by `refresh`.
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
        storage: object = None,
        study: str | None = None,
        lease: float | None = None,
        worker: str | None = None,
    ) -> None:
        self._domain = as_domain(domain)
        self._fidelities = as_fidelities(costs, fidelities, noise)
        self._sign = _sign(direction)
        prices = self.costs
        if capital is not None and capital is not AS_STORED:
            capital = real_number(capital, "capital")
            if capital < prices[-1]:
                raise InputError(f"capital must pay for a target query, which costs {prices[-1]}, got {capital}")
        if storage is None and any(given is not None for given in (study, lease, worker)):
            raise InputError("study, lease and worker belong to a storage, got no storage")
        self._plugins = (strategy, surrogate, maximiser)
        self._stored = storage is not None
        self._start_capital = capital  # what the strategy is started with; Λ itself may be raised later
        self._learner: Learner | None = None  # None: to be made, and shown all events again
        self._log: Log | None = None
        if storage is None:
            self._seed = _seed(rng)
            self._learner = self._begin()
        else:
            self._log = self._attach(storage, study, rng, lease, worker)
        self._open_books()
        self.refresh()

    def _open_books(self) -> None:
        """Empty books: nothing has happened yet."""
        self._books = Books(self._domain, self._fidelities, self._start_capital, self._sign)
        self._unseen: list[Event] = []  # in the books, not shown to the strategy yet
        self._torn = False  # whether an interruption may have come between the log and the books

    def _begin(self) -> Learner:
        """The strategy before the first event."""
        self._domain.sample(1, np.random.default_rng([self._seed, 0]))  # an empty X is reported here
        strategy, surrogate, maximiser = self._plugins
        if self._stored:
            # An instance serves one run; a strategy that has to be shown the run anew must be a fresh one.
            strategy, surrogate, maximiser = copy.deepcopy(self._plugins)
        prices = self.costs
        return Learner(
            registry.resolve(registry.STRATEGIES, strategy),
            registry.name_of(registry.STRATEGIES, strategy),
            Problem(
                domain=self._domain,
                costs=prices,
                zetas=tuple(fidelity.zeta for fidelity in self._fidelities),
                noises=tuple(fidelity.noise for fidelity in self._fidelities),
                capital=self._start_capital,
                surrogates=registry.resolve_each(registry.SURROGATES, surrogate, len(prices)),
                maximiser=registry.resolve(registry.MAXIMISERS, maximiser),
                seed=self._seed,
            ),
            self._sign,
        )

    def _attach(
        self, storage: object, study: str | None, rng: int | np.random.Generator | None, lease: object, worker: object
    ) -> Log:
        """The log of the study, which is made if there is none, once the strategy has accepted the problem."""
        from mfopt.storage import Log, connect
        from mfopt.storage import header as headers

        store = connect(storage)
        name = headers.study_name(study)
        seconds, holder = headers.lease_terms(lease, worker)
        seed = _seed(rng)
        as_stored = self._start_capital is AS_STORED
        header = store.get(name) if as_stored else store.find(name)
        if header is not None and as_stored:
            self._start_capital = header.spec["capital"]
        while True:
            self._seed = seed if header is None or rng is not None else header.seed
            described, arrays = headers.describe(
                self._domain, self._fidelities, self._plugins, self.direction, self._start_capital, self._seed
            )
            if header is None:
                self._learner = self._begin()
                header = store.create(name, described, arrays)
                if header.spec == described:
                    break
            else:
                # Another process may raise Λ at any moment; one read of it is compared, or none.
                stored = header.spec if as_stored else {**header.spec, "capital": store.capital(header)}
                headers.compare(name, stored, described)
                self._start_capital, self._learner = header.spec["capital"], None
                break
        return Log(store, header, seconds, holder)

    # ------------------------------------------------------------------------------------------------ ask

    @overload
    def ask(self) -> Trial: ...

    @overload
    def ask(self, n: int) -> list[Trial]: ...

    def ask(self, n: int | None = None) -> Trial | list[Trial]:
        """The next trial; with `n` a list of them, shorter when no more are to be had.

        Trials of a study whose lease has run out come first. Raises Exhausted when there is not even one.
        """
        if n is not None and integer(n, "n") < 1:
            raise InputError(f"n must be at least 1, got {n}")
        trials = self._ask(1 if n is None else n)
        if not trials:
            finished = self._finished()
            assert finished is not None
            raise Exhausted(str(finished), finished.which)
        return trials[0] if n is None else trials

    def _ask(self, n: int) -> list[Trial]:
        """At most n trials."""
        if self._log is not None:
            self.refresh()
            if self._log.expired() < n and self._finished() is None:
                self._taught()  # what takes time is done before other processes have to wait
        said, asking = self._books.exhausted, False
        again: list[Trial] = []
        new: list[Trial] = []
        try:
            with self._transaction():
                if self._log is not None:
                    again = [self._books.pending[id] for id in self._log.claim(n)]
                while len(again) + len(new) < n and self._finished() is None:
                    asking = True
                    trial = self._next()
                    if trial is None:
                        break
                    new.append(trial)
        except BaseException:
            if self._stored and asking:  # the strategy was asked what is not in the log, or is there in spite of this
                self._torn, self._learner, self._books.exhausted = True, None, said
            for trial in reversed(new):  # nobody will ever hold these
                self._books.withdraw(trial)
                if self._learner is not None:
                    self._learner.withdrawn(trial.id)
            raise
        return again + new

    def _next(self) -> Trial | None:
        """A new trial; None when the strategy has none."""
        learner = self._taught()
        try:
            u, m, reason = learner.suggest()
        except Exhausted as exhausted:
            self._books.exhausted = exhausted
            if self._log is not None:
                self._log.write(Event("refuse", reason=(str(exhausted), exhausted.which)))
            return None
        x = _read_only(self._domain.decode(u[None])[0])
        if self._sign < 0.0 and hasattr(reason, "negated"):
            reason = reason.negated()
        event = Event("ask", self._books.next_id, x, u, m, self.costs[m], reason)
        if self._log is not None:
            self._log.write(event)
        learner.asked(Query(event.id, u, m))
        self._books.enter(event)
        return self._books.pending[event.id]

    # ----------------------------------------------------------------------------------------------- tell

    def tell(self, trial: Trial | int, y: object = None, status: str = "ok") -> None:
        """The outcome of a trial (or of its id): a finite value, or status="failed" when there is none.

        A failed trial costs as much as any other. Trials may be told in any order, each once.
        """
        self.tell_many([(trial, y, status)])

    def tell_many(self, outcomes: Iterable[Sequence[Any]]) -> None:
        """Several outcomes, (trial, y) or (trial, y, status) as for tell, at once: all of them or none is taken."""
        given = [_as_outcome(outcome) for outcome in outcomes]

        def tells() -> list[Event]:
            told = [(self._books.awaited(trial).id, y) for trial, y in given]
            if len({id for id, _ in told}) < len(told):
                raise AlreadyTold(f"a trial must be told once, got trials {[id for id, _ in told]}")
            return [Event("tell", id, y=y) for id, y in told]

        self._take(tells)

    def add(self, x: object, fidelity: object, y: object, cost: object = None) -> None:
        """Data that nobody asked for: one point, or arrays x (q, d), fidelity (q,) or one for all, y (q,).

        It costs nothing unless `cost` says so (one number for all rows or one each). All or nothing is taken.
        """
        values = real_array(y, "y") + 0.0  # as in _as_outcome
        if values.ndim > 1 or values.size == 0:
            raise InputError(f"y must be one value or an array (q,) with q at least 1, got shape {values.shape}")
        if not (np.abs(values) <= LARGEST).all():
            raise InputError(
                f"y must be finite and at most {LARGEST} in size, got {shown(values.tolist())}; "
                "leave failed evaluations out"
            )
        rows = [x] if values.ndim == 0 else one_each(x, values.size, "x")
        levels = [self._fidelity(m) for m in one_or_each(fidelity, len(rows), "fidelity")]
        charged = [real_number(c, "cost") + 0.0 for c in one_or_each(0.0 if cost is None else cost, len(rows), "cost")]
        points = [_read_only(self._domain.validate(row)) for row in rows]
        units = [_read_only(u.copy()) for u in self._domain.encode(np.array(points))]
        columns = zip(points, units, levels, charged, values.reshape(-1).tolist(), strict=True)

        def adds() -> list[Event]:
            if min(charged) < 0.0 or sum(charged) > self.remaining:
                raise InputError(f"cost must be from 0 to the remaining {self.remaining}, got {shown(cost)}")
            return [
                Event("add", self._books.next_id + k, point, u, m, price, y=value)
                for k, (point, u, m, price, value) in enumerate(columns)
            ]

        self._take(adds)

    def _fidelity(self, m: object) -> int:
        number = integer(m, "fidelity")
        if not 0 <= number < len(self._fidelities):
            raise InputError(f"fidelity must be from 0 to {len(self._fidelities) - 1}, got {number}")
        return number

    # ------------------------------------------------------------------------------------ events and books

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """Within, the books are current and no other process writes; what is written becomes durable at the end."""
        if self._log is None:
            yield
            return
        with self._log.transaction():
            self._read()
            yield

    def _take(self, checked: Callable[[], list[Event]]) -> None:
        """What the user tells: checked against the current books, then written, then in the books."""
        with self._transaction():
            events = checked()
            if self._log is not None:
                self._torn = True
                for event in events:
                    self._log.write(event)
        for event in events:
            if self._learner is None or self._stored:
                self._unseen.append(event)  # the strategy is shown it at the next ask: a tell, paid for, must not fail
            else:
                self._learner.show(event)
            self._books.enter(event)
        self._torn = False

    def _read(self) -> None:
        """Take in what other processes have written."""
        if self._log is None:
            return
        rebuild, self._torn = self._torn, True  # until all that the log hands over is in the books
        if rebuild:
            self._log.rewind()
        events = self._log.read()
        if rebuild:
            self._learner = None
            self._open_books()
        for event in events:
            self._books.enter(event)
            self._unseen.append(event)
        self._torn = False

    def _taught(self) -> Learner:
        """The strategy, shown all that is in the books."""
        if self._learner is None:
            self._learner = self._begin()
            self._unseen = [] if self._log is None else self._log.read_again()
        unseen, self._unseen = self._unseen, []
        try:
            for event in unseen:
                self._learner.show(event)
        except BaseException:
            self._learner = None
            raise
        return self._learner

    def refresh(self) -> None:
        """Take in what other processes asked and told; nothing to do without a storage."""
        self._read()

    def renew(self, trial: Trial | int) -> None:
        """Start the lease of a pending trial anew: a sign of life from its worker.

        It has a connection of its own, so that a thread may call it while others ask and tell.
        """
        if self._log is None or self._log.lease is None:
            raise InputError("renew needs an optimiser with a storage and a lease, got one without")
        self._log.renew(trial.id if isinstance(trial, Trial) else integer(trial, "a trial"))

    def close(self) -> None:
        """Let go of the storage; the next call that needs it opens it again."""
        if self._log is not None:
            self._log.close()

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
        return self._taught().strategy

    @property
    def surrogates(self) -> tuple[Any, ...]:
        """The kinds of model of the strategy, one per fidelity."""
        return registry.resolve_each(registry.SURROGATES, self._plugins[1], len(self._fidelities))

    @property
    def seed(self) -> int:
        """Root of every random stream of this run."""
        return self._seed

    @property
    def lease(self) -> float | None:
        """Seconds after which a trial handed out here is handed out again unless told or renewed; None: never."""
        return None if self._log is None else self._log.lease

    @property
    def history(self) -> History:
        return self._books.history

    @property
    def pending(self) -> list[Trial]:
        """Trials asked and not yet told, in the order asked."""
        return list(self._books.pending.values())

    @property
    def best(self) -> Best | None:
        """The best value observed at the target fidelity; None before the first. The first of equal values stays."""
        return self._books.best

    @property
    def capital(self) -> float | None:
        """Λ; None when unlimited."""
        return self._books.capital.total

    @property
    def spent(self) -> float:
        """Cost of all that was told, failed trials included."""
        return self._books.capital.spent

    @property
    def remaining(self) -> float:
        """Capital neither spent nor promised to pending trials; inf when unlimited."""
        return self._books.capital.remaining

    @property
    def done(self) -> bool:
        """Whether an ask is known to be refused.

        So it is when the remaining capital is below λ_M: no target query can be paid any more, and only those improve
        the result, so cheaper ones would be wasted. Also when each point of a finite set was a target query and the
        target is noiseless: by noise = 0, or, where the noise is not known, in the judgement of the strategy.
        """
        if self._log is not None:
            self.refresh()
            if self._log.expired():
                return False
        return self._finished() is not None

    def _finished(self) -> Exhausted | None:
        """Why no trial is to be had, or None."""
        return self._books.finished(lambda: self._taught().exhausted())


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


def _as_outcome(outcome: Sequence[Any]) -> tuple[object, float | None]:
    """The trial of an outcome given to tell_many, and its value."""
    if not isinstance(outcome, list | tuple) or len(outcome) not in (2, 3):
        raise InputError(f"an outcome must be (trial, y) or (trial, y, status), got {shown(outcome)}")
    return outcome[0], _outcome(outcome[1], outcome[2] if len(outcome) == 3 else "ok")


def _outcome(y: object, status: object) -> float | None:
    """The value of an evaluation; None for one that failed."""
    if status == "failed":
        if y is not None:
            raise InputError(f'y must be left out with status="failed", got {shown(y)}')
        return None
    if status != "ok":
        raise InputError(f'status must be "ok" or "failed", got {shown(status)}')
    try:
        value = real_number(y, "y") + 0.0  # −0.0 becomes 0.0: a database may know but one zero
        if abs(value) > LARGEST:
            raise InputError(f"y must be at most {LARGEST} in size, got {value}")
        return value
    except InputError as error:
        raise InputError(f'{error}; when there is no value use status="failed"') from None


def _read_only(array: Array) -> Array:
    array.flags.writeable = False
    return array
