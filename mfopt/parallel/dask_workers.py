"""DaskWorkers: which workers a Dask cluster has, and how many evaluations they can run."""

from __future__ import annotations

import os
import time
from collections.abc import Set
from dataclasses import dataclass
from typing import Any

_EVERY = 1.0  # seconds between two looks at the cluster
_PATIENCE = 10.0  # seconds after which a worker that is gone is gone for good: a nanny needs a few to start another


@dataclass(frozen=True)
class Worker:
    """One process of a cluster. After a restart it may have the same address, but never the same directory."""

    address: str
    directory: str


class DaskWorkers:
    """The workers behind a distributed.Client.

    `count` says how many evaluations may run at once: `wanted`, or one per thread. It falls when the cluster has had
    fewer threads for a while, and at once when a worker is written off; it rises again with the cluster. More may be
    wanted than the cluster has yet: some clusters grow when there is more to do.
    """

    def __init__(self, client: Any, wanted: int | None) -> None:
        self._client = client
        self._wanted = wanted
        self._written_off: set[Worker] = set()
        self._about: dict[Worker, dict[str, Any]] = {}
        self._pause = _EVERY
        self._threads = self._most = 0  # of late, and ever
        self._fewer_since: float | None = None
        self.looked = 0.0  # when
        self.look()

    @property
    def count(self) -> int:
        if self._wanted is None:
            return self._threads
        return min(self._wanted, self._threads) if self._threads < self._most else self._wanted

    @property
    def present(self) -> Set[Worker]:
        """As of the last look."""
        return self._about.keys()

    def look_if_due(self) -> bool:
        """Look at the cluster unless that was done just now; whether it was looked at."""
        if time.monotonic() < self.looked + self._pause:
            return False
        self.look()
        return True

    def look(self) -> None:
        """Ask the scheduler which workers there are."""
        start = time.monotonic()
        about = self._client.scheduler_info(n_workers=-1)["workers"]
        self._about = {Worker(address, str(one["local_directory"])): one for address, one in about.items()}
        self.looked = start
        # A large cluster has a long answer: it is asked for less often.
        self._pause = max(_EVERY, 20.0 * (time.monotonic() - start))
        self._recount(start)

    def _recount(self, now: float) -> None:
        threads = sum(int(one["nthreads"]) for worker, one in self._about.items() if worker not in self._written_off)
        self._most = max(self._most, threads)
        if threads >= self._threads:
            self._fewer_since = None
        elif self._fewer_since is None:
            self._fewer_since = now
        if self._fewer_since is None or now > self._fewer_since + _PATIENCE:
            self._threads = threads

    def kill(self, worker: Worker) -> bool:
        """Have the worker's nanny kill it and start another. Whether it is gone; without a nanny it is not."""
        self.look()
        if worker not in self._about:
            return True
        if not self._about[worker].get("nanny"):
            return False
        try:
            self._client.run(_kill_worker, nanny=True, workers=[worker.address])
        except Exception:  # whatever a nanny that is out of reach, or going, may cause
            return False
        return True

    def write_off(self, worker: Worker) -> None:
        """It gets nothing more to do."""
        self._written_off.add(worker)
        if worker in self._about:
            self._threads = max(self._threads - int(self._about[worker]["nthreads"]), 0)

    def usable(self) -> list[str] | None:
        """The addresses of those that may be given work; None for all of them."""
        if self._written_off.isdisjoint(self._about):
            return None
        return [worker.address for worker in self._about if worker not in self._written_off]


def _kill_worker(dask_worker: Any) -> None:
    """Run by a nanny, which Dask hands over under this name."""
    os.kill(dask_worker.pid, 9)  # SIGKILL; Windows has no name for it, but ends a process as well
