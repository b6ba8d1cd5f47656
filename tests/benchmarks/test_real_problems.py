"""The real experiments against simulated time."""

from dataclasses import replace

import numpy as np
import real_problems
from real_problems import Clock, Extrapolated, best_at, make_table

from mfopt import Box
from mfopt.problems import Benchmark
from mfopt.problems.cosmology import Likelihood

ROWS = np.array([[0.02, 34.5, 0.2], [0.4, 41.6, 0.3], [1.2, 44.7, 0.25]])


def test_the_finest_grid_of_supernova_is_extrapolated_exactly():
    for x in ([65.8, 0.326, 0.846], [75.0, 0.01, 0.99], [61.0, 0.9, 0.05]):
        expected = Likelihood(ROWS, 1_000_000)(np.array(x))
        np.testing.assert_allclose(Extrapolated(ROWS)(np.array(x)), expected, rtol=0, atol=1e-10)


def make_problem(**more):
    return Benchmark(
        name="p", functions=[lambda x: {"value": -x[0], "cost": 1.0}, lambda x: {"value": x[0], "cost": 10.0}],
        domain=Box([(0, 1)]), costs=[1.0, 10.0], optimum=1.0, argmax=np.array([1.0]), zetas=[None, 0.0], **more,
    )  # fmt: skip


def test_a_clock_adds_the_methods_own_time_where_time_is_the_cost():
    for timed in (True, False):
        clock = Clock(make_problem(cost="reported"), 100.0, timed)
        sum(range(2_000_000))  # the method thinks
        value, cost = clock.query(np.array([0.5]), 1)
        assert value == 0.5
        assert cost > 10.0 if timed else cost == 10.0
        clock.query(np.array([0.9]), 0)
        clock.query(np.array([0.2]), 1)
        assert [best for _, best in clock.curve] == [0.5]  # the best at the target so far
        assert clock.queries == [1, 2]


def test_where_errors_are_told_the_curve_keeps_accuracies():
    clock = Clock(replace(make_problem(cost="reported"), name="cloud"), 100.0, False)
    told, _ = clock.query(np.array([0.9]), 1)
    assert told == -np.log(1.0 - 0.9)
    assert [best for _, best in clock.curve] == [0.9]


def test_ours_end_with_their_capital():
    clock = Clock(make_problem(cost="reported"), 60.0, False)
    real_problems.run_ours(clock, "mf-gp-ucb", 0)
    assert 40.0 < clock.spent <= 60.0
    assert best_at(clock.curve, 0.5) != best_at(clock.curve, 0.5)  # NaN: nothing was paid yet
    assert best_at(clock.curve, 60.0) > 0.8


def test_bold_is_what_is_within_a_standard_error_of_the_best():
    def runs(method, values):
        return [
            {"problem": "svm", "method": method, "seed": k, "total": 10.0, "queries": [3, 4], "curve": [[1.0, value]]}
            for k, value in enumerate(values)
        ]

    table = make_table(
        "svm", [*runs("mf-gp-ucb", [0.8, 0.9]), *runs("gp-ei", [0.84, 0.88]), *runs("direct", [0.1, 0.2])]
    )
    lines = {line.split(" | ")[0].strip("| "): line for line in table.splitlines()}
    assert "**0.85 ± 0.05**" in lines["mf-gp-ucb"]
    assert "**0.86 ± 0.02**" in lines["gp-ei"]
    assert "**" not in lines["direct"]
