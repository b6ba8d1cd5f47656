"""The rules for ζ and γ, step by step."""

import warnings

import numpy as np
import pytest

from mfopt.errors import ZetaWarning
from mfopt_plugins.strategies.ucb.schedule import GammaRule
from mfopt_plugins.strategies.ucb.zeta import ZetaRule


def test_zeta_starts_at_a_hundredth_of_the_range_and_grows_with_the_distance_to_the_target():
    rule = ZetaRule([None, None, 0.0], range(3))
    rule.start(50.0)
    assert rule.values.tolist() == [1.0, 0.5, 0.0]


def test_a_violation_between_neighbours_doubles_into_zeta():
    rule = ZetaRule([None, None, 0.0], range(3))
    rule.start(50.0)
    rule.compare(1, 3.0, 0, 3.4, 0.0)
    assert rule.neighbour == 0.5
    rule.compare(0, 3.0, 1, 3.7, 0.0)
    assert rule.neighbour == pytest.approx(1.4)
    rule.compare(0, 3.0, 2, 9.0, 0.0)
    assert rule.neighbour == pytest.approx(1.4)


def test_a_violation_seen_before_the_start_counts_from_it():
    rule = ZetaRule([None, 0.0], range(2))
    rule.compare(0, 3.0, 1, 4.0, 0.0)
    assert rule.neighbour == 0.0
    rule.start(50.0)
    assert rule.neighbour == 2.0


def test_a_given_zeta_stays_and_its_violation_is_told_once_and_recorded():
    rule = ZetaRule([0.5, 0.1, 0.0], (0, 1, 2))
    with pytest.warns(ZetaWarning, match=r"fidelities 0 and 2 differ by at most 0\.5 at a point, got 0\.7"):
        rule.hold_to_contract(2, 1.0, 0, 1.7, 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rule.hold_to_contract(2, 1.0, 0, 2.0, 0.0)
        rule.hold_to_contract(1, 1.0, 0, 1.59, 0.0)
    with pytest.warns(ZetaWarning, match="fidelities 1 and 2"):
        rule.hold_to_contract(2, 1.0, 1, 1.2, 0.0)
    assert rule.violations == {0: pytest.approx(1.0), 1: pytest.approx(0.2)}
    assert rule.values.tolist() == [0.5, 0.1, 0.0]


def test_noise_is_not_blamed_on_a_zeta():
    given = ZetaRule([0.5, 0.0], range(2))
    given.hold_to_contract(0, 1.0, 1, 1.7, 0.01)
    assert given.violations == {}
    learnt = ZetaRule([None, 0.0], range(2))
    learnt.start(10.0)
    learnt.compare(0, 1.0, 1, 1.39, 0.01)
    assert learnt.neighbour == 0.1
    learnt.compare(0, 1.0, 1, 1.5, 0.01)
    assert learnt.neighbour == pytest.approx(0.4)


def test_gamma_doubles_only_after_more_iterations_than_the_ratio_of_costs():
    rule = GammaRule([1.0, 3.0], None, 1.0)
    rule.start(100.0)
    seen = []
    for _ in range(9):
        rule.count(0, np.ones(2))
        seen.append(rule.values[0])
    assert seen == [1, 1, 1, 2, 2, 2, 2, 4, 4]
    assert rule.values[-1] == np.inf


def test_iterations_below_count_by_their_cost():
    rule = GammaRule([1.0, 4.0, 8.0], None, 1.0)
    rule.start(100.0)
    seen = []
    for k in (0, 0, 0, 0, 1, 0, 1):  # capital 1, 2, 3, 4, 8, 9, 13 without a query of the target
        rule.count(k, np.ones(3))
        seen.append(rule.values[1])
    assert seen == [1, 1, 1, 1, 1, 2, 2]


def test_a_query_above_starts_the_count_again():
    rule = GammaRule([1.0, 3.0, 6.0], None, 1.0)
    rule.start(100.0)
    for k in (0, 0, 0, 1, 0, 0, 0):
        rule.count(k, np.ones(3))
    assert rule.values[0] == 1.0
    assert rule.values[1] == 2.0


def test_a_given_gamma_stays():
    rule = GammaRule([1.0, 2.0], [0.3], 1.0)
    for _ in range(20):
        rule.count(0, np.ones(2))
    assert rule.values[0] == 0.3


def test_shrinking_takes_gamma_back_to_its_start_and_no_further():
    rule = GammaRule([1.0, 1.5], None, 2.0)
    rule.start(100.0)
    for _ in range(4):
        rule.count(0, np.ones(2))
    assert rule.values[0] == 4.0
    for expected in (2.0, 1.0, 1.0):
        rule.count(1, np.ones(2))
        assert rule.values[0] == expected


def test_a_gamma_of_zero_takes_the_width_that_holds_the_method_back():
    rule = GammaRule([1.0, 1.5], None, 1.0)
    for _ in range(2):
        rule.count(0, np.array([0.7, 1.0]))
    assert rule.values[0] == 1.4
