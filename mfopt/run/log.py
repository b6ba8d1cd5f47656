"""Log: where the events of a run are written. There are two: in memory (session.py) and in a storage."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from mfopt.run.events import Event


class Log(Protocol):
    """The events of one run in their order, and how many of them this process has seen.

    Threads take turns, which the session sees to; only `lease`, `renew` and `claim_number` may be used at any time.
    """

    @property
    def durable(self) -> bool:
        """Whether the log outlives this process, and other processes may write to it."""

    @property
    def lease(self) -> float | None:
        """Seconds after which a trial handed out here is handed out again unless told or renewed; None: never."""

    def transaction(self) -> AbstractContextManager[None]:
        """What is written within stays, or nothing of it if anything fails; no other process writes meanwhile."""

    def read(self) -> Sequence[Event]:
        """The events not seen yet; within a transaction, before anything is written."""

    def read_again(self) -> Sequence[Event]:
        """All events seen so far."""

    def rewind(self) -> None:
        """Count every event as not seen yet."""

    def write(self, event: Event) -> None:
        """Append an event, which counts as seen; within a transaction."""

    def withdraw(self, events: Sequence[Event]) -> None:
        """Take back those of these events, of an ask that failed, that no failed transaction has taken back already."""

    @property
    def position(self) -> int:
        """The number of the last event seen or written; the first has the number 1."""

    def write_state(self, state: str | None) -> None:
        """Keep the strategy's state after all events so far, in place of earlier ones; within a transaction.

        None: it has none to tell.
        """

    def read_state(self) -> tuple[int, str] | None:
        """The latest state that is kept and can be trusted, with the number of the event after which it was told."""

    def count_expired(self) -> int:
        """How many pending trials have a lease that has run out."""

    def claim(self, n: int) -> dict[int, int]:
        """At most n trials whose lease has run out, oldest first, now leased to us: their claim numbers by their ids.

        Within a transaction.
        """

    def claim_number(self, id: int) -> int | None:
        """The number under which this process was last handed the trial; None: it was not, or numbers are not kept."""

    def check_claim(self, id: int, claim: int) -> None:
        """Raise LeaseLost if the trial was handed out again since that claim; in a transaction."""

    def renew(self, id: int, claim: int | None) -> None:
        """Start the lease of a pending trial anew; LeaseLost if it was handed out again since `claim` (None: any)."""

    def close(self) -> None:
        """Let go of what is open; the next call opens it again."""
