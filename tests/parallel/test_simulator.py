"""Programs as functions: what becomes of their processes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import mfopt
from mfopt.errors import EvaluationTimeout


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def ends(pid, seconds=10):
    """Whether the process ends in time."""
    deadline = time.monotonic() + seconds
    while alive(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not alive(pid)


def test_children_are_killed_when_the_program_itself_has_ended(tmp_path):
    script = f"sleep 60 & echo $! > {tmp_path / 'child'}; exit 0"  # sleep holds stdout
    with pytest.raises(EvaluationTimeout):
        mfopt.Simulator(["sh", "-c", script], ["a"], timeout=0.5)(np.zeros(1))
    assert ends(int((tmp_path / "child").read_text()))


def test_programs_are_started_from_threads_where_processes_were_asked_for():
    parent = mfopt.Simulator([sys.executable, "-c", "import os; print(os.getppid())"], ["a"])
    result = mfopt.maximize([parent], [(0, 1)], [1.0], 2.0, strategy="random", executor="processes", workers=2, rng=0)
    assert result.history.y.tolist() == [os.getpid()] * 2


def test_no_program_outlives_a_run_in_processes_that_is_terminated(tmp_path):
    (tmp_path / "sleeps.sh").write_text("echo $$ > started.tmp; mv started.tmp started; exec sleep 60\n")
    (tmp_path / "problem.py").write_text(
        "domain = [(0, 1)]\ncosts = [1]\ncommands = ['sh sleeps.sh']\ncapital = 5\nstrategy = 'random'\n"
    )
    command = [sys.executable, "-m", "mfopt.cli", "run", "problem.py", "--executor", "processes", "--quiet"]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE) as run:
        deadline = time.monotonic() + 60
        while not (tmp_path / "started").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        program = int((tmp_path / "started").read_text())
        run.send_signal(signal.SIGTERM)
        run.communicate(timeout=60)
    assert run.returncode == 130
    assert ends(program)
