"""SQLite: one file, for processes on one machine.

WAL with synchronous=FULL: a commit is on the disk before it returns, and readers never wait. Writers queue up: a
transaction begins by taking the write lock (BEGIN IMMEDIATE), so it never fails half-way for want of it.

SQLite passes over damage of the -wal file in silence. So what was committed is moved on into the main file at once, or
with the next commit where that would take too much time (a checkpoint), and how many events were acknowledged is
noted (receipt.py) and compared when the file is opened.
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

from mfopt.checks import escape, show
from mfopt.errors import NewerSchema, NotAStorage, StorageBusy, StorageDamaged, StorageError, StorageReadOnly
from mfopt.storage import catalogue, loss
from mfopt.storage.clock import Moment, read_machine_clock
from mfopt.storage.database import PATIENCE, inherited
from mfopt.storage.litter import sweep
from mfopt.storage.mounts import warn_of_network
from mfopt.storage.receipt import Receipt
from mfopt.storage.schema import TABLES, VERSION, upgrade
from mfopt.storage.sqlite_errors import translate

_BUSY = 5.0  # seconds that SQLite itself waits for a lock; then Ctrl-C has its turn, and we ask again
_SELDOM = 1.0  # seconds: within this time what was written is moved on from the -wal file into the main one
_SHARE = 10.0  # and sooner where that is fast: the work for it is at most a tenth of the time


class SQLite:
    """The database in the file `path`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._receipt = Receipt(path)
        self._due = 0.0  # when the next checkpoint is, by the monotonic clock
        self._connection: sqlite3.Connection | None = None
        self._pid = 0
        self._begun = 0  # how many transactions
        self._closer: weakref.finalize[Any, Any] | None = None
        self._file: tuple[int, int] | None = None  # device and inode that the connection is to
        self._version = VERSION  # of the tables in the file

    def __reduce__(self) -> tuple[type[SQLite], tuple[Path]]:
        """Copies, also in other processes, connect on their own."""
        return SQLite, (self._path,)

    def __str__(self) -> str:
        return escape(str(self._path))

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
        sweep(self._path)
        warn_of_network(self._path)
        return True

    def prepare(self) -> None:
        """Make the file with its tables, unless it is there.

        It is made beside its place and linked into it, so that no other process and no crash ever sees a part of it.
        """
        if self.exists():
            return
        if not self._path.parent.is_dir():
            raise StorageError(f"a storage must lie in a directory that exists, got {self}")
        sweep(self._path)
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
        self._begun += 1
        mine = self._begun
        self._wait_for(lambda: connection.execute("BEGIN IMMEDIATE"))
        try:
            yield
            with self._translate_errors():
                connection.execute("COMMIT")
            self._checkpoint(connection)
        except BaseException:
            # A full disk may have ended it already. A block that Ctrl-C kept from ending may end much later.
            if connection.in_transaction and mine == self._begun:
                with contextlib.suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
            raise

    def _checkpoint(self, connection: sqlite3.Connection) -> None:
        """Move what was committed into the main file, if the last time was long enough ago."""
        start = time.monotonic()
        if start < self._due:
            return
        with contextlib.suppress(sqlite3.Error):  # what is committed is safe, and the next commit tries again
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
        end = time.monotonic()
        self._due = end + min(_SELDOM, _SHARE * (end - start))

    def acknowledge(self, study: str, header: int, count: int) -> None:
        self._receipt.note(study, header, count)

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
            self._closer = weakref.finalize(self, _close, connection, self._pid, self._path)
        return self._connection

    def _identity(self) -> tuple[int, int] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _check(self, connection: sqlite3.Connection) -> None:
        """Whether the file is a whole storage of a version that we know, and nothing else."""

        def ask(sql: str, *parameters: object) -> list[Any]:
            return self._wait_for(lambda: connection.execute(sql, parameters).fetchall())  # type: ignore[no-any-return]

        ask("PRAGMA trusted_schema = OFF")
        ask("PRAGMA foreign_keys = ON")
        ask("PRAGMA synchronous = FULL")
        ask("PRAGMA fullfsync = ON")  # macOS: past the cache of the drive, too
        found = ask(catalogue.READ)
        if not any(name.lower() == "mfopt_schema" for _, name, _, _ in found):
            raise NotAStorage(f"a storage must be made by mfopt, got {self}, a database of something else")
        loss.refuse_broken_wal(self._path, self._receipt, ask)
        ask("BEGIN")  # one state of the file: another process may be upgrading it
        found = ask(catalogue.READ)
        stranger = catalogue.find_intruder(found)
        if stranger is not None:
            raise StorageDamaged(
                f"{self} must hold nothing but tables of mfopt, got {stranger}: restore it from a copy"
            )
        version = ask("SELECT max(version) FROM mfopt_schema")[0][0]
        ask("COMMIT")
        if not isinstance(version, int) or version < 1:
            raise StorageDamaged(f"{self} must state its version, got {show(version)}: restore it from a copy")
        if version > VERSION:
            raise NewerSchema(f"{self} has version {version} and this mfopt knows up to {VERSION}: install a newer one")
        difference = catalogue.find_difference(found, version)
        if difference is not None:
            raise StorageDamaged(f"{self} must have the tables of mfopt, but {difference}: restore it from a copy")
        wrong = ask("PRAGMA integrity_check(1)")[0][0]  # indices too: a wrong one would hide events
        if wrong != "ok":
            raise StorageDamaged(f"{self} is damaged ({' '.join(str(wrong).split())}): restore it from a copy")
        loss.refuse_missing_events(self._path, self._receipt, ask)
        self._version = self._upgrade(connection, version)
        if ask("PRAGMA journal_mode")[0][0] != "wal":
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
        """SQLite's errors as ours."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise translate(str(self), error) from error


def _close(connection: sqlite3.Connection, pid: int, path: Path) -> None:
    """Close a connection, in the process that opened it only; the last one takes the -wal file and the receipt away."""
    if os.getpid() == pid:
        connection.close()
        if not Path(f"{path}-wal").exists():
            Receipt(path).remove()


def _sync_directory(path: Path) -> None:
    """The new name survives a power cut, too."""
    directory = os.open(path, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
