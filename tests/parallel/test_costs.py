"""Costs that the loop finds out, and what else may end it."""

import math
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import mfopt
from mfopt import InputError, maximize, minimize
from mfopt.loop import Status

REAL = (0.01, 0.05)


def cheap(x):
    return 1.0 - (x[0] - 0.4) ** 2


def steady(x):
    return 1.0 - (x[0] - 0.5) ** 2


def low(x):
    time.sleep(REAL[0])
    return cheap(x)


def high(x):
    time.sleep(REAL[1])
    return steady(x)


def priced(x):
    return {"value": steady(x), "cost": 2.0 + float(x[0])}


def fails(x):
    time.sleep(REAL[0])
    raise RuntimeError("no value")


def go(functions=(low, high), costs=None, capital=1.0, **options):
    given = {"rng": 0, "progress": False, "strategy": "random", "cost": "time", **options}
    return maximize(list(functions), [(0.0, 1.0)], costs, capital, **given)


@pytest.mark.parametrize(
    "options", [{}, {"executor": "threads", "workers": 2}, {"executor": "processes", "workers": 1}]
)
def test_the_seconds_of_each_evaluation_are_its_cost(options):
    result = go(strategy="mf-naive-random:limit=5", **options)
    cost, fidelity = result.history.cost, result.history.fidelity
    assert set(fidelity.tolist()) == {0, 1}
    for m, seconds in enumerate(REAL):
        assert (cost[fidelity == m] >= seconds).all()
        assert result.costs[m].cost == pytest.approx(np.median(cost[fidelity == m]), rel=0.9)
    assert result.spent == pytest.approx(cost.sum())
    assert result.costs[1].told == (fidelity == 1).sum()


def test_an_executor_of_ones_own_measures_where_it_evaluates():
    def slow(x):
        time.sleep(0.4)
        return steady(x)

    with ThreadPoolExecutor(1) as executor:  # two at once wait for one thread
        result = go([slow], capital=2.0, executor=executor, workers=2)
    assert 0.4 <= np.median(result.history.cost) < 0.7


def test_the_last_query_may_overdraw_and_none_is_started_that_is_expected_to():
    result = go(capital=0.5)
    assert result.status is Status.CAPITAL
    assert result.spent - result.history.cost[-1] <= 0.5
    assert result.spent + result.costs[-1].cost > 0.5
    assert "expected to cost" in result.message


def test_the_optimisers_own_time_counts_where_it_is_asked_for():
    class Slow:
        def start(self, problem):
            self.problem = problem

        def ask(self, view):
            time.sleep(0.5)
            return mfopt.protocols.Suggestion(np.array([0.5]), 0, None)

        def tell(self, record):
            pass

    def three(optimizer, trial, y):
        return len(optimizer.history) == 3

    with_own = go([low], capital=9.0, strategy=Slow(), cost="total-time", callback=three)
    without = go([low], capital=9.0, strategy=Slow(), callback=three)
    assert np.median(with_own.history.cost) > 0.5
    assert np.median(without.history.cost) < 0.5


def test_what_a_function_reports_comes_before_its_time():
    for cost in ("time", "reported"):
        result = go([priced], capital=30.0, cost=cost)
        assert result.history.cost.tolist() == [2.0 + x for x in result.history.x[:, 0].tolist()]
    fixed = go([priced], [3.0], 30.0, cost=None)
    assert fixed.history.cost.tolist() == [3.0] * 10


def test_a_cost_that_must_be_reported_and_is_not_is_a_failure():
    with pytest.raises(mfopt.EvaluationError, match="must report its cost"):
        go([steady], capital=30.0, cost="reported")


def test_a_value_that_is_no_value_states_the_rule():
    with pytest.raises(InputError, match='must be a number or have "value"'):
        go([lambda x: {"val": 1.0}])
    with pytest.raises(InputError, match="cost must be from 0"):
        go([lambda x: {"value": 1.0, "cost": -1.0}])


def test_a_failure_costs_the_time_of_all_its_tries():
    result = go([fails], capital=0.5, retries=2, on_error="record", callback=lambda *_: True)
    assert result.history.cost[0] >= 3 * REAL[0]


def test_a_timeout_costs_the_time_until_then():
    def slow(x):
        time.sleep(5.0)

    options = {"executor": "threads", "workers": 1, "timeout": 0.2, "on_error": "record"}
    result = go([slow], capital=1.0, callback=lambda *_: True, **options)
    assert 0.2 <= result.history.cost[0] < 2.0


def test_a_program_may_report_its_cost():
    code = "import json; print('log'); print(json.dumps({'value': 1.5, 'cost': 7}))"
    program = mfopt.Simulator([sys.executable, "-c", code], ["a"])
    assert program(np.zeros(1)) == {"value": 1.5, "cost": 7.0}
    assert set(go([program], capital=20.0).history.cost.tolist()) == {7.0}
    wrong = mfopt.Simulator([sys.executable, "-c", code.replace("7", "'much'")], ["a"])
    with pytest.raises(mfopt.EvaluationError, match='perhaps a number "cost"'):
        wrong(np.zeros(1))


