"""Log: where the events of a run are written. There are two: in memory (MemoryLog) and in a storage (EventLog)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
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

    def write_state(self, state: str) -> None:
        """Keep the strategy's state after all events so far, in place of earlier ones; within a transaction."""

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


class MemoryLog:
    """The log of a run that lives in this process only, as a list. Nothing is leased, and nothing is open.

    An event counts as soon as it is written, so that an ask need not keep others from writing until it ends: what it
    has written is withdrawn if it fails.
    """

    durable = False
    lease: float | None = None

    def __init__(self, events: Sequence[Event] = ()) -> None:
        self._events: list[Event] = list(events)
        self._rewound = bool(events)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """What is written within stays, or nothing of it if anything fails."""
        before = len(self._events)
        try:
            yield
        except GeneratorExit:  # Ctrl-C kept the block from ending: by now others may have written
            raise
        except BaseException:
            del self._events[before:]
            raise

    def read(self) -> Sequence[Event]:
        """The events not seen yet: none, except after `rewind`."""
        events = list(self._events) if self._rewound else []
        self._rewound = False
        return events

    def read_again(self) -> Sequence[Event]:
        """All events seen so far."""
        return [] if self._rewound else list(self._events)

    def rewind(self) -> None:
        """Count every event as not seen yet."""
        self._rewound = True

    def write(self, event: Event) -> None:
        """Append an event."""
        self._events.append(event)

    @property
    def position(self) -> int:
        """The number of the last event."""
        return len(self._events)

    def write_state(self, state: str) -> None:
        """Nothing to do: nothing outlives the strategy."""

    def read_state(self) -> tuple[int, str] | None:
        """None: nothing is kept."""
        return None

    def withdraw(self, events: Sequence[Event]) -> None:
        """Take back those of these events that were written."""
        gone = {id(event) for event in events}
        self._events = [event for event in self._events if id(event) not in gone]

    def count_expired(self) -> int:
        """None: nothing is leased."""
        return 0

    def claim(self, n: int) -> dict[int, int]:
        """None: nothing is leased."""
        return {}

    def claim_number(self, id: int) -> int | None:
        """None: a trial in memory is handed out once."""
        return None

    def renew(self, id: int, claim: int | None) -> None:
        """Nothing to do: nothing is leased."""

    def check_claim(self, id: int, claim: int) -> None:
        """Nothing to do: a trial in memory is handed out once."""

    def close(self) -> None:
        """Nothing to do: nothing is open."""
