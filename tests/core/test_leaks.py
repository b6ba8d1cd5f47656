"""Memory stays flat."""

import gc
import os
import subprocess
import sys

import numpy as np
import pytest

from mfopt_core import GP, Kernel, mf_ucb


def resident() -> int:
    """Bytes of this process that are in memory now."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


linux_only = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads /proc")


@linux_only
def test_a_hundred_thousand_append_truncate_cycles_leave_memory_flat():
    gp = GP("se", 0.5, 1.0, 1e-3)
    gp.extend(np.random.default_rng(0).random((127, 3)), np.zeros(127))
    tracked = gp.track(np.random.default_rng(1).random((20, 3)))
    x = np.random.default_rng(2).random((3, 3))

    def cycles(count):
        for _ in range(count):
            gp.append(x[0], 1.0)
            gp.append(x[1], 1.0)  # crosses the border of a block
            gp.truncate(127)

    cycles(1000)
    tracked.mean  # noqa: B018
    before = resident()
    cycles(100_000)
    tracked.mean  # noqa: B018
    assert resident() - before < 1 << 20


@linux_only
def test_objects_and_errors_give_their_memory_back():
    x = np.random.default_rng(0).random((300, 4))

    def use():
        gp = GP("matern52", [0.5] * 4, 1.0, 1e-3)
        gp.extend(x, x[:, 0])
        gp.track(x).mean  # noqa: B018
        gp.track(x, lazy=True)
        gp.log_marginal_likelihood(grad=True)
        gp.posterior_gradient(x)
        gp.sample(x[:20], 2, np.random.default_rng(0))
        mf_ucb([gp], x, 1.0, [0.0], grad=True)
        Kernel("se", [1.0] * 4).hyper_gradient(x[:10], x)
        for bad in (np.full((2, 4), np.nan), np.zeros((2, 3))):
            with pytest.raises(ValueError, match="x must"):
                gp.posterior(bad)
        with pytest.raises(ValueError, match="noise"):
            GP("se", 0.5, 1.0, -1.0)

    for _ in range(20):
        use()
    gc.collect()
    before = resident()
    for _ in range(200):
        use()
    gc.collect()
    assert resident() - before < 4 << 20


FAILING_ARGMAX = """
import resource
import numpy as np
from mfopt_core import GP, argmax_ucb

def size():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * 4096

count = 5_000_000  # argmax_ucb wants two arrays of 40 MB: the limit leaves room for the first of them only
tracked = GP("se", 0.5, 1.0, 1e-3).track(np.zeros((count, 1)), lazy=True)
argmax_ucb([tracked], 1.0, [0.0])
before = size()
resource.setrlimit(resource.RLIMIT_AS, (before + 60_000_000, resource.RLIM_INFINITY))
for _ in range(3):
    try:
        argmax_ucb([tracked], 1.0, [0.0])
    except MemoryError as error:
        print(error)
print(size() - before < 20_000_000)
"""


@linux_only
def test_a_search_that_finds_no_memory_gives_back_what_it_had():
    run = subprocess.run([sys.executable, "-c", FAILING_ARGMAX], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["no memory for 5000000 items of 8 bytes"] * 3 + ["True"]
