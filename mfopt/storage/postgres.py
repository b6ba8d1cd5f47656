"""PostgreSQL: a server, for processes on many machines. Needs psycopg: pip install 'mfopt[postgres]'.

A transaction on a study begins by locking the study's row, so that studies do not wait for each other.
"""

from __future__ import annotations

import contextlib
import os
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mfopt.checks import escape
from mfopt.errors import (
    InputError,
    MfoptError,
    NewerSchema,
    StorageBusy,
    StorageDamaged,
    StorageError,
    StorageFull,
    StorageReadOnly,
)
from mfopt.storage.address import hide_password, show_address
from mfopt.storage.clock import Moment
from mfopt.storage.database import PATIENCE, close_own, inherited
from mfopt.storage.schema import TABLES, VERSION, upgrade

if TYPE_CHECKING:
    import psycopg

# By a look at the catalogue itself: to_regclass may still answer from a time before another process made the tables.
_THERE = """
    SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relname = 'mfopt_schema' AND n.nspname = ANY (current_schemas(false))
"""
# What may change or replace what is read and written: other things than tables, rules, and triggers that come first.
# Triggers that come afterwards are left to the owner of the server, who may want a record of changes.
_STRANGERS = """
    SELECT CASE WHEN c.relkind IN ('r', 'p', 'i', 'I') THEN 'a trigger or a rule on ' ELSE 'no table as ' END
        || c.relname
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE left(c.relname, 6) = 'mfopt_' AND n.nspname = ANY (current_schemas(false)) AND (
        c.relkind NOT IN ('r', 'p', 'i', 'I')
        OR EXISTS (SELECT 1 FROM pg_catalog.pg_rewrite r WHERE r.ev_class = c.oid)
        OR EXISTS (SELECT 1 FROM pg_catalog.pg_trigger t
            WHERE t.tgrelid = c.oid AND NOT t.tgisinternal AND (t.tgtype::int & 66) <> 0)
    ) LIMIT 1
"""
_LOCK = 0x6D666F7074  # "mfopt": whoever makes tables or studies holds this advisory lock


