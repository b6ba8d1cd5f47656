"""What a study promises, on both databases."""

import copy
import json
import math
import pickle
import subprocess
import sys
import threading
import warnings

import numpy as np
import pytest

import mfopt
from mfopt import (
    AlreadyTold,
    CopyRefused,
    Exhausted,
    FiniteSet,
    InputError,
    Optimizer,
    PluginError,
    ReplayWarning,
    Study,
    StudyMismatch,
    UnknownStudy,
)
from mfopt.protocols import Suggestion
from mfopt.run.events import Told
from mfopt.storage import header as headers
from mfopt_plugins.maximisers.multistart import Multistart
from mfopt_plugins.strategies.mf_gp_ucb import MFGPUCB
from tests.storage.runs import advance, bits, next_asks
from tests.storage.studies import BOX, Custom, make, state

# ---------------------------------------------------------------------------------------------- open and resume


def test_a_study_is_found_again_by_its_name(storage):
    opt = make(storage)
    first, second = opt.ask(2)
    opt.tell(first, 0.5)
    opt.tell(second, status="failed")
    opt.add([0.25, 1.0], 0, 3.0, cost=2.5)
    opt.ask()
    again = Study.open(storage, "wing")
    assert again.name == "wing"
    assert state(again) == state(opt)
    assert (again.seed, again.direction, again.costs, again.capital) == (0, "maximize", (1.0, 10.0), 300.0)
    assert bits(again.ask()) == bits(opt_after_refresh(opt))


def opt_after_refresh(opt):
    """The trial that another process has just been given."""
    opt.refresh()
    return opt.pending[-1]


def test_a_storage_holds_several_studies(storage):
    make(storage, "wing").ask()
    make(storage, "keel", costs=(2.0,)).ask(3)
    assert [header.name for header in Study.headers(storage)] == ["wing", "keel"]
    assert len(Study.open(storage, "wing").pending) == 1
    assert len(Study.open(storage, "keel").pending) == 3
    with pytest.raises(UnknownStudy, match=r"'wing', 'keel'.*got no name"):
        Study.open(storage)
    with pytest.raises(UnknownStudy, match="got 'mast'"):
        Study.open(storage, "mast")


def test_the_same_script_run_again_goes_on(storage):
    def script():
        opt = make(storage, capital=60.0, rng=4)
        trial = opt.ask()
        opt.tell(trial, float(trial.x[0]))
        return trial.id

    assert [script() for _ in range(3)] == [0, 1, 2]


def test_a_fresh_seed_is_kept(storage):
    seed = make(storage, rng=None).seed
    assert make(storage, rng=None).seed == seed
    assert make(storage, rng=seed).seed == seed


def test_a_run_that_was_refused_an_ask_resumes_as_it_would_have_gone_on(storage):
    def run(opt):
        trials = opt.ask(2)  # all of the set
        with pytest.raises(Exhausted):
            opt.ask()
        opt.tell(trials[0], status="failed")
        return opt

    options = {"domain": FiniteSet([0.0, 1.0]), "costs": (1.0,), "capital": 9.0, "strategy": "gp-ucb"}
    memory = run(Optimizer(options["domain"], (1.0,), capital=9.0, rng=0, strategy="gp-ucb"))
    make_options = {**options, "rng": 0}
    run(make(storage, **make_options))
    resumed = Study.open(storage)
    assert resumed.done == memory.done
    assert bits(resumed.ask()) == bits(memory.ask())


def test_every_strategy_resumes_to_the_bit(tmp_path):
    names = ["gp-ucb", "gp-ei", "gp-pi", "direct", "random", "mf-naive", "mf-naive-random", "mf-sko", "co-kriging"]
    for name in names:
        options = {"costs": [1.0, 5.0], "capital": 200.0, "rng": 2, "strategy": name}
        memory = Optimizer(BOX, maximiser=Multistart(50, 2), **options)
        stored = Optimizer(BOX, maximiser=Multistart(50, 2), storage=tmp_path / "a.db", study=name, **options)
        advance(memory, 24)
        advance(stored, 24)
        stored.close()
        assert next_asks(Study.open(tmp_path / "a.db", name), 4) == next_asks(memory, 4), name


