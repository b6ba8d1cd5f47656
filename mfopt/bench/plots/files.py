"""Files of pictures."""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import Any


def save(figure: Any, paths: Iterable[str | PathLike[str]]) -> None:
    """Into every one of the files; nothing in them depends on when they were drawn."""
    import matplotlib

    for path in paths:
        metadata = {"Date": None} if str(path).endswith(".svg") else None
        with matplotlib.rc_context({"svg.hashsalt": "mfopt"}):
            figure.savefig(path, dpi=120, metadata=metadata)
