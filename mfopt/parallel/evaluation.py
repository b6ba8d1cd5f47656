"""Evaluation: a function's value at a point, or why there is none, here or in another process."""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from typing import Any, TypeAlias

from mfopt.checks import objective_value, show
from mfopt.errors import EvaluationError, ExecutorError, WorkerLost
from mfopt.protocols import Array

Point: TypeAlias = Array | dict[str, Any]  # what a function is given: x in user units, or params
Function = Callable[[Any], Any]  # of a Point


@dataclass(frozen=True)
class Failure:
    """Why an evaluation gave no value."""

    exception: BaseException
    traceback: str = ""  # of an exception that was raised in another process

    def __str__(self) -> str:
        return f"{type(self.exception).__name__}: {self.exception}"


Outcome = float | Failure


class Evaluation(Future[Outcome]):
    """The future of an evaluation that a pool of ours runs. It cannot be cancelled, only abandoned."""

    def __init__(self, began: float | None = None) -> None:
        super().__init__()
        self.set_running_or_notify_cancel()
        self.began = began  # when it began to run, on the clock time.monotonic; None while it waits for a worker


def take_outcome(future: Future[Outcome]) -> Outcome:
    """What an evaluation came to; an ExecutorError when the pool is at fault."""
    try:
        return future.result()
    except ExecutorError:
        raise
    except WorkerLost as error:
        return Failure(error)
    except (Exception, CancelledError) as error:
        raise ExecutorError(f"the executor gave up an evaluation: {type(error).__name__}: {error}") from error


def evaluate(function: Function, x: Point, what: str) -> Outcome:
    """The function's value, if it is one."""
    try:
        return objective_value(function(x), what)
    except Exception as exception:
        return Failure(exception)


def evaluate_far(function: Function, x: Point, what: str) -> Outcome:
    """The same in another process: only what certainly can be sent back is sent back."""
    try:
        outcome = evaluate(function, x, what)
    except SystemExit as exception:  # a simulation that gives up must not take the worker with it
        outcome = Failure(exception)
    if not isinstance(outcome, Failure):
        return outcome
    text = "".join(traceback.format_exception(outcome.exception))
    try:
        # An exception whose constructor takes other arguments than it passes on can be sent but not received.
        pickle.loads(pickle.dumps(outcome.exception))
    except Exception:
        return Failure(EvaluationError(str(outcome)), text)
    return Failure(outcome.exception, text)


def evaluate_pickled(task: bytes) -> Outcome:
    """The same for a task that was pickled, so that what cannot be unpickled is found out here."""
    try:
        function, x, what = pickle.loads(task)
    except Exception as error:
        raise ExecutorError(
            f"functions must be importable by name in other processes, got {type(error).__name__}: {error}; "
            'define them in a module that is installed there, or use executor="threads"'
        ) from None
    return evaluate_far(function, x, what)


def pickle_task(function: Function, x: Point, what: str, dumps: Callable[[object], bytes] = pickle.dumps) -> bytes:
    """What evaluate_pickled takes; an ExecutorError when it cannot be made."""
    try:
        return dumps((function, x, what))
    except Exception as error:
        raise ExecutorError(
            f"functions must be picklable to run in other processes, got {show(function)} ({error}); define them at "
            'the top level of a module, or use executor="threads"'
        ) from error
