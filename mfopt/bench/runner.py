"""Running cells in parallel processes.

A thread per job owns one worker process (mfopt.bench.worker) and feeds it one cell after the other. A worker that
dies takes only its cell with it: the cell is recorded as failed and the thread starts another worker. The main thread
writes results and draws the progress.
"""

from __future__ import annotations

import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, replace
from os import PathLike
from pathlib import Path
from typing import Any

import mfopt
from mfopt import problems as problems_
from mfopt.bench.cells import Cell, Task, code_digest
from mfopt.bench.display import Display
from mfopt.bench.methods import Method
from mfopt.bench.store import Store, load
from mfopt.checks import integer, real_number
from mfopt.errors import InputError

_ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def run(
    problems: Sequence[str],
    methods: Sequence[str | Method],
    seeds: Iterable[int] = range(20),
    capital: float = 100.0,
    out: str | PathLike[str] = "out/bench",
    *,
    jobs: int = 1,
    time_limit: float | None = None,
    history: bool = False,
    any_code: bool = False,
    progress: bool | None = None,
) -> list[Cell]:
    """Run every method on every problem with every seed, and give all these cells; finished ones are taken from `out`.

    problems    names that mfopt.problems.get knows, with options
    methods     as mfopt.bench.Method reads them, "gp-ucb" or "label=mf-gp-ucb:beta_factor=0.4"
    seeds       a method's run depends on its seed alone; methods with the same seed share their initial points
    capital     Λ in target queries (λ_M), initial points included
    out         a directory; results are appended to its cells.jsonl as they come
    jobs        processes, each with one BLAS thread
    time_limit  seconds of the processor for one cell; what it has reached by then counts
    history     keep every query of a run, too
    any_code    also take finished cells that were run with different code of mfopt
    progress    True, False, or None: when stderr is a terminal

    A cell that fails is recorded with its traceback, does not stop the others, and is tried again by the next run.
    """
    wanted = _tasks(problems, methods, seeds, capital)
    if integer(jobs, "jobs") < 1:
        raise InputError(f"jobs must be at least 1, got {jobs}")
    if time_limit is not None and real_number(time_limit, "time_limit") <= 0:
        raise InputError(f"time_limit must be positive, got {time_limit}")
    found = _finished(load(out), any_code, time_limit, history)
    left = [(task, label) for task, label in wanted if _key(task, any_code) not in found]
    store = Store(out)
    display = Display(len(wanted), len(wanted) - len(left), progress)
    try:
        for cell in _in_parallel(left, min(jobs, len(left)), time_limit, history, Path(out) / "workers.log", display):
            store.append(cell)
            found[_key(cell.task, any_code)] = cell
            display.finished(cell)
    finally:
        display.close()
        store.close()
    return [replace(found[_key(task, any_code)], label=label) for task, label in wanted]


def _tasks(
    problems: Sequence[str], methods: Sequence[str | Method], seeds: Iterable[int], capital: float
) -> list[tuple[Task, str]]:
    """Every cell with the method's label, seed by seed, so that an interrupted run has all methods at equal seeds."""
    names = [problems_.canonical(name) for name in problems]
    read = [Method.parse(method) if isinstance(method, str) else method for method in methods]
    numbers = [integer(seed, "a seed") for seed in seeds]
    for what, given in (("problems", names), ("methods", read), ("seeds", numbers)):
        if len(given) == 0:
            raise InputError(f"{what} must name at least one, got none")
    if min(numbers) < 0:
        raise InputError(f"seeds must not be negative, got {min(numbers)}")
    if real_number(capital, "capital") < 1:
        raise InputError(f"capital must be at least 1 target query, got {capital}")
    tasks = {
        Task(name, method.text, seed, float(capital), mfopt.__version__, code_digest()): method.label
        for seed in numbers
        for name in names
        for method in read
    }
    return list(tasks.items())


def _key(task: Task, any_code: bool) -> tuple[Any, ...]:
    own = (task.problem, task.method, task.seed, task.capital)
    return own if any_code else (*own, task.version, task.code)


def _finished(cells: Sequence[Cell], any_code: bool, limit: float | None, history: bool) -> dict[tuple[Any, ...], Cell]:
    return {_key(cell.task, any_code): cell for cell in cells if cell.answers(limit, history)}


def _in_parallel(
    tasks: Sequence[tuple[Task, str]], jobs: int, limit: float | None, history: bool, log: Path, display: Display
) -> Iterable[Cell]:
    """The cells of the tasks, as they finish."""
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
                display.running(task, what)
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
        self._thread.join()

    def _serve(self) -> None:
        try:
            while not self._stopped:
                try:
                    task, label = self._waiting.get_nowait()
                except queue.Empty:
                    break
                cell = self._cell(task, label)
                if cell is not None:
                    self._events.put((task, cell))
        except BaseException as error:  # the main thread must not wait for what will never come
            self._events.put((task, error))
        finally:
            self._end()

    def _cell(self, task: Task, label: str) -> Cell | None:
        """The finished cell; None when the worker was stopped."""
        start = time.perf_counter()
        process = self._fed()
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

    def _fed(self) -> subprocess.Popen[str] | None:
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
