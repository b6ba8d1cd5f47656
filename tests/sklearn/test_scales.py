"""Scores as the optimiser is told them."""

import math

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import make_regression
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import accuracy_score, get_scorer_names, make_scorer, mean_squared_error, r2_score

import mfopt
from mfopt.sklearn import MultiFidelitySearchCV
from mfopt.sklearn.scales import FINEST, FINEST_LOSS, Scale, find_scale

UP_TO_ONE, LOSS, PLAIN = Scale(1.0), Scale(0.0, FINEST_LOSS), Scale()


@pytest.mark.parametrize("scale", [UP_TO_ONE, LOSS, PLAIN])
def test_better_scores_stay_better_and_can_be_read_again(scale):
    top = 1.0 if scale == UP_TO_ONE else 0.0
    scores = [*(-np.geomspace(1e10, 1e-3, 50)), *(top - np.geomspace(9e-4, 1e-9, 20)), top]
    told = [scale.tell(score) for score in scores]
    assert (np.diff(told) > 0).all()
    np.testing.assert_allclose([scale.read(one) for one in told], scores, rtol=1e-6, atol=1e-12)


def test_an_error_counts_by_its_size_relative_to_others():
    halved = [UP_TO_ONE.tell(1.0 - error / 2) - UP_TO_ONE.tell(1.0 - error) for error in (1e9, 1.0, 0.1)]
    assert halved == pytest.approx([math.log(2)] * 3, rel=2e-2)
    assert UP_TO_ONE.tell(1.0) == -math.log(FINEST)


def test_a_score_beyond_its_bound_is_no_error():
    assert UP_TO_ONE.tell(1.0) < UP_TO_ONE.tell(1.001) < UP_TO_ONE.tell(3.0) < math.inf
    assert UP_TO_ONE.read(UP_TO_ONE.tell(3.0)) == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("estimator", "scoring", "metric", "scale"),
    [
        (LogisticRegression(), None, True, PLAIN),
        (Ridge(), None, True, UP_TO_ONE),
        (KMeans(), None, True, PLAIN),  # minus the inertia, whose meaning nobody here knows
        (Ridge(), "neg_mean_squared_error", True, LOSS),
        (LogisticRegression(), "roc_auc", True, PLAIN),
        (Ridge(), "explained_variance", True, UP_TO_ONE),
        (LogisticRegression(), "positive_likelihood_ratio", True, PLAIN),
        (LogisticRegression(), ["accuracy", "neg_log_loss"], "neg_log_loss", LOSS),
        (LogisticRegression(), {"a": "accuracy", "l": "neg_log_loss"}, "l", LOSS),
        (Ridge(), make_scorer(mean_squared_error, greater_is_better=False), True, LOSS),
        (LogisticRegression(), make_scorer(accuracy_score), True, PLAIN),
        (Ridge(), make_scorer(r2_score), True, UP_TO_ONE),
        (Ridge(), make_scorer(lambda y, found: 1e3 * y.sum()), True, PLAIN),
        (Ridge(), lambda estimator, X, y: 7.0, True, PLAIN),
    ],
)
def test_the_bound_is_known_of_scikit_learns_own_scores(estimator, scoring, metric, scale):
    assert find_scale(estimator, scoring, metric) == scale


def test_of_scikit_learns_scorers_those_without_a_lower_bound_have_a_scale():
    scales = {name: find_scale(Ridge(), name, True) for name in get_scorer_names()}
    assert {"r2", "explained_variance"} <= {name for name, scale in scales.items() if scale == UP_TO_ONE}
    assert all(name.startswith(("r2", "d2_", "expl")) for name, scale in scales.items() if scale == UP_TO_ONE)
    assert all(name.startswith("neg_") or name == "max_error" for name, scale in scales.items() if scale == LOSS)
    assert all(not name.startswith("neg_") for name, scale in scales.items() if scale == PLAIN)


def test_a_search_tells_the_optimiser_the_error_on_a_log_scale(monkeypatch):
    told = []

    def tell(self, trial, y, *rest, own=mfopt.Optimizer.tell):
        told.append(y)
        own(self, trial, y, *rest)

    monkeypatch.setattr(mfopt.Optimizer, "tell", tell)
    data, values = make_regression(120, 4, noise=5.0, random_state=0)
    given = {"start": False, "capital": 2.5, "cv": 3, "random_state": 0}
    found = MultiFidelitySearchCV(Ridge(), {"alpha": mfopt.Real(1e-3, 1e4, log=True)}, **given).fit(data, values)
    scores = found.cv_results_["mean_test_score"]
    np.testing.assert_allclose(told, -np.log(1.0 - scores + FINEST), rtol=1e-12)
