"""Leases: for how long a trial belongs to the worker that it was handed out to.

A trial whose lease has run out is handed out again, to whoever asks next. Told trials have no lease. Each time that a
trial is handed out has a number, its claim: whoever comes with an earlier one does not hold the trial any more.
"""

from __future__ import annotations

import copy
import math
from typing import Any

from mfopt.checks import printable_name, real_number, show
from mfopt.errors import AlreadyTold, InputError, LeaseLost, StorageDamaged, UnknownTrial
from mfopt.storage.clock import Term
from mfopt.storage.database import Database

_PENDING = """
    WHERE t.study = ? AND t.lease IS NOT NULL
    AND EXISTS (SELECT 1 FROM mfopt_events e WHERE e.study = t.study AND e.trial = t.id AND e.kind IN ('ask', 'add'))
    AND NOT EXISTS (
        SELECT 1 FROM mfopt_events e WHERE e.study = t.study AND e.trial = t.id AND e.kind IN ('tell', 'add')
    ) ORDER BY t.id
"""  # the others are nobody's: a file may come from anywhere
_LEASED = f"""
    SELECT t.id, t.lease, c.seconds, c.boot, c.epoch FROM mfopt_trials t
    LEFT JOIN mfopt_claims c ON c.study = t.study AND c.trial = t.id {_PENDING}
"""
_LEASED_1 = f"SELECT t.id, t.lease, NULL, NULL, NULL FROM mfopt_trials t {_PENDING}"  # in tables of version 1
_CLAIMED = "SELECT trial, claim FROM mfopt_claims WHERE study = ?"
_MOST = 2**53  # of claims
_SET_BACK = "UPDATE mfopt_trials SET lease = ? WHERE study = ? AND id = ?"
_NOTE = "UPDATE mfopt_claims SET claim = ?, seconds = ?, boot = ?, epoch = ? WHERE study = ? AND trial = ?"
_NEW_NOTE = "INSERT INTO mfopt_claims (claim, seconds, boot, epoch, study, trial) VALUES (?, ?, ?, ?, ?, ?)"


