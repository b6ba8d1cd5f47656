"""What a strategy has learnt is kept with the asks of a study; what is kept is used where it can be trusted."""

import contextlib
import sqlite3
import warnings

import numpy as np
import pytest

import mfopt
from mfopt import Optimizer, ReplayWarning, Study
from mfopt.run.strategist import Strategist
from mfopt.storage import states as states_module
from mfopt_plugins.strategies.base.cycle import Cycle
from tests.storage.runs import advance, arguments, bits, next_asks
from tests.storage.studies import Custom, make

TELLS = 25


@pytest.fixture
def asked(monkeypatch):
    """How often a strategy was asked."""
    calls = []
    original = Cycle.ask

    def ask(self, view):
        calls.append(view.t)
        return original(self, view)

    monkeypatch.setattr(Cycle, "ask", ask)
    return calls


@pytest.fixture
def path(tmp_path):
    """A study that was left with trials pending."""
    live = Optimizer(**arguments("box"), storage=tmp_path / "study.db")
    advance(live, TELLS)
    live.close()
    return tmp_path / "study.db"


def expected():
    """What a run that was never interrupted asks next."""
    memory = Optimizer(**arguments("box"))
    advance(memory, TELLS)
    return next_asks(memory, 4)


def execute(path, sql, *parameters):
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        return connection.execute(sql, parameters).fetchall()


def kept(path):
    return execute(path, "SELECT seq, stamp, state, crc FROM mfopt_states ORDER BY seq")


def test_a_reopened_study_asks_the_strategy_nothing_again(path, asked):
    study = Study.open(path)
    study.ask()
    assert len(asked) == 1
    assert next_asks(Study.open(path), 2) is not None


def test_states_are_kept_in_every_kind_of_storage(storage, asked):
    live = Optimizer(**arguments("box"), storage=storage)
    advance(live, 12)
    live.close()
    del asked[:]
    Study.open(storage).ask()
    assert len(asked) == 1


def test_a_study_keeps_two_small_states(path):
    rows = kept(path)
    assert len(rows) == 2
    (last,) = execute(path, "SELECT max(seq) FROM mfopt_events WHERE kind = 'ask'")[0]
    assert rows[-1][0] == last
    assert all(len(state) < 10_000 for _, _, state, _ in rows)


@pytest.mark.parametrize(
    ("spoil", "uses"),
    [
        ("DELETE FROM mfopt_states", False),
        ("UPDATE mfopt_states SET stamp = 'another'", False),
        ("UPDATE mfopt_states SET state = state || ' '", False),
        ("UPDATE mfopt_states SET crc = crc + 1", False),
        ("UPDATE mfopt_states SET state = x'00ff'", False),
        ("UPDATE mfopt_states SET state = printf('%.*c', 3000000, 'x')", False),
        ("UPDATE mfopt_states SET crc = 'text'", False),
        ("UPDATE mfopt_states SET crc = crc + 1 WHERE seq = (SELECT max(seq) FROM mfopt_states)", True),
    ],
)
def test_a_state_that_is_not_what_was_written_is_as_good_as_none(path, asked, spoil, uses):
    want = expected()
    del asked[:]
    execute(path, spoil)
    assert next_asks(Study.open(path), 4) == want
    assert (len(asked) < 10) == uses


def test_states_of_events_that_are_not_there_are_swept_away(path):
    for seq in (1000, 2000):
        execute(path, "INSERT INTO mfopt_states VALUES ('default', ?, 'stamp', '{}', 0)", seq)
    assert next_asks(Study.open(path), 4) == expected()
    assert len(kept(path)) == 2
    assert max(seq for seq, *_ in kept(path)) < 1000


def forge(path, change):
    """Replace what is kept by something else, with checksums that are right."""
    for seq, stamp, state, _ in kept(path):
        (before,) = execute(path, "SELECT crc FROM mfopt_events WHERE seq = ?", seq)[0]
        forged = change(state)
        crc = states_module._checksum(before, seq, stamp, forged)
        execute(path, "UPDATE mfopt_states SET state = ?, crc = ? WHERE seq = ?", forged, crc, seq)


