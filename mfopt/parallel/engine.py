"""Engine: asks one optimiser, evaluates in a pool, tells each result as it arrives.

There is no barrier: as soon as a worker is free the optimiser is asked again, with all that is under way pending. A
trial is in one of these places:

    waiting     asked, not started: its fidelity runs as often as it may, or it is to be tried again
    running     with a worker
    hung        past its timeout and told as failed, in a worker that is not free yet

The engine lives in one thread. What others finish comes in through a queue. Where trials are leased, a second thread
(leases.py) renews the leases of those held here.
"""

from __future__ import annotations

import math
import queue
import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from mfopt.checks import show
from mfopt.domains.params import argument_of
from mfopt.errors import (
    AlreadyTold,
    EvaluationError,
    EvaluationTimeout,
    Exhausted,
    LeaseLost,
    NewerSchema,
    NotAStorage,
    StorageDamaged,
    StorageError,
    UnknownStudy,
)
from mfopt.optimizer import Optimizer
from mfopt.parallel.evaluation import Evaluation, Failure, Function, Outcome, price_outcome, take_outcome
from mfopt.parallel.leases import renew_leases
from mfopt.parallel.pools import Pool
from mfopt.parallel.progress import Progress
from mfopt.parallel.rules import Rules
from mfopt.parallel.simulator import Simulator
from mfopt.parallel.status import Status
from mfopt.parallel.stopping import Callback, Stopping
from mfopt.protocols import Array
from mfopt.run.trial import Trial

_LASTING = (StorageDamaged, NotAStorage, NewerSchema, UnknownStudy)  # no repetition helps against these
_PATIENCE = 300.0  # seconds for which a tell that the storage refuses is repeated
_TURN = 0.25  # seconds after which it is looked again which evaluations have begun
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 10.0  # seconds between repetitions


@dataclass(frozen=True)
class FailedTrial:
    """A trial that was told as failed, and why."""

    trial_id: int
    x: Array = field(repr=False)  # params say it, too
    fidelity: int
    message: str
    params: Mapping[str, Any]  # x by name


@dataclass(eq=False)
class _Task:
    """A trial on its way through the engine."""

    trial: Trial
    tries: int = 0
    started: float = 0.0  # when it was handed to the pool
    paid: float | None = None  # cost of the tries so far, and of the ask where that counts; None: as promised
    future: Future[Outcome] = field(default_factory=Future)

    @property
    def began(self) -> float:
        """When the evaluation began to run; inf while it waits in the pool."""
        if not isinstance(self.future, Evaluation):  # of an executor that does not tell
            return self.started
        return math.inf if self.future.began is None else self.future.began


