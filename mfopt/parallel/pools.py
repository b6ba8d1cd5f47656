"""Pools: where evaluations run.

    InlinePool     in the calling thread, one after the other
    ThreadPool     a thread per evaluation
    ProcessPool    own worker processes, each replaced when it dies or has to be killed
    ExecutorPool   any executor with the interface of concurrent.futures
    DaskPool       a distributed.Client, many machines: dask_pool.py

A pool turns a function and a point into a Future of an Outcome: a finite number, or a Failure that says why there is
none. An exception of the Future itself is the pool's: the loss of a worker (evaluation.is_loss) concerns it alone,
anything else means that the pool cannot work at all.
"""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import pickle
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Protocol

from mfopt.checks import integer, shown
from mfopt.errors import ExecutorError, InputError, WorkerLost
from mfopt.parallel.evaluation import Failure, Function, Outcome, evaluate, evaluate_far, evaluate_pickled, pickled
from mfopt.protocols import Array

_PATIENCE = 10.0  # seconds for a process to end


class Pool(Protocol):
    """What the engine needs."""

    @property
    def workers(self) -> int:
        """How many evaluations may run at once; falls when workers are lost for good."""

    def submit(self, function: Function, x: Array, what: str) -> Future[Outcome]:
        """Start an evaluation of function(x), whose value is called `what` in messages."""

    def abandon(self, future: Future[Outcome]) -> bool:
        """Give up an evaluation that takes too long. Whether its worker is free for the next one."""

    def close(self) -> None:
        """End what the pool itself has started."""


def as_pool(executor: object, workers: object) -> Pool:
    """The pool that the arguments of maximize stand for."""
    count = None if workers is None else integer(workers, "workers")
    if count is not None and count < 1:
        raise InputError(f"workers must be at least 1, got {count}")
    if executor is None:
        if count not in (None, 1):
            raise InputError(f"workers must be 1 without an executor, got {count}")
        return InlinePool()
    if executor == "threads":
        return ThreadPool(count or _processors())
    if executor == "processes":
        return ProcessPool(count or _processors())
    if type(executor).__module__.startswith("distributed."):
        from mfopt.parallel.dask_pool import DaskPool

        return DaskPool(executor, count)
    if not hasattr(executor, "submit"):
        raise InputError(
            'executor must be "threads", "processes", an executor of concurrent.futures, a distributed.Client or None, '
            f"got {shown(executor)}"
        )
    if count is None:
        raise InputError("workers must be given with an executor of your own, got None")
    return ExecutorPool(executor, count)


def _processors() -> int:
    """The processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _begun() -> Future[Outcome]:
    """A future whose evaluation is at work, so that it cannot be cancelled."""
    future: Future[Outcome] = Future()
    future.set_running_or_notify_cancel()
    return future


# --------------------------------------------------------------------------------------------- here and threads


class InlinePool:
    """The calling thread: `submit` returns when the evaluation has ended, so that it cannot be timed out."""

    workers = 1

    def submit(self, function: Function, x: Array, what: str) -> Future[Outcome]:
        future: Future[Outcome] = Future()
        future.set_result(evaluate(function, x, what))
        return future

    def abandon(self, future: Future[Outcome]) -> bool:
        return True

    def close(self) -> None:
        pass


class ThreadPool:
    """A daemon thread per evaluation.

    A thread cannot be ended from outside. One that is abandoned goes on in the background until it returns, keeps
    nobody waiting, and does not keep the program from exiting.
    """

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def submit(self, function: Function, x: Array, what: str) -> Future[Outcome]:
        future = _begun()

        def work() -> None:
            try:
                future.set_result(evaluate(function, x, what))
            except BaseException as exception:  # SystemExit and its like end the evaluation, not the program
                future.set_result(Failure(exception))

        threading.Thread(target=work, name=f"mfopt: {what}", daemon=True).start()
        return future

    def abandon(self, future: Future[Outcome]) -> bool:
        return True

    def close(self) -> None:
        pass


# --------------------------------------------------------------------------------------------------- processes


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

    def submit(self, function: Function, x: Array, what: str) -> Future[Outcome]:
        task = pickled(function, x, what)
        future = _begun()
        with self._lock:
            worker = self._idle.pop() if self._idle else self._started()
            self._busy[future] = worker
        threading.Thread(target=self._exchange, args=(worker, task, future), daemon=True).start()
        return future

    def _started(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=_serve, args=(theirs,))
        process.start()
        theirs.close()  # now the end of the process is the end of the pipe
        return _Worker(process, ours)

    def _exchange(self, worker: _Worker, task: bytes, future: Future[Outcome]) -> None:
        """Send the task and wait for its outcome."""
        try:
            if not worker.began:
                worker.connection.recv_bytes()
                worker.began = True
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
            future.set_exception(outcome if isinstance(outcome, ExecutorError) else _loss(worker))
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


def _loss(worker: _Worker) -> Exception:
    code = worker.process.exitcode
    how = f"killed by signal {-code}" if code is not None and code < 0 else f"exit code {code}"
    if worker.began:
        return WorkerLost(f"a worker process ended in the middle of an evaluation ({how})")
    return ExecutorError(
        f'a worker process ended before it could work ({how}); a script that uses executor="processes" must keep its '
        'own run behind `if __name__ == "__main__":`'
    )


def _serve(connection: Connection[Any, Any]) -> None:
    """The life of a worker process: outcomes for tasks until the pipe is closed."""
    with suppress(EOFError, OSError, KeyboardInterrupt):
        connection.send_bytes(b"ready")
        while True:
            task = connection.recv_bytes()
            try:
                answer: object = evaluate_pickled(task)
            except ExecutorError as error:
                answer = error
            connection.send_bytes(pickle.dumps(answer))


# ------------------------------------------------------------------------------------------ executors of the user


class ExecutorPool:
    """An executor that the user made and will close. What runs there cannot be stopped from here.

    So an abandoned evaluation keeps its worker until it returns, unless it had not begun.
    """

    def __init__(self, executor: Any, workers: int) -> None:
        self.workers = workers
        self._executor = executor
        # Such a pool breaks when its processes cannot unpickle something, and reports late what it cannot pickle.
        self._pickles = isinstance(executor, concurrent.futures.ProcessPoolExecutor)

    def submit(self, function: Function, x: Array, what: str) -> Future[Outcome]:
        if self._pickles:
            return submitted(self._executor, evaluate_pickled, pickled(function, x, what))
        return submitted(self._executor, evaluate_far, function, x, what)

    def abandon(self, future: Future[Outcome]) -> bool:
        return future.cancel()

    def close(self) -> None:
        pass


def submitted(executor: Any, work: Callable[..., Outcome], *arguments: object, **options: object) -> Future[Outcome]:
    """The future of a call; an ExecutorError if the executor does not take it."""
    try:
        future: Future[Outcome] = executor.submit(work, *arguments, **options)
    except Exception as error:
        raise ExecutorError(f"the executor refused an evaluation: {type(error).__name__}: {error}") from error
    return future
