"""Parallel runs on a study in a storage."""

import threading
import time

import pytest

import mfopt
from mfopt.loop import run
from mfopt.parallel import engine
from mfopt.run.events import Told
from mfopt.storage import connect
from tests.parallel import functions as f

DOMAIN = [(0.0, 1.0), (0.0, 1.0)]


def opened(path, capital=24.0, **options):
    options = {"strategy": "random", "rng": 0, "storage": str(path), "study": "wing", **options}
    return mfopt.Optimizer(DOMAIN, [1.0], capital=capital, **options)


def interrupted_after(count):
    def callback(opt, trial, y):
        if len(opt.history) == count:
            raise KeyboardInterrupt

    return callback


def test_an_interrupted_run_is_resumed_with_the_trials_it_left_pending(tmp_path):
    path = tmp_path / "study.db"
    first = opened(path)
    result = run(first, [f.brief], executor="threads", workers=4, callback=interrupted_after(7))
    assert result.status == 3
    left = [trial.id for trial in first.pending]
    assert len(left) == 3
    first.close()
    seen = []
    second = mfopt.Study.open(str(path))
    assert [trial.id for trial in second.pending] == left
    options = {"executor": "threads", "workers": 4, "callback": lambda o, t, y: seen.append(t.id)}
    result = run(second, [f.brief], resume=True, **options)
    assert result.success
    assert set(left) <= set(seen[:5])
    assert sorted(result.history.id.tolist()) == list(range(24))
    assert result.spent == 24.0
    assert second.pending == []


def test_without_resume_pending_trials_are_left_to_those_who_hold_them(tmp_path):
    opt = opened(tmp_path / "study.db", capital=6.0)
    held = opt.ask(2)
    result = run(opt, [f.high])
    assert result.nfev == 4
    assert [trial.id for trial in opt.pending] == [trial.id for trial in held]
    opt.tell(held[0], 1.0)


def test_two_runs_share_a_study(tmp_path):
    path = tmp_path / "study.db"
    opened(path, capital=40.0).close()
    results = []

    def work():
        mine = mfopt.Study.open(str(path), lease=60.0)
        results.append((mine, run(mine, [f.brief], executor="threads", workers=2)))
        mine.close()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    whole = mfopt.Study.open(str(path))
    assert sorted(whole.history.id.tolist()) == list(range(40))
    assert whole.spent == 40.0
    assert whole.pending == []
    assert len(results) == 2


@pytest.mark.parametrize("options", [{}, {"executor": "threads", "workers": 1}], ids=["here", "threads"])
def test_leases_are_renewed_while_an_evaluation_takes_longer(tmp_path, options):
    path = tmp_path / "study.db"
    taken = []

    def slow(x):
        time.sleep(2.5)
        other = mfopt.Study.open(str(path))
        taken.append(other.done)  # it is not while an expired trial can be had
        other.close()
        return f.high(x)

    result = run(opened(path, capital=1.0, lease=1.5), [slow], **options)
    assert result.status == 0
    assert taken == [True]


def test_a_trial_of_a_dead_worker_is_taken_over_and_its_late_value_does_no_harm(tmp_path):
    path = tmp_path / "study.db"
    dead = opened(path, capital=4.0, lease=0.2)
    lost = dead.ask()
    time.sleep(0.3)
    late = []

    def callback(opt, trial, y):
        if trial.id == lost.id:
            late.append(y)

    mine = opened(path, capital=4.0, lease=60.0)
    result = run(mine, [f.high], callback=callback)
    assert late == [f.high(lost.x)]
    assert result.spent == 4.0


def test_a_value_that_another_process_told_first_is_passed_over(tmp_path):
    path = tmp_path / "study.db"
    mine = opened(path, capital=3.0)

    def overtaken(x):
        other = mfopt.Study.open(str(path))
        other.tell(other.pending[0], 7.0)
        other.close()
        return f.high(x)

    result = run(mine, [overtaken])
    assert result.history.y.tolist() == [7.0] * 3
    assert result.spent == 3.0


def end_leases(path):
    """Let the lease of every pending trial run out."""
    database = connect(path).database
    database.run("UPDATE mfopt_trials SET lease = 0 WHERE lease IS NOT NULL")
    database.close()


def test_a_failure_of_a_trial_that_another_process_has_now_is_passed_over(tmp_path):
    path, taken = tmp_path / "study.db", []
    mine = opened(path, capital=3.0, lease=60.0)

    def overtaken(x):
        if taken:
            return f.high(x)
        end_leases(path)
        other = mfopt.Study.open(path, lease=60.0)
        taken.append(other.ask())
        other.close()
        raise ValueError("no value here")

    result = run(mine, [overtaken], on_error="record")
    assert result.failures == []
    assert [trial.id for trial in mine.pending] == [taken[0].id] == [0]
    assert result.history.status.tolist() == ["ok", "ok"]
    mine.tell(taken[0], 1.0)


