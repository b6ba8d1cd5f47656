"""Progress: one line of plain text about a running optimisation."""

from __future__ import annotations

import sys
import time
from typing import TextIO

import numpy as np

from mfopt.optimizer import Optimizer

_EVERY_TTY = 0.1  # seconds between redraws of the line
_EVERY_LINE = 30.0  # seconds between lines where nothing can be redrawn (a file, a pipe)
_WIDTH = 20


class Progress:
    """Draws on `stream` (stderr): one line redrawn on a terminal, a sparse sequence of lines elsewhere."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._redraws = self._stream.isatty()
        self._drawn = -np.inf
        self._length = 0

    def update(self, optimizer: Optimizer) -> None:
        now = time.monotonic()
        if now - self._drawn >= (_EVERY_TTY if self._redraws else _EVERY_LINE):
            self._draw(optimizer)
            self._drawn = now

    def close(self, optimizer: Optimizer) -> None:
        """The last state, on a line of its own."""
        self._draw(optimizer)
        if self._redraws:
            self._stream.write("\n")
            self._stream.flush()

    def _draw(self, optimizer: Optimizer) -> None:
        text = line(optimizer)
        if self._redraws:
            self._stream.write("\r" + text.ljust(self._length))  # blanks wipe the rest of a longer line
            self._length = len(text)
        else:
            self._stream.write(text + "\n")
        self._stream.flush()


def line(optimizer: Optimizer) -> str:
    """Capital spent, best value, told trials per fidelity."""
    spent = f"{optimizer.spent:g}"
    if optimizer.capital is not None:
        share = optimizer.spent / optimizer.capital
        bar = "#" * int(_WIDTH * share)
        spent = f"[{bar:.<{_WIDTH}}] {spent}/{optimizer.capital:g}"
    best = "none" if optimizer.best is None else f"{optimizer.best.y:.6g}"
    counts = np.bincount(optimizer.history.fidelity, minlength=len(optimizer.costs))
    return f"{spent}  best {best}  queries {' + '.join(map(str, counts.tolist()))}"
