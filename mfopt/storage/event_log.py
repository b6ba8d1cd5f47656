"""Log: the events of one study.

Events are numbered from 1 without gaps, and each has a checksum (CRC-32) that continues the one before, the first that
of the header: what a disk or a hand has changed is found when it is read. A process keeps the number and the checksum
of the last event it has seen; within a transaction it reads those of other processes, then writes its own.
"""

from __future__ import annotations

import copy
import json
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from mfopt.errors import AlreadyTold, StorageDamaged, UnknownTrial
from mfopt.protocols import Array
from mfopt.run.events import Event
from mfopt.storage.database import Database
from mfopt.storage.reasons import reason_from_json, reason_to_json
from mfopt.storage.store import Header, Store

_EVENTS = """
    SELECT e.crc, e.seq, e.kind, e.trial, e.y, e.detail, t.x, t.u, t.fidelity, t.cost, t.reason
    FROM mfopt_events e LEFT JOIN mfopt_trials t ON t.study = e.study AND t.id = e.trial
    WHERE e.study = ? AND e.seq > ? AND e.seq <= ? ORDER BY e.seq
"""
_THERE = "SELECT 1 FROM mfopt_events WHERE study = ? AND seq = ? AND crc = ?"
_ALL = 2**62


class Log:
    """The study of `header`; trials handed out here are leased for `lease` seconds (None: for ever) to `worker`."""

    def __init__(self, store: Store, header: Header, lease: float | None, worker: str | None) -> None:
        self.store = store
        self.name = header.name
        self.lease = lease
        self._worker = worker
        self._database = store.database
        self._start = (0, header.crc)
        self._seen = self._start  # number and checksum of the last event seen
        self._last = self._seen  # the same with what this transaction has written

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """What is written within is durable afterwards, or nothing of it is."""
        try:
            with self._database.transaction(self.name):
                self._last = self._seen
                yield
        except BaseException:
            self._last = self._seen
            raise
        self._seen = self._last

    def read(self) -> list[Event]:
        """What others have written since; within a transaction before anything is written."""
        events, self._seen = self._events(self._seen, _ALL)
        self._last = self._seen
        return events

    def read_again(self) -> list[Event]:
        """Everything seen so far."""
        return self._events(self._start, self._seen[0])[0]

    def rewind(self) -> None:
        """Read everything anew."""
        self._seen = self._last = self._start

    def write(self, event: Event) -> None:
        """Append it; within a transaction."""
        database = self._database
        x = u = fidelity = cost = reason = None
        if event.kind in ("ask", "add"):
            asked = event.kind == "ask"
            x, u = json.dumps(event.x.tolist()), json.dumps(event.u.tolist())
            fidelity, cost = event.fidelity, event.cost
            reason = reason_to_json(event.reason) if asked else None
            database.run(
                "INSERT INTO mfopt_trials (study, id, x, u, fidelity, cost, reason, worker, lease) "
                "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    self.name,
                    event.id,
                    x,
                    u,
                    fidelity,
                    cost,
                    reason,
                    self._worker if asked else None,
                    database.now() + self.lease if asked and self.lease is not None else None,
                ),
            )
        elif event.kind == "tell":
            database.run("UPDATE mfopt_trials SET lease = NULL WHERE study = ? AND id = ?", (self.name, event.id))
        id = event.id if event.id >= 0 else None
        detail = json.dumps(event.reason) if event.kind == "refuse" else None
        seq = self._last[0] + 1
        crc = _checksum(self._last[1], seq, event.kind, id, event.y, detail, x, u, fidelity, cost, reason)
        database.run(
            "INSERT INTO mfopt_events (study, seq, kind, trial, y, detail, at, crc) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (self.name, seq, event.kind, id, event.y, detail, time.time(), crc),
        )
        self._last = (seq, crc)

    # ----------------------------------------------------------------------------------------------- leases

    def expired(self) -> int:
        """How many pending trials have a lease that has run out."""
        sql = "SELECT count(*) FROM mfopt_trials WHERE study = ? AND lease < ?"
        return int(self._database.query(sql, (self.name, self._database.now()))[0][0])

    def claim(self, n: int) -> list[int]:
        """At most n trials whose lease has run out, the oldest first, now leased to us; within a transaction."""
        sql = "SELECT id FROM mfopt_trials WHERE study = ? AND lease < ? ORDER BY id LIMIT ?"
        ids = [int(row[0]) for row in self._database.query(sql, (self.name, self._database.now(), n))]
        for id in ids:
            self._lease(self._database, id)
        return ids

    def renew(self, id: int) -> None:
        """Lease the trial to us from now on, through a connection of its own."""
        database = copy.copy(self._database)
        told = "SELECT 1 FROM mfopt_events WHERE study = ? AND trial = ? AND kind IN ('tell', 'add')"
        try:
            with database.transaction(self.name):
                if database.query(told, (self.name, id)):
                    raise AlreadyTold(f"a trial must be pending to be renewed, got trial {id}, which was told")
                if self._lease(database, id) == 0:
                    raise UnknownTrial(f"a trial must be pending to be renewed, got {id}")
        finally:
            database.close()

    def offer_unleased(self) -> None:
        """Let the leases of pending trials that have none run out now."""
        told = "SELECT trial FROM mfopt_events WHERE study = ? AND kind IN ('tell', 'add')"
        self._offer(f"lease IS NULL AND id NOT IN ({told})", self.name)

    def offer_own(self) -> None:
        """Let the leases of our worker's trials run out now."""
        if self._worker is not None:
            self._offer("lease IS NOT NULL AND worker = ?", self._worker)

    def _offer(self, which: str, *parameters: object) -> None:
        # Those offered are claimed one by one, so that two processes that offer them do not both get one.
        with self._database.transaction(self.name):
            sql = f"UPDATE mfopt_trials SET lease = 0 WHERE study = ? AND {which}"
            self._database.run(sql, (self.name, *parameters))

    def _lease(self, database: Database, id: int) -> int:
        deadline = None if self.lease is None else database.now() + self.lease
        return database.run(
            "UPDATE mfopt_trials SET lease = ?, worker = ? WHERE study = ? AND id = ?",
            (deadline, self._worker, self.name, id),
        )

    def reasons(self) -> dict[int, Any]:
        """Why each trial was chosen, by its id."""
        sql = "SELECT id, reason FROM mfopt_trials WHERE study = ? AND reason IS NOT NULL ORDER BY id"
        return {int(id): reason_from_json(reason) for id, reason in self._database.query(sql, (self.name,))}

    def close(self) -> None:
        """Let go of the database; the next call opens it again."""
        self._database.close()

    # ---------------------------------------------------------------------------------------------- reading

    def _events(self, seen: tuple[int, int], last: int) -> tuple[list[Event], tuple[int, int]]:
        """Those after `seen` up to the number `last`, with the number and the checksum of the last of them."""
        rows = self._database.query(_EVENTS, (self.name, seen[0], last))
        if not rows and seen[0] and not self._database.query(_THERE, (self.name, *seen)):
            raise StorageDamaged(
                f"{self.store}: study {self.name!r} must hold the {seen[0]} events seen before, got other ones: "
                "it was replaced by another copy; open it anew"
            )
        events = []
        try:
            for crc, *row in rows:
                content = row if row[1] != "tell" else [*row[:5], None, None, None, None, None]
                expected = (seen[0] + 1, _checksum(seen[1], *content))
                if (row[0], crc) != expected:
                    raise ValueError(f"event {expected[0]} is not what was written")
                events.append(_event(*row[1:]))
                seen = expected
        except (TypeError, ValueError) as error:
            raise StorageDamaged(f"{self.store}: study {self.name!r} is damaged ({error}): restore a copy") from error
        return events, seen


def _checksum(before: int, *content: object) -> int:
    return zlib.crc32(repr(content).encode(), before)


def _event(
    kind: str,
    id: int | None,
    y: float | None,
    detail: str | None,
    x: str | None,
    u: str | None,
    fidelity: int | None,
    cost: float | None,
    reason: str | None,
) -> Event:
    if kind == "refuse":
        message, which = json.loads(detail or "")
        return Event(kind, reason=(message, which))
    if kind == "capital":
        return Event(kind, y=y)
    if id is None or x is None or u is None or fidelity is None or cost is None:
        raise ValueError("an event has no trial")
    if kind == "tell":
        return Event(kind, id, y=y)
    said: Any = None if reason is None else reason_from_json(reason)
    return Event(kind, id, _point(x), _point(u), fidelity, cost, said, y)


def _point(text: str) -> Array:
    point = np.array(json.loads(text), dtype=np.float64)
    point.flags.writeable = False
    return point
