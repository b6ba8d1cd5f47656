"""Cells in parallel processes.

A thread per job owns one worker process (mfopt.bench.worker) and feeds it one cell after the other. A worker that
dies takes only its cell with it: the cell is recorded as failed and the thread starts another worker. The calling
thread takes the results.

This is not mfopt.parallel.process_pool, though both let a death cost one task only. A worker here is a program of its
own that speaks JSON on its pipes: it needs nothing from the script that started it, not even a main guard, and it can
be given one BLAS thread, a log, and a session that Ctrl-C does not reach. A worker there must share the script, whose
functions it evaluates.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mfopt.bench.cells import Cell, Task

Advance = Callable[[Task, float], None]  # is told the share of its capital that a task has spent
_ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def run_in_processes(
    tasks: Sequence[tuple[Task, str]], jobs: int, limit: float | None, history: bool, log: Path, advance: Advance
) -> Iterator[Cell]:
    """Run tasks, each with a label, in so many processes; their cells as they finish.

    `limit` and `history` are those of mfopt.bench.cells.run_cell; `advance` is told how far each running task is. What
    the processes print goes to the file `log`.
    """
    waiting: queue.SimpleQueue[tuple[Task, str]] = queue.SimpleQueue()
    for one in tasks:
        waiting.put(one)
    events: queue.SimpleQueue[tuple[Task, Any]] = queue.SimpleQueue()
    workers: list[_Worker] = []
    try:
        workers += [_Worker(waiting, events, limit, history, log) for _ in range(jobs)]
        done = 0
        while done < len(tasks):
            task, what = events.get()
            if isinstance(what, BaseException):
                raise what
            if isinstance(what, Cell):
                done += 1
                yield what
            else:
                advance(task, what)
    finally:
        for worker in workers:
            worker.stop()
        for worker in workers:
            worker.join()


class _Worker:
    """Feeds a process with cells from `waiting`; puts (task, share of capital spent) and (task, cell) on `events`."""

    def __init__(
        self,
        waiting: queue.SimpleQueue[tuple[Task, str]],
        events: queue.SimpleQueue[tuple[Task, Any]],
        limit: float | None,
        history: bool,
        log: Path,
    ) -> None:
        self._waiting, self._events = waiting, events
        self._limit, self._history, self._log = limit, history, log
        self._process: subprocess.Popen[str] | None = None
        self._lock = threading.Lock()
        self._stopped = False
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        with self._lock:
            self._stopped = True
            if self._process is not None:
                self._process.kill()

    def join(self) -> None:
        """Wait for the end of the thread and its process."""
        self._thread.join()

    def _serve(self) -> None:
        try:
            while not self._stopped:
                try:
                    task, label = self._waiting.get_nowait()
                except queue.Empty:
                    break
                cell = self._run(task, label)
                if cell is not None:
                    self._events.put((task, cell))
        except BaseException as error:  # the main thread must not wait for what will never come
            self._events.put((task, error))
        finally:
            self._end()

    def _run(self, task: Task, label: str) -> Cell | None:
        """The finished cell; None when the worker was stopped."""
        start = time.perf_counter()
        process = self._ensure_process()
        if process is None:
            return None
        assert process.stdin is not None
        assert process.stdout is not None
        order = {"task": asdict(task), "label": label, "limit": self._limit, "history": self._history}
        self._events.put((task, 0.0))
        try:
            process.stdin.write(json.dumps(order) + "\n")
            process.stdin.flush()
            for line in process.stdout:
                message = json.loads(line)
                if "cell" in message:
                    return Cell.from_json(message["cell"])
                self._events.put((task, message["progress"]))
        except BrokenPipeError:
            pass
        code = self._end()
        if self._stopped:
            return None
        error = f"the process ended with code {code}; see {self._log.name}"
        return Cell(task, label, "failed", time.perf_counter() - start, self._limit, error=error)

    def _ensure_process(self) -> subprocess.Popen[str] | None:
        """The running process, a fresh one if need be; None when the worker was stopped."""
        with self._lock:
            if self._stopped:
                return None
            if self._process is None:
                with open(self._log, "ab") as log:
                    self._process = subprocess.Popen(
                        [sys.executable, "-X", "faulthandler", "-m", "mfopt.bench.worker"],
                        stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE,
                        stderr=log,
                        text=True,
                        encoding="utf-8",
                        env={**os.environ, **dict.fromkeys(_ONE_THREAD, "1")},
                        start_new_session=True,  # Ctrl-C is for the main process, which then ends this one
                    )
            return self._process

    def _end(self) -> int | None:
        """Let the process go; its exit code."""
        with self._lock:
            process, self._process = self._process, None
        if process is None:
            return None
        with process:  # closes its pipes, on which it ends, and waits
            pass
        return process.returncode
