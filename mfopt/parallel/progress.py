"""Progress: two lines of plain text about a running optimisation."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from typing import TextIO

import numpy as np

from mfopt.checks import escape
from mfopt.optimizer import Optimizer
from mfopt.run.trial import Trial

_EVERY_TTY = 0.1  # seconds between redraws
_EVERY_LINE = 30.0  # seconds between lines where nothing can be redrawn (a file, a pipe)
_WIDTH = 20


class Progress:
    """Draws on `stream` (stderr): two lines redrawn on a terminal, a sparse sequence of lines elsewhere.

    `unit` turns values into what is to be shown, where the optimiser was told something else.
    """

    def __init__(self, stream: TextIO | None = None, unit: Callable[[float], float] = float) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._unit = unit
        self._redraws = self._stream.isatty()
        self._drawn = -np.inf
        self._lines = [""]

    def update(self, optimizer: Optimizer, trial: Trial | None = None, running: int = 0, failed: int = 0) -> None:
        """`trial` was the last to be told; `running` and `failed` count evaluations."""
        now = time.monotonic()
        if now - self._drawn >= (_EVERY_TTY if self._redraws else _EVERY_LINE):
            self._draw(optimizer, trial, running, failed)
            self._drawn = now

    def close(self, optimizer: Optimizer, trial: Trial | None = None, failed: int = 0) -> None:
        """The last state, on lines of its own."""
        self._draw(optimizer, trial, 0, failed)
        if self._redraws:
            self._stream.write("\n")
            self._stream.flush()

    def _draw(self, optimizer: Optimizer, trial: Trial | None, running: int, failed: int) -> None:
        lines = [line(optimizer, running, failed, self._unit), *([] if trial is None else [last(trial)])]
        if self._redraws:
            width = shutil.get_terminal_size().columns - 1
            # Back to the first line of the last time; each line is wiped before it is written.
            back = "\r" + "\x1b[A" * (len(self._lines) - 1)
            self._stream.write(back + "\n".join(f"\x1b[K{_cut(text, width)}" for text in lines))
            self._lines = lines
        else:
            self._stream.write("  ".join(lines) + "\n")
        self._stream.flush()


def line(optimizer: Optimizer, running: int = 0, failed: int = 0, unit: Callable[[float], float] = float) -> str:
    """Capital spent, best value, told trials per fidelity, what is under way and what went wrong."""
    spent = f"{optimizer.spent:g}"
    if optimizer.capital is not None:
        share = min(optimizer.spent / optimizer.capital, 1.0)  # the last query may overdraw
        bar = "#" * int(_WIDTH * share)
        spent = f"[{bar:.<{_WIDTH}}] {spent}/{optimizer.capital:g}"
    best = "none" if optimizer.best is None else f"{unit(optimizer.best.y):.6g}"
    counts = np.bincount(optimizer.history.fidelity, minlength=len(optimizer.costs))
    parts = [spent, f"best {best}", f"queries {' + '.join(map(str, counts.tolist()))}"]
    parts += [f"running {running}"] * (running > 0) + [f"failed {failed}"] * (failed > 0)
    return "  ".join(parts)


def _cut(text: str, width: int) -> str:
    """What fits on a line; that something is missing is seen, a number without its end would be another one."""
    return text if len(text) <= width else f"{text[: max(width - 3, 0)]}..."


def last(trial: Trial) -> str:
    """The last trial told and, in short, why it was chosen."""
    try:
        why = str(trial.reason).split("\n", 1)[0]
    except Exception:  # a plugin's own; no run is to end for that
        why = "(its reason cannot be shown)"
    return f"last {trial.id}: {escape(why)}"
