"""The progress of an experiment: a line per finished cell, and on a terminal a last line about those that run."""

from __future__ import annotations

import sys
import time
from shutil import get_terminal_size
from typing import TextIO

from mfopt.bench.cells import Cell, Task

_EVERY = 0.2  # seconds between redraws
_WIDTH = 20


class Display:
    """Draws on `stream` (stderr). `wanted` cells in all, of which `kept` were there before."""

    def __init__(self, wanted: int, kept: int, on: bool | None, stream: TextIO | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream
        self._redraws = self._stream.isatty()
        self._on = self._redraws if on is None else on
        self._wanted, self._done, self._new, self._failed = wanted, kept, 0, 0
        self._running: dict[Task, float] = {}
        self._start = time.monotonic()
        self._drawn = 0.0
        if self._on and kept:
            self._stream.write(f"{kept} of {wanted} cells are there already\n")

    def advance(self, task: Task, share: float) -> None:
        """The task has spent this share of its capital."""
        self._running[task] = share
        if self._on and self._redraws and time.monotonic() - self._drawn >= _EVERY:
            self._draw()

    def finish(self, cell: Cell) -> None:
        """The cell is there."""
        self._running.pop(cell.task, None)
        self._done += 1
        self._new += 1
        self._failed += cell.status == "failed"
        if self._on:
            self._clear()
            self._stream.write(f"{self._done:>{len(str(self._wanted))}}/{self._wanted}  {describe(cell)}\n")
            self._draw()

    def close(self) -> None:
        """The last line: how many cells there are."""
        if self._on:
            self._clear()
            failed = f", {self._failed} failed" if self._failed else ""
            self._stream.write(f"{self._done} of {self._wanted} cells finished{failed}\n")
            self._stream.flush()

    def _clear(self) -> None:
        if self._redraws:
            self._stream.write("\r\x1b[K")

    def _draw(self) -> None:
        if not self._redraws:
            self._stream.flush()
            return
        self._drawn = time.monotonic()
        partly = sum(self._running.values())
        share = (self._done + partly) / self._wanted
        bar = "#" * int(_WIDTH * share)
        left = ""
        if self._new + partly > 0.5:
            seconds = (self._drawn - self._start) / (self._new + partly) * (self._wanted - self._done - partly)
            left = f", about {format_seconds(seconds)} left"
        now = "; ".join(f"{t.problem} {t.method} {t.seed}: {s:.0%}" for t, s in self._running.items())
        text = f"[{bar:.<{_WIDTH}}] {self._done}/{self._wanted}{left}  {now}"
        self._clear()
        self._stream.write(text[: get_terminal_size().columns - 1])
        self._stream.flush()


def describe(cell: Cell) -> str:
    """One line about a finished cell."""
    task = cell.task
    what = f"{task.problem}  {cell.label}  seed {task.seed}"
    if cell.status == "failed":
        return f"{what}  FAILED: {cell.error.strip().splitlines()[-1]}"
    regret = f"{cell.regret[-1]:.2e}" if cell.regret else "none"
    queries = " + ".join(map(str, cell.queries))
    cut = ", cut by the time limit" if cell.status == "cut" else ""
    return f"{what}  regret {regret}  queries {queries}  {format_seconds(cell.seconds)}{cut}"


def format_seconds(seconds: float) -> str:
    """A duration for people."""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes / 60:.1f} h"
