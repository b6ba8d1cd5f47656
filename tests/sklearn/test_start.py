"""The candidate that a search begins with."""

import numpy as np
import pytest
import scipy.stats
from sklearn.datasets import make_classification
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

import mfopt
from mfopt.sklearn import MultiFidelitySearchCV
from mfopt.sklearn.spaces import make_space
from mfopt.sklearn.start import find_point

X, Y = make_classification(150, 6, random_state=0)
SPACE = {"C": mfopt.Real(1e-3, 1e3, log=True), "kernel": ["poly", "rbf", "sigmoid"]}


def search(estimator, **options):
    return MultiFidelitySearchCV(estimator, SPACE, **{"capital": 3, "cv": 3, "random_state": 0, **options})


def place(space, own):
    made = make_space(space, own)
    x = find_point(made, own)
    return None if x is None else made.params(made.domain.params(x))


TIMED = pytest.mark.filterwarnings("ignore::mfopt.errors.CostWarning")


@TIMED
@pytest.mark.parametrize("budget", [{}, {"capital": None, "time_limit": "1s"}])
def test_the_estimators_own_parameters_are_the_first_candidate_with_the_full_resource(budget):
    found = search(SVC(C=2.0), **budget).fit(X, Y)
    results = found.cv_results_
    assert results["params"][0] == {"C": 2.0, "kernel": "rbf"}
    assert results["resource"][0] == 100
    assert results["mean_test_score"][0] == pytest.approx(cross_val_score(SVC(C=2.0), X, Y, cv=3).mean())
    assert found.best_score_ >= results["mean_test_score"][0]
    assert results["params"].count(results["params"][0]) == 1  # the optimiser knows it


def test_a_search_without_a_start_begins_with_little():
    assert search(SVC(), start=False).fit(X, Y).cv_results_["resource"][0] < 100


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_a_start_that_fails_is_a_failed_evaluation():
    space = {"tol": [-1.0, 1e-3], "C": (0.1, 10.0)}
    broken = search(SVC(tol=-1.0)).set_params(space=space, capital=6).fit(X, Y)
    assert broken.cv_results_["status"][0] == "failed"
    assert broken.best_params_["tol"] == 1e-3


def test_a_study_that_exists_has_begun(tmp_path):
    given = {"storage": str(tmp_path / "study.db"), "study": "svc"}
    first = search(SVC(), **given).fit(X, Y)
    again = search(SVC(), **given).set_params(capital=4).fit(X, Y)
    own = {"C": 1.0, "kernel": "rbf"}
    assert first.cv_results_["params"][0] == own
    assert again.cv_results_["params"][0] != own


def test_what_a_space_holds_is_taken_as_it_is():
    space = {
        "a": mfopt.Real(1e-3, 1e3, log=True),
        "b": mfopt.Integer(1, 9),
        "c": [None, "x", {0: 1}],
        "d": scipy.stats.loguniform(0.1, 10),
        "e": mfopt.Ordinal([16, 32]),
    }
    own = {"a": 0.7, "b": np.int64(4), "c": {0: 1}, "d": 1.0, "e": 32}
    assert place(space, own) == own


def test_what_lies_outside_has_no_place():
    space = {"a": mfopt.Real(1e-3, 1e3, log=True), "b": mfopt.Integer(1, 9), "c": ["x", "y"], "d": (0.0, 1.0)}
    inside = {"a": 1.0, "b": 5, "c": "x", "d": 0.5}
    assert place(space, inside) == inside
    for other in ({"a": 0.0}, {"b": 100}, {"b": None}, {"a": "scale"}, {"c": "z"}, {"c": None}, {"d": True}):
        assert place(space, {**inside, **other}) is None


def test_quantiles_of_a_distribution_are_found_again():
    space = {"a": scipy.stats.gamma(2.0, scale=0.5), "b": scipy.stats.poisson(50)}
    found = place(space, {"a": 0.8, "b": 47})
    assert found["a"] == pytest.approx(0.8)
    assert found["b"] == 47
    assert place(space, {"a": "auto", "b": 47}) is None
    assert place(space, {"a": 0.8, "b": 5000}) is None


def test_parameters_that_do_not_count_are_left_out():
    space = mfopt.Space({"k": ["p", "r"], "degree": mfopt.Integer(2, 5, when={"k": "p"})})
    assert place(space, {"k": "r", "degree": 3}) == {"k": "r"}
    assert place(space, {"k": "p", "degree": 3}) == {"k": "p", "degree": 3}
    assert place(space, {"k": "r", "degree": None}) == {"k": "r"}
    assert place(space, {"k": "p", "degree": None}) is None
    assert place(space, {"k": "q", "degree": 3}) is None


def test_constraints_may_exclude_the_start():
    space = mfopt.Space({"a": (0.0, 1.0), "b": (0.0, 1.0)}, constraints=lambda p: p["a"] + p["b"] <= 1.0)
    assert place(space, {"a": 0.9, "b": 0.9}) is None
    assert place(space, {"a": 0.2, "b": 0.5}) == {"a": 0.2, "b": 0.5}


BAD = {"gamma": (50.0, 90.0), "C": (1e-3, 1e-2)}  # both far from what SVC comes with


@TIMED
@pytest.mark.parametrize("budget", [{}, {"capital": 1}, {"capital": 1.5}, {"capital": None, "time_limit": "1s"}])
def test_no_search_ends_below_the_estimator_as_it_is(budget):
    found = search(SVC(), **budget).set_params(space=BAD).fit(X, Y)
    results = found.cv_results_
    assert results["params"][0] == {"gamma": "scale", "C": 1.0}
    assert results["resource"][0] == 100
    assert found.best_score_ == pytest.approx(cross_val_score(SVC(), X, Y, cv=3).mean())
    assert found.best_index_ == 0
    assert found.best_params_ == {"gamma": "scale", "C": 1.0}


@pytest.mark.parametrize("capital", [1, 1.5, 2, 3, 6.5])
@pytest.mark.parametrize("space", [BAD, SPACE])
def test_the_start_is_paid_for(capital, space):
    found = search(SVC(), capital=capital).set_params(space=space).fit(X, Y)
    spent = (found.cv_results_["resource"] / 100).sum()
    assert spent <= capital + 1e-9
    assert spent > capital - 1.0


def test_an_estimator_that_cannot_be_fitted_as_it_is_leaves_the_capital_to_others():
    with pytest.warns(FitFailedWarning):
        found = search(SVC(C=-1.0), capital=1.5).fit(X, Y)
    assert found.cv_results_["status"].tolist()[0] == "failed"
    assert found.best_params_["C"] > 0


@TIMED
@pytest.mark.parametrize("space", [BAD, SPACE])
def test_the_start_is_evaluated_even_without_time(space):
    found = search(SVC(), capital=None, time_limit=1e-6).set_params(space=space).fit(X, Y)
    assert len(found.cv_results_["params"]) == 1
    assert found.best_params_["C"] == 1.0
