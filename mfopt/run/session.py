"""Session: a run in progress. It owns the log of the run's events, the ledger kept from them and the strategist.

Every event goes the same way: it is written to the log, entered in the ledger, and what the ledger returns is shown to
the strategy. With a storage each call is one transaction: the events of other processes are read, the call is checked
against them and its own events are written; the ledger holds only what is durable.

An error or an interruption may come between any two of these steps. Then the ledger is built again from the log at the
next call, and in a study the strategy, too: a fresh copy of it is shown the whole run. A run in memory keeps the
strategy that it was given, which has made every ask itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from mfopt.errors import CopyRefused, Exhausted
from mfopt.protocols import Array
from mfopt.run.beliefs import Beliefs
from mfopt.run.events import Added, Asked, Event, Refused
from mfopt.run.ledger import Ledger
from mfopt.run.log import Log
from mfopt.run.setup import Setup
from mfopt.run.strategist import Step, Strategist
from mfopt.run.trial import Trial


class Session:
    """The run of `setup` whose events are in `log`.

    `strategist` is one that has been shown nothing yet, for a run without events; None: it is started, and shown all
    events, when it is first needed.
    """

    def __init__(self, setup: Setup, log: Log, strategist: Strategist | None = None) -> None:
        self.setup = setup
        self.log = log
        self.ledger = setup.make_ledger()
        self.beliefs: tuple[int, Beliefs] | None = None  # fitted to so many rows of the history, for answers
        self._strategist = strategist
        self._torn = False  # whether an interruption may have come between the log and the ledger
        self._asked = False  # whether the strategy was asked in the present transaction
        self._handed_out: list[int] = []  # ids of the trials handed out in it
        self.refresh()

    # ---------------------------------------------------------------------------------------------- reading

    def refresh(self) -> None:
        """Take in what other processes have written."""
        rebuild, self._torn = self._torn, True  # until all that the log hands over is in the ledger
        if rebuild:
            self.log.rewind()
            self._rebuild(self.log.read())
        else:
            for event in self.log.read():
                self._enter(event)
        self._torn = False

    def _enter(self, event: Event) -> None:
        shown = self.ledger.enter(event)
        if self._strategist is not None:
            self._strategist.queue((event, shown))

    def _rebuild(self, events: Sequence[Event]) -> None:
        """The state after these events, which are all there are."""
        ledger, steps = self._replay(events)
        if self.log.durable:
            self._strategist = None
        elif self._strategist is not None:
            self._strategist.queue_rest(steps)
        self.ledger = ledger

    def _replay(self, events: Sequence[Event]) -> tuple[Ledger, list[Step]]:
        """A ledger with these events, and what a strategy is to be shown for them."""
        ledger = self.setup.make_ledger()
        return ledger, [(event, ledger.enter(event)) for event in events]

    def __reduce__(self) -> tuple[Callable[..., Session], tuple[Any, ...]]:
        """Pickle a run in memory: its setup, its events, and the strategy as it is. The ledger follows from the events.

        A run in a storage refuses: a copy would be a second process that nobody started.
        """
        if self.log.durable:
            raise CopyRefused(
                "an optimiser must have no storage to be pickled or copied, got one with a storage; open the study "
                "where it is needed: mfopt.Study.open(storage, name)"
            )
        self.refresh()
        return _revive, (self.setup, list(self.log.read_again()), self._strategist)

    # ---------------------------------------------------------------------------------------------- writing

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Within, the ledger is current and no other process writes; what is written becomes durable at the end."""
        with self.log.transaction():
            self.refresh()
            yield

    def record(self, make_events: Callable[[Ledger], Sequence[Event]]) -> None:
        """Write what the user tells: `make_events` checks it against the current ledger and turns it into events."""
        with self.transaction():
            events = make_events(self.ledger)
            self._torn = True
            for event in events:
                self.log.write(event)
        for event in events:
            self._enter(event)
        self._torn = False
        self._show_at_once()

    def _show_at_once(self) -> None:
        """Show the strategy of a run in memory what was just told, so that the next ask finds it ready.

        A tell is paid for and must not fail because a plugin does: the step stays in the queue, and the error comes
        when the strategy is next needed. The strategy of a study may lag behind the others' steps, and waits for those.
        """
        if self._strategist is not None and not self.log.durable:
            with suppress(Exception):
                self._strategist.catch_up()

    @contextmanager
    def ask_transaction(self) -> Iterator[None]:
        """A transaction in which trials are handed out: all of them, or none if anything fails."""
        said = self.ledger.exhausted
        self._asked, self._handed_out = False, []
        try:
            with self.transaction():
                yield
        except BaseException as error:
            if self._asked:  # what the strategy was asked is not in the log, or is there in spite of the error
                # A simple error in memory leaves nothing to be built again: the lines below undo all of it.
                self._torn = self.log.durable or not isinstance(error, Exception)
                self._forget_strategist()
                self.ledger.exhausted = said
            for id in reversed(self._handed_out):  # nobody will ever hold these
                self.ledger.withdraw(id)
            raise

    def claim(self, n: int) -> list[Trial]:
        """At most n pending trials whose lease has run out, now leased to us; within `ask_transaction`."""
        return [self.ledger.trial(id) for id in self.log.claim(n)]

    def suggest(self) -> tuple[Array, int, Any] | None:
        """The strategy's next query: u, fidelity and reason; within `ask_transaction`.

        None where the strategy has no query: that is noted, and `why_done` then says so.
        """
        strategist = self.strategist()
        self._asked = True
        try:
            return strategist.suggest(self.ledger.view())
        except Exhausted as exhausted:
            refusal = Refused(str(exhausted), exhausted.which)
            self.log.write(refusal)
            self.ledger.enter(refusal)
            return None

    def hand_out(self, event: Asked) -> Trial:
        """Make what the strategy suggested a pending trial; within `ask_transaction`."""
        self.log.write(event)
        trial = self.ledger.hand_out(event)
        self._handed_out.append(event.id)
        return trial

    # ----------------------------------------------------------------------------------------- the strategy

    def strategist(self) -> Strategist:
        """The strategist, after its strategy has been shown all that is in the ledger."""
        if self._strategist is None:
            strategist = self.setup.start_strategist(copies=self.log.durable)
            for step in self._replay(self.log.read_again())[1]:
                strategist.queue(step)
            self._strategist = strategist
        try:
            self._strategist.catch_up()
        except BaseException:
            self._forget_strategist()
            raise
        return self._strategist

    def _forget_strategist(self) -> None:
        """Have a fresh strategy shown the whole run, since this one may have been shown what did not happen.

        A run in memory has only the strategy that it was given, and keeps it.
        """
        if self.log.durable:
            self._strategist = None

    def why_done(self) -> Exhausted | None:
        """Why there is no further trial, or None."""
        return self.ledger.why_done(lambda: self.strategist().is_exhausted(self.ledger.queries))

    def prepare(self, n: int) -> None:
        """Bring the strategy up to date for n trials, before a transaction in which other processes have to wait."""
        self.refresh()
        if self.log.count_expired() < n and self.why_done() is None:
            self.strategist()


