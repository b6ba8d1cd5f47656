"""MemoryLog: the events of a run that lives in this process only."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from mfopt.run.events import Event


class MemoryLog:
    """A Log (log.py) as a list. Nobody else writes to it, so nothing is leased and there is nothing to close."""

    durable = False
    lease: float | None = None

    def __init__(self) -> None:
        self._events: list[Event] = []
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

    def expired(self) -> int:
        """None: nothing is leased."""
        return 0

    def claim(self, n: int) -> list[int]:
        """None: nothing is leased."""
        return []

    def renew(self, id: int) -> None:
        """Nothing to do: nothing is leased."""

    def close(self) -> None:
        """Nothing to do: nothing is open."""
