"""Leases: trials of workers that are gone are handed out again."""

import time

import pytest

from mfopt import (
    AlreadyTold,
    InputError,
    Study,
    UnknownTrial,
)
from mfopt.storage import connect
from tests.storage.runs import bits
from tests.storage.studies import make

# ------------------------------------------------------------------------------------------------- leases


def leases(storage):
    """Deadline and worker of each trial."""
    database = connect(storage).database
    found = database.query("SELECT lease, worker FROM mfopt_trials ORDER BY id")
    database.close()
    return found


def let_time_pass(storage, seconds):
    """All deadlines come nearer."""
    database = connect(storage).database
    database.run("UPDATE mfopt_trials SET lease = lease - ?", (seconds,))
    database.close()


def test_a_trial_is_offered_again_after_its_lease(storage):
    one = make(storage, capital=25.0, lease=600.0, worker="one")
    lost, kept = one.ask(2)
    two = make(storage, capital=25.0, lease=900.0, worker="two")
    one.tell(kept, 2.0)
    let_time_pass(storage, 500.0)
    assert two.done
    let_time_pass(storage, 200.0)
    assert not two.done
    again = two.ask()
    assert bits(again) == bits(lost)
    assert leases(storage)[0][1] == "two"
    assert leases(storage)[1] == (None, "one")  # told
    assert two.done
    assert two.remaining == 5.0
    one.tell(lost, 1.0)  # late, but nobody else told it
    with pytest.raises(AlreadyTold):
        two.tell(again, 1.5)
    assert two.spent == one.spent == 20.0
    assert two.history.y.tolist() == [2.0, 1.0]


def test_new_trials_follow_those_whose_lease_ran_out(storage):
    make(storage, lease=0.01).ask(2)
    time.sleep(0.05)
    assert [trial.id for trial in make(storage, lease=60.0).ask(4)] == [0, 1, 2, 3]


def test_a_lease_is_renewed(storage):
    one = make(storage, lease=600.0)
    trial = one.ask()
    for _ in range(3):
        let_time_pass(storage, 500.0)
        one.renew(trial)
    assert make(storage).ask().id == 1
    one.tell(trial, 1.0)
    with pytest.raises(AlreadyTold, match="renewed"):
        one.renew(trial)
    with pytest.raises(UnknownTrial, match="renewed"):
        one.renew(77)


def test_without_a_lease_a_trial_stays_out(storage):
    make(storage).ask()
    assert make(storage).ask().id == 1
    with pytest.raises(InputError, match="lease"):
        make(storage).renew(0)


def test_trials_without_a_lease_are_offered_on_request_to_one_process_each(storage):
    old = make(storage)
    told, *left = old.ask(3)
    old.tell(told, 1.0)
    old.add([0.25, 1.0], 0, 3.0)
    one, two = make(storage, lease=60.0), make(storage, lease=60.0)
    one.ask()
    runs = [Study.open(storage, lease=60.0) for _ in range(2)]
    for run in runs:
        run.offer_unleased()
    first = runs[0].ask()
    runs[1].offer_unleased()  # what the other has got has a lease now
    assert [bits(first), bits(runs[1].ask())] == [bits(trial) for trial in left]
    assert runs[0].ask().id == two.ask().id - 1 == 5


def test_a_worker_gives_back_what_it_holds(storage):
    one = Study.open(make(storage)._session.log.store, lease=600.0, worker="one")
    two = Study.open(storage, lease=600.0, worker="two")
    kept, told = one.ask(2)
    two.ask()
    one.tell(told, 1.0)
    assert [trial.id for trial in two.ask(1)] == [3]
    one.offer_own()
    assert bits(two.ask()) == bits(kept)
    assert two.ask().id == 4
    one.offer_own()  # the trial is two's now
    assert two.ask().id == 5
