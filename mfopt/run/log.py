"""Log: where the events of a run are written. There are two: in memory (session.py) and in a storage."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from mfopt.run.events import Event


class Log(Protocol):
    """The events of one run in their order, and how many of them this process has seen."""

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

    def count_expired(self) -> int:
        """How many pending trials have a lease that has run out."""

    def claim(self, n: int) -> list[int]:
        """The ids of at most n trials whose lease has run out, oldest first, now leased to us; in a transaction."""

    def renew(self, id: int) -> None:
        """Start the lease of a pending trial anew."""

    def close(self) -> None:
        """Let go of what is open; the next call opens it again."""
