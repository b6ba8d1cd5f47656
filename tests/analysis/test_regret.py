"""Simple regret against capital."""

from types import SimpleNamespace

import numpy as np
import pytest

import mfopt
from mfopt.errors import InputError
from mfopt.regret import best_observed, cumulative_regret, regret_at, simple_regret


def history(fidelity, y, cost):
    return SimpleNamespace(
        fidelity=np.array(fidelity, dtype=int), y=np.array(y, dtype=float), cost=np.array(cost, float)
    )


def test_regret_is_infinite_until_the_first_target_value_and_never_rises():
    told = history([0, 1, 0, 1, 1], [9.0, 2.0, 9.0, 1.0, 4.0], [1, 10, 1, 10, 10])
    capital, regret = simple_regret(told, 5.0)
    assert capital.tolist() == [1, 11, 12, 22, 32]
    assert regret.tolist() == [np.inf, 3.0, 3.0, 3.0, 1.0]


def test_a_function_of_a_space_is_given_params_here_too():
    def f(params):
        return params["k"] + (params["c"] == "b")

    opt = mfopt.Optimizer({"k": mfopt.Integer(1, 9), "c": ["a", "b"]}, [1.0], capital=12.0, strategy="random", rng=0)
    mfopt.loop.run(opt, [f])
    told, known = (simple_regret(opt.history, 10.0, function=function)[1] for function in (None, f))
    assert told.tolist() == known.tolist()
    assert regret_at(opt.best.params, f, 10.0) == told[-1]


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


# ---------------------------------------------------------------------------------------------- noise


def noisy():
    """Target values above f(x) = 3 − x² by chance, one point queried twice."""
    told = history([0, 1, 1, 1], [9.0, 3.4, 2.9, 2.8], [1, 10, 10, 10])
    told.x = np.array([[0.0], [0.5], [0.5], [1.0]])
    return told


@pytest.mark.parametrize("regret", [simple_regret, cumulative_regret])
def test_values_that_are_told_to_be_noisy_are_not_taken_for_f(regret):
    opt = mfopt.Optimizer([(0.0, 1.0)], [1.0, 5.0], noise=[None, 0.25], strategy="random", rng=0)
    opt.add([[0.1], [0.4]], 1, [0.2, 0.3])
    with pytest.raises(InputError, match=r"function must be given where target values are noisy, got a noise of 0\.25"):
        regret(opt.history.snapshot(), 1.0)
    assert regret(opt.history, 1.0, target=0)[1].shape == (2,), "of the other fidelity nothing is known"
    assert regret(opt.history, 1.0, function=lambda x: float(x[0]))[1].tolist()[0] == pytest.approx(0.9)
    assert best_observed(opt.history)[1].tolist() == [0.2, 0.3]


def test_values_beyond_the_optimum_are_noisy_or_it_is_none():
    with pytest.raises(InputError, match=r"optimum must not be passed.*got the optimum 3\.0 and a value 0\.4"):
        simple_regret(history([1, 1], [2.0, 3.4], [1, 1]), 3.0)
    with pytest.raises(InputError, match="optimum must not be passed"):
        cumulative_regret(history([1], [2.9], [1]), 3.0, "minimize")
    rounded = simple_regret(history([1], [3.0 + 1e-9], [1]), 3.0)[1]
    assert rounded.tolist() == pytest.approx([0.0], abs=2e-9)


def test_noisy_values_are_not_taken_for_f():
    with pytest.raises(
        InputError, match=r"function must be given where target values are noisy, got the values 3\.4 and"
    ):
        simple_regret(noisy(), 3.0)
    capital, regret = simple_regret(noisy(), 3.0, function=lambda x: 3.0 - float(x[0]) ** 2)
    assert capital.tolist() == [1.0, 11.0, 21.0, 31.0]
    assert regret.tolist() == [np.inf, 0.25, 0.25, 0.25], "never below 0, whatever was observed"
    total = cumulative_regret(noisy(), 3.0, function=lambda x: 3.0 - float(x[0]) ** 2)[1]
    assert total.tolist() == [0.0, 0.25, 0.5, 1.5]


def test_without_f_there_is_the_best_observed_value_and_nothing_else():
    assert best_observed(noisy())[1].tolist() == [-np.inf, 3.4, 3.4, 3.4]
    assert best_observed(noisy(), "minimize")[1].tolist() == [np.inf, 3.4, 2.9, 2.8]


def test_values_that_agree_at_a_point_are_f():
    told = history([0, 0], [2.0, 2.0], [1, 1])
    told.x = np.zeros((2, 1))
    assert simple_regret(told, 5.0)[1].tolist() == [3.0, 3.0]


def test_the_regret_of_a_recommended_point_is_that_of_f_there():
    assert regret_at(np.array([0.5]), lambda x: 3.0 - float(x[0]) ** 2, 3.0) == 0.25
    assert regret_at(np.array([0.5]), lambda x: float(x[0]) ** 2, 0.0, "minimize") == 0.25


def test_a_function_needs_points():
    with pytest.raises(InputError, match="history must tell the points x where a function is given, got none"):
        simple_regret(history([0], [1.0], [1]), 1.0, function=float)
