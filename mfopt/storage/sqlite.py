"""SQLite: one file, for processes on one machine.

WAL with synchronous=FULL: a commit is on the disk before it returns, and readers never wait. Writers queue up: a
transaction begins by taking the write lock (BEGIN IMMEDIATE), so it never fails half-way for want of it.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mfopt.errors import (
    MfoptError,
    NewerSchema,
    NotAStorage,
    StorageBusy,
    StorageDamaged,
    StorageError,
    StorageFull,
    StorageReadOnly,
)
from mfopt.storage.clock import Moment, read_machine_clock
from mfopt.storage.database import PATIENCE, close_own, inherited
from mfopt.storage.mounts import warn_of_network
from mfopt.storage.schema import TABLES, VERSION, upgrade

_BUSY = 5.0  # seconds that SQLite itself waits for a lock; then Ctrl-C has its turn, and we ask again


class SQLite:
    """The database in the file `path`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None
        self._pid = 0
        self._closer: weakref.finalize[Any, Any] | None = None
        self._file: tuple[int, int] | None = None  # device and inode that the connection is to
        self._version = VERSION  # of the tables in the file

    def __reduce__(self) -> tuple[type[SQLite], tuple[Path]]:
        """Copies, also in other processes, connect on their own."""
        return SQLite, (self._path,)

    def __str__(self) -> str:
        return str(self._path)

    def exists(self) -> bool:
        """Whether the file is there; one that is no storage is an error."""
        try:
            size = self._path.stat().st_size
        except FileNotFoundError:
            return False
        except OSError as error:
            raise NotAStorage(f"a storage must be a file that can be read, got {self}: {error.strerror}") from None
        if not self._path.is_file():
            raise NotAStorage(f"a storage must be a file, got the directory {self}")
        if size == 0:
            raise NotAStorage(
                f"a storage must be a database, got the empty file {self}; if it was never a study, delete it, "
                "otherwise restore it from a copy"
            )
        self._open()
        warn_of_network(self._path)
        return True

    def prepare(self) -> None:
        """Make the file with its tables, unless it is there.

        It is made beside its place and linked into it, so that no other process and no crash ever sees a part of it.
        """
        if self.exists():
            return
        new = self._path.with_name(f"{self._path.name}.new-{secrets.token_hex(8)}")  # nobody else's
        try:
            with self._translate_errors():
                with contextlib.closing(sqlite3.connect(new, isolation_level=None)) as connection:
                    connection.execute("PRAGMA journal_mode = WAL")
                    connection.execute("PRAGMA synchronous = FULL")
                    connection.execute("BEGIN IMMEDIATE")
                    for table in TABLES:
                        connection.execute(table)
                    connection.execute("INSERT INTO mfopt_schema (version) VALUES (?)", (VERSION,))
                    connection.execute("COMMIT")
                with contextlib.suppress(FileExistsError):  # another process was faster: its file will do
                    os.link(new, self._path)
                _sync_directory(self._path.parent)
        except OSError as error:
            raise StorageError(f"a storage cannot be made at {self}: {error.strerror}") from error
        finally:
            for suffix in ("", "-wal", "-shm"):
                Path(f"{new}{suffix}").unlink(missing_ok=True)
        self._open()
        warn_of_network(self._path)

    def query(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        return self._wait_for(lambda: self._open().execute(sql, parameters).fetchall())  # type: ignore[no-any-return]

    def run(self, sql: str, parameters: Sequence[object] = ()) -> int:
        with self._translate_errors():
            return self._open().execute(sql, parameters).rowcount

    @contextmanager
    def transaction(self, study: str | None) -> Iterator[None]:
        """One writer at a time for the whole file, whatever the study."""
        connection = self._open()
        if self._identity() != self._file:  # what is written to a file without a name would be lost
            raise StorageError(f"{self} was moved, deleted or replaced while it was in use: open the study anew")
        if connection.in_transaction:  # left behind by an interruption between two lines
            connection.execute("ROLLBACK")
        self._wait_for(lambda: connection.execute("BEGIN IMMEDIATE"))
        try:
            yield
            with self._translate_errors():
                connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:  # a full disk may have ended it already
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
            raise

    def settle(self) -> None:
        """Move the header from the -wal file into the main one, which stands for the study should the other be lost."""
        self._wait_for(lambda: self._open().execute("PRAGMA wal_checkpoint(FULL)").fetchall())

    @property
    def version(self) -> int:
        return self._version

    def now(self) -> Moment:
        """The clock of this machine."""
        return read_machine_clock()

    def close(self) -> None:
        if self._closer is not None:
            self._closer()
        self._connection = self._closer = None

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and self._pid != os.getpid():  # after a fork the connection is the parent's
            inherited.append(self._connection)
            self._connection = None
        if self._connection is None:
            with self._translate_errors():
                uri = f"{self._path.as_uri()}?mode=rw"  # never makes a file
                connection = sqlite3.connect(
                    uri, uri=True, isolation_level=None, timeout=_BUSY, check_same_thread=False
                )
            try:
                self._check(connection)
            except BaseException:
                connection.close()
                raise
            self._connection, self._pid, self._file = connection, os.getpid(), self._identity()
            self._closer = weakref.finalize(self, close_own, connection, self._pid)
        return self._connection

    def _identity(self) -> tuple[int, int] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _check(self, connection: sqlite3.Connection) -> None:
        """Whether the file is a whole storage of a version that we know."""

        def ask(sql: str) -> Any:
            return self._wait_for(lambda: connection.execute(sql).fetchone())

        ask("PRAGMA foreign_keys = ON")
        ask("PRAGMA synchronous = FULL")
        ask("PRAGMA fullfsync = ON")  # macOS: past the cache of the drive, too
        tables = ask("SELECT count(*) FROM sqlite_master WHERE name = 'mfopt_schema'")[0]
        if not tables:
            raise NotAStorage(f"a storage must be made by mfopt, got {self}, a database of something else")
        version = ask("SELECT max(version) FROM mfopt_schema")[0]
        if not isinstance(version, int):
            raise StorageDamaged(f"{self} must state its version, got {version!r}: restore it from a copy")
        if version > VERSION:
            raise NewerSchema(f"{self} has version {version} and this mfopt knows up to {VERSION}: install a newer one")
        self._version = self._upgrade(connection, version)
        found = ask("PRAGMA integrity_check(1)")[0]  # indices too: a wrong one would hide events
        if found != "ok":
            raise StorageDamaged(f"{self} is damaged ({' '.join(str(found).split())}): restore it from a copy")
        mode = ask("PRAGMA journal_mode")[0]
        if mode != "wal":
            ask("PRAGMA journal_mode = WAL")

    def _upgrade(self, connection: sqlite3.Connection, version: int) -> int:
        """Bring tables of an older version up to date; the version afterwards, the same where it cannot be written."""
        if version == VERSION:
            return version
        try:
            self._wait_for(lambda: connection.execute("BEGIN IMMEDIATE"))
            with self._translate_errors():
                now = connection.execute("SELECT max(version) FROM mfopt_schema").fetchone()[0]
                for statement in upgrade(now):  # none, where another process was faster
                    connection.execute(statement)
                connection.execute("COMMIT")
        except StorageReadOnly:
            return version
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        return VERSION

    def _wait_for(self, call: Any) -> Any:
        """The result of `call`, which may have to wait for the locks of others."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                with self._translate_errors():
                    return call()
            except StorageBusy:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.005)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """SQLite's errors as ours, by their messages: their codes are known from Python 3.11 only."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self._translate(error) from error

    def _translate(self, error: sqlite3.Error | UnicodeDecodeError) -> MfoptError:
        said = str(error)
        if "locked" in said or "busy" in said:
            return StorageBusy(f"{self} has been in use by another process for {PATIENCE:g} s: find it and end it")
        if "full" in said:
            return StorageFull(f"{self} cannot grow ({said}): make room, then repeat the call")
        if "readonly" in said:
            return StorageReadOnly(f"{self} cannot be written: change the permissions of the file and its directory")
        if "not a database" in said:
            return NotAStorage(f"a storage must be a database made by mfopt, got {self}, which is something else")
        broken = isinstance(error, sqlite3.IntegrityError | UnicodeDecodeError)
        if broken or "malformed" in said or "no such" in said or "decode" in said:
            return StorageDamaged(f"{self} is damaged ({said}): restore it from a copy")
        if "disk I/O error" in said:
            return StorageError(
                f"{self} cannot be read or written ({said}): look at free space, quota and the disk, "
                "then repeat the call"
            )
        if "unable to open" in said:
            return StorageError(
                f"{self} cannot be opened ({said}): look at the permissions of the file and its directory, "
                "where SQLite must make files of its own"
            )
        return StorageError(f"{self}: {said}")


def _sync_directory(path: Path) -> None:
    """The new name survives a power cut, too."""
    directory = os.open(path, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