@pytest.mark.parametrize(
    "change",
    [
        lambda state: "not JSON",
        lambda state: "[]",
        lambda state: '{"mapping":{}}',
        lambda state: "[" * 500_000,
        lambda state: state.replace('"_learnt":[', '"_learnt":[7,'),
        lambda state: state.replace('"arithmetic":', '"arithmetic":1'),
        lambda state: state.replace('"_gamma":[', '"_gamma":[1.0,1.0,1.0,'),
        lambda state: state.replace('"_drawn":[', '"_drawn":[-'),
        lambda state: state.replace('"<f8"', '"<i8"'),
    ],
)
def test_a_forged_state_is_refused_and_the_run_replayed(path, change):
    want, before = expected(), kept(path)
    forge(path, change)
    assert kept(path) != before
    assert next_asks(Study.open(path), 4) == want


def test_a_forged_state_that_fails_later_is_found_out_by_the_next_ask(path, monkeypatch):
    want = expected()
    original, failures = Cycle.restore, []

    def restore(self, state):
        original(self, state)
        failures.append(self)
        self._models.models = []  # what a state that looks right may lead to

    monkeypatch.setattr(Cycle, "restore", restore)
    study = Study.open(path)
    assert next_asks(study, 4) == want
    assert len(failures) == 1


def test_an_error_that_no_state_has_caused_is_told(path, monkeypatch):
    def fail(self, view):
        raise RuntimeError("broken")

    monkeypatch.setattr(Cycle, "ask", fail)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ReplayWarning)
        with pytest.raises(mfopt.PluginError, match="broken"):
            Study.open(path).ask()


def test_states_of_other_versions_are_not_used(path, asked, monkeypatch):
    monkeypatch.setattr(states_module, "version", lambda name: "99.0")
    Study.open(path).ask()
    assert len(asked) > 5
    del asked[:]
    Study.open(path).ask()  # this version's own state
    assert len(asked) == 1


def test_another_arithmetic_is_noticed(path, asked, monkeypatch):
    from mfopt_plugins.strategies.base import parts

    monkeypatch.setattr(parts, "arithmetic", lambda: -1)
    Study.open(path).ask()
    assert len(asked) > 5


def test_processes_take_over_each_others_states(tmp_path, asked):
    memory = Optimizer(**arguments("box"))
    both = [Optimizer(**arguments("box"), storage=tmp_path / "study.db") for _ in range(2)]
    for k in range(30):
        one = memory.ask()
        other = both[k % 2].ask()
        assert bits(one) == bits(other)
        for opt, trial in ((memory, one), (both[k % 2], other)):
            opt.tell(trial, -float(np.square(trial.x).sum()))
    # One ask of the run in memory and one of the study for each trial, none of them twice.
    assert max(asked.count(t) for t in set(asked)) == 2


def test_a_strategy_without_a_state_is_replayed(tmp_path):
    make(tmp_path / "study.db", strategy=Custom(0.3)).ask(3)
    assert kept(tmp_path / "study.db") == []
    again = make(tmp_path / "study.db", strategy=Custom(0.3))
    assert again.ask().id == 3


def test_an_ask_that_fails_leaves_no_state(path, monkeypatch):
    before = kept(path)
    study = Study.open(path)
    with monkeypatch.context() as patch:
        patch.setattr(Strategist, "tell_state", lambda self: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            study.ask()
    assert kept(path) == before
    assert next_asks(study, 4) == expected()


def test_a_state_that_cannot_be_written_is_told_once_and_does_no_harm(tmp_path, monkeypatch):
    from mfopt_plugins.strategies.random_search import RandomSearch

    monkeypatch.setattr(RandomSearch, "state", lambda self: {"what": object()})
    study = make(tmp_path / "study.db")
    with pytest.warns(mfopt.PluginWarning, match="'random'.*state must return plain values, got TypeError"):
        study.ask()
    study.ask()  # a second warning would be an error
    assert kept(tmp_path / "study.db") == []
