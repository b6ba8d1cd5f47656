"""DaskPool: evaluations on the workers of a Dask cluster, on many machines."""

from __future__ import annotations

import importlib.metadata
import threading
import time
import uuid
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError, Future
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from mfopt.errors import ExecutorError, InputError, WorkerLost
from mfopt.parallel.dask_workers import DaskWorkers, Worker
from mfopt.parallel.evaluation import Evaluation, Function, Outcome, Point, evaluate_pickled, pickle_task
from mfopt.parallel.pools import submit_to

_LOSSES = 3  # workers that an evaluation may lose while it is alone on them, before it has failed
_SENDINGS = 25  # after as many the cluster itself is at fault
_EVERY = 0.25  # seconds between two turns of the thread that looks after the evaluations


@dataclass(eq=False)
class _Sent:
    """An evaluation on its way through the cluster."""

    future: Evaluation  # the engine's
    task: bytes
    call: Future[Outcome | None]  # Dask's, of the last sending
    usable: list[str] | None = None  # the workers to which it is confined
    sendings: int = 0
    where: Worker | None = None  # that runs it, as far as we know
    suspect: bool = False  # lost a worker that ran others too: the next time it is to be alone
    ward: Worker | None = None  # kept free for it
    is_lost: bool = False  # the last sending, with its worker
    losses: int = 0  # of workers on which it was alone


