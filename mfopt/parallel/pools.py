"""Pools: where evaluations run.

    InlinePool     in the calling thread, one after the other
    ThreadPool     a thread per evaluation
    ProcessPool    own worker processes, each replaced when it dies or has to be killed: process_pool.py
    ExecutorPool   any executor with the interface of concurrent.futures
    DaskPool       a distributed.Client, many machines: dask_pool.py

A pool turns a function and a point into a Future of an Outcome: a finite number, or a Failure that says why there is
none. An exception of the Future itself is the pool's: a WorkerLost concerns this evaluation alone, anything else means
that the pool cannot work at all. A Future that is an Evaluation says when it began to run; the time of any other counts
from its submission.
"""

from __future__ import annotations

import concurrent.futures
import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, Protocol, TypeVar

from mfopt.checks import integer, show
from mfopt.errors import ExecutorError, InputError
from mfopt.parallel.evaluation import (
    Evaluation,
    Failure,
    Function,
    Outcome,
    Point,
    evaluate,
    evaluate_far,
    evaluate_pickled,
    pickle_task,
)
from mfopt.parallel.process_pool import ProcessPool
from mfopt.parallel.simulator import Simulator

_T = TypeVar("_T")


class Pool(Protocol):
    """What the engine needs."""

    @property
    def workers(self) -> int:
        """How many evaluations may run at once; falls when workers are lost for good, may rise when they return."""

    def submit(self, function: Function, x: Point, what: str) -> Future[Outcome]:
        """Start an evaluation of function(x), whose value is called `what` in messages."""

    def abandon(self, future: Future[Outcome]) -> bool:
        """Give up an evaluation that takes too long. Whether its worker is free for the next one."""

    def close(self) -> None:
        """End what the pool itself has started."""


def as_pool(executor: object, workers: object, functions: Sequence[Function]) -> Pool:
    """The pool that these arguments of mfopt.loop.run stand for; programs get threads in the place of processes."""
    count = None if workers is None else integer(workers, "workers")
    if count is not None and count < 1:
        raise InputError(f"workers must be at least 1, got {count}")
    if executor is None:
        if count not in (None, 1):
            raise InputError(f"workers must be 1 without an executor, got {count}")
        return InlinePool()
    if executor == "processes" and all(isinstance(function, Simulator) for function in functions):
        executor = "threads"  # a process that is killed could not end its program
    if executor == "threads":
        return ThreadPool(count or _count_cpus())
    if executor == "processes":
        return ProcessPool(count or _count_cpus())
    if type(executor).__module__.startswith("distributed."):
        from mfopt.parallel.dask_pool import DaskPool

        return DaskPool(executor, count)
    if not hasattr(executor, "submit"):
        raise InputError(
            'executor must be "threads", "processes", an executor of concurrent.futures, a distributed.Client or None, '
            f"got {show(executor)}"
        )
    if count is None:
        raise InputError("workers must be given with an executor of your own, got None")
    return ExecutorPool(executor, count)


def _count_cpus() -> int:
    """The CPUs that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class InlinePool:
    """The calling thread: `submit` returns when the evaluation has ended, so that it cannot be timed out."""

    workers = 1

    def submit(self, function: Function, x: Point, what: str) -> Future[Outcome]:
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

    def submit(self, function: Function, x: Point, what: str) -> Future[Outcome]:
        future = Evaluation(time.monotonic())

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


class ExecutorPool:
    """An executor that the user made and will close. What runs there cannot be stopped from here.

    So an abandoned evaluation keeps its worker until it returns, unless it had not begun.
    """

    def __init__(self, executor: Any, workers: int) -> None:
        self.workers = workers
        self._executor = executor
        # Such a pool breaks when its processes cannot unpickle something, and reports late what it cannot pickle.
        self._pickles = isinstance(executor, concurrent.futures.ProcessPoolExecutor)

    def submit(self, function: Function, x: Point, what: str) -> Future[Outcome]:
        if self._pickles:
            return submit_to(self._executor, evaluate_pickled, pickle_task(function, x, what))
        return submit_to(self._executor, evaluate_far, function, x, what)

    def abandon(self, future: Future[Outcome]) -> bool:
        return future.cancel()

    def close(self) -> None:
        pass


def submit_to(executor: Any, work: Callable[..., _T], *arguments: object, **options: object) -> Future[_T]:
    """The future of a call; an ExecutorError if the executor does not take it."""
    try:
        future: Future[_T] = executor.submit(work, *arguments, **options)
    except Exception as error:
        raise ExecutorError(f"the executor refused an evaluation: {type(error).__name__}: {error}") from error
    return future
