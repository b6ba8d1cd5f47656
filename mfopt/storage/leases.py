"""Leases: for how long a trial belongs to the worker that it was handed out to.

A trial whose lease has run out is handed out again, to whoever asks next. Told trials have no lease.
"""

from __future__ import annotations

import copy

from mfopt.checks import printable_name, real_number
from mfopt.errors import AlreadyTold, InputError, UnknownTrial
from mfopt.storage.database import Database


class Leases:
    """Those of the study `name`; trials leased here belong to `worker` for `seconds` (None: without end)."""

    def __init__(self, database: Database, name: str, seconds: float | None, worker: str | None) -> None:
        self.seconds = seconds
        self.worker = worker
        self._database = database
        self._name = name

    def make_deadline(self) -> float | None:
        """When a lease that begins now runs out; None: never."""
        return self._make_deadline(self._database)

    def count_expired(self) -> int:
        """How many pending trials have a lease that has run out."""
        sql = "SELECT count(*) FROM mfopt_trials WHERE study = ? AND lease < ?"
        return int(self._database.query(sql, (self._name, self._database.now()))[0][0])

    def claim(self, n: int) -> list[int]:
        """At most n trials whose lease has run out, the oldest first, now leased to us; within a transaction."""
        sql = "SELECT id FROM mfopt_trials WHERE study = ? AND lease < ? ORDER BY id LIMIT ?"
        ids = [int(row[0]) for row in self._database.query(sql, (self._name, self._database.now(), n))]
        for id in ids:
            self._lease(self._database, id)
        return ids

    def renew(self, id: int) -> None:
        """Lease the trial to us from now on, through a connection of its own."""
        database = copy.copy(self._database)
        told = "SELECT 1 FROM mfopt_events WHERE study = ? AND trial = ? AND kind IN ('tell', 'add')"
        try:
            with database.transaction(self._name):
                if database.query(told, (self._name, id)):
                    raise AlreadyTold(f"a trial must be pending to be renewed, got trial {id}, which was told")
                if self._lease(database, id) == 0:
                    raise UnknownTrial(f"a trial must be pending to be renewed, got {id}")
        finally:
            database.close()

    def release(self, id: int) -> None:
        """End the lease of a trial that is told; within a transaction."""
        self._database.run("UPDATE mfopt_trials SET lease = NULL WHERE study = ? AND id = ?", (self._name, id))

    def offer_unleased(self) -> None:
        """Let the leases of pending trials that have none run out now."""
        told = "SELECT trial FROM mfopt_events WHERE study = ? AND kind IN ('tell', 'add')"
        self._offer(f"lease IS NULL AND id NOT IN ({told})", self._name)

    def offer_own(self) -> None:
        """Let the leases of our worker's trials run out now."""
        if self.worker is not None:
            self._offer("lease IS NOT NULL AND worker = ?", self.worker)

    def _offer(self, which: str, *parameters: object) -> None:
        # Those offered are claimed one by one, so that two processes that offer them do not both get one.
        with self._database.transaction(self._name):
            sql = f"UPDATE mfopt_trials SET lease = 0 WHERE study = ? AND {which}"
            self._database.run(sql, (self._name, *parameters))

    def _lease(self, database: Database, id: int) -> int:
        """Lease the trial to us; returns how many trials of this id there are."""
        return database.run(
            "UPDATE mfopt_trials SET lease = ?, worker = ? WHERE study = ? AND id = ?",
            (self._make_deadline(database), self.worker, self._name, id),
        )

    def _make_deadline(self, database: Database) -> float | None:
        return None if self.seconds is None else database.now() + self.seconds


def lease_terms(lease: object, worker: object) -> tuple[float | None, str | None]:
    """How long trials are leased, and to whom, as a user gives it."""
    seconds = None if lease is None else real_number(lease, "lease")
    if seconds is not None and seconds <= 0.0:
        raise InputError(f"lease must be positive or None, got {seconds}")
    return seconds, None if worker is None else printable_name(worker, "worker")
