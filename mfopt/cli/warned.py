"""Warnings as commands show them."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import mfopt
from mfopt.checks import escape

_OURS = os.path.dirname(os.path.abspath(mfopt.__file__)) + os.sep


@contextmanager
def brief_warnings() -> Iterator[None]:
    """Within, our own warnings are one line each and said once; those of a user's code show where they come from."""
    usual, said = warnings.formatwarning, set[str]()

    def show_briefly(
        message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
    ) -> str:
        if category.__module__ != "mfopt.errors" and not filename.startswith(_OURS):
            return usual(message, category, filename, lineno, line)
        text = f"mfopt: warning: {escape(' '.join(str(message).split()))}\n"
        if text in said:
            return ""
        said.add(text)
        return text

    warnings.formatwarning = show_briefly
    try:
        yield
    finally:
        warnings.formatwarning = usual
