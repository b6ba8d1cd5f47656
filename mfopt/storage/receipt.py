"""Receipt: a small file beside an SQLite study that says how many events of each study were acknowledged.

It is written after a commit is on the disk and is not synced itself, so that it costs microseconds and never claims
more than was durable; a crash may leave it older, or torn, which only makes it say less. When the database is opened, a
study with fewer events than its receipt states has lost some. It goes when the -wal file goes, for then the main file
holds everything.
"""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from pathlib import Path


class Receipt:
    """That of the database at `database`."""

    def __init__(self, database: Path) -> None:
        self.path = database.with_name(f"{database.name}-ack")
        self._database = database

    def read(self) -> tuple[dict[str, tuple[int, int]], str]:
        """By study the checksum of its header and the number of its events; and damage found before, or ""."""
        try:
            text, _, crc = self.path.read_text("utf-8", "replace").rpartition("\n")
            if f"{zlib.crc32(text.encode()):08x}" != crc:
                return {}, ""
            studies, damage = json.loads(text)
            return {name: (header, count) for name, (header, count) in studies.items()}, str(damage)
        except (OSError, ValueError, TypeError, AttributeError, RecursionError):
            return {}, ""

    def note(self, study: str, header: int, count: int) -> None:
        """The study whose header has this checksum holds that many events."""
        studies, damage = self.read()
        studies[study] = header, count
        self._write(studies, damage)

    def note_damage(self, damage: str) -> None:
        """Have the file refused until somebody takes the receipt away: what is lost should not be overlooked."""
        self._write(self.read()[0], damage)

    def remove(self) -> None:
        with contextlib.suppress(OSError):
            self.path.unlink()

    def _write(self, studies: dict[str, tuple[int, int]], damage: str) -> None:
        text = json.dumps([studies, damage])
        data = f"{text}\n{zlib.crc32(text.encode()):08x}".encode()
        with contextlib.suppress(OSError):  # a commit that is done must not fail for its receipt
            new = not self.path.exists()
            file = os.open(self.path, os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o666)
            try:
                if new and hasattr(os, "fchmod"):  # whoever may write the database may write this
                    os.fchmod(file, self._database.stat().st_mode & 0o666)
                os.write(file, data)
                os.ftruncate(file, len(data))
            finally:
                os.close(file)
