"""The comparison of searches on scikit-learn models, on a model and data of its own."""

import time

import numpy as np
import pytest

pytest.importorskip("sklearn")

import sklearn_models
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn_cases import CASES, Case

import mfopt

X, Y = make_classification(200, 5, random_state=0)
SPACE = {
    "C": mfopt.Real(1e-3, 1e3, log=True),
    "fit_intercept": mfopt.Categorical([True, False]),
    "max_iter": mfopt.Integer(50, 99),
}
SMALL = Case(LogisticRegression, SPACE, "n_samples", (0.1, 0.3, 1.0), "made", 120)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setitem(CASES, "small", SMALL)
    monkeypatch.setattr(sklearn_models, "split", lambda case, seed: (X[:120], Y[:120], X[120:], Y[120:]))


@pytest.mark.parametrize("method", ["mfopt", "no start", "random", "halving"])
def test_a_method_is_bound_by_cpu_time_and_judged_on_test_data(method):
    sklearn_models.carry_out("small", method, 0, 0.05)  # imports
    began = time.process_time()
    found = sklearn_models.carry_out("small", method, 0, 0.3)
    assert 0.15 < found["seconds"] < 1.5
    assert time.process_time() - began < found["seconds"] + 1.0
    model = LogisticRegression(**found["params"]).fit(X[:120], Y[:120])
    assert found["test"] == model.score(X[120:], Y[120:])
    assert sum(found["evaluations"]) > 3


def test_samplers_draw_what_the_space_admits():
    drawn = [
        list(sklearn_models.ParameterSampler(sklearn_models._distributions(SMALL), 50, random_state=seed))
        for seed in (0, 0, 1)
    ]
    assert drawn[0] == drawn[1] != drawn[2]
    assert all(1e-3 <= one["C"] <= 1e3 and 50 <= one["max_iter"] <= 99 for one in drawn[0])
    assert np.median([one["C"] for one in drawn[0]]) < 100  # on its log scale


def test_equal_medians_count_and_rows_without_all_methods_are_left_out():
    scores = {"forest": {method: [0.5, 0.7, 0.6] for method in sklearn_models.METHODS}}
    scores["vectors"] = {method: [0.9 if method == "optuna" else 0.8] for method in sklearn_models.METHODS}
    scores["faces"] = {method: [] if method == "skopt" else [1.0] for method in sklearn_models.METHODS}
    table = sklearn_models.make_table(scores, 2.0, ["mfopt 1", "optuna 4"])
    scores["network"] = {m: [0.7 if m == "no start" else 0.6 if m == "mfopt" else 0.5] for m in sklearn_models.METHODS}
    assert "mfopt in 1 of 2 rows, with start=False in 1." in table
    assert "mfopt in 2 of 3 rows, with start=False in 2." in sklearn_models.make_table(scores, 2.0, [])
    assert table.count("**0.6000**") == len(sklearn_models.METHODS)
    assert "faces" not in table
    assert "mfopt 1, optuna 4." in table  # what the runs were made with, whatever is installed here
