"""SQLite's errors as ours, by their messages: their codes are known from Python 3.11 only."""

from __future__ import annotations

import sqlite3

from mfopt.checks import escape
from mfopt.errors import (
    MfoptError,
    NotAStorage,
    StorageBusy,
    StorageDamaged,
    StorageError,
    StorageFull,
    StorageReadOnly,
)
from mfopt.storage.database import PATIENCE


def translate(place: str, error: sqlite3.Error | UnicodeDecodeError) -> MfoptError:
    """What happened to the file at `place`, and what to do."""
    said = escape(str(error))
    if "locked" in said or "busy" in said:
        return StorageBusy(f"{place} has been in use by another process for {PATIENCE:g} s: find it and end it")
    if "full" in said:
        return StorageFull(f"{place} cannot grow ({said}): make room, then repeat the call")
    if "readonly" in said:
        return StorageReadOnly(f"{place} cannot be written: change the permissions of the file and its directory")
    if "not a database" in said:
        return NotAStorage(f"a storage must be a database made by mfopt, got {place}, which is something else")
    broken = isinstance(error, sqlite3.IntegrityError | UnicodeDecodeError)
    if broken or "malformed" in said or "no such" in said or "decode" in said:
        return StorageDamaged(f"{place} is damaged ({said}): restore it from a copy")
    if "disk I/O error" in said:
        return StorageError(
            f"{place} cannot be read or written ({said}): look at free space, quota and the disk, then repeat the call"
        )
    if "unable to open" in said:
        return StorageError(
            f"{place} cannot be opened ({said}): look at the permissions of the file and its directory, "
            "where SQLite must make files of its own"
        )
    return StorageError(f"{place}: {said}")
