"""Parallel runs with threads, processes and executors of the user."""

import multiprocessing
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mfopt
from mfopt.errors import EvaluationError, EvaluationTimeout, ExecutorError, WorkerLost
from mfopt.loop import run
from mfopt.protocols import Suggestion
from tests.parallel import functions as f
from tests.processes import started

DOMAIN = [(0.0, 1.0), (0.0, 1.0)]


class Scripted:
    """Random points at the fidelities of a list, then at the target."""

    def __init__(self, fidelities=()):
        self.fidelities = list(fidelities)

    def start(self, problem):
        self.problem = problem

    def ask(self, view):
        m = self.fidelities.pop(0) if self.fidelities else len(self.problem.costs) - 1
        return Suggestion(view.rng.random(2), m, f"because of {m}")

    def tell(self, record):
        pass


def go(functions, capital, costs=(1.0, 4.0), fidelities=(), **options):
    options = {"strategy": Scripted(fidelities), "rng": 0, "progress": False, **options}
    return mfopt.maximize(functions, DOMAIN, costs[-len(functions) :], capital, **options)


def processes(count):
    """An executor of the user. A fork in a program with threads would be warned of."""
    return ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"))


@pytest.fixture(params=["threads", "processes", "own threads", "own processes"], scope="module")
def pool(request):
    """Options of maximize for each kind of executor."""
    if not request.param.startswith("own"):
        yield {"executor": request.param, "workers": 2}
        return
    made = ThreadPoolExecutor(2) if request.param == "own threads" else processes(2)
    with made:
        yield {"executor": made, "workers": 2}


def test_every_pool_finds_what_a_sequential_run_finds(pool):
    result = go([f.low, f.high], 59.0, fidelities=[0, 1, 0, 0] * 5, **pool)
    history = result.history
    assert result.success
    assert history.y.tolist() == [(f.low, f.high)[m](x) for m, x in zip(history.fidelity, history.x, strict=True)]
    assert sorted(history.id.tolist()) == list(range(len(history)))
    assert result.spent == history.cost.sum() == 59.0


@pytest.mark.parametrize("bad", [f.raises, f.nan, f.text, f.lock, f.leaves, f.awkward])
def test_what_goes_wrong_in_one_evaluation_is_recorded_or_raised(pool, bad):
    pool = {**pool, "workers": 1}
    result = go([f.low, bad], 20.0, fidelities=[0, 1] * 4, on_error="record", **pool)
    failed = result.history.status == "failed"
    assert (failed == (result.history.fidelity == 1)).all()
    assert failed.sum() == len(result.failures) == 4
    assert result.spent == 20.0
    said = {
        f.raises: "RuntimeError: diverged",
        f.nan: "must be finite, got nan",
        f.text: "must be a real number, got '3.5'",
        f.lock: "must be a real number, got <unlocked _thread.lock",
        f.leaves: "SystemExit: licence not found",
        f.awkward: "Awkward: code 7 at inlet",
    }
    assert all(said[bad] in failure.message for failure in result.failures)
    expected = {f.raises: RuntimeError, f.leaves: SystemExit, f.awkward: (f.Awkward, EvaluationError)}
    with pytest.raises(expected.get(bad, mfopt.InputError)):
        go([f.low, bad], 20.0, fidelities=[0, 1] * 4, **pool)


@pytest.mark.parametrize("kind", ["processes", "own"])
def test_functions_that_cannot_be_pickled_are_refused_whatever_on_error_says(kind):
    with processes(1) as own, pytest.raises(ExecutorError, match=r"picklable .*<lambda>"):
        go([lambda x: 1.0], 8.0, executor=own if kind == "own" else kind, workers=1, on_error="record")


def test_functions_that_a_worker_cannot_import_are_refused(tmp_path):
    code = "import mfopt\ndef g(x): return 1.0\nmfopt.maximize([g], [(0, 1)], [1.0], 9.0, executor='processes', rng=0)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 1
    assert "ExecutorError: functions must be importable by name" in done.stderr


