"""DaskPool: evaluations on the workers of a Dask cluster, on many machines."""

from __future__ import annotations

import importlib.metadata
import os
import time
import uuid
from concurrent.futures import Future
from typing import Any

from mfopt.errors import ExecutorError, InputError
from mfopt.parallel.evaluation import Function, Outcome, Point, evaluate_pickled, pickle_task
from mfopt.parallel.pools import submit_to

_PATIENCE = 10.0  # seconds for a worker to be restarted


class DaskPool:
    """The workers of a distributed.Client, or of the executor that it gave.

    Dask itself repeats elsewhere what a dead worker was doing. A worker whose evaluation is abandoned is killed and
    started again by its nanny, together with whatever else it is doing; without a nanny it gets nothing more to do.
    """

    def __init__(self, given: Any, workers: int | None) -> None:
        import cloudpickle  # Dask brings it

        from_executor = not hasattr(given, "get_executor")
        self._client = given._client if from_executor else given
        self._executor = given if from_executor else given.get_executor()
        threads = sum(self._client.nthreads().values())
        if workers is None and threads == 0:
            raise InputError("workers must be given for a cluster that has no workers yet, got None")
        try:
            self._client.run(importlib.metadata.version, "mfopt")
        except importlib.metadata.PackageNotFoundError:
            raise ExecutorError("mfopt must be installed on the workers of the cluster, got some without it") from None
        self.workers = workers or threads
        self._dumps = cloudpickle.dumps
        self._keys: dict[Future[Outcome], str] = {}
        self._stuck: set[str] = set()

    def submit(self, function: Function, x: Point, what: str) -> Future[Outcome]:
        # A key of its own: an evaluation that is repeated is a new one. Pickled by us: a worker that cannot import what
        # Dask sends it falls silent.
        options: dict[str, Any] = {"key": f"mfopt-{uuid.uuid4().hex}"}
        if self._stuck:
            options["workers"] = [address for address in self._client.nthreads() if address not in self._stuck]
        task = pickle_task(function, x, what, self._dumps)
        future = submit_to(self._executor, evaluate_pickled, task, **options)
        self._keys[future] = options["key"]
        future.add_done_callback(lambda done: self._keys.pop(done, None))
        return future

    def abandon(self, future: Future[Outcome]) -> bool:
        key = self._keys.get(future)
        running = self._client.processing()
        address = next((address for address, keys in running.items() if key in keys), None)
        future.cancel()
        if address is not None:
            lost = self._client.nthreads().get(address, 0)
            if not self._restart(address):
                self._stuck.add(address)
                self.workers -= lost
        return True

    def _restart(self, address: str) -> bool:
        """Have the worker's nanny kill it and start another; whether there is a nanny, and it did."""
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        if not workers.get(address, {}).get("nanny"):
            return False
        threads = sum(self._client.nthreads().values())
        self._client.run(_kill_worker, nanny=True, workers=[address])
        # What is submitted before the new one is there would queue elsewhere, with its timeout running.
        give_up = time.monotonic() + _PATIENCE
        while time.monotonic() < give_up:
            now = self._client.nthreads()
            if address not in now and sum(now.values()) >= threads:
                return True
            time.sleep(0.05)
        return False

    def close(self) -> None:
        pass


def _kill_worker(dask_worker: Any) -> None:
    """Run by a nanny, which Dask hands over under this name."""
    os.kill(dask_worker.pid, 9)  # SIGKILL; Windows has no name for it, but ends a process as well