class Engine:
    """One run of the loop, which begins with the trials `pending`."""

    def __init__(
        self,
        optimizer: Optimizer,
        functions: Sequence[Function],
        pool: Pool,
        rules: Rules,
        callback: Callback | None,
        display: Progress | None,
        pending: Sequence[Trial] = (),
    ) -> None:
        self._optimizer = optimizer
        self._functions = functions
        self._pool = pool
        self._rules = rules
        self._deadline = time.monotonic() + rules.time_limit
        self.stopping = Stopping(rules, callback)
        self._display = display
        self._waiting = [_Task(trial) for trial in pending]
        self._held = {trial.id for trial in pending}  # waiting or running
        self._running: dict[Future[Outcome], _Task] = {}
        self._hung: dict[Future[Outcome], _Task] = {}
        self._done: queue.SimpleQueue[Future[Outcome]] = queue.SimpleQueue()
        self._exhausted: Exhausted | None = None
        self._refusal: StorageError | None = None  # of an ask
        self._stop: tuple[Status, str] | None = None
        self._last: Trial | None = None
        self.failures: list[FailedTrial] = []

    def run(self) -> tuple[Status, str]:
        """Ask, evaluate and tell until the end; how it came, and what to tell the user about it."""
        self._stop = self.stopping.before(self._optimizer)
        with renew_leases(self._optimizer, self._held):
            while True:
                self._fill()
                self._show()
                if not self._running and not self._waits_for_hung():
                    return self._end()
                self._collect()

    def close(self) -> None:
        """Call back what an exception left behind; its trials stay pending."""
        for future in self._running:
            future.cancel()
        if self._display is not None:
            self._display.close(self._optimizer, self._last, len(self.failures))

    def _show(self) -> None:
        if self._display is not None:
            self._display.update(self._optimizer, self._last, len(self._running), len(self.failures))

    # -------------------------------------------------------------------------------------------- starting

    def _fill(self) -> None:
        """Start evaluations until the workers are busy or there is nothing to start."""
        self._exhausted = None
        while not self._is_over() and len(self._running) + len(self._hung) < self._pool.workers:
            task = self._take_waiting() or self._ask()
            if task is None:
                return
            self._start(task)

    def _take_waiting(self) -> _Task | None:
        """The first task that waits and can start now, taken off the list."""
        for task in self._waiting:
            if self._has_room(task.trial.fidelity):
                self._waiting.remove(task)
                return task
        return None

    def _ask(self) -> _Task | None:
        """A new task that can start now; None when there is none.

        Trials of a fidelity that is full wait, so that the others can go on, but no more of them than it may run at
        once: later asks know more.
        """
        while True:
            waits = [task.trial.fidelity for task in self._waiting]
            if any(waits.count(m) >= self._rules.limits[m] for m in waits):
                return None
            began = time.perf_counter()
            try:
                task = _Task(self._optimizer.ask())
            except Exhausted as exhausted:
                self._exhausted = exhausted
                return None
            except StorageError as error:  # raised at the end, when what runs has been told
                self._refusal = error
                return None
            if task.trial.id in self._held:  # its lease had run out, but it is with us
                self._take_over(task.trial)
                continue
            self._held.add(task.trial.id)
            if self._rules.cost == "total-time":
                task.paid = time.perf_counter() - began
            if self._has_room(task.trial.fidelity):
                return task
            self._waiting.append(task)

    def _take_over(self, trial: Trial) -> None:
        """The same trial once more: what we are at is held under its new claim from now on."""
        for task in [*self._waiting, *self._running.values()]:
            if task.trial.id == trial.id:
                task.trial = trial

    def _has_room(self, m: int) -> bool:
        """Whether one more evaluation of fidelity m may run."""
        at_work = sum(task.trial.fidelity == m for task in [*self._running.values(), *self._hung.values()])
        return at_work < self._rules.limits[m]

    def _start(self, task: _Task) -> None:
        trial = task.trial
        function = self._functions[trial.fidelity]
        domain = self._optimizer.domain
        given = (
            function.rename(trial.params, domain.names)  # a program is always given names and native values
            if isinstance(function, Simulator)
            else argument_of(domain, trial.x)
        )
        shown = given if isinstance(given, dict) else given.tolist()
        task.tries += 1
        task.started = time.monotonic()
        task.future = self._pool.submit(function, given, f"the value of function {trial.fidelity} at {shown}")
        self._running[task.future] = task
        task.future.add_done_callback(self._done.put)

    # ------------------------------------------------------------------------------------------ collecting

    def _collect(self) -> None:
        """Wait until an evaluation ends or runs out of time, or the number of workers changes, and deal with it."""
        workers = self._pool.workers
        while True:
            soonest = min(map(self._deadline_of, self._running.values()), default=self._deadline)
            try:
                future = self._done.get(timeout=min(max(soonest - time.monotonic(), 0.0), _TURN))
            except queue.Empty:
                if self._expire() or self._pool.workers != workers or (not self._running and self._is_over()):
                    return
                continue
            task = self._running.pop(future, None)
            if task is None:
                self._hung.pop(future, None)  # its worker is free again; the value comes too late
            else:
                self._finish(task, take_outcome(future))
            return

    def _deadline_of(self, task: _Task) -> float:
        return task.began + self._rules.timeouts[task.trial.fidelity]

    def _expire(self) -> bool:
        """Give up the evaluations that have run out of time; whether there were any."""
        now = time.monotonic()
        late = [task for task in self._running.values() if self._deadline_of(task) <= now]
        for task in late:
            del self._running[task.future]
            if not self._pool.abandon(task.future):
                self._hung[task.future] = task
            seconds = self._rules.timeouts[task.trial.fidelity]
            self._finish(task, Failure(EvaluationTimeout(f"an evaluation may take {seconds:g} s and took longer")))
        return bool(late)

    def _finish(self, task: _Task, outcome: Outcome) -> None:
        """Tell the outcome, or put the task back to be tried again."""
        outcome, price = price_outcome(outcome, self._rules.cost, task.began)
        if price is not None:
            task.paid = (task.paid or 0.0) + price
        if isinstance(outcome, Failure) and task.tries <= self._rules.retries and not self._is_over():
            self._waiting.insert(0, task)
        else:
            self._tell(task.trial, outcome, task.paid)

    def _tell(self, trial: Trial, outcome: Outcome, cost: float | None) -> None:
        """Tell the optimiser, the display and the callback; a failure that is not recorded is raised."""
        y = None if isinstance(outcome, Failure) else outcome.y
        if isinstance(outcome, Failure) and not self._rules.record:
            _note_trial(outcome.exception, trial)
            if outcome.traceback:
                raise outcome.exception from EvaluationError(f"in a worker:\n{outcome.traceback}")
            raise outcome.exception
        accepted = self._tell_optimizer(trial, y, cost)
        self._held.discard(trial.id)
        if not accepted:
            return
        if isinstance(outcome, Failure):
            self.failures.append(FailedTrial(trial.id, trial.x, trial.fidelity, str(outcome), trial.params))
        self._last = trial
        self._show()
        self._stop = self.stopping.after(self._optimizer, trial, y) or self._stop

    def _tell_optimizer(self, trial: Trial, y: float | None, cost: float | None) -> bool:
        """Tell the optimiser, retrying while the storage may recover: the evaluation has been paid for.

        False when our lease ran out and another process told the trial first, or has it now and will say itself whether
        it failed.
        """
        pause, give_up = _FIRST_PAUSE, math.inf
        while True:
            try:
                self._optimizer.tell(trial, y, "ok" if y is not None else "failed", cost)
            except AlreadyTold:
                return give_up < math.inf  # then it was written in spite of the error
            except LeaseLost:
                return False
            except _LASTING:
                raise
            except StorageError as error:
                if give_up == math.inf:
                    give_up = time.monotonic() + _PATIENCE
                    warnings.warn(
                        f"trial {trial.id} cannot be told yet, tried again for {_PATIENCE:g} s: {error}",
                        RuntimeWarning,
                        stacklevel=2,
                    )
                if time.monotonic() + pause > give_up:
                    raise
                time.sleep(pause)
                pause = min(2.0 * pause, _LONGEST_PAUSE)
            else:
                return True

    # ---------------------------------------------------------------------------------------------- ending

    def _is_over(self) -> bool:
        """Whether nothing more may start. What runs is still awaited: it will have to be paid for."""
        return self._stop is not None or self._refusal is not None or time.monotonic() >= self._deadline

    def _waits_for_hung(self) -> bool:
        """Whether workers are free, but all that waits needs the place of a hung evaluation at its fidelity."""
        return bool(self._waiting) and not self._is_over() and 0 < len(self._hung) < self._pool.workers

    def _end(self) -> tuple[Status, str]:
        """Why nothing runs and nothing can start any more."""
        if self._refusal is not None:
            raise self._refusal
        if self._stop is not None:
            return self._stop
        if self._exhausted is not None and not self._waiting:
            return (Status.CAPITAL if self._exhausted.which == "capital" else Status.POINTS), str(self._exhausted)
        if self._is_over():
            return Status.TIME, "time limit reached"
        return Status.NO_WORKER, (
            f"no worker left: {len(self._hung)} evaluations past their timeout still hold theirs, "
            f"and the executor has {self._pool.workers} that can be used"
        )


def _note_trial(error: BaseException, trial: Trial) -> None:
    """Have the error say which trial it ends the run with, and what to do if that was to be expected."""
    if sys.version_info >= (3, 11):
        error.add_note(
            f"trial {trial.id} (fidelity {trial.fidelity}, {show(trial.params)}): "
            'on_error="record" would tell it as failed and go on'
        )
