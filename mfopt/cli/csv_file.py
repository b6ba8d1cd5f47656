"""CSV files that users give, and what their cells mean."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from mfopt.errors import InputError

_WORDS = {"true": True, "false": False}


def read_csv(path: str) -> tuple[list[str], list[list[str]]]:
    """The header and the rows of a file, all of one length; empty lines do not count."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:  # with or without the mark that Excel puts first
            header, *rows = [row for row in csv.reader(file) if row] or [[]]
    except (csv.Error, UnicodeDecodeError) as error:
        raise InputError(f"{path} must be a CSV file, got {error}") from None
    if not rows:
        raise InputError(f"{path} must have a header and below it a row at least, got the header {header} alone")
    for k, row in enumerate(rows):
        if len(row) != len(header):
            raise InputError(f"{path} must have {len(header)} cells in every row, as its header, got {row} in row {k}")
    return header, rows


def read_cells(cells: Sequence[str]) -> list[Any]:
    """The values of a column: integers, numbers or booleans where all its cells are, otherwise strings.

    An empty cell is None, whatever the others are.
    """
    filled = [cell.strip() for cell in cells if cell.strip()]
    kinds: tuple[Callable[[str], Any], ...] = (int, float, lambda cell: _WORDS[cell.lower()])
    for read in kinds:
        with suppress(ValueError, KeyError):
            values = iter([read(cell) for cell in filled])
            return [next(values) if cell.strip() else None for cell in cells]
    return [cell if cell.strip() else None for cell in cells]
