"""Tables in plain text."""

from __future__ import annotations

from collections.abc import Sequence

from mfopt.checks import escape


def align(rows: Sequence[Sequence[str]], right: bool = False) -> list[str]:
    """The rows as lines whose columns, two blanks apart, are aligned on the left, or on the right.

    Control characters, which a name in a foreign file may hold, are shown and not sent to the terminal.
    """
    rows = [[escape(cell) for cell in row] for row in rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    if right:
        return ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
