"""Healthy evaluations beside some that kill their worker or hang: none of the healthy is told as failed.

`make faults` runs it with more of everything.
"""

import os
import time

import numpy as np
import pytest

import mfopt
from mfopt.loop import run
from mfopt.protocols import Suggestion
from tests.parallel.functions import high

FULL = os.environ.get("MFOPT_FAULTS") == "full"
DEADLY, HANGING = 0.05, 0.95  # x below kills its worker, x above hangs
TIMEOUT = 5.0  # seconds


def fights(x):
    """A function of one coordinate, which decides what happens."""
    if x[0] < DEADLY:
        os._exit(3)
    if x[0] > HANGING:
        time.sleep(600)
    time.sleep(0.05)
    return high(x)


class InTurn:
    """A strategy that asks for given points."""

    def __init__(self, points):
        self.points = points

    def start(self, problem):
        pass

    def ask(self, view):
        return Suggestion(np.array([self.points[view.t - 1]]), 0, "in turn")

    def tell(self, record):
        pass


def arena(executor, deadly, hanging, healthy=40, **options):
    """How many healthy evaluations failed, and how many of the others did not."""
    points = np.linspace(0.1, 0.9, healthy + deadly + hanging)
    bad = np.linspace(0, len(points) - 1, deadly + hanging + 2).astype(int)[1:-1]
    points[bad] = [DEADLY / 2 if i < deadly else 0.99 for i in np.random.default_rng(0).permutation(len(bad))]
    optimizer = mfopt.Optimizer([(0, 1)], [1.0], capital=len(points), strategy=InTurn(points), rng=0)
    result = run(optimizer, [fights], executor=executor, timeout=TIMEOUT, on_error="record", **options)
    history = result.history
    failed = history.status == "failed"
    ill = (history.x[:, 0] < DEADLY) | (history.x[:, 0] > HANGING)
    assert sorted(history.id.tolist()) == list(range(len(points)))
    assert result.spent == len(points)
    kinds = sorted(failure.message.split(":")[0] for failure in result.failures)
    return (failed & ~ill).sum(), (~failed & ill).sum(), kinds


@pytest.mark.posix_only
def test_no_healthy_evaluation_fails_in_processes():
    deadly, hanging = (20, 20) if FULL else (2, 2)
    found = arena("processes", deadly, hanging, healthy=400 if FULL else 40, workers=4)
    assert found == (0, 0, ["EvaluationTimeout"] * hanging + ["WorkerLost"] * deadly)


@pytest.mark.posix_only
@pytest.mark.parametrize("threads", [1, 4])
def test_no_healthy_evaluation_fails_on_a_cluster(threads):
    dask = pytest.importorskip("dask")
    distributed = pytest.importorskip("distributed")
    deadly, hanging = (6, 6) if FULL else (1, 1)
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=threads, processes=True, dashboard_address=":0", host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        found = arena(client, deadly, hanging, healthy=200 if FULL else 40, workers=2 * threads + 2)
    assert found == (0, 0, ["EvaluationTimeout"] * hanging + ["WorkerLost"] * deadly)
