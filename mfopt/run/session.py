"""Session: a run in progress. It owns the log of the run's events, the ledger kept from them and the strategist.

Every event goes the same way: it is written to the log, entered in the ledger, and what the ledger returns is shown to
the strategy. With a storage each call is one transaction: the events of other processes are read, the call is checked
against them and its own events are written; the ledger holds only what is durable.

An error or an interruption may come between any two of these steps. Then the ledger is built again from the log at the
next call. In a study the strategy is made again, too: a fresh copy of it is shown the whole run. A run in memory keeps
the strategy that it was given, which has made every ask itself, unless Ctrl-C came while that was at work.

With each ask a study keeps the strategy's state, where the strategy can tell it. A fresh strategy, or one that has not
made the latest asks itself, is handed that state instead of being asked everything again. What is kept is never needed:
where there is no state, or one of no use, the run is replayed.

Threads share a session through three locks. One that needs several takes them in this order:

    asking    one ask at a time: the strategy is touched by nobody else
    writing   the log: one transaction at a time
    state     the ledger, for a moment only

In a study an ask is one transaction, so that the order of events says what the strategy had seen; it keeps `writing` to
its end, and what others tell has to wait, as it does in other processes. In memory the strategy works without it: what
is told meanwhile is queued, and shown to the strategy before the next ask.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from typing import Any, TypeVar

from mfopt.checks import integer
from mfopt.errors import CopyRefused, Exhausted
from mfopt.protocols import Array, View
from mfopt.run.beliefs import Beliefs
from mfopt.run.events import Added, Asked, Event, Refused
from mfopt.run.ledger import Ledger
from mfopt.run.locks import Lock
from mfopt.run.log import Log
from mfopt.run.setup import Setup
from mfopt.run.strategist import Step, Strategist
from mfopt.run.trial import Trial

Value = TypeVar("Value")


class _Hold:
    """The part of a session that is about its hold on trials, and on the log."""

    log: Log
    ledger: Ledger
    writing: Lock

    def check_claims(self, trials: Iterable[object]) -> None:
        """Raise LeaseLost if one of these trials (or ids) was handed out again since; within a transaction."""
        for trial in trials:
            id, claim = _find_claim(self.log, trial)
            if claim is not None:
                self.log.check_claim(id, claim)

    def renew(self, trial: object) -> None:
        """Start the lease of a pending trial anew, whatever other threads are at."""
        self.log.renew(*_find_claim(self.log, trial))

    def claim(self, n: int) -> list[Trial]:
        """At most n pending trials whose lease has run out, now leased to us; within `ask_transaction`."""
        return [replace(self.ledger.trial(id), claim=claim) for id, claim in self.log.claim(n).items()]

    def count_expired(self) -> int:
        """How many pending trials have a lease that has run out."""
        with self.writing.held:
            return self.log.count_expired()

    def close(self) -> None:
        """Let go of what the log has open, when nobody is at it."""
        with self.writing.held:
            self.log.close()


class Session(_Hold):
    """The run of `setup` whose events are in `log`.

    `strategist` has been shown nothing yet; None: one is started, and shown all events, when it is first needed.
    """

    def __init__(self, setup: Setup, log: Log, strategist: Strategist | None = None) -> None:
        self.setup = setup
        self.log = log
        self.ledger = setup.make_ledger()
        self.beliefs: tuple[int, Beliefs] | None = None  # fitted to so many rows of the history, for answers
        self._strategist = strategist
        self.asking, self.writing, self.state = Lock(), Lock(), Lock()
        self._torn = False  # whether an interruption may have come between the log and the ledger
        self._asked = False  # whether the strategy was asked in the present ask
        self._written: list[Asked | Refused] = []  # what the present ask has written
        self._trusts_states = log.durable
        self.refresh()

    @property
    def ask_hold(self) -> AbstractContextManager[object]:
        """Held by an ask while it hands out trials."""
        return self.writing.held if self.log.durable else nullcontext()

    # ---------------------------------------------------------------------------------------------- reading

    def refresh(self) -> None:
        """Take in what other processes have written."""
        with self.writing.held:
            rebuild, self._torn = self._torn, True  # until all that the log hands over is in the ledger
            if rebuild:
                self.log.rewind()
                self._rebuild(self.log.read())
            else:
                self._enter(self.log.read())
            self._torn = False

    def _enter(self, events: Sequence[Event]) -> None:
        with self.state.held:
            strategist = self._strategist  # another thread may forget it meanwhile; the next one is shown the whole log
            for number, event in enumerate(events, start=self.log.position - len(events) + 1):
                shown = self.ledger.enter(event)
                if strategist is not None:
                    strategist.queue(Step(number, event, shown))

    def _rebuild(self, events: Sequence[Event]) -> None:
        """The state after these events, which are all there are."""
        ledger, steps = replay(self.setup, events)
        with self.state.held:
            if self.log.durable:
                self._strategist = None
            elif self._strategist is not None:
                self._strategist.queue_rest(steps)
            self.ledger = ledger

    def look(self, at: Callable[[Ledger], Value]) -> Value:
        """What `at` reads in the ledger, while no other thread changes it."""
        with self.state.held:
            return at(self.ledger)

    def __reduce__(self) -> tuple[Callable[..., Session], tuple[Any, ...]]:
        return _take_apart(self)

    # ---------------------------------------------------------------------------------------------- writing

    def record(self, make_events: Callable[[Ledger], Sequence[Event]]) -> None:
        """Write what the user tells: `make_events` checks it against the current ledger and turns it into events."""
        with self.writing.held:
            with self.log.transaction():
                self.refresh()
                events = make_events(self.ledger)
                self._torn = True
                for event in events:
                    self.log.write(event)
            self._enter(events)
            self._torn = False
        self._show_at_once()

    def _show_at_once(self) -> None:
        """Show the strategy of a run in memory what was just told, so that the next ask finds it ready.

        A tell is paid for and must not fail because a plugin does: the step stays in the queue, and the error comes
        when the strategy is next needed. Nor must it wait for a strategy that another thread is asking. The strategy of
        a study may lag behind the others' steps, and waits for those.
        """
        strategist, asking = self._strategist, self.asking.held
        if strategist is not None and not self.log.durable:
            with suppress(Exception):
                try:  # from before the lock is taken: Ctrl-C may come as soon as it is
                    if asking.acquire(blocking=False):
                        strategist.catch_up()
                finally:
                    asking.release()  # an error, which ends here, where another thread has it

    @contextmanager
    def ask_transaction(self) -> Iterator[None]:
        """Trials are handed out within, all of them, or none if anything fails; with `asking` and `ask_hold` held."""
        written: list[Asked | Refused] = []
        self._asked, self._written = False, written
        try:
            with self.log.transaction() if self.log.durable else nullcontext():
                self.refresh()
                yield
                if self._asked and self.log.durable and self._strategist is not None:
                    self.log.write_state(self._strategist.tell_state())
        except BaseException as error:
            # A block that Ctrl-C kept from ending ends with its traceback: maybe during a later ask, which is not its.
            if self._written is written:
                self._take_back(simple=isinstance(error, Exception))
            raise

    def _take_back(self, simple: bool) -> None:
        """Undo the present ask. `simple`: an error, not an interruption, which may come between any two lines."""
        with self.writing.held, self.state.held:
            if self._asked:  # what the strategy was asked is not in the log, or is there in spite of the error
                # A simple error in memory leaves nothing to be built again: the lines below undo all of it.
                self._torn = self._torn or self.log.durable or not simple
                self._forget_strategist(simple)
                self.ledger.exhausted = None
            # Nobody will ever hold these, unless another thread found one among the pending trials and told it.
            gone = [event for event in self._written if isinstance(event, Refused) or not self.ledger.is_told(event.id)]
            self.log.withdraw(gone)
            for event in reversed(gone):
                if isinstance(event, Asked) and self.ledger.is_pending(event.id):
                    self.ledger.withdraw(event.id)

    def suggest(self) -> tuple[Array, int, Any] | None:
        """The strategy's next query: u, fidelity and reason; within `ask_transaction`.

        None where the strategy has no query: that is noted, and `why_done` then says so, unless something was told
        since the strategy was asked.
        """
        strategist, view = self._catch_up()
        self._asked = True
        try:
            return strategist.suggest(view)
        except Exhausted as exhausted:
            with self.writing.held:
                if strategist.behind == 0:
                    self._write(Refused(str(exhausted), exhausted.which))
            return None
        except Exception:
            if not strategist.unproven:
                raise
            return self._replay_instead(self.suggest)

    def hand_out(self, x: Array, u: Array, m: int, reason: Any) -> Trial | None:
        """Make what the strategy suggested a pending trial; within `ask_transaction`.

        None where data that another thread has added since have taken the capital.
        """
        with self.writing.held:
            cost = self.ledger.costs[m]
            if cost > self.ledger.capital.remaining:
                return None
            id = self.ledger.next_id
            self._write(Asked(id, x, u, m, cost, reason))
            trial = self.ledger.trial(id)
            return replace(trial, claim=1) if self.log.durable else trial

    def _write(self, event: Asked | Refused) -> None:
        """Write what an ask came to, which the strategy need not be shown."""
        torn, self._torn = self._torn, True
        self._written.append(event)
        self.log.write(event)
        with self.state.held:
            if isinstance(event, Asked):
                self.ledger.hand_out(event)
            else:
                self.ledger.enter(event)
        self._torn = torn

    # ----------------------------------------------------------------------------------------- the strategy

    def strategist(self) -> Strategist:
        """The strategist, after its strategy has been shown all that is in the ledger."""
        with self.asking.held:
            return self._catch_up()[0]

    def _catch_up(self) -> tuple[Strategist, View]:
        """The strategist, after its strategy has been shown all that is in the ledger, and the view of that moment."""
        strategist = self._strategist
        if strategist is None or (strategist.interrupted and strategist.restart is not None):
            strategist = self._start_strategist()
        with self.state.held:
            view, behind = self.ledger.view(), strategist.behind
        try:
            kept = self._find_state(strategist)
            strategist.catch_up(behind if kept is None else behind - strategist.skip(*kept))
        except BaseException as error:
            if isinstance(error, Exception) and strategist.unproven:
                return self._replay_instead(self._catch_up)
            self._forget_strategist(simple=isinstance(error, Exception))
            raise
        return strategist, view

    def _find_state(self, strategist: Strategist) -> tuple[int, str] | None:
        """A state that is kept and saves the strategy an ask, with the number of its event; None: there is none."""
        if not self._trusts_states or not strategist.can_skip(self.log.position):
            return None
        with self.writing.held:
            kept = self.log.read_state()
        return kept if kept is not None and strategist.can_skip(kept[0]) else None

    def _replay_instead(self, call: Callable[[], Value]) -> Value:
        """What the call returns with a strategy that was shown the whole run: a state has led to an error."""
        self._trusts_states, self._strategist = False, None
        return call()

    def _start_strategist(self) -> Strategist:
        with self.writing.held:
            known = self._strategist
            strategist = known.restart() if known and known.restart else self.setup.start_strategist(copies=True)
            for step in replay(self.setup, self.log.read_again())[1]:
                strategist.queue(step)
            self._strategist = strategist
        return strategist

    def _forget_strategist(self, simple: bool) -> None:
        """Have a fresh strategy shown the whole run, since this one may have been shown what did not happen.

        A run in memory keeps the strategy that it was given after a simple error, and where that cannot be copied.
        """
        if self.log.durable:
            self._strategist = None
        elif self._strategist is not None and not simple:
            self._strategist.interrupted = True

    def why_done(self) -> Exhausted | None:
        """Why there is no further trial, or None; the strategy is asked only where X is finite and noise unknown."""
        with self.state.held:
            why = self.ledger.why_done()
            if why is not None or not self.ledger.strategy_judges:
                return why or self.ledger.exhausted
        with self.asking.held:
            strategist, view = self._catch_up()
            used_up = strategist.is_exhausted(view.pending)
        return self.ledger.used_up() if used_up else self.ledger.exhausted

    def is_done(self) -> bool:
        """Whether an ask would find neither a trial whose lease has run out nor a new one."""
        self.refresh()
        return self.count_expired() == 0 and self.why_done() is not None

    def prepare(self, n: int) -> None:
        """Bring the strategy up to date for n trials, before a transaction in which other processes have to wait."""
        self.refresh()
        if self.count_expired() < n and self.why_done() is None:
            self._catch_up()


def replay(setup: Setup, events: Sequence[Event]) -> tuple[Ledger, list[Step]]:
    """A ledger with these events, and what a strategy is to be shown for them."""
    ledger = setup.make_ledger()
    return ledger, [Step(number, event, ledger.enter(event)) for number, event in enumerate(events, start=1)]


def _find_claim(log: Log, trial: object) -> tuple[int, int | None]:
    """Which trial a user means by a Trial or an id, and under which claim; None where that is not known."""
    id, claim = (trial.id, trial.claim) if isinstance(trial, Trial) else (integer(trial, "a trial"), None)
    return id, claim or log.claim_number(id)


def _take_apart(session: Session) -> tuple[Callable[..., Session], tuple[Any, ...]]:
    """Pickle a run in memory: its setup, its events, and the strategy as it is. The ledger follows from the events.

    A run in a storage refuses: a copy would be a second process that nobody started.
    """
    if session.log.durable:
        raise CopyRefused(
            "an optimiser must have no storage to be pickled or copied, got one with a storage; open the study "
            "where it is needed: mfopt.Study.open(storage, name)"
        )
    with session.asking.held, session.writing.held:
        session.refresh()
        # The strategist comes first: it knows whose fault it is that something cannot be pickled.
        return revive, (session._strategist, session.setup, list(session.log.read_again()))


def revive(strategist: Strategist | None, setup: Setup, events: Sequence[Event]) -> Session:
    """The session of a run in memory that was pickled or copied."""
    for event in events:
        if isinstance(event, Asked | Added):  # NumPy does not pickle that an array is read-only
            event.x.flags.writeable = event.u.flags.writeable = False
    session = Session(setup, MemoryLog(events))
    session._strategist = strategist
    return session


class MemoryLog:
    """The log of a run that lives in this process only, as a list. Nothing is leased, and nothing is open.

    An event counts as soon as it is written, so that an ask need not keep others from writing until it ends: what it
    has written is withdrawn if it fails.
    """

    durable = False
    lease: float | None = None

    def __init__(self, events: Sequence[Event] = ()) -> None:
        self._events: list[Event] = list(events)
        self._rewound = bool(events)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """What is written within stays, or nothing of it if anything fails."""
        before = len(self._events)
        try:
            yield
        except GeneratorExit:  # Ctrl-C kept the block from ending: by now others may have written
            raise
        except BaseException:
            del self._events[before:]
            raise

    def read(self) -> Sequence[Event]:
        """The events not seen yet: none, except after `rewind`."""
        events = list(self._events) if self._rewound else []
        self._rewound = False
        return events

    def read_again(self) -> Sequence[Event]:
        """All events seen so far."""
        return [] if self._rewound else list(self._events)

    def rewind(self) -> None:
        """Count every event as not seen yet."""
        self._rewound = True

    def write(self, event: Event) -> None:
        """Append an event."""
        self._events.append(event)

    @property
    def position(self) -> int:
        """The number of the last event."""
        return len(self._events)

    def write_state(self, state: str | None) -> None:
        """Nothing to do: nothing outlives the strategy."""

    def read_state(self) -> tuple[int, str] | None:
        """None: nothing is kept."""
        return None

    def withdraw(self, events: Sequence[Event]) -> None:
        """Take back those of these events that were written."""
        gone = {id(event) for event in events}
        self._events = [event for event in self._events if id(event) not in gone]

    def count_expired(self) -> int:
        """None: nothing is leased."""
        return 0

    def claim(self, n: int) -> dict[int, int]:
        """None: nothing is leased."""
        return {}

    def claim_number(self, id: int) -> int | None:
        """None: a trial in memory is handed out once."""
        return None

    def renew(self, id: int, claim: int | None) -> None:
        """Nothing to do: nothing is leased."""

    def check_claim(self, id: int, claim: int) -> None:
        """Nothing to do: a trial in memory is handed out once."""

    def close(self) -> None:
        """Nothing to do: nothing is open."""
