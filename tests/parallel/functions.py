"""Functions for the tests of parallel runs. They stand in a module, so that other processes can import them."""

import os
import sys
import threading
import time
from pathlib import Path

import numpy as np


def low(x):
    return 1.0 - np.square(x - 0.4).sum()


def high(x):
    return 2.0 - np.square(x - 0.5).sum()


def brief(x):
    time.sleep(0.02)
    return high(x)


def raises(x):
    raise RuntimeError("diverged")


def nan(x):
    return np.nan


def text(x):
    return "3.5"


def lock(x):
    """A result that cannot be pickled."""
    return threading.Lock()


def leaves(x):
    sys.exit("licence not found")


class Awkward(Exception):
    """Can be pickled, but not unpickled."""

    def __init__(self, code, where):
        super().__init__(f"code {code} at {where}")


def awkward(x):
    raise Awkward(7, "inlet")


def dies(x):
    os.kill(os.getpid(), 9)  # SIGKILL; on Windows, which has no name for it, it ends a process, too


class Once:
    """Misbehaves at its first call in any process (`folder` remembers), then is `high`; good calls leave a file."""

    def __init__(self, folder, how, seconds=0.0):
        self.folder, self.how, self.seconds = Path(folder), how, seconds

    def __call__(self, x):
        try:
            (self.folder / "first").touch(exist_ok=False)
        except FileExistsError:
            time.sleep(self.seconds)
        else:
            if self.how == "dies":
                dies(x)
            if self.how == "hangs":
                while not (self.folder / "release").exists():
                    time.sleep(0.05)
            if self.how == "raises":
                raises(x)
        (self.folder / f"done-{os.getpid()}-{time.monotonic_ns()}").touch()
        return high(x)

    @property
    def done(self):
        return len(list(self.folder.glob("done-*")))


class Counting:
    """Counts how many calls of each function are under way at once, in threads."""

    def __init__(self, seconds=0.01):
        self.lock = threading.Lock()
        self.now, self.most = {}, {}
        self.total = self.peak = 0
        self.seconds = seconds

    def function(self, m, f):
        def counted(x):
            with self.lock:
                self.now[m] = self.now.get(m, 0) + 1
                self.most[m] = max(self.most.get(m, 0), self.now[m])
                self.total += 1
                self.peak = max(self.peak, self.total)
            time.sleep(self.seconds * (m + 1))
            with self.lock:
                self.now[m] -= 1
                self.total -= 1
            return f(x)

        return counted
