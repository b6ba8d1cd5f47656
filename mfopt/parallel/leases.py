"""Leases: trials of a study that are held here stay ours as long as we are alive."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Set
from contextlib import contextmanager, suppress

from mfopt.errors import MfoptError
from mfopt.optimizer import Optimizer


@contextmanager
def renew_leases(optimizer: Optimizer, held: Set[int]) -> Iterator[None]:
    """Within, a thread renews the leases of the trials `held` in time; nothing to do where trials are not leased."""
    lease = optimizer.lease
    if lease is None:
        yield
        return
    over = threading.Event()

    def renew() -> None:
        while not over.wait(lease / 3):
            for id in list(held):
                # Told meanwhile, or a storage that is busy: the next turn comes before the lease runs out. A trial that
                # was handed out again is not ours any more; its value will do if it comes first.
                with suppress(MfoptError):
                    optimizer.renew(id)

    thread = threading.Thread(target=renew, name="mfopt: leases", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
