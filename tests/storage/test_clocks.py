"""Leases beside clocks that jump: no trial is blocked, and of two workers only one holds it."""

import threading

import pytest

from mfopt import AlreadyTold, LeaseLost
from mfopt.storage.clock import Moment, Term, read_machine_clock
from mfopt.storage.postgres import Postgres
from mfopt.storage.sqlite import SQLite
from tests.storage.runs import bits
from tests.storage.studies import make

DAY = 86_400.0


class Clock:
    """A machine's clock; `steady`: it also counts the seconds since its start."""

    def __init__(self, steady):
        self.wall, self.ticks, self.boot = 1.8e9, 5000.0, "first" if steady else None

    def __call__(self, database=None):
        return Moment(self.wall, self.boot, self.ticks if self.boot else 0.0)

    def wait(self, seconds):
        self.wall += seconds
        self.ticks += seconds

    def jump(self, seconds):
        self.wall += seconds

    def restart(self):
        self.boot, self.ticks = "second", 1.0


@pytest.fixture(params=["steady", "time of day"])
def clock(request, monkeypatch):
    """In the place of the clocks of both databases."""
    fake = Clock(request.param == "steady")
    for database in (SQLite, Postgres):
        monkeypatch.setattr(database, "now", lambda _: fake())
    return fake


def workers(storage):
    return make(storage, lease=600.0, worker="one"), make(storage, lease=600.0, worker="two")


def test_a_clock_that_is_set_back_blocks_no_trial(storage, clock):
    one, two = workers(storage)
    lost = one.ask()
    clock.jump(-DAY)
    fresh = two.ask()
    assert fresh.id == 1  # the lease is as good as new
    for _ in range(3):
        clock.wait(250.0)
        two.renew(fresh)
    again = two.ask()
    assert bits(again) == bits(lost)
    assert again.claim == 2
    assert two.ask().id == 2


def test_a_clock_that_is_set_forward_leaves_one_holder(storage, clock):
    one, two = workers(storage)
    held = one.ask()
    clock.jump(DAY)
    got = two.ask()
    if clock.boot is not None:  # nothing has happened
        assert got.id == 1
        one.renew(held)
        clock.wait(601.0)
        got = two.ask()
    assert got.id == held.id
    with pytest.raises(LeaseLost, match=r"got trial 0, .* handed out again \(claim 2, ours was 1\)"):
        one.renew(held)
    with pytest.raises(LeaseLost):
        one.renew(held.id)
    two.renew(got)
    clock.jump(-DAY)
    two.renew(got)
    with pytest.raises(LeaseLost):
        one.renew(held)
    two.tell(got, 1.0)
    with pytest.raises(AlreadyTold):
        one.renew(held)


def test_a_restart_leaves_the_time_of_day(storage, clock):
    one, two = workers(storage)
    lost = one.ask()
    clock.restart()
    assert two.ask().id == 1
    clock.wait(601.0)
    assert [trial.id for trial in two.ask(2)] == [lost.id, 1]


def test_a_restart_without_the_time_of_day_blocks_no_trial(storage, clock):
    one, two = workers(storage)
    lost = one.ask()
    clock.restart()
    clock.wall = 3.0  # a machine without a battery
    assert two.ask().id == 1
    clock.wait(601.0)
    assert two.ask().id == lost.id


# -------------------------------------------------------------------------------------------- former holders


def lose(storage, clock):
    """Two workers; the second has got the trial of the first."""
    one, two = workers(storage)
    held = one.ask()
    clock.wait(601.0)
    return one, two, held, two.ask()


def test_a_value_of_a_former_holder_counts_if_it_comes_first(storage, clock):
    one, two, held, got = lose(storage, clock)
    one.tell(held, 2.0)
    with pytest.raises(AlreadyTold):
        two.tell(got, 3.0)
    assert two.history.y.tolist() == [2.0]
    assert two.spent == got.cost


def test_a_failure_is_for_the_present_holder_to_tell(storage, clock):
    one, two, held, got = lose(storage, clock)
    for former in (held, held.id):
        with pytest.raises(LeaseLost, match="to fail"):
            one.tell(former, status="failed")
    with pytest.raises(LeaseLost):
        one.tell_many([(held, None, "failed")])
    assert len(one.history) == 0
    two.tell(got, status="failed")
    assert two.history.status.tolist() == ["failed"]


def test_whoever_was_not_handed_the_trial_may_end_it(storage, clock):
    one, two, held, _ = lose(storage, clock)
    three = make(storage)
    three.tell(held.id, status="failed")  # `mfopt fail` on behalf of somebody who knows
    two.refresh()
    assert len(two.history) == 1
    one.close()


def test_threads_of_one_optimiser_hold_a_trial_one_after_the_other(storage, clock):
    opt = make(storage, lease=600.0)
    first = opt.ask()
    clock.wait(601.0)
    second = opt.ask()
    assert (first.id, first.claim, second.id, second.claim) == (0, 1, 0, 2)
    with pytest.raises(LeaseLost):
        opt.renew(first)
    opt.renew(second)
    opt.renew(0)  # by its id: as it was last handed out here
    with pytest.raises(LeaseLost):
        opt.tell(first, status="failed")
    opt.tell(second, status="failed")


def test_a_claim_in_a_transaction_that_fails_does_not_count(storage, clock, monkeypatch):
    one, two = workers(storage)
    held = one.ask()
    clock.wait(601.0)
    monkeypatch.setattr(one._session, "suggest", lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        one.ask(2)
    monkeypatch.undo()
    one.renew(0)
    one.tell(held, status="failed")
    two.refresh()
    assert two.history.status.tolist() == ["failed"]


def test_of_many_workers_one_gets_the_trial(storage):
    make(storage, lease=1e-6).ask()
    got, start = [], threading.Barrier(6)

    def ask():
        opt = make(storage, lease=600.0)
        start.wait()
        got.append((trial := opt.ask()).id)
        opt.renew(trial)
        opt.close()

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == list(range(6))


# -------------------------------------------------------------------------------------------------- the clock


def test_the_clock_of_this_machine_goes_on():
    first = read_machine_clock()
    second = read_machine_clock()
    assert second.boot == first.boot
    assert second.ticks >= first.ticks
    if first.boot is not None:
        assert second.epoch == pytest.approx(first.epoch, abs=5.0)


def test_leases_of_other_starts_and_older_versions_go_by_the_time_of_day():
    now = Moment(1000.0, "here", 50.0)
    assert Term.start(now, 60.0) == Term(1060.0, 60.0, "here", 950.0)
    assert not Term(1060.0, 60.0, "here", 950.0).is_over(Moment(5000.0, "here", 109.0))
    assert Term(1060.0, 60.0, "here", 950.0).is_over(Moment(0.0, "here", 111.0))
    assert Term(1060.0, 60.0, "there", 950.0).is_over(Moment(1061.0, "here", 1.0))
    assert not Term(1060.0, 60.0, "there", 950.0).is_over(Moment(1059.0, "here", 1.0))
    assert Term(1060.0, 60.0, "there", 950.0).is_ahead(Moment(999.0, "here", 1.0))
    assert not Term(1060.0, None, None, None).is_ahead(Moment(0.0, "here", 1.0))
    assert Term(1060.0, None, None, None).is_over(Moment(1061.0, "here", 1.0))
