"""ProcessPool: evaluations in worker processes of our own.

Beside it, mfopt.bench.processes runs whole cells of an experiment in processes. The two differ where it matters: here a
worker imports the user's script, so that functions defined there can be sent to it by name, and shares our terminal and
environment; there a worker must not need the script, has one BLAS thread, a log for what it prints, and reports its
progress.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import queue
import threading
import time
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any

from mfopt.errors import ExecutorError, WorkerLost
from mfopt.parallel.evaluation import Evaluation, Function, Outcome, Point, evaluate_pickled, pickle_task
from mfopt.parallel.orphans import die_with_parent

_PATIENCE = 10.0  # seconds for a process to end


@dataclass(eq=False)
class _Worker:
    process: BaseProcess
    connection: Connection[Any, Any]
    began: bool = False  # whether it ever got as far as to accept work

    def kill(self) -> None:
        self.process.kill()
        self.process.join(_PATIENCE)
        self.connection.close()


class ProcessPool:
    """Worker processes that are started when they are needed and used again.

    Each has a pipe of its own, so that one that dies takes only its own evaluation with it, and one that hangs can be
    killed. They are spawned, not forked: a fork inherits locks that other threads hold. So functions must be importable
    by name, and a script must keep its own run behind `if __name__ == "__main__":`.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._context = multiprocessing.get_context("spawn")
        self._idle: list[_Worker] = []
        self._busy: dict[Future[Outcome], _Worker] = {}
        self._lock = threading.Lock()

    def submit(self, function: Function, x: Point, what: str) -> Future[Outcome]:
        task = pickle_task(function, x, what)
        future = Evaluation()
        with self._lock:
            worker = self._idle.pop() if self._idle else self._start_worker()
            self._busy[future] = worker
        threading.Thread(target=self._exchange, args=(worker, task, future), daemon=True).start()
        return future

    def _start_worker(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_serve, args=(theirs, os.getpid()))
        process.start()
        theirs.close()  # now the end of the process is the end of the pipe
        return _Worker(process, ours)

    def _exchange(self, worker: _Worker, task: bytes, future: Evaluation) -> None:
        """Send the task and wait for its outcome."""
        try:
            if not worker.began:
                worker.connection.recv_bytes()
                worker.began = True
            future.began = time.monotonic()
            worker.connection.send_bytes(task)
            outcome = pickle.loads(worker.connection.recv_bytes())
        except Exception as exception:
            outcome = exception
        with self._lock:
            ours = self._busy.pop(future, None) is not None
            if ours and not isinstance(outcome, Exception):
                self._idle.append(worker)
        if not ours:  # abandoned
            return
        if isinstance(outcome, Exception):
            worker.kill()
            future.set_exception(outcome if isinstance(outcome, ExecutorError) else _describe_loss(worker))
        else:
            future.set_result(outcome)

    def abandon(self, future: Future[Outcome]) -> bool:
        with self._lock:
            worker = self._busy.pop(future, None)
        if worker is not None:
            worker.kill()
        return True

    def close(self) -> None:
        with self._lock:
            busy, idle = list(self._busy.values()), self._idle
            self._busy, self._idle = {}, []
        for worker in idle:
            worker.connection.close()  # it takes this for the end of its work
        for worker in idle:
            worker.process.join(_PATIENCE)
        for worker in [*busy, *idle]:
            worker.kill()


def _describe_loss(worker: _Worker) -> Exception:
    code = worker.process.exitcode
    how = f"killed by signal {-code}" if code is not None and code < 0 else f"exit code {code}"
    if worker.began:
        return WorkerLost(f"a worker process ended in the middle of an evaluation ({how})")
    return ExecutorError(
        f'a worker process ended before it could work ({how}); a script that uses executor="processes" must keep its '
        'own run behind `if __name__ == "__main__":`'
    )


def _serve(connection: Connection[Any, Any], parent: int) -> None:
    """The life of a worker process: outcomes for tasks until the pipe is closed."""
    die_with_parent(parent)
    tasks: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
    idle = threading.Event()
    threading.Thread(target=_receive, args=(connection, tasks, idle), daemon=True).start()
    with suppress(OSError, KeyboardInterrupt):
        idle.set()
        connection.send_bytes(b"ready")
        while (task := tasks.get()) is not None:
            try:
                answer: object = evaluate_pickled(task)
            except ExecutorError as error:
                answer = error
            idle.set()
            connection.send_bytes(pickle.dumps(answer))


def _receive(connection: Connection[Any, Any], tasks: queue.SimpleQueue[bytes | None], idle: threading.Event) -> None:
    """Take in tasks. When the pipe closes during an evaluation, the process at its other end was killed: end too."""
    with suppress(EOFError, OSError):
        while True:
            task = connection.recv_bytes()
            idle.clear()
            tasks.put(task)
    if not idle.is_set():
        os._exit(1)
    tasks.put(None)
