"""What the rest of the capital may gain."""

import math

import numpy as np
import pytest

import mfopt
from mfopt.run.gain import expected_maximum_gain


def test_one_query_gains_its_expected_improvement():
    mean, std, best = 0.3, 0.5, 0.7
    z = (mean - best) / std
    cdf, pdf = 0.5 * math.erfc(-z / math.sqrt(2)), math.exp(-0.5 * z * z) / math.sqrt(2 * math.pi)
    expected = std * (z * cdf + pdf)
    assert expected_maximum_gain(np.array([mean]), np.array([std]), best, 1.0) == pytest.approx(expected, rel=1e-3)


def test_many_queries_gain_what_the_best_of_independent_values_does():
    rng = np.random.default_rng(0)
    mean, std = rng.normal(size=8), rng.uniform(0.2, 1.0, size=8)
    drawn = mean + std * rng.standard_normal((400_000, 8))
    expected = np.maximum(drawn.max(axis=1) - 1.0, 0.0).mean()
    assert expected_maximum_gain(mean, std, 1.0, 8.0) == pytest.approx(expected, rel=0.01)
    assert expected_maximum_gain(mean, std, 1.0, math.inf) == pytest.approx(expected, rel=0.01)


def test_fewer_queries_gain_less_and_none_nothing():
    mean, std = np.linspace(-1.0, 0.0, 9), np.ones(9)
    gains = [expected_maximum_gain(mean, std, 0.5, n) for n in (0.9, 1.0, 2.0, 9.0)]
    assert gains[0] == 0.0
    assert gains == sorted(gains)
    assert gains[1] > 0.0


def test_where_nothing_is_uncertain_there_is_nothing_to_gain():
    assert expected_maximum_gain(np.array([0.0, 1.0]), np.zeros(2), 1.0, 5.0) == 0.0


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_the_gain_of_a_run_falls_as_it_goes_on(direction):
    sign = 1.0 if direction == "maximize" else -1.0
    opt = mfopt.Optimizer([(0, 1)], [1.0], strategy="gp-ucb", capital=30.0, direction=direction, rng=0)
    assert opt.expected_gain() == math.inf
    gains = []
    while not opt.done:
        trial = opt.ask()
        opt.tell(trial, sign * math.sin(9.0 * trial.x[0]))
        gains.append(opt.expected_gain())
    assert gains[2] > 1e-3
    assert gains[-1] == 0.0  # no capital is left
    assert gains[-3] < 1e-3


def test_the_points_of_a_finite_set_are_those_that_count():
    opt = mfopt.Optimizer(mfopt.FiniteSet([[0.0], [1.0], [2.0]]), [1.0], strategy="gp-ucb", capital=9.0, rng=0)
    for _ in range(3):
        trial = opt.ask()
        opt.tell(trial, float(trial.x[0]))
    assert opt.expected_gain() < 0.01  # of values from 0 to 2, all known