def _revive(setup: Setup, events: Sequence[Event], strategist: Strategist | None) -> Session:
    """The session of a run in memory that was pickled or copied."""
    for event in events:
        if isinstance(event, Asked | Added):  # NumPy does not pickle that an array is read-only
            event.x.flags.writeable = event.u.flags.writeable = False
    session = Session(setup, MemoryLog(events))
    session._strategist = strategist
    return session


class MemoryLog:
    """The log of a run that lives in this process only, as a list that may begin with events not seen yet.

    Nobody else writes to it, so nothing is leased and there is nothing to close.
    """

    durable = False
    lease: float | None = None

    def __init__(self, events: Sequence[Event] = ()) -> None:
        self._events: list[Event] = list(events)
        self._seen = 0

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """What is written within stays, or nothing of it if anything fails."""
        before = len(self._events)
        try:
            yield
            self._seen = len(self._events)
        except BaseException:
            del self._events[before:]
            self._seen = min(self._seen, before)
            raise

    def read(self) -> Sequence[Event]:
        """The events not seen yet: none, except after `rewind`."""
        events = self._events[self._seen :]
        self._seen = len(self._events)
        return events

    def read_again(self) -> Sequence[Event]:
        """All events seen so far."""
        return self._events[: self._seen]

    def rewind(self) -> None:
        """Count every event as not seen yet."""
        self._seen = 0

    def write(self, event: Event) -> None:
        """Append an event; within a transaction."""
        self._events.append(event)

    def count_expired(self) -> int:
        """None: nothing is leased."""
        return 0

    def claim(self, n: int) -> list[int]:
        """None: nothing is leased."""
        return []

    def renew(self, id: int) -> None:
        """Nothing to do: nothing is leased."""

    def close(self) -> None:
        """Nothing to do: nothing is open."""
