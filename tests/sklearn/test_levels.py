"""Levels: parts of the resource, and the rows that they come to."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.svm import SVC

import mfopt
from mfopt import InputError
from mfopt.sklearn import MultiFidelitySearchCV
from mfopt.sklearn.levels import fit_to_rows, make_levels


def fit(amounts, rows):
    return fit_to_rows(make_levels("n_samples", amounts, SVC(), {}), rows)


@pytest.mark.parametrize("given", [np.array([0.2, 1.0]), [0.2, 1.0], (0.2, 1)])
def test_levels_may_be_a_list_a_tuple_or_an_array(given):
    assert fit(given, [100, 100]).amounts == (0.2, 1.0)
    assert fit(given, [100, 100]).costs == (0.2, 1.0)


@pytest.mark.parametrize("given", [None, 0.5, "all", np.array(0.5), {0.5: 1.0}, []])
def test_anything_else_is_refused(given):
    with pytest.raises(InputError, match="levels must be a list of parts or amounts with at least one entry, got"):
        fit(given, [100])


def test_more_rows_than_there_are_is_refused():
    with pytest.raises(InputError, match=r"must be at most those that a split trains with, 200, got \[100.0, 201.0\]"):
        fit([100, 201], [200, 199])
    assert fit([100, 200], [200, 199]).amounts == (100.0, 200.0)


@pytest.mark.parametrize(
    ("given", "rows", "kept", "costs"),
    [
        ((0.1, 0.3, 1.0), [12, 12], (0.3, 1.0), (10 / 12, 1.0)),
        ((0.1, 0.3, 1.0), [8], (1.0,), (1.0,)),
        ([3, 7, 40], [80], (7.0, 40.0), (0.25, 1.0)),
    ],
)
def test_levels_with_equal_rows_are_one_that_costs_what_its_rows_do(given, rows, kept, costs):
    with pytest.warns(UserWarning, match="levels must have different numbers of rows, got .* equal ones become one"):
        levels = fit(given, rows)
    assert levels.amounts == kept
    assert levels.costs == pytest.approx(costs)
    assert [one.cost for one in levels.fidelities(timed=False)] == pytest.approx(costs)


def test_a_level_that_is_raised_to_ten_rows_costs_ten_rows():
    assert fit((0.1, 0.3, 1.0), [40, 40]).costs == pytest.approx((0.25, 0.3, 1.0))
    assert fit((0.1, 0.3, 1.0), [100, 101]).costs == (0.1, 0.3, 1.0)


def test_a_search_over_few_rows_has_no_level_twice():
    X, Y = make_classification(18, 6, random_state=0)
    made = MultiFidelitySearchCV(SVC(), {"C": mfopt.Real(0.1, 10, log=True)}, capital=3, cv=3, random_state=0)
    with pytest.warns(UserWarning, match=r"levels must have different numbers of rows, got \[10, 10, 12\]"):
        made.fit(X, Y)
    assert made.resources_ == [10, 12]
    assert [one.cost for one in made.cost_estimates_] == pytest.approx([10 / 12, 1.0])