class Postgres:
    """The database that `url` names."""

    def __init__(self, url: str) -> None:
        try:
            import psycopg
        except ImportError as error:
            raise StorageError("a PostgreSQL storage needs psycopg: pip install 'mfopt[postgres]'") from error
        self._psycopg = psycopg
        self._url = url
        self._connection: psycopg.Connection[Any] | None = None
        self._pid = 0
        self._begun = 0  # how many transactions
        self._version = VERSION  # of the tables in the database
        self._closer: weakref.finalize[Any, Any] | None = None

    def __reduce__(self) -> tuple[type[Postgres], tuple[str]]:
        """Copies, also in other processes, connect on their own."""
        return Postgres, (self._url,)

    def __str__(self) -> str:
        """The address without the password."""
        return show_address(self._url)

    def exists(self) -> bool:
        """Whether the database holds our tables; a database that cannot be reached is an error."""
        version = self._find_version()
        if version is None:
            return False
        if version > VERSION:
            raise NewerSchema(f"{self} has version {version} and this mfopt knows up to {VERSION}: install a newer one")
        self._version = version
        if version < VERSION:
            with contextlib.suppress(StorageReadOnly), self.transaction(None):  # of another's tables we are guests
                for statement in upgrade(self._find_version() or VERSION):  # none, where another process was faster
                    self.run(statement)
                self._version = VERSION
        return True

    def prepare(self) -> None:
        """Make the tables, unless they are there; they live beside any other tables of the database."""
        with self.transaction(None):
            if self._find_version() is None:
                for table in TABLES:
                    self.run(table.replace("BLOB", "BYTEA"))
                self.run("INSERT INTO mfopt_schema (version) VALUES (?)", (VERSION,))
        self.exists()

    def query(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        with self._translate_errors():
            return self._open().execute(sql.replace("?", "%s"), parameters).fetchall()

    def run(self, sql: str, parameters: Sequence[object] = ()) -> int:
        with self._translate_errors():
            return self._open().execute(sql.replace("?", "%s"), parameters).rowcount

    @contextmanager
    def transaction(self, study: str | None) -> Iterator[None]:
        connection = self._open()
        self._begun += 1
        mine = self._begun
        with self._translate_errors():
            if connection.info.transaction_status != self._psycopg.pq.TransactionStatus.IDLE:
                connection.execute("ROLLBACK")  # left behind by an interruption between two lines
            connection.execute("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE")  # whatever the server's default
        try:
            if study is None:
                self.query("SELECT pg_advisory_xact_lock(?)", (_LOCK,))
            else:
                self.query("SELECT name FROM mfopt_studies WHERE name = ? FOR UPDATE", (study,))
            yield
            with self._translate_errors():
                connection.execute("COMMIT")
        except BaseException:
            # A block that Ctrl-C kept from ending may end much later, within another transaction.
            if not connection.closed and mine == self._begun:
                with contextlib.suppress(self._psycopg.Error):
                    connection.execute("ROLLBACK")
            raise

    def acknowledge(self, study: str, header: int, count: int) -> None:
        """Nothing to do: the server has a log that does not end in silence."""

    def settle(self) -> None:
        """Nothing to do: the server's files are its own business."""

    @property
    def version(self) -> int:
        return self._version

    def now(self) -> Moment:
        """The server's clock, which all machines share; it has no other than the time of day."""
        return Moment(float(self.query("SELECT extract(epoch FROM clock_timestamp())::double precision")[0][0]))

    def close(self) -> None:
        if self._closer is not None:
            self._closer()
        self._connection = self._closer = None

    def _find_version(self) -> int | None:
        if not self.query(_THERE):
            return None
        strangers = self.query(_STRANGERS)
        if strangers:
            found = escape(strangers[0][0])
            raise StorageDamaged(f"{self} must hold plain tables of mfopt, got {found}: remove it or restore a copy")
        version = self.query("SELECT max(version) FROM mfopt_schema")[0][0]
        if version is None or version < 1:
            raise StorageDamaged(f"{self} must state its version, got {version}: restore it from a copy")
        return int(version)

    def _open(self) -> psycopg.Connection[Any]:
        if self._connection is not None and self._pid != os.getpid():  # after a fork the connection is the parent's
            inherited.append(self._connection)
            self._connection = None
        if self._connection is not None and (self._connection.closed or self._is_stuck(self._connection)):
            self.close()
        if self._connection is None:
            connection = self._connect()
            with self._translate_errors():
                connection.execute("SET synchronous_commit = on")
                connection.execute(f"SET lock_timeout = '{1000 * PATIENCE:.0f}ms'")
                # A machine that vanished in the middle of a transaction must not keep the study locked.
                connection.execute(f"SET idle_in_transaction_session_timeout = '{1000 * PATIENCE:.0f}ms'")
            self._connection, self._pid = connection, os.getpid()
            self._closer = weakref.finalize(self, close_own, connection, self._pid)
        return self._connection

    def _connect(self) -> psycopg.Connection[Any]:
        failure: MfoptError
        try:
            return self._psycopg.connect(self._url, autocommit=True)
        except self._psycopg.OperationalError as error:
            failure = self._translate(error)
        except (self._psycopg.Error, UnicodeError, ValueError):
            failure = InputError(
                f"a PostgreSQL address must be postgresql://user:password@host/database, with @ / : ? # in a password "
                f"written as %40 %2F %3A %3F %23, got {self}"
            )
        raise failure  # not from within `except`: the error of psycopg may quote the address, password and all

    def _is_stuck(self, connection: psycopg.Connection[Any]) -> bool:
        """Whether an interruption has left a command behind whose answer was not read."""
        return connection.info.transaction_status == self._psycopg.pq.TransactionStatus.ACTIVE

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """The server's errors as ours."""
        try:
            yield
        except self._psycopg.Error as error:
            raise self._translate(error) from error

    def _translate(self, error: psycopg.Error) -> MfoptError:
        said = hide_password(escape(" ".join(str(error).split())), self._url)
        errors = self._psycopg.errors
        if isinstance(error, errors.LockNotAvailable):
            return StorageBusy(f"{self} has been in use by another process for {PATIENCE:g} s: find it and end it")
        if isinstance(error, errors.DiskFull):
            return StorageFull(f"{self} cannot grow ({said}): make room, then repeat the call")
        if isinstance(error, errors.ReadOnlySqlTransaction | errors.InsufficientPrivilege):
            return StorageReadOnly(f"{self} cannot be written ({said}): give this user the right to")
        if isinstance(error, errors.UndefinedTable | errors.UndefinedColumn | self._psycopg.IntegrityError):
            return StorageDamaged(f"{self} is damaged ({said}): restore it from a copy")
        if isinstance(error, self._psycopg.OperationalError):
            return StorageError(
                f"{self} cannot be reached ({said}): look at the address and the server, then repeat the call"
            )
        return StorageError(f"{self}: {said}")
