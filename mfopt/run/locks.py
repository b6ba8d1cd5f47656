"""Lock: what the threads of one process wait for, one at a time."""

from __future__ import annotations

import os
import threading
import weakref


class Lock:
    """A re-entrant lock; write `with lock.held:`.

    Copies, also in other processes, get a lock of their own, which nobody holds. So does a process that is forked: the
    thread that held the parent's lock does not exist there. `held` is CPython's own lock, so that Ctrl-C never comes
    between taking it and entering the block.
    """

    __slots__ = ("__weakref__", "held")

    def __init__(self) -> None:
        self.held = threading.RLock()
        _locks.add(self)

    def __reduce__(self) -> tuple[type[Lock], tuple[()]]:
        return Lock, ()


_locks: weakref.WeakSet[Lock] = weakref.WeakSet()


def _renew_all() -> None:
    for lock in list(_locks):
        lock.held = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_all)
