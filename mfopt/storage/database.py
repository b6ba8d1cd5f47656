"""What a Store needs of a database. There are two: sqlite.py and postgres.py."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from mfopt.storage.clock import Moment

PATIENCE = 300.0  # seconds that a call waits for other processes before it gives up


inherited: list[object] = []  # connections that a fork brought along: the parent's, neither used here nor closed


def close_own(connection: Any, pid: int) -> None:
    """Close a connection, in the process that opened it only."""
    if os.getpid() == pid:
        connection.close()


class Database(Protocol):
    """A connection that is opened when it is needed. Errors are StorageErrors; parameters are written `?`."""

    def exists(self) -> bool:
        """Whether there is anything at all at that place; what is there must be a storage of ours."""

    def prepare(self) -> None:
        """Make the tables if there are none; several processes may do so at once."""

    def query(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """The rows."""

    def run(self, sql: str, parameters: Sequence[object] = ()) -> int:
        """How many rows were changed."""

    def transaction(self, study: str | None) -> AbstractContextManager[None]:
        """Everything within or nothing; no other process writes to the study (None: to any) meanwhile."""

    def settle(self) -> None:
        """After a study was made: let its header not depend on files beside the main one."""

    @property
    def version(self) -> int:
        """Of the tables that are there: less than schema.VERSION where they may be read but not changed."""

    def now(self) -> Moment:
        """By a clock that all processes on this database share."""

    def close(self) -> None:
        """Let go of the connection; the next call opens another."""
