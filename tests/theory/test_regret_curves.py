"""Cumulative variants of the regret, and many runs on one grid of capital."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfopt import regret
from mfopt.errors import InputError

INF = np.inf


def history(fidelity, y, cost):
    return SimpleNamespace(fidelity=np.array(fidelity), y=np.array(y, float), cost=np.array(cost, float))


TOLD = history([0, 1, 0, 1, 1], [9.0, 2.0, 9.0, np.nan, 4.0], [1, 10, 1, 10, 10])


def test_cumulative_regret_sums_over_target_values_only():
    capital, total = regret.cumulative_regret(TOLD, 5.0)
    assert capital.tolist() == [1, 11, 12, 22, 32]
    assert total.tolist() == [0, 3, 3, 3, 4]
    assert regret.cumulative_regret(TOLD, 5.0, mean=True)[1].tolist() == [INF, 3, 3, 3, 2]


def test_a_set_keeps_its_own_queries():
    inside = np.array([True, False, True, True, True])
    assert regret.cumulative_regret(TOLD, 5.0, inside=inside)[1].tolist() == [0, 0, 0, 0, 1]
    assert regret.cumulative_regret(TOLD, 5.0, inside=inside, mean=True)[1].tolist() == [INF, INF, INF, INF, 1]
    with pytest.raises(InputError, match="one entry per query, 5, got 1"):
        regret.cumulative_regret(TOLD, 5.0, inside=inside[:1])


def test_minimisation_counts_from_below():
    assert regret.cumulative_regret(history([0, 0], [7.0, 6.0], [1, 1]), 5.0, "minimize")[1].tolist() == [2, 3]


@given(st.lists(st.tuples(st.integers(0, 1), st.floats(-5, 5), st.floats(0.1, 3)), max_size=20))
def test_the_mean_is_never_below_the_simple_regret(rows):
    told = history([r[0] for r in rows], [r[1] for r in rows], [r[2] for r in rows])
    simple = regret.simple_regret(told, 5.0, target=1)[1]
    mean = regret.cumulative_regret(told, 5.0, target=1, mean=True)[1]
    assert (mean >= simple - 1e-9).all()


def test_a_curve_holds_its_value_until_the_next_query_is_paid():
    curve = (np.array([1.0, 3.0]), np.array([5.0, 2.0]))
    assert regret.at_capital(curve, np.array([0.5, 1.0, 2.9, 3.0, 9.0])).tolist() == [INF, 5, 5, 2, 2]


def test_runs_are_aggregated_where_all_of_them_spent():
    curves = [(np.array([1.0, 4.0]), np.array([INF, 3.0])), (np.array([2.0, 3.0, 9.0]), np.array([8.0, 1.0, 0.0]))]
    both = regret.aggregate(curves)
    assert both.capital.tolist() == [1, 2, 3, 4]
    assert both.median.tolist() == [INF, INF, INF, 2]
    assert both.lower.tolist() == [INF, 8, 1, 1]
    assert both.upper.tolist() == [INF, INF, INF, 3]
    assert both.mean.tolist() == [INF, INF, INF, 2]
    assert both.error.tolist() == pytest.approx([np.nan] * 3 + [1.0], nan_ok=True)
    assert both.runs == 2


def test_quartiles_of_many_runs_on_a_given_grid():
    curves = [(np.array([1.0]), np.array([float(i)])) for i in range(9)]
    found = regret.aggregate(curves, np.array([0.0, 5.0]))
    assert (found.lower[1], found.median[1], found.upper[1], found.mean[1]) == (2, 4, 6, 4)
    assert np.isinf(found.median[0])


def test_no_run_is_no_aggregate():
    with pytest.raises(InputError, match="at least one run, got none"):
        regret.aggregate([])
