"""Searches with a storage: what goes on where it was, and what must not."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import Ridge
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import mfopt
from mfopt import InputError
from mfopt.sklearn import MultiFidelitySearchCV
from mfopt.sklearn.search import PASSING

X, Y = make_classification(300, 6, random_state=0)
C = {"C": mfopt.Real(1e-3, 1e3, log=True)}


def search(estimator=None, space=C, **options):
    given = {"capital": 2.5, "cv": 3, "random_state": 0, **options}
    return MultiFidelitySearchCV(SVC() if estimator is None else estimator, space, **given)


def evaluations(found):
    return len(found.cv_results_["params"])


def test_a_search_in_a_storage_is_resumed(tmp_path):
    given = {"storage": str(tmp_path / "study.db"), "study": "svc"}
    first = search(**given).fit(X, Y)
    again = search(**given).fit(X, Y)  # its capital is spent: only the best is scored once more
    assert len(again.cv_results_["params"]) == 1
    assert again.best_params_ == first.best_params_
    assert again.best_score_ == pytest.approx(first.best_score_)


def refuse(estimator, data, labels):
    raise ArithmeticError("no score today")


def test_a_search_that_ends_with_an_error_lets_go_of_its_storage_and_its_data(tmp_path, monkeypatch):
    closed = []
    monkeypatch.setattr(mfopt.Optimizer, "close", lambda opt: closed.append(opt))
    failing = search(scoring=refuse, error_score="raise", storage=str(tmp_path / "study.db"))
    with pytest.raises(ArithmeticError, match="no score today"):
        failing.fit(X, Y)
    assert len(closed) == 1
    assert not vars(failing).keys() & set(PASSING)


def test_a_stored_search_holds_the_scores_themselves(tmp_path):
    data, values = make_regression(120, 4, random_state=0)
    given = {"storage": str(tmp_path / "study.db"), "study": "ridge"}
    found = search(Ridge(), {"alpha": (0.1, 10.0)}, **given).fit(data, values)
    assert mfopt.Study.open(given["storage"], "ridge").best.y == pytest.approx(found.best_score_)


@pytest.mark.filterwarnings("ignore::mfopt.errors.CostWarning")
@pytest.mark.parametrize("budget", ["capital", "time_limit"])
def test_a_larger_budget_goes_on_with_a_stored_search(tmp_path, budget):
    def run(amount):
        given = {"capital": None, budget: amount, "storage": str(tmp_path / "study.db"), "study": "svc"}
        found = search(**given).fit(X, Y)
        return found, mfopt.Study.open(given["storage"], "svc")

    small, large = (2.5, 5.0) if budget == "capital" else (0.3, 1.0)
    first, before = run(small)
    again, after = run(large)
    assert (before.capital, after.capital) == (small, large)
    assert len(after.history) > len(before.history)
    assert again.best_score_ >= first.best_score_
    with pytest.raises(InputError, match="capital must be at least what it is"):
        run(small)


def test_each_fold_of_a_nested_cross_validation_has_a_study_of_its_own(tmp_path):
    storage = str(tmp_path / "s.db")
    inner = search(capital=3, storage=storage)
    folds = cross_validate(inner, X, Y, cv=3, return_estimator=True)["estimator"]
    assert all(evaluations(one) > 3 for one in folds)
    assert len({header.name for header in mfopt.Study.headers(storage)}) == 3
    again = cross_validate(inner, X, Y, cv=3, return_estimator=True)["estimator"]
    assert [evaluations(one) for one in again] == [1, 1, 1]  # the best is scored once more
    assert [one.best_params_ for one in again] == [one.best_params_ for one in folds]


SAME = {
    "another object": (search(SVC(), cv=KFold(3)), X, Y),
    "another number of jobs": (search(cv=KFold(3), n_jobs=1, verbose=1), X.copy(), Y.copy()),
    "rows in another order of memory": (search(cv=KFold(3)), np.asfortranarray(X), Y),
}
OTHERS = {
    "labels": (search(cv=KFold(3)), X, 1 - Y),
    "data": (search(cv=KFold(3)), X + 1e-9, Y),
    "columns": (search(cv=KFold(3)), pd.DataFrame(X), Y),
    "estimator": (search(make_pipeline(StandardScaler(), SVC()), {"svc__C": C["C"]}, cv=KFold(3)), X, Y),
    "parameter of the estimator": (search(SVC(gamma=0.1), cv=KFold(3)), X, Y),
    "scoring": (search(scoring="roc_auc", cv=KFold(3)), X, Y),
    "scorer": (search(scoring=make_scorer(accuracy_score), cv=KFold(3)), X, Y),
    "splits": (search(cv=KFold(3, shuffle=True, random_state=0)), X, Y),
    "levels": (search(cv=KFold(3), levels=(0.2, 1.0)), X, Y),
    "space": (search(space={"C": mfopt.Real(1e-2, 1e3, log=True)}, cv=KFold(3)), X, Y),
    "seed": (search(cv=KFold(3), random_state=1), X, Y),
}


@pytest.mark.parametrize("case", SAME)
def test_the_same_search_goes_on(tmp_path, case):
    storage = str(tmp_path / "s.db")
    first = search(cv=KFold(3), storage=storage).fit(X, Y)
    again, data, labels = SAME[case]
    again.set_params(storage=storage).fit(data, labels)
    assert evaluations(again) == 1
    assert again.best_params_ == first.best_params_


@pytest.mark.parametrize("case", OTHERS)
def test_another_search_begins_anew(tmp_path, case):
    storage = str(tmp_path / "s.db")
    search(cv=KFold(3), storage=storage).fit(X, Y)
    other, data, labels = OTHERS[case]
    other.set_params(storage=storage).fit(data, labels)
    assert evaluations(other) > 1
    assert len(mfopt.Study.headers(storage)) == 2


def test_weights_and_groups_tell_searches_apart(tmp_path):
    storage = str(tmp_path / "s.db")
    for weight in (1.0, 2.0, 2.0):
        found = search(storage=storage).fit(X, Y, sample_weight=np.full(300, weight))
    assert evaluations(found) == 1
    assert len(mfopt.Study.headers(storage)) == 2


@pytest.mark.parametrize("state", [None, np.random.RandomState(0)])
def test_a_search_without_a_seed_goes_on_too(tmp_path, state):
    given = {"storage": str(tmp_path / "s.db"), "random_state": state}
    search(**given).fit(X, Y)
    assert evaluations(search(**given).fit(X, Y)) == 1


def test_a_study_that_is_named_is_gone_on_with_whatever_the_data_are(tmp_path):
    given = {"storage": str(tmp_path / "s.db"), "study": "mine"}
    search(**given).fit(X, Y)
    assert evaluations(search(**given).fit(X, 1 - Y)) == 1


@pytest.mark.parametrize("make", [scipy.sparse.csr_matrix, pd.DataFrame, np.ndarray.tolist])
def test_data_of_any_kind_are_known_again(tmp_path, make):
    storage = str(tmp_path / "s.db")
    for labels in (Y, 1 - Y, Y):
        found = search(storage=storage).fit(make(X), labels.tolist())
    assert evaluations(found) == 1
    assert len(mfopt.Study.headers(storage)) == 2


class Watched(SVC):
    """Something happens at its first fit."""

    meanwhile = ()

    def fit(self, X, y, sample_weight=None):
        while self.meanwhile:
            self.meanwhile.pop()()
        return super().fit(X, y)


def test_a_trial_that_another_process_has_told_meanwhile_is_no_error(tmp_path, monkeypatch):
    given = {"storage": str(tmp_path / "s.db"), "study": "mine", "refit": False}
    search(Watched(), capital=4, **given).fit(X, Y)
    other = mfopt.Study.open(given["storage"], "mine")
    other.raise_capital(6)
    trial = other.ask()
    monkeypatch.setattr(Watched, "meanwhile", [lambda: other.tell(trial, 0.5)])
    again = search(Watched(), capital=6, **given).fit(X, Y)
    assert not Watched.meanwhile
    other.refresh()
    assert other.history.y[other.history.id == trial.id].tolist() == [0.5]  # the first value counts
    assert evaluations(again) > 1


@pytest.mark.parametrize("when", ["fit", "ask"])
def test_capital_that_another_process_spends_meanwhile_ends_a_search(tmp_path, monkeypatch, when):
    def spend():
        other = mfopt.Study.open(storage, "mine")
        other.add([1.0], 2, 0.5, other.remaining)

    def ask(self):
        spend()
        return asks(self)

    storage, asks = str(tmp_path / "s.db"), mfopt.Optimizer.ask
    if when == "ask":
        monkeypatch.setattr(mfopt.Optimizer, "ask", ask)
    else:
        monkeypatch.setattr(Watched, "meanwhile", [spend])
    found = search(Watched(), storage=storage, study="mine", refit=False).fit(X, Y)
    study = mfopt.Study.open(storage, "mine")
    assert study.spent == study.capital == 2.5
    assert evaluations(found) == 1  # the start alone


def test_a_start_outside_of_the_space_is_evaluated_again_since_no_study_knows_it(tmp_path):
    given = {"space": {"gamma": (0.01, 0.1)}, "storage": str(tmp_path / "s.db"), "capital": 4}
    first = search(**given).fit(X, Y)
    again = search(**given).fit(X, Y)
    assert [found.cv_results_["params"][0]["gamma"] for found in (first, again)] == ["scale", "scale"]
    assert evaluations(again) == 2
    assert again.best_score_ == first.best_score_
