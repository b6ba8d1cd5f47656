"""Evaluations that fail, and levels on which all do."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.exceptions import FitFailedWarning
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

import mfopt
from mfopt.sklearn import MultiFidelitySearchCV
from mfopt.sklearn.failures import find_reason

X, Y = make_classification(300, 6, random_state=0)


class Hungry(SVC):
    """Needs more rows than the cheapest levels have."""

    def fit(self, X, y, sample_weight=None):
        if len(y) < self.cache_size:
            raise RuntimeError("too few rows")
        return super().fit(X, y)


def search(estimator, space=None, **options):
    given = {"capital": 5, "cv": 3, "random_state": 0, **options}
    return MultiFidelitySearchCV(estimator, space or {"C": mfopt.Real(1e-3, 1e3, log=True)}, **given)


def fit(made):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made.fit(X, Y)
    return [str(one.message) for one in caught if one.category is FitFailedWarning]


def test_the_first_failure_of_each_level_is_told_and_in_the_end_how_many_there_were():
    made = search(Hungry(cache_size=50))
    told = fit(made)
    failed = (made.cv_results_["status"] == "failed").sum()
    assert len(told) == 2
    assert "all fits with n_samples = 20 failed for {'C':" in told[0]
    assert told[0].endswith("RuntimeError: too few rows")
    assert told[1].startswith(f"{failed} of {len(made.cv_results_['params'])} evaluations have no score: ")
    assert told[1].endswith(f"all {failed} with n_samples = 20")


@pytest.mark.parametrize("lowest", [1, 30])
def test_candidates_that_cannot_be_scored_are_counted(lowest):
    made = search(KNeighborsClassifier(100), {"n_neighbors": mfopt.Integer(lowest, 50)}, capital=6)
    told = fit(made)
    results = made.cv_results_
    cheap = results["fidelity"] == 0
    failed = (results["status"][cheap] == "failed").sum()
    count = f"all {failed}" if lowest == 30 else f"{failed} of {cheap.sum()}"
    assert told[-1].endswith(f" evaluations have no score: {count} with n_samples = 20")
    assert (results["status"][results["fidelity"] == 2] == "ok").sum() > 1


def test_a_search_in_which_nothing_fails_says_nothing():
    assert fit(search(SVC())) == []


@pytest.mark.parametrize("options", [{}, {"start": False}, {"start": False, "space": {"C": (2.0, 3.0)}}])
def test_a_search_whose_cheaper_levels_cannot_be_fitted_still_works(options):
    made = search(Hungry(cache_size=200), capital=8, **options)
    fit(made)
    results = made.cv_results_
    assert set(results["status"][results["fidelity"] < 2].tolist()) == {"failed"}
    assert (results["status"][results["fidelity"] == 2] == "ok").all()
    assert (results["fidelity"] == 2).sum() >= 2
    assert results["fidelity"][made.best_index_] == 2


def test_a_start_that_fails_is_not_the_last_candidate_with_the_full_resource():
    made = search(Hungry(cache_size=200, tol=-1.0), {"tol": [-1.0, 1e-3, 1e-2]}, capital=8)
    made.set_params(random_state=1)
    fit(made)
    assert made.best_params_["tol"] > 0


def test_a_level_that_always_fails_is_left_by_the_default_strategy():
    made = search(Hungry(cache_size=50), capital=12)
    fit(made)
    fidelity = made.cv_results_["fidelity"]
    assert (fidelity == 0).sum() <= 12
    assert (fidelity[-5:] > 0).all()


def test_where_nothing_can_be_fitted_the_error_of_scikit_learn_is_raised():
    with pytest.warns(FitFailedWarning), pytest.raises(ValueError, match=r"fits failed[^$]*too few rows"):
        search(Hungry(cache_size=1000)).fit(X, Y)


def test_the_reason_is_the_error_without_its_traceback():
    block = "Traceback (most recent call last):\n  File x\n    code\n"
    first = f"{'-' * 80}\n2 fits failed with the following error:\n{block}KeyError: 1\n\nDuring it:\n\n{block}"
    text = (
        f"\nAll the 3 fits failed.\n\n{first}ValueError: too few\nMore.\n\n{'-' * 80}\n1 fits failed with \n{block}E: x"
    )
    assert find_reason(text) == "ValueError: too few"
    assert find_reason("All the 3 fits failed.") == "All the 3 fits failed."


def test_scores_that_are_no_numbers_are_failures_of_no_fit():
    def score(estimator, X, y):
        return np.nan if estimator.C < 1.0 else 0.5

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = search(SVC(C=0.5), scoring=score, capital=8).fit(X, Y)
    assert found.best_params_["C"] >= 1.0
