"""The meter of the arena: what is charged, what counts, and when a recommendation is asked for."""

import dataclasses
import math

import pytest
from arena.problem import Meter, OutOfCapital, Problem

import mfopt

LINE = Problem("line", mfopt.Box([(0, 1)], names=["x"]), lambda p, m: p["x"] - 0.1 * (1 - m), (1.0, 4.0), 1.0)


def test_queries_are_charged_in_units_of_the_target():
    meter = Meter(LINE, 2.0)
    assert meter.query({"x": 0.5}, 0) == pytest.approx(0.4)
    assert meter.spent == 0.25
    meter.query({"x": 0.5}, 1)
    assert meter.spent == 1.25
    with pytest.raises(OutOfCapital):
        meter.query({"x": 0.6}, 1)
    assert meter.spent == 1.25
    assert meter.trace == [(1.25, 0.5, 0.5)]


def test_the_capital_may_be_spent_to_the_last_bit():
    meter = Meter(LINE, 0.75)
    for x in (0.1, 0.2, 0.3):
        meter.query({"x": x}, 0)
    assert meter.spent == 0.75


def test_a_promotion_pays_only_the_rest():
    meter = Meter(dataclasses.replace(LINE, resumable=True), 2.0)
    meter.query({"x": 0.5}, 0)
    assert meter.cost({"x": 0.5}, 1) == 3.0
    assert meter.cost({"x": 0.4}, 1) == 4.0
    meter.query({"x": 0.5}, 1)
    assert meter.spent == 1.0


def test_a_problem_may_charge_by_the_point():
    meter = Meter(dataclasses.replace(LINE, charge=lambda p, m: 8.0 * p["x"]), 2.0)
    meter.query({"x": 0.25}, 0)
    assert meter.spent == 0.5
    meter.query({"x": 0.75}, 1)
    assert meter.spent == 2.0


def test_the_best_is_that_of_the_target_within_the_mark():
    meter = Meter(LINE, 20.0)
    assert meter.best_at(5.0) == -math.inf
    for x in (0.3, 0.2, 0.1, 0.4, 0.5, 0.9):
        meter.query({"x": x}, 1)
    assert meter.best_at(5.0) == 0.5
    assert meter.best_at(10.0) == 0.9


def test_of_noisy_values_the_one_without_noise_counts_at_the_point_that_seemed_best():
    meter = Meter(dataclasses.replace(LINE, noise=1.0), 20.0, seed=3)
    told = {x: meter.query({"x": x}, 1) for x in (0.1, 0.2, 0.3, 0.4)}
    assert all(abs(value - x) > 1e-6 for x, value in told.items())
    assert meter.best_at(5.0) == max(told, key=told.get)


def test_noise_depends_on_the_seed_alone():
    noisy = dataclasses.replace(LINE, noise=1.0)
    first, again, other = (Meter(noisy, 20.0, seed).query({"x": 0.5}, 1) for seed in (3, 3, 4))
    assert first == again != other


def test_a_failed_evaluation_is_paid_and_is_no_value():
    meter = Meter(dataclasses.replace(LINE, evaluate=lambda p, m: math.nan), 2.0)
    assert math.isnan(meter.query({"x": 0.5}, 1))
    assert meter.spent == 1.0
    assert meter.trace == []


def test_a_recommendation_is_made_with_what_was_known_at_the_mark():
    meter = Meter(LINE, 20.0)
    asked = []

    def recommend():
        asked.append(meter.spent)
        return {"x": meter.spent / 20.0} if len(asked) > 1 else None

    meter.recommend = recommend
    for _ in range(12):
        meter.query({"x": 0.0}, 1)
    meter.finish()
    assert asked == [5.0, 10.0, 12.0]
    assert meter.recommended == {10.0: 0.5, 20.0: 0.6}
