"""What a Store needs of a database. There are two: sqlite.py and postgres.py."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from mfopt.errors import StorageDamaged
from mfopt.storage.clock import Moment

PATIENCE = 300.0  # seconds that a call waits for other processes before it gives up
LONGEST = 2**24  # characters of a header, a reason or a message


inherited: list[object] = []  # connections that a fork brought along: the parent's, neither used here nor closed


def close_own(connection: Any, pid: int) -> None:
    """Close a connection, in the process that opened it only."""
    if os.getpid() == pid:
        connection.close()


def write_row(database: Database, sql: str, parameters: Sequence[object]) -> None:
    """Insert one row; that it was written is checked, for something in the database might swallow it."""
    changed = database.run(sql, parameters)
    if changed != 1:
        raise StorageDamaged(
            f"{database} must take what is written to it, got {changed} rows where one was written: look for triggers "
            "and rules on its tables"
        )


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

    def acknowledge(self, study: str, header: int, count: int) -> None:
        """After a commit: note that the study whose header has this checksum holds `count` events."""

    def settle(self) -> None:
        """After a study was made: let its header not depend on files beside the main one."""

    @property
    def version(self) -> int:
        """Of the tables that are there: less than schema.VERSION where they may be read but not changed."""

    def now(self) -> Moment:
        """By a clock that all processes on this database share."""

    def close(self) -> None:
        """Let go of the connection; the next call opens another."""
