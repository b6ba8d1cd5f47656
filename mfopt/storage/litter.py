"""Litter: files of studies whose making was interrupted by a kill or a power cut (`study.db.new-...`)."""

from __future__ import annotations

import contextlib
import os
import re
import time
from pathlib import Path

OLD = 60.0  # seconds; making a study takes milliseconds


def sweep(path: Path) -> None:
    """Remove what was left behind when the file at `path` was to be made, unless somebody may still be at it."""
    name = re.compile(re.escape(path.name) + r"\.new-[0-9a-f]{16}(-wal|-shm|-journal)?")
    with contextlib.suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            if name.fullmatch(entry.name):
                with contextlib.suppress(OSError):
                    if _is_left(entry.path, path):
                        os.unlink(entry.path)


def _is_left(litter: str, path: Path) -> bool:
    """Whether it is old, or a second name of the finished file."""
    found = os.lstat(litter)
    with contextlib.suppress(OSError):
        made = path.stat()
        if (found.st_dev, found.st_ino) == (made.st_dev, made.st_ino):
            return True
    return time.time() - found.st_mtime > OLD
