"""Code that may crash, run in a process of its own, which has to end well."""

import subprocess
import sys
from pathlib import Path

PRELUDE = """
import sys, threading, warnings
import numpy as np
from unittest.mock import Mock
from mfopt_core import GP, Ascent, Bound, Direct, Kernel, Level, Mixture, Tracked, argmax_ucb, divide, mf_ucb
from tests.core.fuzzing.arguments import Acting, Normals

warnings.simplefilter("ignore")  # later versions of NumPy warn when a shape is set
sys.setswitchinterval(1e-6)
X = np.random.default_rng(0).random((40, 2))


def grown(n=40, lengthscale=(0.3, 0.3)):
    gp = GP("se", lengthscale, 1.0, 1e-3)
    gp.extend(X[:n], X[:n].sum(axis=1))
    return gp


def refused(call, kinds=ValueError):
    try:
        call()
    except kinds:
        return True
    return False


def meanwhile(act, call, times):
    # Call while another thread acts.
    done = threading.Event()

    def loop():
        while not done.is_set():
            act()

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        for _ in range(times):
            call()
    finally:
        done.set()
        thread.join()
"""


def run(code):
    """What the code prints, in a process of its own."""
    process = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", PRELUDE + code],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=Path(__file__).parents[2],  # where the package `tests` is found
    )
    assert process.returncode == 0, process.stderr
    return process.stdout.split()
