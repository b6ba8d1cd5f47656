"""A process that runs cells: tasks come as lines of JSON on stdin, answers leave as lines of JSON on stdout.

An answer is {"progress": share of the capital spent}, or {"cell": ...} when the cell is finished. The worker ends with
its stdin, at once, or when nobody reads its answers.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
from typing import Any, TextIO

from mfopt.bench.cells import Task, run_cell

_EVERY = 0.5  # seconds between reports of progress


class _Reports:
    """Tells the share of the capital spent, but not too often."""

    def __init__(self, answers: TextIO) -> None:
        self._answers = answers
        self._last = time.monotonic()

    def __call__(self, share: float) -> None:
        now = time.monotonic()
        if now - self._last >= _EVERY:
            self._last = now
            _answer(self._answers, {"progress": share})


def _answer(answers: TextIO, message: dict[str, Any]) -> None:
    answers.write(json.dumps(message) + "\n")
    answers.flush()


def main() -> None:
    # What a problem or a plugin prints must not end up among the answers: it goes to stderr.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    orders: queue.SimpleQueue[str] = queue.SimpleQueue()
    idle = threading.Event()
    threading.Thread(target=_receive, args=(orders, idle), daemon=True).start()
    while line := orders.get():
        order = json.loads(line)
        cell = run_cell(Task(**order["task"]), order["label"], order["limit"], order["history"], _Reports(answers))
        idle.set()
        _answer(answers, {"cell": cell.to_json()})


def _receive(orders: queue.SimpleQueue[str], idle: threading.Event) -> None:
    """Take in orders. When stdin ends during a cell, the process that waits for it was killed: end too."""
    idle.set()
    for line in sys.stdin:
        idle.clear()
        orders.put(line)
    if not idle.is_set():
        os._exit(1)
    orders.put("")


if __name__ == "__main__":
    main()
