"""Runs on a real Dask cluster on this machine, whose workers are killed, hang, and send nonsense."""

import json
import os
import sys
import threading
import time

import pytest

import mfopt
from mfopt import cli
from mfopt.errors import ExecutorError
from mfopt.loop import run
from mfopt.parallel.dask_pool import DaskPool
from tests.parallel import functions as f
from tests.parallel.test_engine import DOMAIN, go

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    with (
        # It would give up a worker that is not there 15 seconds after a loss, even if that is a second loss.
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def both_workers(client):
    """Each test begins with two workers, whatever the one before did to them."""
    client.wait_for_workers(2, timeout=120)


def test_a_cluster_finds_what_a_sequential_run_finds(client):
    result = go([f.low, f.high], 59.0, fidelities=[0, 1, 0, 0] * 5, executor=client)
    history = result.history
    assert result.success
    assert history.y.tolist() == [(f.low, f.high)[m](x) for m, x in zip(history.fidelity, history.x, strict=True)]
    assert sorted(history.id.tolist()) == list(range(len(history)))
    assert result.spent == history.cost.sum() == 59.0


def test_its_executor_serves_too(client):
    with client.get_executor() as executor:
        assert go([f.high], 6.0, (1.0,), executor=executor).spent == 6.0


def test_the_same_point_may_be_evaluated_twice(client):
    """Dask would take a repeated call of a pure function for the first one."""
    pool = DaskPool(client, None)
    x = mfopt.problems.get("currin").argmax
    calls = [pool.submit(_clock, x, "the time") for _ in range(2)]
    assert len({call.result(60) for call in calls}) == 2


def _clock(x):
    return time.monotonic()


@pytest.mark.parametrize("bad", [f.raises, f.nan, f.text, f.lock, f.leaves, f.awkward])
def test_what_goes_wrong_in_one_evaluation_is_recorded_or_raised(client, bad):
    result = go([f.low, bad], 10.0, fidelities=[0, 1] * 2, on_error="record", executor=client)
    failed = result.history.status == "failed"
    assert (failed == (result.history.fidelity == 1)).all()
    assert failed.sum() == len(result.failures) == 2
    assert result.spent == 10.0
    with pytest.raises((RuntimeError, mfopt.InputError, SystemExit, f.Awkward, mfopt.MfoptError)):
        go([f.low, bad], 10.0, fidelities=[0, 1] * 2, executor=client)


def test_a_lambda_is_fine_and_what_cannot_be_pickled_is_refused(client):
    assert go([lambda x: x.sum()], 2.0, (1.0,), executor=client).success
    held = threading.Lock()
    with pytest.raises(ExecutorError, match="functions must be picklable"):
        go([lambda x: float(held.locked())], 8.0, (1.0,), executor=client, on_error="record")


def test_a_function_that_the_workers_cannot_import_ends_the_loop(client, tmp_path, monkeypatch):
    (tmp_path / "only_here.py").write_text("def f(x): return 1.0\n")
    monkeypatch.syspath_prepend(tmp_path)
    import only_here

    with pytest.raises(ExecutorError, match=r"importable by name .* ModuleNotFoundError: No module named 'only_here'"):
        go([only_here.f], 8.0, (1.0,), executor=client, on_error="record")


def test_workers_killed_in_the_middle_cost_nothing(client, tmp_path):
    """Three times, five results or more apart, a busy worker is killed: nothing hangs, is lost or charged twice."""
    once = f.Once(tmp_path, "none", seconds=0.05)
    killed = []

    def kill(opt, trial, y):
        if len(killed) < 3 and len(opt.history) >= (killed or [0])[-1] + 5:
            busy = [address for address, keys in client.processing().items() if keys]
            pids = {address: worker["pid"] for address, worker in _workers(client).items() if address in busy}
            if pids:
                os.kill(next(iter(pids.values())), 9)
                killed.append(len(opt.history))

    opt = mfopt.Optimizer(DOMAIN, [1.0], capital=24.0, rng=0, strategy="random")
    # Three at once on two workers: while a result is told one at least is still running, or about to.
    result = run(opt, [once], executor=client, workers=3, callback=kill)
    assert len(killed) == 3
    assert result.success
    assert sorted(result.history.id.tolist()) == list(range(24))
    assert result.history.y.tolist() == [f.high(x) for x in result.history.x]
    assert result.spent == 24.0
    assert opt.pending == []


def _workers(client):
    """Of each worker its process id, by address."""
    return client.run(lambda: {"pid": os.getpid()})


@pytest.mark.parametrize("allowed", [0, 100])
def test_an_evaluation_that_kills_its_workers_is_recorded(client, monkeypatch, allowed):
    monkeypatch.setattr(client.cluster.scheduler, "allowed_failures", allowed)  # losses after which Dask gives up
    result = go([f.low, f.dies], 7.0, fidelities=[0, 0, 0, 1], executor=client, on_error="record")
    assert [failure.message for failure in result.failures] == [
        "WorkerLost: 3 workers were lost, each while it ran this evaluation"
    ]
    assert result.spent == 7.0


def test_an_evaluation_that_hangs_is_given_up_and_its_worker_restarted(client, tmp_path):
    hangs = f.Once(tmp_path, "hangs")
    result = go([hangs], 8.0, (1.0,), executor=client, workers=2, timeout=6.0, on_error="record")
    assert sorted(result.history.status.tolist()) == ["failed"] + ["ok"] * 7
    assert result.failures[0].message.startswith("EvaluationTimeout")
    assert hangs.done == 7


def test_a_worker_without_a_nanny_that_hangs_gets_nothing_more_to_do(tmp_path):
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        hangs = f.Once(tmp_path, "hangs")
        result = go([hangs], 8.0, (1.0,), executor=client, timeout=6.0, on_error="record")
        (tmp_path / "release").touch()  # the cluster would wait for it
        assert sorted(result.history.status.tolist()) == ["failed"] + ["ok"] * 7
        assert hangs.done == 7


def test_mfopt_run_sends_the_functions_of_a_file_along(client, tmp_path, monkeypatch, capsys):
    (tmp_path / "sent_along.py").write_text(
        "domain = [(0, 1)]\ncosts = [1]\ndef f(x): return 1 - (x[0] - 0.4) ** 2\nfunctions = [f]\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", list(sys.path))
    address = client.scheduler_info()["address"]
    assert cli.main(["run", "sent_along.py", "--executor", address, "--capital", "6", "--json", "--quiet"]) == 0
    assert json.loads(capsys.readouterr().out)["queries"] == [6]
    assert "sent_along" in sys.modules  # it was imported here by name
    del sys.modules["sent_along"]
