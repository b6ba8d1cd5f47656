"""Study: an optimiser that lives in a storage and is opened by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mfopt.checks import real_number
from mfopt.errors import InputError
from mfopt.optimizer import AS_STORED, Optimizer
from mfopt.run.events import Event

if TYPE_CHECKING:
    from mfopt.storage import Header, Log


class Study(Optimizer):
    """An Optimizer that was made before, by Optimizer(..., storage=..., study=...) or in another process.

    Study.open is all there is to it: the arguments come from the storage.
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
        domain: object = None,
        strategy: object = None,
        surrogate: object = None,
        maximiser: object = None,
    ) -> Study:
        """The study `name` of a storage, or its only one.

        capital    raises Λ, for this and all other processes; None leaves it as it is
        domain, strategy, surrogate, maximiser
                   needed only where they are objects that the storage cannot hold (functions as constraints, plugins
                   that are not installed): the same as the study was made with

        lease and worker are those of mfopt.Optimizer.
        """
        from mfopt.storage import connect
        from mfopt.storage import header as headers

        store = connect(storage)
        header = store.get(name)
        given = {"domain": domain, "strategy": strategy, "surrogate": surrogate, "maximiser": maximiser}
        rebuilt = headers.rebuild(store, header, given)
        study = cls(
            **rebuilt,
            capital=AS_STORED,
            storage=store,
            study=header.name,
            lease=lease,
            worker=worker,
        )
        if capital is not None:
            study.raise_capital(capital)
        return study

    @staticmethod
    def headers(storage: object) -> list[Header]:
        """What each study of a storage was made with, the oldest study first."""
        from mfopt.storage import connect

        return connect(storage).headers()

    @property
    def name(self) -> str:
        """The study's name in its storage."""
        return self._stored_log.name

    def raise_capital(self, capital: object) -> None:
        """Set Λ to a larger amount, for this and all other processes."""
        total = real_number(capital, "capital")

        def raised() -> list[Event]:
            before = self.capital
            if before is None or total < before:
                raise InputError(f"capital must be at least what it is, {before or 'unlimited'}, got {total}")
            return [Event("capital", y=total)] if total > before else []

        self._take(raised)

    def offer_unleased(self) -> None:
        """Hand pending trials without a lease out again, at the next ask of any process.

        For a run that goes on after one without leases; others must not be at these trials any more.
        """
        self._stored_log.offer_unleased()

    def offer_own(self) -> None:
        """Hand this worker's pending trials out again at once, without waiting for their leases to run out."""
        self._stored_log.offer_own()

    def reasons(self) -> dict[int, Any]:
        """Why each trial was chosen, by its id, those already told included; a text where it was no mfopt reason."""
        return self._stored_log.reasons()

    @property
    def _stored_log(self) -> Log:
        if self._log is None:
            raise InputError("a study must have a storage, got none")
        return self._log
