"""Loss: events of an SQLite study that were acknowledged and are gone, found when the file is opened and told.

The errors come until somebody takes the receipt away: the ids of lost trials are handed out again, so going on with
what is left is a decision.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mfopt.checks import escape
from mfopt.errors import StorageDamaged
from mfopt.storage.receipt import Receipt
from mfopt.storage.wal import count_lost

Ask = Callable[..., list[Any]]  # a statement and its parameters to rows


def refuse_broken_wal(path: Path, receipt: Receipt, ask: Ask) -> None:
    """A StorageDamaged error where the -wal file holds transactions behind a place that cannot be read."""
    wal, page_size = Path(f"{path}-wal"), ask("PRAGMA page_size")[0][0]
    if not count_lost(wal, page_size):
        return
    # A process that writes meanwhile could make it look so. With the write lock it holds still.
    ask("BEGIN IMMEDIATE")
    try:
        lost = count_lost(wal, page_size)
    finally:
        ask("ROLLBACK")
    if lost:
        damage = f"its -wal file is damaged before its last {lost} transactions, which cannot be read"
        receipt.note_damage(damage)
        raise _tell(path, receipt, damage)


def refuse_missing_events(path: Path, receipt: Receipt, ask: Ask) -> None:
    """A StorageDamaged error where a study has fewer events than were acknowledged."""
    acknowledged, damage = receipt.read()  # first: what is committed meanwhile is more than this
    if damage:
        raise _tell(path, receipt, damage)
    events = "SELECT crc, (SELECT max(seq) FROM mfopt_events WHERE study = name) FROM mfopt_studies WHERE name = ?"
    for study, (header, count) in acknowledged.items():
        for crc, last in ask(events, study):
            if crc == header and (last or 0) < count:
                raise _tell(
                    path,
                    receipt,
                    f"study {study!r} must hold the {count} events that were acknowledged, got {last or 0}; "
                    "its -wal file was damaged, cut or removed, or an older copy was put in its place",
                )


def _tell(path: Path, receipt: Receipt, what: str) -> StorageDamaged:
    """The error; a copy of the -wal file, which SQLite will clear away, is kept for those who can read it."""
    wal, kept = Path(f"{path}-wal"), Path(f"{path}-wal.damaged")
    with contextlib.suppress(OSError):
        if not kept.exists() and wal.stat().st_size:
            shutil.copyfile(wal, kept)
    return StorageDamaged(
        f"{escape(str(path))} has lost events: {what}. Restore a copy; to go on with what is left, "
        f"delete the file {escape(receipt.path.name)} beside it"
    )
