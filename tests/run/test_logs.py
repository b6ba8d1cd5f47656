"""What every log promises, the one in memory and the one in a storage."""

import pytest

from mfopt import Optimizer
from mfopt.run.events import CapitalSet
from mfopt.run.session import MemoryLog


@pytest.fixture(params=["memory", "stored"])
def log(request, tmp_path):
    if request.param == "memory":
        yield MemoryLog()
        return
    opt = Optimizer([(0.0, 1.0)], [1.0], strategy="random", rng=0, storage=tmp_path / "a.db")
    yield opt._session.log
    opt.close()


def write(log, *totals):
    with log.transaction():
        for total in totals:
            log.write(CapitalSet(total))


def write_with_an_error(log, total):
    with log.transaction():
        log.write(CapitalSet(total))
        raise AttributeError


def totals(events):
    return [event.total for event in events]


def test_what_was_written_here_counts_as_seen(log):
    write(log, 1.0, 2.0)
    assert totals(log.read()) == []
    write(log, 3.0)
    assert totals(log.read_again()) == [1.0, 2.0, 3.0]


def test_a_transaction_that_fails_leaves_nothing_behind(log):
    write(log, 1.0)
    with pytest.raises(AttributeError):
        write_with_an_error(log, 2.0)
    assert totals(log.read_again()) == [1.0]
    write(log, 3.0)
    assert totals(log.read_again()) == [1.0, 3.0]


def test_all_events_are_read_anew_after_a_rewind_and_each_once(log):
    write(log, 1.0, 2.0)
    log.rewind()
    assert totals(log.read_again()) == []
    assert totals(log.read()) == [1.0, 2.0]
    assert totals(log.read()) == []
    log.rewind()
    with log.transaction():
        assert totals(log.read()) == [1.0, 2.0]
        log.write(CapitalSet(3.0))
    assert totals(log.read()) == []


def test_without_a_lease_no_trial_runs_out(log):
    assert log.lease is None
    assert log.count_expired() == 0
    with log.transaction():
        assert log.claim(5) == {}
    log.close()