def test_a_script_without_a_guard_is_told_so(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import mfopt\ndef g(x): return 1.0\nmfopt.maximize([g], [(0, 1)], [1.0], 9.0, executor='processes', rng=0)\n"
    )
    done = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert done.returncode == 1
    assert '`if __name__ == "__main__":`' in done.stderr


# ------------------------------------------------------------------------------------------------- asynchrony


@settings(max_examples=25, deadline=None)
@given(
    fidelities=st.lists(st.integers(0, 2), max_size=25),
    limits=st.tuples(*[st.none() | st.integers(1, 3)] * 3),
    workers=st.integers(1, 5),
)
def test_no_limit_is_ever_exceeded_and_nothing_is_lost(fidelities, limits, workers):
    watch = f.Counting(seconds=0.0005)
    watched = [watch.function(m, f.high) for m in range(3)]
    options = {"executor": "threads", "workers": workers, "limits": list(limits)}
    result = go(watched, 60.0, (1.0, 2.0, 4.0), fidelities, **options)
    assert watch.peak <= workers
    assert all(limit is None or watch.most.get(m, 0) <= limit for m, limit in enumerate(limits))
    history = result.history
    assert sorted(history.id.tolist()) == list(range(len(history)))
    assert 56.0 < result.spent <= 60.0
    assert result.status == 0


@settings(max_examples=25, deadline=None)
@given(good=st.lists(st.booleans(), min_size=40, max_size=40), workers=st.integers(1, 4), retries=st.integers(0, 2))
def test_a_trial_fails_when_all_its_tries_do(good, workers, retries):
    tries, outcomes, lock = {}, iter(good), threading.Lock()

    def moody(x):
        with lock:
            fine = next(outcomes, True)
            tries.setdefault(tuple(x), []).append(fine)
        return f.high(x) if fine else np.nan

    result = go([moody], 12.0, (1.0,), executor="threads", workers=workers, retries=retries, on_error="record")
    assert result.spent == len(result.history) == len(tries) == 12
    for x, status in zip(result.history.x, result.history.status, strict=True):
        *before, last = tries[tuple(x)]
        assert not any(before)
        assert len(before) <= retries
        assert (status == "ok") == last
        assert last or len(before) == retries


def test_cheap_evaluations_go_on_while_dear_ones_are_full():
    watch = f.Counting(seconds=0.05)
    watched = [watch.function(m, f.high) for m in range(2)]
    fidelities = [1, 1, *[0, 0, 0, 0, 1] * 4]
    go(watched, 60.0, fidelities=fidelities, executor="threads", workers=4, limits=[None, 1])
    assert watch.most[1] == 1
    assert watch.most[0] >= 2


def waiting_at_first():
    """A gate, and an evaluation that waits for it at its first call."""
    gate, calls = threading.Event(), iter([True])

    def evaluation(x):
        if next(calls, False):
            gate.wait(20)
        return f.high(x)

    return gate, evaluation


def test_a_slow_evaluation_holds_nobody_up():
    gate, first_waits = waiting_at_first()

    def callback(opt, trial, y):
        if len(opt.history) == 8:
            assert [t.id for t in opt.pending] == [0]
            gate.set()

    result = go([first_waits], 9.0, (1.0,), executor="threads", workers=2, callback=callback)
    assert result.history.id[-1] == 0
    assert len(result.history) == 9


def test_the_optimiser_sees_what_is_pending():
    seen = []

    class Watching(Scripted):
        def ask(self, view):
            seen.append(len(view.pending))
            return super().ask(view)

    go([f.brief], 12.0, (1.0,), strategy=Watching(), executor="threads", workers=4)
    assert seen[:4] == [0, 1, 2, 3]
    assert max(seen) == 3


def test_the_callback_ends_the_loop_and_what_runs_is_told():
    result = go([f.brief], 40.0, (1.0,), executor="threads", workers=4, callback=lambda o, t, y: len(o.history) >= 3)
    assert result.status == 2
    assert result.success
    assert 3 <= result.nfev <= 6
    assert result.spent == result.nfev


