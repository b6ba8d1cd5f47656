"""How many evaluations a cluster can run, as its workers come and go."""

import socket
from types import SimpleNamespace

import pytest

from mfopt.parallel import dask_workers
from mfopt.parallel.dask_workers import DaskWorkers, Worker
from tests.parallel import functions as f
from tests.parallel.test_engine import go


class Cluster:
    """What DaskWorkers needs of a client."""

    def __init__(self, *workers):
        self.workers = dict.fromkeys(workers, 2)
        self.directory = {}

    def scheduler_info(self, n_workers):
        return {
            "workers": {
                address: {"local_directory": self.directory.get(address, "a"), "nthreads": threads, "nanny": None}
                for address, threads in self.workers.items()
            }
        }


@pytest.fixture
def clock(monkeypatch):
    """Advances by hand."""
    now = [0.0]
    monkeypatch.setattr(dask_workers, "time", SimpleNamespace(monotonic=lambda: now[0]))

    def wait(seconds):
        now[0] += seconds

    return wait


@pytest.mark.parametrize(("wanted", "at_first", "later"), [(None, 4, 2), (3, 3, 2), (8, 8, 2), (1, 1, 1)])
def test_the_count_follows_a_cluster_that_shrinks_for_good(clock, wanted, at_first, later):
    cluster = Cluster("x", "y")
    workers = DaskWorkers(cluster, wanted)
    assert workers.count == at_first
    del cluster.workers["y"]
    assert not workers.look_if_due()
    clock(2)
    assert workers.look_if_due()
    assert workers.count == at_first  # it may be on its way back
    clock(9)
    workers.look_if_due()
    clock(9)
    workers.look_if_due()
    assert workers.count == later
    cluster.workers["z"] = 2
    clock(2)
    workers.look_if_due()
    assert workers.count == at_first


def test_a_worker_that_comes_back_in_time_was_never_away(clock):
    cluster = Cluster("x", "y")
    workers = DaskWorkers(cluster, None)
    for _ in range(5):
        del cluster.workers["y"]
        clock(8)
        workers.look()
        cluster.workers["y"] = 2
        clock(8)
        workers.look()
        assert workers.count == 4


def test_a_cluster_may_be_wanted_before_it_is_there(clock):
    workers = DaskWorkers(Cluster(), 8)
    clock(100)
    workers.look()
    assert workers.count == 8


def test_another_process_at_the_same_address_is_another_worker(clock):
    cluster = Cluster("x")
    workers = DaskWorkers(cluster, None)
    hung = Worker("x", "a")
    assert not workers.kill(hung)  # it has no nanny
    workers.write_off(hung)
    assert workers.count == 0
    assert workers.usable() == []
    cluster.directory["x"] = "b"
    assert workers.kill(hung)  # it is gone
    assert workers.count == 2
    assert workers.usable() is None


@pytest.mark.posix_only
def test_a_nanny_with_a_fixed_port_is_not_written_off(tmp_path):
    """The new worker has the address of the one that was killed."""
    distributed = pytest.importorskip("distributed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with (
        distributed.LocalCluster(
            n_workers=1, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1", worker_port=port
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        (address,) = client.nthreads()
        result = go([f.Once(tmp_path, "hangs")], 4.0, (1.0,), executor=client, timeout=3.0, on_error="record")
        assert address.endswith(f":{port}")
        assert list(client.nthreads()) == [address]
    assert sorted(result.history.status.tolist()) == ["failed", "ok", "ok", "ok"]