class Leases:
    """Those of the study `name`; trials leased here belong to `worker` for `seconds` (None: without end)."""

    def __init__(self, database: Database, name: str, seconds: float | None, worker: str | None) -> None:
        self.seconds = seconds
        self.worker = worker
        self._database = database
        self._name = name
        self._claims: dict[int, int] = {}  # of the trials that were handed out here and are not told yet
        self._new: dict[int, int] = {}  # the same, of the present transaction

    def check(self) -> None:
        """Whether these can be leases and claims at all; a StorageDamaged error names one that cannot."""
        self._terms()
        for id, claim in self._database.query(_CLAIMED, (self._name,)) if self._database.version > 1 else ():
            self._as_claim(id, claim)

    # --------------------------------------------------------------------------------------------- handing out

    def start_term(self) -> Term | None:
        """A lease that begins now; None: without end."""
        return self._start_term(self._database)

    def begin(self, id: int, term: Term | None) -> None:
        """Note to whom a new trial is leased: to us; within a transaction."""
        if term is not None:
            self._note(self._database, id, 1, term)
        self._new[id] = 1

    def count_expired(self) -> int:
        """How many pending trials have a lease that has run out."""
        now = self._database.now()
        return sum(term.is_over(now) for _, term in self._terms())

    def claim(self, n: int) -> dict[int, int]:
        """At most n trials whose lease has run out, the oldest first, now leased to us: their claims by their ids.

        Within a transaction. Leases of which a clock that was set back would make too much begin anew.
        """
        now = self._database.now()
        terms = self._terms()
        for id, term in terms:
            if term.is_ahead(now):
                anew = Term.start(now, term.seconds or 0.0)
                self._database.run(_SET_BACK, (anew.deadline, self._name, id))
                self._note(self._database, id, self._find_claim(self._database, id), anew)
        claimed = {}
        for id in [id for id, term in terms if term.is_over(now)][:n]:
            claimed[id] = self._find_claim(self._database, id) + 1
            self._lease(self._database, id, claimed[id])
        self._new |= claimed
        return claimed

    def keep(self) -> None:
        """The present transaction has come to its end: what was handed out in it counts."""
        self._claims |= self._new
        self._new = {}

    def forget(self) -> None:
        """The present transaction has failed."""
        self._new = {}

    # ------------------------------------------------------------------------------------------------ holding

    def claim_number(self, id: int) -> int | None:
        """The claim under which the trial was last handed out here; None: it was not, or it was told."""
        return self._claims.get(id)

    def check_claim(self, id: int, claim: int) -> None:
        """Raise LeaseLost if the trial was handed out again since `claim`; within a transaction."""
        self._check(self._database, id, claim)

    def renew(self, id: int, claim: int | None) -> None:
        """Lease the trial to us from now on, through a connection of its own; a `claim` of None is not compared."""
        database = copy.copy(self._database)
        told = "SELECT 1 FROM mfopt_events WHERE study = ? AND trial = ? AND kind IN ('tell', 'add')"
        there = "SELECT 1 FROM mfopt_trials WHERE study = ? AND id = ?"
        try:
            with database.transaction(self._name):
                if database.query(told, (self._name, id)):
                    raise AlreadyTold(f"a trial must be pending to be renewed, got trial {id}, which was told")
                if not database.query(there, (self._name, id)):
                    raise UnknownTrial(f"a trial must be pending to be renewed, got {id}")
                if claim is not None:
                    self._check(database, id, claim)
                self._lease(database, id, claim or self._find_claim(database, id))
        finally:
            database.close()

    def release(self, id: int) -> None:
        """End the lease of a trial that is told; within a transaction."""
        self._claims.pop(id, None)
        self._database.run("UPDATE mfopt_trials SET lease = NULL WHERE study = ? AND id = ?", (self._name, id))

    def _check(self, database: Database, id: int, claim: int) -> None:
        present = self._find_claim(database, id)
        if present != claim:
            raise LeaseLost(
                f"a trial must be held to be renewed or to fail, got trial {id}, whose lease ran out and which was "
                f"handed out again (claim {present}, ours was {claim})"
            )

    # ----------------------------------------------------------------------------------------------- offering

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

    # ------------------------------------------------------------------------------------------------- tables

    def _terms(self) -> list[tuple[int, Term]]:
        """Every trial with a lease, the oldest first."""
        sql = _LEASED if self._database.version > 1 else _LEASED_1
        return [(int(id), self._as_term(id, *term)) for id, *term in self._database.query(sql, (self._name,))]

    def _as_term(self, id: int, deadline: Any, seconds: Any, boot: Any, epoch: Any) -> Term:
        for number in (deadline, seconds, epoch):
            if number is not None and not (isinstance(number, int | float) and math.isfinite(number)):
                raise self._refuse(f"the lease of trial {id} must be made of numbers", number)
        return Term(deadline, seconds, boot, epoch)

    def _as_claim(self, id: int, claim: Any) -> int:
        if not isinstance(claim, int) or not 1 <= claim <= _MOST:
            raise self._refuse(f"the claim on trial {id} must be an integer from 1 to {_MOST}", claim)
        return claim

    def _refuse(self, rule: str, got: object) -> StorageDamaged:
        return StorageDamaged(f"{self._database}: study {self._name!r}: {rule}, got {show(got)}: restore a copy")

    def _find_claim(self, database: Database, id: int) -> int:
        if self._database.version < 2:
            return 1
        rows = database.query("SELECT claim FROM mfopt_claims WHERE study = ? AND trial = ?", (self._name, id))
        return self._as_claim(id, rows[0][0]) if rows else 1

    def _lease(self, database: Database, id: int, claim: int) -> None:
        """Lease the trial to us, from now on, under that claim."""
        term = self._start_term(database)
        database.run(
            "UPDATE mfopt_trials SET lease = ?, worker = ? WHERE study = ? AND id = ?",
            (None if term is None else term.deadline, self.worker, self._name, id),
        )
        self._note(database, id, claim, term)

    def _start_term(self, database: Database) -> Term | None:
        return None if self.seconds is None else Term.start(database.now(), self.seconds)

    def _note(self, database: Database, id: int, claim: int, term: Term | None) -> None:
        """Write down the claim, and what its deadline goes by; tables still of version 1 have no room for it."""
        if self._database.version < 2:
            return
        length = (None, None, None) if term is None else (term.seconds, term.boot, term.epoch)
        noted = (claim, *length, self._name, id)
        if database.run(_NOTE, noted) == 0:
            database.run(_NEW_NOTE, noted)


def lease_terms(lease: object, worker: object) -> tuple[float | None, str | None]:
    """How long trials are leased, and to whom, as a user gives it."""
    seconds = None if lease is None else real_number(lease, "lease")
    if seconds is not None and seconds <= 0.0:
        raise InputError(f"lease must be positive or None, got {seconds}")
    return seconds, None if worker is None else printable_name(worker, "worker")
