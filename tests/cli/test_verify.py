"""`mfopt verify` replays a study, and says whether the asks recorded come out."""

import contextlib
import json
import sqlite3

import pytest

from mfopt import Optimizer, Study
from mfopt.cli import main
from mfopt_plugins.strategies.random_search import RandomSearch
from tests.storage.runs import advance, arguments
from tests.storage.studies import make


@pytest.fixture
def path(tmp_path):
    opt = Optimizer(**arguments("box"), storage=tmp_path / "study.db")
    advance(opt, 20)
    opt.close()
    return str(tmp_path / "study.db")


def test_a_study_that_was_recorded_here_holds(path, capsys):
    assert main(["verify", path]) == 0
    out = capsys.readouterr().out
    assert out.startswith("study default: all 2")
    assert "asks come out as recorded, and so does the state that is kept" in out


def test_as_json(path, capsys):
    assert main(["verify", path, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["holds"] is True
    assert found["state"] is True
    assert found["differences"] == []
    assert found["asks"] >= 20


def test_what_comes_out_otherwise_is_told_with_exit_code_1(tmp_path, capsys, monkeypatch):
    path = str(tmp_path / "study.db")
    opt = make(path)
    opt.ask(5)
    opt.close()
    original = RandomSearch._draw
    monkeypatch.setattr(RandomSearch, "_draw", lambda self, view: 0.5 * original(self, view))
    assert main(["verify", path]) == 1
    out = capsys.readouterr().out
    assert "study wing: 5 of 5 asks come out otherwise than recorded" in out
    assert "trial 0: recorded fidelity 1 at [" in out
    assert out.count("trial ") == 3
    assert main(["verify", path, "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [one["trial"] for one in found["differences"]] == [0, 1, 2, 3, 4]


def test_a_state_that_is_not_that_of_the_run_is_told(path, capsys):
    from mfopt.storage import states

    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        for seq, stamp, state in connection.execute("SELECT seq, stamp, state FROM mfopt_states").fetchall():
            (before,) = connection.execute("SELECT crc FROM mfopt_events WHERE seq = ?", (seq,)).fetchone()
            other = state.replace('"started":true', '"started":false', 1)
            crc = states._checksum(before, seq, stamp, other)
            connection.execute("UPDATE mfopt_states SET state = ?, crc = ? WHERE seq = ?", (other, crc, seq))
    assert main(["verify", path]) == 1
    assert "but the strategy's state is not the one that is kept" in capsys.readouterr().out


METHODS = ["mf-gp-ucb", "mf-gp-ucb:rule=gamma", "gp-ucb", "gp-ei", "gp-pi", "mf-sko", "co-kriging", "mf-naive"]


@pytest.mark.parametrize("strategy", [*METHODS, "mf-naive-random", "random", "direct"])
def test_a_study_that_was_reopened_again_and_again_holds(tmp_path, strategy):
    """And so do its states, although most of them come from strategies that were restored."""
    opt = Optimizer(**arguments("box", strategy=strategy), storage=tmp_path / "study.db")
    for _ in range(6):
        advance(opt, 4)
        opt.close()
        opt = Study.open(tmp_path / "study.db")
    found = opt.verify()
    assert found.differences == ()
    assert found.state is not False


def test_progress_is_told_after_every_ask(path):
    calls = []
    found = Study.open(path).verify(lambda done, total: calls.append((done, total)))
    assert calls == [(k + 1, found.asks) for k in range(found.asks)]


def test_a_study_without_asks_holds(tmp_path, capsys):
    make(tmp_path / "study.db").close()
    assert main(["verify", str(tmp_path / "study.db")]) == 0
    assert "all 0 asks come out as recorded" in capsys.readouterr().out
