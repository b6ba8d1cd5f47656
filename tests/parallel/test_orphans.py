"""After kill -9 of a run nothing that it started runs on."""

import sys

import pytest

from tests.processes import ends, started, wait_for

FUNCTIONS = """
import os, sys, time
from pathlib import Path
import mfopt

def slow(x):
    name = Path(sys.argv[-1]) / f"pid-{os.getpid()}"
    name.touch()
    time.sleep(300)

def spin(x):
    (Path(sys.argv[-1]) / f"pid-{os.getpid()}").touch()
    sum(range(10**12))  # a C loop that never lets another thread run

if __name__ == "__main__":
    KIND
"""
MAXIMIZE = "mfopt.maximize([FUNCTION], [(0, 1)], [1.0], 8.0, strategy='random', executor=EXECUTOR, workers=2)"
SIMULATOR = """
    script = 'touch "$0/pid-$$"; sh -c \\'touch "$0/pid-$$"; sleep 300\\' "$0" & wait'
    program = mfopt.Simulator(["sh", "-c", script, sys.argv[-1]], ["a"])
    """
DASK = """
    from distributed import Client
    with Client(n_workers=2, threads_per_worker=1, dashboard_address=":0") as client:
        """


def pids(folder):
    return [int(path.name.split("-")[1]) for path in folder.glob("pid-*")]


@pytest.mark.posix_only
@pytest.mark.parametrize(
    ("kind", "count"),
    [
        (MAXIMIZE.replace("FUNCTION", "slow").replace("EXECUTOR", "'processes'"), 2),
        pytest.param(
            MAXIMIZE.replace("FUNCTION", "spin").replace("EXECUTOR", "'processes'"),
            2,
            marks=pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process that is deaf"),
        ),
        (SIMULATOR + MAXIMIZE.replace("FUNCTION", "program").replace("EXECUTOR", "'threads'"), 4),
        (SIMULATOR + MAXIMIZE.replace("FUNCTION", "slow, program").replace("[1.0]", "[1.0, 2.0]").replace(
            "EXECUTOR", "'processes'"), 4),
        (DASK + MAXIMIZE.replace("FUNCTION", "slow").replace("EXECUTOR", "client"), 2),
    ],
    ids=["processes", "deaf processes", "programs", "programs in processes", "a local cluster"],
)  # fmt: skip
def test_nothing_outlives_a_run_that_is_killed(kind, count, tmp_path):
    script = tmp_path / "run.py"
    script.write_text(FUNCTIONS.replace("KIND", kind))
    with started([sys.executable, str(script), str(tmp_path)], cwd=tmp_path) as run:
        wait_for(lambda: len(pids(tmp_path)) >= count, run)
        run.kill()
        run.wait()
    assert all(ends(pid, 10) for pid in pids(tmp_path))
