"""Tests run the same everywhere: in a terminal or in the background, in any order, in any number of processes.

BLAS gets one thread: the suite runs in parallel processes, and threads would only get in each other's way.
Hypothesis draws the same examples at every run, whatever the machine is busy with; HYPOTHESIS_PROFILE=explore looks for
new ones. `--shuffle SEED` runs the tests in another order.
"""

import os
import random

import pytest
from hypothesis import HealthCheck, settings

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

settings.register_profile("reproducible", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("explore", max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "reproducible"))


def pytest_addoption(parser):
    parser.addoption("--shuffle", metavar="SEED", type=int, help="run the tests in the random order of this seed")


def pytest_report_header(config):
    seed = config.getoption("shuffle")
    return None if seed is None else f"shuffled with seed {seed}"


@pytest.hookimpl(trylast=True)  # after pytest has put tests with common fixtures together
def pytest_collection_modifyitems(config, items):
    seed = config.getoption("shuffle")
    if seed is not None:
        random.Random(seed).shuffle(items)  # the same order in each of pytest-xdist's processes


def pytest_runtest_setup(item):
    if os.name != "posix" and item.get_closest_marker("posix_only"):
        pytest.skip("posix_only: needs signals, forks, file modes or a shell of POSIX")
