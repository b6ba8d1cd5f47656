"""Simple regret against capital."""

from types import SimpleNamespace

import numpy as np
import pytest

from mfopt.errors import InputError
from mfopt.regret import simple_regret


def history(fidelity, y, cost):
    return SimpleNamespace(
        fidelity=np.array(fidelity, dtype=int), y=np.array(y, dtype=float), cost=np.array(cost, float)
    )


def test_regret_is_infinite_until_the_first_target_value_and_never_rises():
    told = history([0, 1, 0, 1, 1], [9.0, 2.0, 9.0, 1.0, 4.0], [1, 10, 1, 10, 10])
    capital, regret = simple_regret(told, 5.0)
    assert capital.tolist() == [1, 11, 12, 22, 32]
    assert regret.tolist() == [np.inf, 3.0, 3.0, 3.0, 1.0]


def test_a_failed_query_costs_and_brings_nothing():
    capital, regret = simple_regret(history([1, 1], [np.nan, 2.0], [10, 10]), 5.0)
    assert capital.tolist() == [10, 20]
    assert regret.tolist() == [np.inf, 3.0]


def test_minimisation_counts_from_below():
    assert simple_regret(history([0, 0], [7.0, 6.0], [1, 1]), 5.0, "minimize")[1].tolist() == [2.0, 1.0]


def test_a_given_target_that_was_never_reached_leaves_the_regret_infinite():
    told = history([0, 1], [1.0, 2.0], [1, 10])
    assert np.isinf(simple_regret(told, 5.0, target=2)[1]).all()


def test_an_empty_history_has_empty_arrays():
    capital, regret = simple_regret(history([], [], []), 1.0)
    assert capital.size == regret.size == 0


def test_a_direction_must_be_known():
    with pytest.raises(InputError, match='"maximize" or "minimize", got \'up\''):
        simple_regret(history([0], [1.0], [1]), 1.0, "up")
