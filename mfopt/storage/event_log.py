"""EventLog: the events of one study.

Events are numbered from 1 without gaps, and each has a checksum (CRC-32) that continues the one before, the first that
of the header: what a disk or a hand has changed is found when it is read. A process keeps the number and the checksum
of the last event it has seen; within a transaction it reads those of other processes, then writes its own.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from mfopt.checks import escape
from mfopt.errors import StorageDamaged
from mfopt.run.events import Added, Asked, Event, Told
from mfopt.run.setup import Setup
from mfopt.storage.database import write_row
from mfopt.storage.fit import Fit
from mfopt.storage.leases import Leases
from mfopt.storage.reasons import reason_from_json
from mfopt.storage.rows import EventRow, from_row, to_row
from mfopt.storage.states import States
from mfopt.storage.store import Header, Store

_EVENTS = """
    SELECT e.crc, e.seq, e.kind, e.trial, e.y, substr(e.detail, 1, ?),
        substr(t.x, 1, ?), substr(t.u, 1, ?), t.fidelity, t.cost, substr(t.reason, 1, ?)
    FROM mfopt_events e LEFT JOIN mfopt_trials t ON t.study = e.study AND t.id = e.trial
    WHERE e.study = ? AND e.seq > ? AND e.seq <= ? ORDER BY e.seq
