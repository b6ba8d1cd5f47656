"""What queries cost, as given or as learnt."""

import math

import numpy as np
import pytest

from mfopt import Fidelity
from mfopt.run.prices import CostEstimate, Prices, first_costs


def prices(costs=(1.0, 10.0), capital=None):
    return Prices([Fidelity(f"level {m}", cost) for m, cost in enumerate(costs)], capital)


def test_costs_that_are_given_are_certain_until_another_is_told():
    kept = prices((0.1, 1.0 / 3.0))
    assert kept.costs == (0.1, 1.0 / 3.0)
    assert not kept.learnt
    assert kept.estimates == (CostEstimate(0.1, 1.0, 0), CostEstimate(1.0 / 3.0, 1.0, 0))


def test_costs_told_outweigh_those_given():
    kept = prices((1.0, 10.0))
    rng = np.random.default_rng(0)
    for _ in range(200):
        kept.learn(0, 3.0 * math.exp(0.2 * rng.standard_normal()))
        kept.learn(1, 50.0 * math.exp(0.2 * rng.standard_normal()))
    assert kept.costs == pytest.approx((3.0, 50.0), rel=0.05)
    assert [one.factor for one in kept.estimates] == pytest.approx([math.exp(0.2)] * 2, rel=0.05)
    assert [one.told for one in kept.estimates] == [200, 200]


def test_a_cost_told_at_one_fidelity_tells_of_the_unit_of_the_others():
    kept = prices((1.0, 10.0))
    for _ in range(5):
        kept.learn(0, 1000.0)  # milliseconds, say, where seconds were given
    assert kept.costs[0] == pytest.approx(1000.0, rel=0.3)
    assert 1000.0 < kept.costs[1] < 10000.0
    assert kept.estimates[1].factor > kept.estimates[0].factor


def test_without_costs_the_first_ones_told_decide():
    kept = prices((None, None, None), capital=200.0)
    assert kept.costs == (0.125, 0.5, 2.0)
    kept.learn(2, 40.0)
    assert kept.costs[2] == pytest.approx(40.0, rel=0.1)
    assert kept.costs[0] < kept.costs[1] < kept.costs[2]
    kept.learn(0, 1e-3)
    kept.learn(1, 1.0)
    assert kept.costs == pytest.approx((1e-3, 1.0, 40.0), rel=0.2)


def test_two_in_three_costs_lie_within_the_factor():
    rng = np.random.default_rng(1)
    inside = []
    for _ in range(400):
        kept, centre = prices((None,), 10.0), math.exp(rng.standard_normal())
        for _ in range(10):
            kept.learn(0, centre * math.exp(0.4 * rng.standard_normal()))
        estimate = kept.estimates[0]
        told = centre * math.exp(0.4 * rng.standard_normal())
        inside.append(estimate.cost / estimate.factor < told < estimate.cost * estimate.factor)
    assert 0.6 < np.mean(inside) < 0.76


def test_the_order_in_which_costs_are_told_does_not_matter():
    one, other = prices(), prices()
    told = [(0, 2.0), (1, 30.0), (0, 3.0), (1, 25.0)]
    for m, cost in told:
        one.learn(m, cost)
    for m, cost in reversed(told):
        other.learn(m, cost)
    assert one.costs == pytest.approx(other.costs, rel=1e-12)


def test_a_cost_of_nothing_tells_nothing():
    kept = prices()
    kept.learn(0, 0.0)
    assert not kept.learnt
    assert kept.costs == (1.0, 10.0)


def test_a_guess_rises_to_a_part_of_the_capital():
    assert first_costs([Fidelity("a", None), Fidelity("b", None)], 100.0) == (0.25, 1.0)
    assert first_costs([Fidelity("a", None), Fidelity("b", None)], None) == (0.25, 1.0)
    assert first_costs([Fidelity("a", 3.0), Fidelity("b", 4.0)], 100.0) == (3.0, 4.0)


def test_costs_out_of_order_and_costs_that_are_nearly_equal_are_told_when_they_are_certain():
    kept = prices((1.0, 10.0, 100.0))
    assert kept.oddities() == []
    kept.learn(1, 5.0)
    assert kept.oddities() == []
    for _ in range(30):
        for m, cost in enumerate((5.0, 2.0, 2.1)):
            kept.learn(m, cost)
    wrong, equal = kept.oddities()
    assert "level 0 costs" in wrong
    assert "change their order" in wrong
    assert "level 2" in equal
    assert "nearly the same" in equal
