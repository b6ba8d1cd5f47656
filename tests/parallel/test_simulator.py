"""Programs as functions: what becomes of their processes."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import mfopt
from mfopt.errors import EvaluationError, EvaluationTimeout
from mfopt.parallel.orphans import Guard
from tests.processes import ends, started, wait_for


def test_a_program_is_given_native_values_by_its_own_names(tmp_path):
    code = (
        "import json, sys; x = json.load(sys.stdin)['x']; print(json.dumps(x), file=open(sys.argv[1], 'a')); print(1)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "given")]
    space = mfopt.Space({"n": mfopt.Integer(1, 9), "c": ["a", "b"], "r": mfopt.Real(0, 1, when={"c": "b"})})
    program = mfopt.Simulator(command, ["count", "kind", "rate"])
    result = mfopt.maximize([program], space, [1.0], 4.0, strategy="random", rng=0, progress=False)
    given = [json.loads(line) for line in (tmp_path / "given").read_text().splitlines()]
    own = {"n": "count", "c": "kind", "r": "rate"}
    assert given == [{own[name]: value for name, value in params.items()} for params in result.history.params]
    assert {type(one["count"]) for one in given} == {int}
    assert program(np.array([1.0, 2.0, 3.0])) == 1.0
    assert '{"count": 1.0, "kind": 2.0, "rate": 3.0}' in (tmp_path / "given").read_text()


@pytest.mark.posix_only
def test_children_are_killed_when_the_program_itself_has_ended(tmp_path):
    script = f"sleep 60 & echo $! > {tmp_path / 'child'}; exit 0"  # sleep holds stdout
    with pytest.raises(EvaluationTimeout):
        mfopt.Simulator(["sh", "-c", script], ["a"], timeout=2.0)(np.zeros(1))
    assert ends(int((tmp_path / "child").read_text()))


def test_programs_are_started_from_threads_where_processes_were_asked_for():
    parent = mfopt.Simulator([sys.executable, "-c", "import os; print(os.getppid())"], ["a"])
    result = mfopt.maximize([parent], [(0, 1)], [1.0], 2.0, strategy="random", executor="processes", workers=2, rng=0)
    assert result.history.y.tolist() == [os.getpid()] * 2


@pytest.mark.posix_only
def test_no_program_outlives_a_run_in_processes_that_is_terminated(tmp_path):
    (tmp_path / "sleeps.sh").write_text("echo $$ > started.tmp; mv started.tmp started; exec sleep 60\n")
    (tmp_path / "problem.py").write_text(
        "domain = [(0, 1)]\ncosts = [1]\ncommands = ['sh sleeps.sh']\ncapital = 5\nstrategy = 'random'\n"
    )
    command = [sys.executable, "-m", "mfopt.cli", "run", "problem.py", "--executor", "processes", "--quiet"]
    with started(command, cwd=tmp_path, stdout=subprocess.PIPE) as run:
        wait_for((tmp_path / "started").exists, run)
        program = int((tmp_path / "started").read_text())
        run.send_signal(signal.SIGTERM)
        run.communicate(timeout=600)
    assert run.returncode == 130
    assert ends(program)


@pytest.mark.posix_only
def test_a_program_begins_after_its_guard_knows_of_it(tmp_path, monkeypatch):
    program = mfopt.Simulator(["sh", "-c", f"touch {tmp_path / 'begun'}; echo 1"], ["a"])
    begun, add = [], Guard.add

    def add_late(guard, group):
        time.sleep(0.5)  # on a busy machine; kill -9 may come here
        begun.append((tmp_path / "begun").exists())
        add(guard, group)

    monkeypatch.setattr(Guard, "add", add_late)
    assert program(np.array([0.5])) == 1.0
    assert begun == [False]


def test_arguments_and_input_reach_the_program_as_they_are():
    code = "import sys; print(sys.argv[1:], sys.stdin.read().count(chr(10)), file=sys.stderr); sys.exit(3)"
    arguments = ["$HOME", "a b", "*", "", "'", '"', "\\n"]
    with pytest.raises(EvaluationError) as caught:
        mfopt.Simulator([sys.executable, "-c", code, *arguments], ["a"])(np.array([0.5]))
    assert str(caught.value).endswith(f"ended with exit code 3: {arguments} 1")


def test_a_program_that_is_not_there_is_an_evaluation_error():
    with pytest.raises((EvaluationError, OSError), match="no-such-program"):
        mfopt.Simulator(["no-such-program"], ["a"])(np.array([0.5]))