"""
_THERE = "SELECT 1 FROM mfopt_events WHERE study = ? AND seq = ? AND crc = ?"
_NEW_TRIAL = (
    "INSERT INTO mfopt_trials (study, id, x, u, fidelity, cost, reason, worker, lease) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_NEW_EVENT = "INSERT INTO mfopt_events (study, seq, kind, trial, y, detail, at, crc) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_ALL = 2**62


class EventLog:
    """The Log (mfopt/run/log.py) of the study of `header`.

    Trials handed out here are leased for `lease` seconds (None: without end) to `worker`. What is read must fit the
    setup of the study.
    """

    durable = True

    def __init__(self, store: Store, header: Header, lease: float | None, worker: str | None, setup: Setup) -> None:
        self.store = store
        self.name = header.name
        self.leases = Leases(store.database, header.name, lease, worker)
        self._database = store.database
        self._fit = Fit(setup)
        self._states = States(store.database, header.name, setup)
        self._start = (0, header.crc)
        self._seen = self._start  # number and checksum of the last event seen
        self._last = self._seen  # the same with what this transaction has written
        self._first: Sequence[Event] = ()  # what was read at first, until it is read again

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """What is written within is durable afterwards, or nothing of it is."""
        try:
            with self._database.transaction(self.name):
                self._last = self._seen
                self.leases.forget()
                yield
                wrote = self._last != self._seen
                if wrote and not self._database.query(_THERE, (self.name, *self._last)):
                    raise StorageDamaged(
                        f"{self.store} must keep what is written to it, got nothing: look for triggers"
                    )
        except GeneratorExit:  # Ctrl-C kept the block from ending: by now another may be under way
            raise
        except BaseException:
            self._last = self._seen
            self.leases.forget()
            raise
        self._seen = self._last
        self.leases.keep()
        if wrote:
            self._database.acknowledge(self.name, self._start[1], self._seen[0])

    def read(self) -> Sequence[Event]:
        """What others have written since; within a transaction before anything is written."""
        first = self._seen[0] + 1
        events, seen = self._events(self._seen, _ALL)
        try:
            self._fit.check(events, first)
        except ValueError as error:
            raise self._refuse(error) from error
        if self._seen == self._start:
            self.leases.check()
            self._first = events
        self._seen = seen
        self._last = self._seen
        return events

    def read_again(self) -> Sequence[Event]:
        """Everything seen so far."""
        first, self._first = self._first, ()
        return first if len(first) == self._seen[0] else self._events(self._start, self._seen[0])[0]

    def rewind(self) -> None:
        """Read everything anew."""
        self._seen = self._last = self._start

    def write(self, event: Event) -> None:
        """Append it; within a transaction."""
        row = to_row(event)
        match event:
            case Asked():
                term = self.leases.start_term()
                self._insert_trial(row, self.leases.worker, None if term is None else term.deadline)
                self.leases.begin(event.id, term)
            case Added():
                self._insert_trial(row, None, None)
            case Told(id):
                self.leases.release(id)
        number, before = self._last
        seq, crc = number + 1, row.checksum(before, number + 1)
        write_row(
            self._database, _NEW_EVENT, (self.name, seq, row.kind, row.trial, row.y, row.detail, time.time(), crc)
        )
        self._last = (seq, crc)
        self._fit.note(event)

    @property
    def position(self) -> int:
        """The number of the last event seen or written."""
        return self._last[0]

    def write_state(self, state: str | None) -> None:
        """Keep the strategy's state after all events so far, in place of earlier ones; within a transaction."""
        if state is not None:
            self._states.write(*self._last, state)

    def read_state(self) -> tuple[int, str] | None:
        """The latest state that can be trusted, with the number of the event after which it was told."""
        return self._states.read(self._last[0])

    def withdraw(self, events: Sequence[Event]) -> None:
        """Nothing to do: the transaction that failed has taken them back."""

    def _insert_trial(self, row: EventRow, worker: str | None, deadline: float | None) -> None:
        trial = (row.trial, row.x, row.u, row.fidelity, row.cost, row.reason, worker, deadline)
        write_row(self._database, _NEW_TRIAL, (self.name, *trial))

    def reasons(self) -> dict[int, Any]:
        """Why each trial was chosen, by its id."""
        sql = "SELECT id, reason FROM mfopt_trials WHERE study = ? AND reason IS NOT NULL ORDER BY id"
        try:
            return {int(id): reason_from_json(reason) for id, reason in self._database.query(sql, (self.name,))}
        except ValueError as error:
            raise self._refuse(error) from error

    def close(self) -> None:
        """Let go of the database; the next call opens it again."""
        self._database.close()

    def _events(self, seen: tuple[int, int], last: int) -> tuple[list[Event], tuple[int, int]]:
        """Those after `seen` up to the number `last`, with the number and the checksum of the last of them."""
        x, u, other = self._fit.limits
        rows = self._database.query(_EVENTS, (other, x, u, other, self.name, seen[0], last))
        if not rows and seen[0] and not self._database.query(_THERE, (self.name, *seen)):
            raise StorageDamaged(
                f"{self.store}: study {self.name!r} must hold the {seen[0]} events seen before, got other ones: "
                "it was replaced by another copy; open it anew"
            )
        events = []
        try:
            for crc, seq, *columns in rows:
                row = EventRow(*columns)
                self._fit.check_lengths(row.x, row.u, row.reason, row.detail)
                expected = (seen[0] + 1, row.checksum(seen[1], seq))
                if (seq, crc) != expected:
                    raise ValueError(f"event {expected[0]} is not what was written")
                events.append(from_row(row))
                seen = expected
        except (TypeError, ValueError) as error:
            raise self._refuse(error) from error
        return events, seen

    def _refuse(self, error: Exception) -> StorageDamaged:
        return StorageDamaged(f"{self.store}: study {self.name!r} is damaged ({escape(str(error))}): restore a copy")

    # ----------------------------------------------------------------------------------------------- leases

    @property
    def lease(self) -> float | None:
        """Seconds for which trials are leased here; None: without end."""
        return self.leases.seconds

    def count_expired(self) -> int:
        """How many pending trials have a lease that has run out."""
        return self.leases.count_expired()

    def claim(self, n: int) -> dict[int, int]:
        """At most n trials whose lease has run out, the oldest first, now leased to us: their claims by their ids."""
        return self.leases.claim(n)

    def claim_number(self, id: int) -> int | None:
        """The claim under which the trial was last handed out here; None: it was not, or it was told."""
        return self.leases.claim_number(id)

    def check_claim(self, id: int, claim: int) -> None:
        """Raise LeaseLost if the trial was handed out again since `claim`; within a transaction."""
        self.leases.check_claim(id, claim)

    def renew(self, id: int, claim: int | None) -> None:
        """Lease the trial to us from now on, through a connection of its own; a `claim` of None is not compared."""
        self.leases.renew(id, claim)
