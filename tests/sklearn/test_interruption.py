"""Searches that Ctrl-C ends, and what is left of them."""

import io
import sys

import pytest
from sklearn.datasets import make_classification
from sklearn.svm import SVC

import mfopt
from mfopt.sklearn import MultiFidelitySearchCV

X, Y = make_classification(300, 6, random_state=0)


class Interrupted(SVC):
    """Ctrl-C comes at a certain fit."""

    left: int = 0

    def fit(self, X, y, sample_weight=None):
        Interrupted.left -= 1
        if Interrupted.left == 0:
            raise KeyboardInterrupt
        return super().fit(X, y)


class Terminal(io.StringIO):
    """What is written to a terminal."""

    def isatty(self):
        return True


def interrupt(after, **options):
    """A search that was interrupted after so many fits."""
    Interrupted.left = after
    space = {"C": mfopt.Real(1e-3, 1e3, log=True)}
    made = MultiFidelitySearchCV(Interrupted(), space, capital=2.5, cv=3, random_state=0, **options)
    with pytest.raises(KeyboardInterrupt):
        made.fit(X, Y)
    return made


@pytest.mark.parametrize("after", [1, 4, 10])
def test_an_interrupted_search_is_not_fitted_and_keeps_nothing_of_the_run(after):
    made = interrupt(after)
    assert not hasattr(made, "cv_results_")
    assert not {"_data", "_subsets", "_levels", "_rows", "_formatted"} & set(vars(made))
    assert made.verbose == 0
    assert made.fit(X, Y).best_score_ > 0.8


@pytest.mark.parametrize("after", [1, 4, 10])
def test_an_interrupted_search_lets_go_of_its_storage_where_the_next_one_goes_on(tmp_path, monkeypatch, after):
    closed = []
    close = mfopt.Optimizer.close
    monkeypatch.setattr(mfopt.Optimizer, "close", lambda self: closed.append(close(self)))
    made = interrupt(after, storage=str(tmp_path / "s.db"))
    assert closed
    found = made.fit(X, Y)
    whole = made.set_params(storage=str(tmp_path / "whole.db")).fit(X, Y)
    assert found.best_params_ == whole.best_params_
    first, second = (open_study(tmp_path / name) for name in ("s.db", "whole.db"))
    assert first.history.x.tolist() == second.history.x.tolist()


def open_study(path):
    """The only study in this file."""
    (header,) = mfopt.Study.headers(str(path))
    return mfopt.Study.open(str(path), header.name)


def test_what_was_shown_on_a_terminal_ends_with_a_whole_line(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    interrupt(10, verbose=1)
    assert "best 0." in terminal.getvalue()
    assert terminal.getvalue().endswith("\n")
