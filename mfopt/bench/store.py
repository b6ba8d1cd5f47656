"""The file of results, cells.jsonl: one finished cell per line, appended as it comes.

Each line is one write followed by fsync. A line that was torn by a crash is skipped when the file is read, and the next
writer starts on a line of its own. Of several lines for one cell the last counts.
"""

from __future__ import annotations

import json
import os
from os import PathLike
from pathlib import Path

from mfopt.bench.cells import Cell, Task

NAME = "cells.jsonl"


def load(out: str | PathLike[str]) -> list[Cell]:
    """The cells kept in the directory, in the order in which they were first finished."""
    path = Path(out) / NAME
    if not path.exists():
        return []
    cells: dict[Task, Cell] = {}
    for line in path.read_bytes().split(b"\n"):
        try:
            cell = Cell.from_json(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError):  # a torn line, or an empty one at the end
            continue
        cells[cell.task] = cell
    return list(cells.values())


class Store:
    """Appends cells to the directory's file."""

    def __init__(self, out: str | PathLike[str]) -> None:
        directory = Path(out)
        directory.mkdir(parents=True, exist_ok=True)
        self._file = open(directory / NAME, "ab+", buffering=0)  # noqa: SIM115 closed by close()
        if self._file.tell() > 0:
            self._file.seek(-1, os.SEEK_END)
            if self._file.read(1) != b"\n":
                self._file.write(b"\n")

    def append(self, cell: Cell) -> None:
        """Write the cell; it is on the disk when this returns."""
        self._file.write(json.dumps(cell.to_json(), allow_nan=False).encode() + b"\n")
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()