def test_the_time_limit_ends_the_loop_and_what_runs_is_told():
    result = go([f.brief], None, (1.0,), executor="threads", workers=4, time_limit=1.0)
    assert result.status == 4
    assert result.nfev == result.spent > 4


@pytest.mark.posix_only
def test_ctrl_c_ends_a_parallel_run_at_once_with_the_result_so_far(tmp_path):
    code = (
        "import mfopt, os, signal, time\n"
        "from tests.parallel.functions import high\n"
        "def f(x):\n"
        "    if len(seen) < 5: return high(x)\n"
        "    hanging.append(x)\n"
        "    if len(hanging) == 3: os.kill(os.getpid(), signal.SIGINT)\n"
        "    time.sleep(600)\n"
        "seen, hanging = [], []\n"
        "def callback(o, t, y): seen.append(y)\n"
        "opt = mfopt.Optimizer([(0, 1)] * 2, [1.0], capital=40.0, rng=0)\n"
        "r = mfopt.loop.run(opt, [f], executor='threads', workers=3, callback=callback)\n"
        "print(r.status, r.success, r.nfev >= 5, len(opt.pending), r.spent == r.nfev, r.fun == max(seen))\n"
    )
    start = time.monotonic()
    with started([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        out, err = process.communicate(timeout=600)
    assert out == "3 False True 3 True True\n", err
    assert time.monotonic() - start < 300  # an evaluation takes 600


# --------------------------------------------------------------------------------------- timeouts, retries, losses


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_an_evaluation_that_hangs_is_given_up_and_its_worker_used_again(executor, tmp_path):
    hangs = f.Once(tmp_path, "hangs")
    timeout = 1.0 if executor == "threads" else 8.0  # a new process needs its time, too
    result = go([hangs], 4.0, (1.0,), executor=executor, workers=1, timeout=timeout, on_error="record")
    assert result.history.status.tolist() == ["failed", "ok", "ok", "ok"]
    assert result.failures[0].message == f"EvaluationTimeout: an evaluation may take {timeout:g} s and took longer"
    assert result.spent == 4.0
    assert hangs.done == 3


def test_a_timeout_can_be_raised_and_is_a_timeouterror(tmp_path):
    with pytest.raises(EvaluationTimeout) as caught:
        go([f.Once(tmp_path, "hangs")], 4.0, (1.0,), executor="threads", workers=1, timeout=0.1)
    assert isinstance(caught.value, TimeoutError)


def test_timeouts_may_differ_between_fidelities():
    def slow(x):
        time.sleep(0.3)
        return f.high(x)

    options = {"executor": "threads", "workers": 2, "on_error": "record"}
    result = go([slow, slow], 10.0, fidelities=[0, 0, 1, 1], timeout=[0.05, None], **options)
    assert sorted(result.history.status[result.history.fidelity == 0]) == ["failed", "failed"]
    assert set(result.history.status[result.history.fidelity == 1]) == {"ok"}


def test_a_hung_worker_of_another_executor_is_not_queued_behind():
    gate, first_hangs = waiting_at_first()

    with ThreadPoolExecutor(2) as own:
        result = go([first_hangs], 8.0, (1.0,), executor=own, workers=2, timeout=1.0, on_error="record")
        gate.set()
    assert (result.history.status == "failed").sum() == 1
    assert result.spent == 8.0


def test_when_every_worker_hangs_the_run_ends_and_says_so():
    gate = threading.Event()
    with ThreadPoolExecutor(2) as own:
        options = {"executor": own, "workers": 2, "timeout": 0.1, "on_error": "record"}
        result = go([lambda x: gate.wait(20)], 8.0, (1.0,), **options)
        gate.set()
    assert result.status == 5
    assert not result.success
    assert "no worker left: 2 evaluations past their timeout" in result.message
    assert result.spent == 2.0


@pytest.mark.parametrize("time_limit", [None, 2.0])
def test_what_waits_for_the_place_of_a_hung_evaluation_is_started_when_it_returns(time_limit):
    gate, first_hangs = waiting_at_first()

    def callback(opt, trial, y):
        if time_limit is None:
            threading.Timer(0.3, gate.set).start()

    with ThreadPoolExecutor(2) as own:
        options = {"executor": own, "workers": 2, "limits": [1], "timeout": 1.0, "on_error": "record"}
        start = time.monotonic()
        result = go([first_hangs], 4.0, (1.0,), callback=callback, time_limit=time_limit, **options)
        assert time.monotonic() - start < 10
        gate.set()
    if time_limit is None:
        assert result.history.status.tolist() == ["failed", "ok", "ok", "ok"]
        assert result.status == 0
    else:
        assert result.history.status.tolist() == ["failed"]
        assert result.status == 4


def test_a_worker_that_ends_its_hanging_evaluation_is_used_again():
    def slow(x):
        time.sleep(0.25)
        return f.high(x)

    def callback(opt, trial, y):
        time.sleep(0.4)  # until then the late one is through

    with ThreadPoolExecutor(1) as own:
        options = {"executor": own, "workers": 1, "timeout": 0.1, "on_error": "record", "callback": callback}
        result = go([slow], 3.0, (1.0,), **options)
    assert (result.history.status == "failed").all()
    assert result.spent >= 1.0


@pytest.mark.parametrize("how", ["dies", "raises"])
def test_what_goes_wrong_once_is_tried_again_and_charged_once(how, tmp_path):
    once = f.Once(tmp_path, how)
    result = go([once], 6.0, (1.0,), executor="processes", workers=2, retries=1)
    assert result.success
    assert result.spent == 6.0
    assert (result.history.status == "ok").all()
    assert once.done == 6
    assert sorted(result.history.id.tolist()) == list(range(6))


@pytest.mark.posix_only
def test_a_worker_that_dies_takes_only_its_own_evaluation_with_it(tmp_path):
    result = go([f.Once(tmp_path, "dies")], 6.0, (1.0,), executor="processes", workers=2, on_error="record")
    assert sorted(result.history.status.tolist()) == ["failed"] + ["ok"] * 5
    assert "WorkerLost: a worker process ended in the middle of an evaluation (killed by signal 9)" in str(
        result.failures
    )
    with pytest.raises(WorkerLost):
        go([f.dies], 6.0, (1.0,), executor="processes", workers=2)


def test_a_broken_executor_of_the_user_ends_the_loop_and_the_trials_stay_pending():
    opt = mfopt.Optimizer(DOMAIN, [1.0], capital=8.0, rng=0)
    with processes(2) as own, pytest.raises(ExecutorError, match="BrokenProcessPool"):
        run(opt, [f.dies], executor=own, workers=2, on_error="record")
    assert len(opt.history) == 0
    assert opt.spent == 0.0
    assert len(opt.pending) == 2


def test_an_executor_that_is_shut_down_refuses():
    own = ThreadPoolExecutor(1)
    own.shutdown()
    with pytest.raises(ExecutorError, match="refused an evaluation: RuntimeError: cannot schedule"):
        go([f.high], 8.0, (1.0,), executor=own, workers=1, on_error="record")


@pytest.mark.posix_only
def test_no_process_of_ours_outlives_the_run(tmp_path):
    once = f.Once(tmp_path, "none")
    go([once], 8.0, (1.0,), executor="processes", workers=2)
    pids = {int(path.name.split("-")[1]) for path in tmp_path.glob("done-*")}
    assert 1 <= len(pids) <= 2
    assert os.getpid() not in pids
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_the_default_method_runs_in_parallel():
    problem = mfopt.problems.get("currin")
    result = mfopt.maximize(
        problem.functions, problem.domain, problem.costs, 150.0, rng=0, executor="threads", workers=4, progress=False
    )
    assert result.success
    assert problem.optimum - result.fun < 0.1
    assert np.isclose(result.spent, result.history.cost.sum())