# --------------------------------------------------------------------------------------------- exact numbers


@pytest.mark.parametrize("y", [0.1 + 0.2, 5e-324, -1e140, 1 / 3, -0.0, 1e140, 2.0**53 + 2, 7])
def test_values_come_back_to_the_bit(storage, y):
    opt = make(storage)
    opt.tell(opt.ask(), y)
    opt.add([0.1 + 0.2, -1 / 3], 1, y)
    again = Study.open(storage)
    assert again.history.y.tobytes() == opt.history.y.tobytes()
    assert again.history.x.tobytes() == opt.history.x.tobytes()
    assert again.best.y == opt.best.y == y


def test_reasons_come_back_as_they_were(storage):
    strategy = MFGPUCB(initial_capital=8.0)
    opt = Optimizer(BOX, (1.0, 10.0), strategy=strategy, rng=0, direction="minimize", storage=storage)
    for _ in range(16):
        trial = opt.ask()
        opt.tell(trial, float(trial.x[0]))
    opt.ask(2)
    again = Study.open(storage)
    assert again.pending[-1].reason == opt.pending[-1].reason
    reasons = again.reasons()
    assert len(reasons) == 18
    assert {reason.kind for reason in reasons.values()} >= {"initial design", "ucb"}
    assert any(math.isinf(gamma) for reason in reasons.values() for gamma in reason.gamma)


# ---------------------------------------------------------------------------------------- several at once


def test_two_optimisers_of_one_study_see_each_other(storage):
    one, two = make(storage), make(storage)
    trials = [one.ask(), two.ask(), one.ask(), two.ask()]
    assert [trial.id for trial in trials] == [0, 1, 2, 3]
    assert len({trial.x.tobytes() for trial in trials}) == 4
    two.tell(trials[0], 1.0)
    one.tell(trials[1], 2.0)
    with pytest.raises(AlreadyTold):
        one.tell(trials[0], 9.0)
    with pytest.raises(AlreadyTold):
        two.tell(trials[1].id, 9.0)
    one.refresh()
    two.refresh()
    assert state(one) == state(two)
    assert one.history.y.tolist() == [1.0, 2.0]


