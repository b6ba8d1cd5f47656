"""Study: an optimiser that lives in a storage and is opened by its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mfopt.checks import real_number
from mfopt.errors import InputError
from mfopt.optimizer import Optimizer
from mfopt.run.events import CapitalSet
from mfopt.run.ledger import Ledger
from mfopt.run.setup import Setup, as_threads

if TYPE_CHECKING:
    from mfopt.run.verification import Verification
    from mfopt.storage import EventLog, Header, Store


class Study(Optimizer):
    """An Optimizer in a storage, made by Optimizer(..., storage=..., study=...) or in another process.

    Study.open finds it by its name: the arguments come from the storage.
    """

    @classmethod
    def open(
        cls,
        storage: object,
        name: str | None = None,
        *,
        capital: float | None = None,
        lease: float | None = None,
        worker: str | None = None,
        threads: int = 1,
        domain: object = None,
        strategy: object = None,
        surrogate: object = None,
        maximiser: object = None,
    ) -> Study:
        """The study `name` of a storage, or its only one.

        capital    raises Λ, for this and all other processes; None leaves it as it is
        domain, strategy, surrogate, maximiser
                   needed only to ask, and only where they are objects that the storage cannot hold (functions as
                   constraints, plugins that are not installed): the same as the study was made with

        lease, worker and threads are those of mfopt.Optimizer.
        """
        from mfopt.storage import connect
        from mfopt.storage import header as headers

        store = connect(storage)
        header = store.get(name)
        given = {"domain": domain, "strategy": strategy, "surrogate": surrogate, "maximiser": maximiser}
        setup = replace(headers.rebuild(store, header, given), threads=as_threads(threads))
        study = cls.resume(setup, store, header, lease=lease, worker=worker)
        if capital is not None:
            study.raise_capital(capital)
        return study

    @classmethod
    def resume(
        cls,
        setup: Setup,
        store: Store,
        header: Header,
        *,
        lease: float | None = None,
        worker: str | None = None,
    ) -> Study:
        """The study of `header`, which must have been made with this setup, whatever its capital is now."""
        from mfopt.storage import resume

        study = cls.__new__(cls)
        study._session = resume(setup, store, header, lease, worker)
        return study

    @staticmethod
    def headers(storage: object) -> list[Header]:
        """What each study of a storage was made with, the oldest study first."""
        from mfopt.storage import connect

        return connect(storage).headers()

    @property
    def name(self) -> str:
        """The study's name in its storage."""
        return self._log.name

    def raise_capital(self, capital: object) -> None:
        """Set Λ to a larger amount, for this and all other processes."""
        total = real_number(capital, "capital")

        def set_capital(ledger: Ledger) -> list[CapitalSet]:
            before = ledger.capital.total
            if before is None or total < before:
                raise InputError(f"capital must be at least what it is, {before or 'unlimited'}, got {total}")
            return [CapitalSet(total)] if total > before else []

        self._session.record(set_capital)

    def offer_unleased(self) -> None:
        """Hand pending trials without a lease out again, at the next ask of any process.

        For a run that goes on after one without leases; others must not be at these trials any more.
        """
        with self._session.writing.held:
            self._log.leases.offer_unleased()

    def offer_own(self) -> None:
        """Hand this worker's pending trials out again at once, without waiting for their leases to run out."""
        with self._session.writing.held:
            self._log.leases.offer_own()

    def reasons(self) -> dict[int, Any]:
        """Why each trial was chosen, by its id, those already told included; a string where it was no mfopt reason."""
        with self._session.writing.held:
            return self._log.reasons()

    def verify(self, progress: Callable[[int, int], None] | None = None) -> Verification:
        """Replay the log with a fresh strategy, and hold what it asks against what was recorded, to the bit.

        progress  called after each ask with the number of those done and of all
        """
        from mfopt.run.verification import verify

        return verify(self._session, progress)

    @property
    def _log(self) -> EventLog:
        from mfopt.storage import EventLog

        log = self._session.log
        if not isinstance(log, EventLog):
            raise InputError("a study must have a storage, got none")
        return log
