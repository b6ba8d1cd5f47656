"""Costs that are told, in studies."""

import sqlite3
import zlib

import pytest

from mfopt import StorageDamaged, Study
from tests.storage.studies import make, state


def run(opt, n, cost=lambda trial: 2.0 + trial.x[0]):
    for _ in range(n):
        trial = opt.ask()
        opt.tell(trial, float(trial.x[0]), cost=cost(trial))


def test_a_study_that_is_opened_again_knows_the_costs_told(tmp_path):
    opt = make(tmp_path / "study.db")
    run(opt, 5)
    pending = opt.ask()
    again = Study.open(tmp_path / "study.db")
    assert state(again) == state(opt)
    assert again.cost_estimates == opt.cost_estimates
    assert again.pending[0].cost == pending.cost != 10.0
    assert again.ask().cost == again.costs[-1]


def test_a_process_that_joins_learns_the_costs_that_others_told(tmp_path):
    one, other = make(tmp_path / "study.db"), make(tmp_path / "study.db")
    run(one, 4)
    trial = other.ask()
    assert trial.cost == other.costs[trial.fidelity] == one.costs[trial.fidelity]


def test_processes_that_tell_costs_read_the_asks_of_each_other(tmp_path):
    both = [make(tmp_path / "study.db") for _ in range(2)]
    for k in range(6):  # each asks at the costs that the other has told
        trial = both[k % 2].ask()
        both[k % 2].tell(trial, float(trial.x[0]), cost=3.0 + trial.x[0])
    both[0].refresh()
    assert both[0].costs == both[1].costs == Study.open(tmp_path / "study.db").costs != (1.0, 10.0)


def test_a_study_without_costs_can_be_made_and_opened(tmp_path):
    opt = make(tmp_path / "study.db", costs=[None, None])
    run(opt, 3)
    again = Study.open(tmp_path / "study.db")
    assert [fidelity.cost for fidelity in again.fidelities] == [None, None]
    assert again.costs == opt.costs


def test_reasons_keep_the_costs_that_were_expected(tmp_path):
    opt = make(tmp_path / "study.db")
    run(opt, 2)
    trial = opt.ask()
    assert Study.open(tmp_path / "study.db").reasons()[trial.id].costs == trial.reason.costs != ()


def test_a_cost_and_a_bound_are_kept_together(tmp_path):
    opt = make(tmp_path / "study.db")
    opt.tell(opt.ask(), -3.0, "failed", cost=7.0)
    again = Study.open(tmp_path / "study.db")
    assert (again.history.bound[0], again.history.cost[0]) == (-3.0, 7.0)


@pytest.mark.parametrize("detail", ['{"cost": -1.0}', '{"cost": 1e999}', '{"cost": "much"}', '{"price": 1.0}', "[1.0]"])
def test_a_cost_that_mfopt_would_not_write_is_damage(tmp_path, detail):
    opt = make(tmp_path / "study.db")
    run(opt, 1)
    opt.close()
    database = sqlite3.connect(tmp_path / "study.db")
    ((crc, trial, y),) = database.execute(
        "SELECT (SELECT crc FROM mfopt_events WHERE seq = 1), trial, y FROM mfopt_events WHERE seq = 2"
    )
    forged = zlib.crc32(repr((2, "tell", trial, y, detail, *[None] * 5)).encode(), crc)
    database.execute("UPDATE mfopt_events SET detail = ?, crc = ? WHERE seq = 2", (detail, forged))
    database.commit()
    database.close()
    with pytest.raises(StorageDamaged, match="damaged"):
        Study.open(tmp_path / "study.db").refresh()


def test_a_promise_that_no_told_cost_explains_is_damage(tmp_path):
    opt = make(tmp_path / "study.db")
    opt.ask()
    opt.close()
    database = sqlite3.connect(tmp_path / "study.db")
    database.execute("UPDATE mfopt_trials SET cost = 3.5")
    database.commit()
    database.close()
    with pytest.raises(StorageDamaged):
        Study.open(tmp_path / "study.db").refresh()