def test_two_optimisers_ask_what_one_would(storage):
    memory = Optimizer(BOX, (1.0, 10.0), capital=300.0, rng=0)
    both = [make(storage, strategy="mf-gp-ucb") for _ in range(2)]
    for k in range(24):
        expected, got = memory.ask(), both[k % 2].ask()
        assert bits(got) == bits(expected)
        memory.tell(expected, float(expected.x.sum()))
        both[(k // 2) % 2].tell(got, float(got.x.sum()))


def test_done_sees_what_others_have_spent(storage):
    one, two = make(storage, capital=25.0), make(storage, capital=25.0)
    one.ask(2)
    assert two.done
    with pytest.raises(Exhausted):
        two.ask()


# ----------------------------------------------------------------------------------------------- capital


def test_a_capital_raised_while_a_study_is_opened_does_not_disturb(tmp_path, monkeypatch):
    one = make(tmp_path / "a.db", capital=20.0)
    two = Study.open(tmp_path / "a.db")
    describe = headers.describe

    def raised(*arguments):
        two.raise_capital(two.capital + 20.0)
        return describe(*arguments)

    monkeypatch.setattr(headers, "describe", raised)
    assert Study.open(tmp_path / "a.db").capital == 40.0
    assert Study.open(tmp_path / "a.db", capital=80.0).capital == 80.0
    one.refresh()
    assert one.capital == 80.0


def test_the_capital_can_be_raised_for_all(storage):
    one = make(storage, capital=20.0)
    one.ask(2)
    assert one.done
    two = Study.open(storage, capital=40.0)
    assert not one.done
    assert one.capital == two.capital == 40.0
    trials = one.ask(9)
    assert len(trials) == 2
    assert Study.open(storage).capital == 40.0
    assert Study.open(storage, capital=40.0).done
    with pytest.raises(InputError, match=r"at least what it is, 40.0, got 30.0"):
        Study.open(storage, capital=30.0)
    with pytest.raises(StudyMismatch, match=r"capital: stored 40.0, given 20.0"):
        make(storage, capital=20.0)
    assert make(storage, capital=40.0).done


def test_a_run_whose_capital_was_raised_resumes_to_the_bit(storage):
    opt = make(storage, capital=150.0, strategy="mf-gp-ucb")
    advance(opt, 10)
    Study.open(storage, capital=900.0)
    advance(opt, 20)
    pending = [bits(trial) for trial in opt.pending]
    with warnings.catch_warnings():
        warnings.simplefilter("error", ReplayWarning)  # the strategy is asked again what it was asked under either Λ
        again = Study.open(storage)
        trial = again.ask()
    assert [bits(trial) for trial in again.pending[:-1]] == pending
    opt.refresh()
    opt.tell(trial.id, 1.0)
    again.refresh()
    assert state(opt) == state(again)


# --------------------------------------------------------------------------------------------- tell_many


@pytest.fixture(params=["memory", "stored"])
def either(request):
    """Makes an optimiser in memory or in a storage."""
    if request.param == "memory":
        return lambda: Optimizer(BOX, (1.0, 10.0), capital=300.0, rng=0, strategy="random")
    path = request.getfixturevalue("tmp_path") / "a.db"
    return lambda: make(path)


def test_many_outcomes_are_told_at_once(either):
    opt = either()
    a, b, c = opt.ask(3)
    opt.tell_many([(b, 2.0), (a.id, None, "failed"), (c, 3, "ok")])
    assert opt.history.id.tolist() == [1, 0, 2]
    assert opt.history.status.tolist() == ["ok", "failed", "ok"]
    opt.tell_many([])
    assert len(opt.history) == 3


@pytest.mark.parametrize(
    "bad",
    [
        (1, math.nan),
        (1, None),
        (1, 2.0, "fine"),
        (1, math.nan, "failed"),
        (0, 2.0),
        (99, 2.0),
        (2, 2.0),
        (1,),
        1,
        "12",
        (1, 2.0, "ok", -4.0),
        (1, 2.0, "ok", "much"),
        (1, 2.0, "ok", 4, 5),
    ],
)
def test_one_bad_outcome_refuses_all(either, bad):
    opt = either()
    trials = opt.ask(3)
    opt.tell(trials[2], 5.0)
    before = state(opt)
    with pytest.raises(InputError):
        opt.tell_many([(0, 1.0), bad])
    assert state(opt) == before
    opt.tell_many([(0, 1.0), (1, 2.0)])


# ------------------------------------------------------------------------------------------------ the rest


def test_a_refused_call_changes_nothing_anywhere(storage):
    opt = make(storage)
    trial = opt.ask()
    before = state(opt)
    for call in (
        lambda: opt.tell(trial, math.nan),
        lambda: opt.tell(7, 1.0),
        lambda: opt.add([2.0, 0.0], 0, 1.0),
        lambda: opt.add([0.5, 0.0], 0, 1.0, cost=1e9),
        lambda: opt.ask(0),
    ):
        with pytest.raises(InputError):
            call()
        assert state(opt) == before
        assert state(Study.open(storage)) == before


def test_an_error_of_the_strategy_leaves_no_trial_behind(tmp_path):
    class Moody(Custom):
        def ask(self, view):
            self.asked = getattr(self, "asked", 0) + 1
            if view.t == 3 and not moods:
                moods.append("bad")
                raise RuntimeError("not now")
            return Suggestion(np.array([self.level, self.asked / 100]), 1, None)

    moods = []
    opt = make(tmp_path / "a.db", strategy=Moody())
    with pytest.raises(PluginError, match="not now"):
        opt.ask(5)
    assert opt.pending == []
    assert opt.remaining == 300.0
    trials = opt.ask(5)
    assert [trial.id for trial in trials] == [0, 1, 2, 3, 4]
    assert [trial.x[1] for trial in trials] == [10 * (k / 100) - 5 for k in (1, 2, 3, 4, 5)]  # a fresh copy was asked


def test_a_study_is_not_pickled_and_says_what_to_do(storage):
    opt = make(storage)
    opt.ask()
    for copied in (pickle.dumps, copy.deepcopy):
        with pytest.raises(CopyRefused, match=r"mfopt\.Study\.open"):
            copied(opt)
    assert opt.ask().id == 1


def test_a_closed_study_opens_itself_again(storage):
    opt = make(storage)
    trial = opt.ask()
    opt.close()
    opt.tell(trial, 1.0)
    opt.close()
    opt.close()
    assert opt.ask().id == 1


def test_the_header_is_plain_json(storage):
    opt = make(storage, capital=None, domain=FiniteSet(np.eye(3)))
    spec = Study.headers(storage)[0].spec
    assert json.loads(json.dumps(spec, allow_nan=False)) == spec
    assert spec["domain"]["count"] == 3
    assert spec["capital"] is None
    assert Study.open(storage).capital is opt.capital is None
    assert mfopt.__version__ == Study.headers(storage)[0].mfopt


_FORK = """
import os, sys
import mfopt
opt = mfopt.Optimizer([(0.0, 1.0)], [1.0], strategy="random", rng=0, storage=sys.argv[1])
trial = opt.ask()
child = os.fork()
for _ in range(10):  # parent and child hold the same object
    opt.tell(opt.ask(), 1.0)
if child == 0:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
opt.tell(trial, 2.0)
opt.refresh()
print(len(opt.history), len(opt.pending))
"""


@pytest.mark.posix_only
def test_a_study_survives_a_fork(storage):
    done = subprocess.run([sys.executable, "-c", _FORK, storage], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "21 0\n"


def test_a_cost_of_minus_zero_is_zero(tmp_path):
    opt = make(str(tmp_path / "a.db"))
    opt.add([0.5, 0.0], 0, 1.0, cost=-0.0)
    opt.close()
    again = mfopt.Study.open(str(tmp_path / "a.db"))
    assert again.history.cost.tolist() == [0.0]
    again.close()


def test_threads_that_make_one_file_at_once_share_it(tmp_path):
    for round in range(5):
        path, failures, ready = tmp_path / f"{round}.db", [], threading.Barrier(4)

        def begin(path=path, failures=failures, ready=ready):
            ready.wait()
            try:
                make(str(path)).close()
            except mfopt.MfoptError as error:
                failures.append(error)

        threads = [threading.Thread(target=begin) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert [header.name for header in mfopt.Study.headers(str(path))] == ["wing"]


def test_an_interrupt_while_events_are_read_costs_none_of_them(tmp_path, monkeypatch):
    ours, theirs = make(str(tmp_path / "a.db")), make(str(tmp_path / "a.db"))
    trial = theirs.ask()
    read = ours._session.log.read

    def interrupted():
        read()
        raise KeyboardInterrupt

    monkeypatch.setattr(ours._session.log, "read", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ours.refresh()
    monkeypatch.undo()
    ours.refresh()
    assert [other.id for other in ours.pending] == [trial.id]
    assert ours.ask().id == trial.id + 1
    ours.close()
    theirs.close()


def test_a_transaction_that_ctrl_c_kept_from_beginning_ends_no_other(storage):
    """Ctrl-C as a block is entered leaves its generator behind, which ends with the traceback: maybe much later."""
    opt = make(storage)
    trials = opt.ask(3)
    log = opt._session.log
    left_behind = [log.transaction()]
    left_behind[0].__enter__()
    opt.tell(trials[0], 1.0)
    with log.transaction():
        log.write(Told(trials[1].id, 2.0))
        left_behind.clear()
    opt.close()
    again = mfopt.Study.open(storage, "wing")
    assert again.history.y.tolist() == [1.0, 2.0]
    again.close()