def test_costs_out_of_order_are_reported_at_the_end():
    with pytest.warns(mfopt.CostWarning, match="costs should rise with the fidelity: fidelity 0 costs"):
        go([lambda x: {"value": x[0], "cost": 5.0}, lambda x: {"value": x[0], "cost": 1.0}], [1.0, 10.0], 200.0,
           strategy="mf-naive-random:limit=20", cost="reported")  # fmt: skip


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"cost": "money"}, "cost must be one of 'time', 'total-time', 'reported' or None, got 'money'"),
        ({"cost": None}, "costs must be a list of one per function unless cost says how they are found out, got None"),
        ({"stop": "soon"}, 'stop must be "converged" or None'),
        ({"tolerance": 1.0}, 'tolerance must come with stop="converged"'),
        ({"tolerance": 0.0, "stop": "converged"}, "tolerance must be positive"),
        ({"target": "best"}, "target must be a real number"),
    ],
)
def test_wrong_arguments_state_the_rule(options, rule):
    with pytest.raises(InputError, match=rule):
        go(**options)


def test_a_target_value_ends_the_loop():
    up = go([steady], [1.0], 100.0, cost=None, target=0.9)
    assert up.status is Status.TARGET
    assert up.success
    assert up.fun >= 0.9
    assert (up.history.y[:-1] < 0.9).all()
    down = minimize([lambda x: -steady(x)], [(0, 1)], [1.0], 100.0, rng=0, strategy="random", target=-0.9)
    assert down.status is Status.TARGET
    assert down.fun <= -0.9


def test_a_value_that_is_good_enough_already_is_not_paid_for_again(tmp_path):
    options = {"cost": None, "strategy": "random", "storage": tmp_path / "study.db", "resume": True}
    first = go([steady], [1.0], 100.0, target=0.9, **options)
    again = go([steady], [1.0], 100.0, target=0.8, **options)
    assert (again.status, again.nfev, again.fun) == (Status.TARGET, first.nfev, first.fun)
    assert again.message == f"the value {first.fun} is as good as the target value 0.8"
    better = go([steady], [1.0], 100.0, target=1.0 - 1e-9, **options)
    assert better.nfev > first.nfev


def test_a_run_that_has_converged_ends_and_says_what_the_rest_would_gain():
    def f(x):
        return math.sin(5.0 * x[0])

    options = {"strategy": "gp-ucb", "cost": None, "stop": "converged"}
    result = go([f], [1.0], 200.0, **options)
    assert result.status is Status.CONVERGED
    assert result.success
    assert result.nfev < 60
    assert 0.0 <= result.expected_gain < 2e-3
    assert "expected to gain" in result.message
    assert result.fun > 0.999
    rough = go([f], [1.0], 200.0, tolerance=0.3, **options)
    assert rough.nfev < result.nfev
    assert go([f], [1.0], 5.0, strategy="random", cost=None).expected_gain is None


def test_a_run_that_has_converged_is_not_paid_for_again(tmp_path):
    def f(x):
        return math.sin(5.0 * x[0])

    options = {
        "strategy": "gp-ucb",
        "cost": None,
        "stop": "converged",
        "storage": tmp_path / "study.db",
        "resume": True,
    }
    first = go([f], [1.0], 200.0, **options)
    again = go([f], [1.0], 200.0, **options)
    assert (again.status, again.nfev, again.message) == (Status.CONVERGED, first.nfev, first.message)
    assert again.expected_gain == pytest.approx(first.expected_gain, rel=1e-6)
    finer = go([f], [1.0], 200.0, tolerance=1e-2 * first.expected_gain, **options)
    assert finer.nfev > first.nfev


def test_pending_trials_are_evaluated_before_a_resumed_run_is_said_to_have_converged(tmp_path):
    def f(x):
        return math.sin(5.0 * x[0])

    storage = tmp_path / "study.db"
    options = {"strategy": "gp-ucb", "cost": None, "stop": "converged", "storage": storage, "resume": True}
    first = go([f], [1.0], 200.0, **options)
    left = mfopt.Study.open(storage).ask()
    again = go([f], [1.0], 200.0, **options)
    assert again.history.id[first.nfev] == left.id


@pytest.mark.parametrize("options", [{}, {"executor": "threads", "workers": 2}])
def test_capital_that_is_used_up_is_no_convergence(options):
    def f(x):
        return math.sin(40.0 * x[0])

    result = go([f], [5.0], 23.0, cost=None, strategy="gp-ucb", stop="converged", **options)
    assert result.status is Status.CAPITAL
    assert result.spent == 20.0
    assert result.expected_gain > 1e-3  # the last time that it was asked for