def test_a_trial_that_comes_back_to_its_own_engine_stays_with_it(tmp_path):
    path, started = tmp_path / "study.db", []
    mine = opened(path, capital=4.0, lease=60.0)

    def failing(x):
        started.append(x.copy())
        if len(started) == 1:
            end_leases(path)
            give_up = time.monotonic() + 60.0
            while mine._session.log.claim_number(0) == 1:  # until the engine asks again, and is offered this trial
                assert time.monotonic() < give_up
                time.sleep(0.01)
            raise ValueError("no value here")
        return f.high(x)

    result = run(mine, [failing], on_error="record", executor="threads", workers=2)
    assert [failure.trial_id for failure in result.failures] == [0]
    assert sorted(result.history.id.tolist()) == [0, 1, 2, 3]
    assert mine.pending == []


def test_maximize_takes_a_storage(tmp_path):
    options = {"rng": 0, "strategy": "random", "storage": str(tmp_path / "s.db"), "study": "wing", "progress": False}
    first = mfopt.maximize([f.high], DOMAIN, [1.0], 6.0, callback=interrupted_after(2), **options)
    assert first.nfev == 2
    result = mfopt.maximize([f.high], DOMAIN, [1.0], 6.0, resume=True, **options)
    assert result.success
    assert result.nfev == 6


# -------------------------------------------------------------------------------------- a storage that fails


def refusing(error):
    """An optimiser that takes no tell, and the list of those it was told."""
    opt, tells = mfopt.Optimizer(DOMAIN, [1.0], capital=3.0, strategy="random", rng=0), []

    def tell(trial, *outcome):
        tells.append(trial.id)
        raise error("no")

    opt.tell = tell
    return opt, tells


def test_a_tell_is_repeated_until_the_storage_takes_it(tmp_path, monkeypatch):
    opt = opened(tmp_path / "study.db", capital=6.0)
    write = opt._session.log.write
    kinds = [mfopt.StorageFull, mfopt.StorageBusy, mfopt.StorageReadOnly, mfopt.StorageError]
    errors = [kind("no room") for kind in kinds]

    def failing(event):
        if isinstance(event, Told) and len(opt.history) == 2 and errors:
            raise errors.pop(0)
        write(event)

    monkeypatch.setattr(opt._session.log, "write", failing)
    monkeypatch.setattr(engine, "_FIRST_PAUSE", 0.01)
    with pytest.warns(RuntimeWarning, match="cannot be told yet, tried again for 300 s: no room") as said:
        result = run(opt, [f.brief], executor="threads", workers=2)
    assert len(said) == 1
    assert errors == []
    assert result.status == 0
    opt.close()
    stored = mfopt.Study.open(str(tmp_path / "study.db"))
    assert sorted(stored.history.id.tolist()) == list(range(6))
    assert stored.spent == 6.0
    stored.close()


def test_a_tell_that_was_written_in_spite_of_an_error_counts():
    opt = mfopt.Optimizer(DOMAIN, [1.0], capital=3.0, strategy="random", rng=0)
    tell, seen, errors = opt.tell, [], [mfopt.StorageError("connection lost")]

    def told_and_lost(*arguments):
        tell(*arguments)
        if errors:
            raise errors.pop()

    opt.tell = told_and_lost
    with pytest.warns(RuntimeWarning, match="connection lost"):
        run(opt, [f.high], callback=lambda o, t, y: seen.append(t.id))
    assert seen == [0, 1, 2]


def test_a_tell_is_given_up_in_the_end(monkeypatch):
    monkeypatch.setattr(engine, "_PATIENCE", 0.5)
    opt, tells = refusing(mfopt.StorageFull)
    with pytest.warns(RuntimeWarning, match="tried again"), pytest.raises(mfopt.StorageFull):
        run(opt, [f.high])
    assert tells in ([0, 0], [0, 0, 0])  # at 0, 0.1 and 0.3 s, if the machine is in time


@pytest.mark.parametrize("error", [mfopt.StorageDamaged, mfopt.NotAStorage, mfopt.NewerSchema, mfopt.UnknownStudy])
def test_a_tell_is_not_repeated_where_nothing_would_help(error):
    opt, tells = refusing(error)
    with pytest.raises(error):
        run(opt, [f.high])
    assert tells == [0]


def test_when_an_ask_fails_what_runs_is_told_before_the_error_is_raised(tmp_path):
    opt = opened(tmp_path / "study.db", capital=9.0)
    ask = opt.ask

    def failing():
        if len(opt.history) >= 2:
            raise mfopt.StorageFull("no room")
        return ask()

    opt.ask = failing
    with pytest.raises(mfopt.StorageFull, match="no room"):
        run(opt, [f.brief], executor="threads", workers=4)
    assert opt.pending == []
    assert len(opt.history) == opt.spent == 5.0
    opt.close()
