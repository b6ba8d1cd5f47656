"""Evaluation: a function's value at a point, or why there is none, here or in another process."""

from __future__ import annotations

import pickle
import time
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from typing import Any, TypeAlias

from mfopt.checks import objective_value, show
from mfopt.errors import EvaluationError, ExecutorError, InputError, WorkerLost
from mfopt.protocols import Array
from mfopt.run.inputs import parse_cost

Point: TypeAlias = Array | dict[str, Any]  # what a function is given: x in user units, or params
Function = Callable[[Any], Any]  # of a Point


@dataclass(frozen=True)
class Value:
    """What an evaluation gave, and what it took."""

    y: float
    seconds: float
    cost: float | None = None  # as the function itself reports it; None: it does not


@dataclass(frozen=True)
class Failure:
    """Why an evaluation gave no value."""

    exception: BaseException
    traceback: str = ""  # of an exception that was raised in another process
    seconds: float | None = None  # that it took; None: not known

    def __str__(self) -> str:
        return f"{type(self.exception).__name__}: {self.exception}"


Outcome = Value | Failure


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
    """The function's value, if it is one: a number, or {"value": number, "cost": number}; and the seconds it took."""
    began = time.perf_counter()
    try:
        found = function(x)
        seconds = time.perf_counter() - began
        y, cost = _read_value(found, what)
        return Value(y, seconds, cost)
    except Exception as exception:
        return Failure(exception, seconds=time.perf_counter() - began)


def _read_value(found: Any, what: str) -> tuple[float, float | None]:
    """Value and, where it is reported, cost."""
    if not isinstance(found, Mapping):
        return objective_value(found, what), None
    if "value" not in found or not found.keys() <= {"value", "cost"}:
        raise InputError(f'{what} must be a number or have "value" and perhaps "cost", got {show(found)}')
    cost = found.get("cost")
    return objective_value(found["value"], what), None if cost is None else parse_cost(cost)


def price_outcome(outcome: Outcome, how: str | None, began: float) -> tuple[Outcome, float | None]:
    """An outcome and what it cost, found out as `how` says (see rules.COSTS); None: what was promised for it.

    Time is what the worker measured, or since the evaluation `began` by time.monotonic, where it ended without telling.
    A cost that a function reports itself comes before its time. A value without a cost that had to be reported is a
    failure.
    """
    if isinstance(outcome, Value) and outcome.cost is not None and how is not None:
        return outcome, outcome.cost
    if how in ("time", "total-time"):
        seconds = outcome.seconds
        return outcome, max(time.monotonic() - began, 0.0) if seconds is None else seconds
    if how == "reported" and isinstance(outcome, Value):
        rule = f'a function must report its cost, {{"value": value, "cost": cost}}, got {outcome.y} alone'
        return Failure(EvaluationError(rule)), None
    return outcome, None


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
        return Failure(EvaluationError(str(outcome)), text, outcome.seconds)
    return Failure(outcome.exception, text, outcome.seconds)


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
