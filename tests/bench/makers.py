"""Problems and misbehaviour for the tests of experiments, reached by their dotted names."""

from __future__ import annotations

import os
import time

import numpy as np

from mfopt import Box
from mfopt.problems import Benchmark


def hill(peak: float = 0.3) -> Benchmark:
    def high(x):
        return -((np.asarray(x)[..., 0] - peak) ** 2)

    def low(x):
        return high(x) + 0.01

    return Benchmark("hill", [low, high], Box([(0.0, 1.0)]), [1.0, 4.0], 0.0, np.array([peak]), [0.01, 0.0])


def _changed(high) -> Benchmark:
    good = hill()
    return Benchmark("changed", [high, high], good.domain, good.costs, 0.0, good.argmax, [0.0, 0.0])


def raising() -> Benchmark:
    def high(x):
        raise RuntimeError("no such luck")

    return _changed(high)


def dying() -> Benchmark:
    return _changed(lambda x: os._exit(3))


def talking() -> Benchmark:
    def high(x):
        print("something for the user")
        return float(x[0]) - 1.0

    return _changed(high)


def slow(seconds: float = 0.2) -> Benchmark:
    def high(x):
        start = time.process_time()
        while time.process_time() - start < seconds:
            pass
        return float(x[0]) - 1.0

    return _changed(high)


def number() -> int:
    return 3
