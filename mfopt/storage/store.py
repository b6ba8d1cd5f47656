"""Store: the studies of a database."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from mfopt.checks import show
from mfopt.errors import InputError, NotAStorage, StorageDamaged, UnknownStudy
from mfopt.storage.address import looks_like_address, show_safely
from mfopt.storage.database import LONGEST, Database, write_row

_COLUMNS = "name, created, mfopt, spec, crc"
_READ = f"SELECT name, created, mfopt, substr(spec, 1, {LONGEST}), crc FROM mfopt_studies"


@dataclass(frozen=True)
class Header:
    """What a study was made with."""

    name: str
    created: str  # UTC, ISO 8601
    mfopt: str  # the version that made it
    spec: Mapping[str, Any]  # see header.py
    crc: int  # of the spec as it is written

    @property
    def seed(self) -> int:
        return int(self.spec["seed"])


def connect(storage: object) -> Store:
    """The store that `storage` names; nothing is opened or made before it is needed."""
    if isinstance(storage, Store):
        return storage
    if isinstance(storage, os.PathLike):
        storage = os.fspath(storage)
    if not isinstance(storage, str) or not storage or "\0" in storage:
        raise InputError(
            f'storage must be "sqlite:///study.db", a path or "postgresql://user@host/database", got '
            f"{show_safely(storage)}"
        )
    if storage.startswith(("postgresql://", "postgres://")):
        from mfopt.storage.postgres import Postgres

        return Store(Postgres(storage))
    path = unquote(storage.removeprefix("sqlite:///")) if storage.startswith("sqlite:///") else storage
    if looks_like_address(path):
        raise InputError(
            f"storage must begin with sqlite:/// or postgresql://, or be a path, got {show_safely(storage)}"
        )
    if path in ("", ":memory:"):
        raise InputError(f"storage must be a file, got {show(path)}; leave it out for a study in memory only")
    from mfopt.storage.sqlite import SQLite

    return Store(SQLite(Path(path).absolute()))


class Store:
    """Studies by name."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def __str__(self) -> str:
        return str(self.database)

    def headers(self) -> list[Header]:
        """Every study, oldest first; a NotAStorage error where there is no storage."""
        if not self.database.exists():
            raise NotAStorage(f"there must be a storage at {self}, got nothing")
        rows = self.database.query(f"{_READ} ORDER BY created, name")
        return [self._header(row) for row in rows]

    def find(self, name: str) -> Header | None:
        """The study of this name; None where there is none."""
        if not self.database.exists():
            return None
        return self._look_up(name)

    def get(self, name: str | None) -> Header:
        """The study of this name, or the only one if `name` is None; an UnknownStudy error otherwise."""
        headers = self.headers()
        names = [header.name for header in headers]
        if name is None and len(headers) == 1:
            return headers[0]
        if name not in names:
            listed = ", ".join(map(repr, names)) or "none"
            asked = "no name" if name is None else repr(name)
            raise UnknownStudy(f"study must be one of those in {self} ({listed}), got {asked}")
        return headers[names.index(name)]

    def create(self, name: str, spec: Mapping[str, Any], arrays: Mapping[str, bytes]) -> Header:
        """A new study; the one that is there if another process was faster."""
        database = self.database
        database.prepare()
        with database.transaction(None):
            found = self._look_up(name)
            if found is not None:
                return found
            created = datetime.now(timezone.utc).isoformat(timespec="microseconds")
            written = json.dumps(spec, allow_nan=False)
            if len(written) >= LONGEST:
                raise InputError(f"a header must be shorter than {LONGEST} characters, got {len(written)}")
            header = Header(name, created, version("mfopt"), spec, zlib.crc32(written.encode()))
            write_row(
                database,
                f"INSERT INTO mfopt_studies ({_COLUMNS}) VALUES (?, ?, ?, ?, ?)",
                (name, header.created, header.mfopt, written, header.crc),
            )
            for array, data in arrays.items():
                new_array = "INSERT INTO mfopt_arrays (study, name, data) VALUES (?, ?, ?)"
                write_row(database, new_array, (name, array, data))
        database.acknowledge(name, header.crc, 0)
        database.settle()
        return header

    def capital(self, header: Header) -> float | None:
        """Λ as it is now."""
        sql = "SELECT y FROM mfopt_events WHERE study = ? AND kind = 'capital' ORDER BY seq DESC LIMIT 1"
        rows = self.database.query(sql, (header.name,))
        if rows and not isinstance(rows[0][0], float):
            raise StorageDamaged(
                f"{self}: the capital of study {header.name!r} must be a number, got {show(rows[0][0])}: restore a copy"
            )
        return rows[0][0] if rows else header.spec["capital"]  # type: ignore[no-any-return]

    def array(self, name: str, array: str) -> bytes | None:
        """A large array of a study's header; None if it has none of this name."""
        rows = self.database.query("SELECT data FROM mfopt_arrays WHERE study = ? AND name = ?", (name, array))
        return bytes(rows[0][0]) if rows else None

    def _look_up(self, name: str) -> Header | None:
        rows = self.database.query(f"{_READ} WHERE name = ?", (name,))
        return self._header(rows[0]) if rows else None

    def _header(self, row: tuple[Any, ...]) -> Header:
        name, created, made, spec, crc = row
        if zlib.crc32(str(spec).encode()) != crc:
            raise StorageDamaged(f"{self}: the header of study {name!r} is not what was written: restore a copy")
        try:
            if not all(isinstance(text, str) for text in (name, created, made)):
                raise TypeError("name, date and version must be texts")
            return Header(name, created, made, dict(json.loads(spec)), crc)
        except (ValueError, TypeError, RecursionError) as error:
            raise StorageDamaged(
                f"{self}: the header of study {name!r} cannot be read, {show(spec)}: restore a copy"
            ) from error