class DaskPool:
    """The workers of a distributed.Client, or of the executor that it gave.

    An evaluation reports when it begins and where, so that its clock runs while it runs, and we know who was at work
    when a worker is lost. Dask only knows who was assigned to it, suspects all of them, and runs them again at once,
    beside others. So a sending begins once only: an evaluation that was lost comes back to us. If it never began, it
    is sent again as if nothing had happened. If it was alone on its worker, it is sent again, _LOSSES times. If others
    ran there too, each of them gets a worker of its own for its next try, a ward, so that the one to blame is found.

    A worker whose evaluation is abandoned is killed and started again by its nanny, and nobody is suspected; without a
    nanny it gets nothing more to do.
    """

    def __init__(self, given: Any, workers: int | None) -> None:
        import cloudpickle  # Dask brings it

        from_executor = not hasattr(given, "get_executor")
        self._client = given._client if from_executor else given
        self._executor = given if from_executor else given.get_executor()
        self._workers = DaskWorkers(self._client, workers)
        if workers is None and self._workers.count == 0:
            raise InputError("workers must be given for a cluster that has no workers yet, got None")
        try:
            self._client.run(importlib.metadata.version, "mfopt")
        except importlib.metadata.PackageNotFoundError:
            raise ExecutorError("mfopt must be installed on the workers of the cluster, got some without it") from None
        self._dumps = cloudpickle.dumps
        self._sent: dict[str, _Sent] = {}  # by the key of the last sending
        self._waiting: list[_Sent] = []  # to be sent
        self._killed: set[Worker] = set()  # by us
        self._lock = threading.Lock()  # held for bookkeeping, never while Dask is called
        self._wake, self._closed = threading.Event(), False
        self._topic = f"mfopt-{uuid.uuid4().hex}"
        self._client.subscribe_topic(self._topic, self._note_start)
        threading.Thread(target=self._look_after, name="mfopt: Dask", daemon=True).start()

    @property
    def workers(self) -> int:
        return self._workers.count

    def submit(self, function: Function, x: Point, what: str) -> Future[Outcome]:
        # Pickled by us: a worker that cannot import what Dask sends it falls silent.
        sent = _Sent(Evaluation(), pickle_task(function, x, what, self._dumps), Future())
        self._send(sent)
        return sent.future

    def _send(self, sent: _Sent) -> None:
        """Hand the evaluation to Dask, or let it wait for a worker that is free for it."""
        usable = self._workers.usable()
        with self._lock:
            wards = {one.ward.address for one in self._all() if one.ward is not None}
            if sent.ward is not None:
                usable = [sent.ward.address]
            elif wards:
                everyone = [worker.address for worker in self._workers.present] if usable is None else usable
                usable = [address for address in everyone if address not in wards]
            if (sent.suspect and not self._is_free(sent.ward)) or usable == []:
                self._waiting.append(sent)
                return
            key = f"mfopt-{uuid.uuid4().hex}"  # a new one each time: Dask would take it for the same evaluation
            self._sent[key] = sent
        sent.sendings, sent.usable = sent.sendings + 1, usable
        options = {"key": key} if usable is None else {"key": key, "workers": usable}
        try:
            sent.call = submit_to(self._executor, _evaluate_there, sent.task, key, self._topic, **options)
        except ExecutorError:
            with self._lock:
                del self._sent[key]
            raise
        sent.call.add_done_callback(lambda call: self._settle(key, call))

    def _all(self) -> list[_Sent]:
        return [*self._sent.values(), *self._waiting]

    def _is_free(self, worker: Worker | None) -> bool:
        """Whether nothing of ours runs there."""
        return worker is not None and all(sent.where != worker for sent in self._sent.values())

    # These two are called by Dask, in its event loop, and must not wait for anything.

    def _note_start(self, event: tuple[float, tuple[str, str, str]]) -> None:
        """An evaluation began."""
        key, address, directory = event[1]
        worker = Worker(address, directory)
        with self._lock:
            sent = self._sent.get(key)
            if sent is None:  # given up
                return
            sent.where, sent.future.began = worker, time.monotonic()

    def _settle(self, key: str, call: Future[Outcome | None]) -> None:
        """Dask is done with a sending."""
        error = CancelledError() if call.cancelled() else call.exception()
        with self._lock:
            sent = self._sent.get(key)
            if sent is None:  # given up
                return
            outcome = call.result() if error is None else None
            lost = outcome is None if error is None else type(error).__name__ in ("KilledWorker", "WorkerLost")
            if lost:
                self._lose(sent.where)
                self._wake.set()  # to be sent again
                return
            del self._sent[key]
        self._forget([key])
        if outcome is not None:
            sent.future.set_result(outcome)
        else:
            sent.future.set_exception(error)

    def _lose(self, worker: Worker | None) -> None:
        """A worker is gone; suspect those that ran on it. Called with the lock held."""
        running = [sent for sent in self._sent.values() if sent.where == worker] if worker is not None else []
        for sent in running:
            sent.where = sent.future.began = None
            sent.is_lost = True
            if worker not in self._killed:
                sent.losses += len(running) == 1
                sent.suspect = sent.suspect or len(running) > 1

    # ------------------------------------------------------------------------------------- a thread of its own

    def _look_after(self) -> None:
        while not self._closed:
            self._wake.wait(_EVERY)
            self._wake.clear()
            with suppress(Exception):  # a scheduler out of reach: when Dask gives up, it ends our calls
                if self._workers.look_if_due():
                    self._find_lost()
            self._give_up()
            self._send_again()

    def _find_lost(self) -> None:
        """Notice workers that are gone although Dask has not yet begun anew what they were running."""
        with self._lock:
            began = [sent.where for sent in self._sent.values() if (sent.future.began or 0.0) < self._workers.looked]
            for worker in set(began) - self._workers.present:
                self._lose(worker)

    def _give_up(self) -> None:
        """End those that lost too many workers, and those that the cluster never began."""
        for sent in self._take(lambda sent: sent.losses >= _LOSSES):
            sent.call.cancel()
            sent.future.set_exception(WorkerLost(f"{_LOSSES} workers were lost, each while it ran this evaluation"))
        for sent in self._take(lambda sent: sent.sendings >= _SENDINGS and sent.call.done()):
            reason = f"workers must live long enough to begin an evaluation, got {_SENDINGS} in a row that did not"
            sent.future.set_exception(ExecutorError(reason))

    def _send_again(self) -> None:
        """Send what Dask has given up, and what waits for workers of which none is left."""
        there = {worker.address for worker in self._workers.present}

        def is_stranded(sent: _Sent) -> bool:
            return sent.where is None and sent.usable is not None and there.isdisjoint(sent.usable)

        again = self._take(lambda sent: sent.is_lost or sent.call.done() or is_stranded(sent))
        for sent in again:
            sent.call.cancel()
            sent.is_lost, sent.ward = False, None
        with self._lock:
            again, self._waiting = [*again, *self._waiting], []
            self._assign_wards(again)
        for sent in again:
            try:
                self._send(sent)
            except ExecutorError as error:
                sent.future.set_exception(error)

    def _assign_wards(self, waiting: list[_Sent]) -> None:
        """Keep workers free for suspects, at most half of them. Called with the lock held."""
        usable = self._workers.usable()
        workers = [worker for worker in self._workers.present if usable is None or worker.address in usable]
        taken = {sent.ward for sent in self._sent.values() if sent.ward is not None}
        for sent in waiting:
            if sent.ward not in workers or sent.ward in taken:
                sent.ward = None
            if sent.suspect and sent.ward is None and len(taken) < max(len(workers) // 2, 1):
                free = sorted((one for one in workers if one not in taken), key=self._is_free)
                sent.ward = free[-1] if free else None
            if sent.ward is not None:
                taken.add(sent.ward)

    def _take(self, chosen: Callable[[_Sent], bool]) -> list[_Sent]:
        """Those that are chosen, off the books; what waits to be sent is not among them."""
        with self._lock:
            taken = {key: sent for key, sent in self._sent.items() if chosen(sent)}
            for key in taken:
                del self._sent[key]
        self._forget(taken)
        return list(taken.values())

    def _forget(self, keys: Iterable[str]) -> None:
        """Remove from the scheduler what it keeps of sendings that are over."""
        for key in keys:
            self._client.loop.add_callback(self._client.scheduler.event_clear, name=key)

    # --------------------------------------------------------------------------------------------------- ending

    def abandon(self, future: Future[Outcome]) -> bool:
        for sent in self._take(lambda sent: sent.future is future):
            sent.call.cancel()
            if sent.where is not None:
                with self._lock:
                    self._killed.add(sent.where)
                if not self._workers.kill(sent.where):
                    self._workers.write_off(sent.where)
        return True

    def close(self) -> None:
        self._closed = True
        self._wake.set()
        with suppress(Exception):  # the user may have closed the client
            self._client.unsubscribe_topic(self._topic)
            for sent in self._take(lambda sent: True):
                sent.call.cancel()
            self._waiting.clear()


def _evaluate_there(task: bytes, key: str, topic: str) -> Outcome | None:
    """Run by a worker: say that it begins, and be sure that it was heard, since it may kill the worker at once.

    None if this sending began before, on a worker that was lost.
    """
    from distributed import get_worker
    from distributed.utils import sync

    worker = get_worker()

    async def begin() -> bool:
        if await worker.scheduler.event_is_set(name=key):
            return False
        await worker.scheduler.event_set(name=key)
        await worker.scheduler.log_event(topic=topic, msg=[key, worker.address, str(worker.local_directory)])
        return True

    try:
        first = sync(worker.loop, begin)
    except Exception as error:  # a worker that cannot reach its scheduler is as good as lost
        raise WorkerLost(f"a worker must be able to report to its scheduler, got {error!r}") from None
    return evaluate_pickled(task) if first else None
