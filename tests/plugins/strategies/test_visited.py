"""Which points were queried where, and keeping away from them."""

import numpy as np
import pytest

from mfopt.domains.box import Box
from mfopt.domains.finite import FiniteSet
from mfopt.protocols import Query
from mfopt_plugins.strategies.base.avoid import Avoiding, elsewhere
from mfopt_plugins.strategies.base.visited import RECENT, Visited


def test_values_are_found_by_point_and_fidelity():
    visited = Visited(2, 2, None)
    u = np.array([0.25, 0.5])
    visited.add(u, 0, 1.0)
    visited.add(u, 0, 2.0)
    visited.add(u, 1, None)
    assert visited.value(u, 0) == 2.0
    assert visited.value(u + 1e-12, 0) == 2.0
    assert visited.value(u + 1e-3, 0) is None
    assert visited.value(u, 1) is None
    assert visited.count(u, 0) == 2
    assert visited.count(u, 1) == 0


def test_a_failure_is_forgotten_after_some_outcomes():
    visited = Visited(1, 1, None)
    visited.add(np.array([0.5]), 0, None)
    ages = []
    for _ in range(RECENT):
        ages += [age for _, age in visited.failed_recently()]
        visited.add(np.array([0.1]), 0, 1.0)
    assert ages == list(range(RECENT))
    assert visited.failed_recently() == []


def test_rows_of_a_finite_set_are_finished_by_a_value_a_pending_query_or_two_failures():
    points = FiniteSet([[0.0], [1.0], [2.0], [3.0]]).points
    visited = Visited(2, 1, points)
    visited.add(points[0], 1, 5.0)
    visited.add(points[3], 1, None)
    pending = [Query(0, points[1], 1), Query(1, points[2], 0)]
    assert visited.finished(1, pending, 1).tolist() == [True, True, False, False]
    visited.add(points[3], 1, None)
    assert visited.finished(1, pending, 1).tolist() == [True, True, False, True]
    assert visited.finished(0, pending, 0).tolist() == [False, False, True, False]


class Flat:
    def __call__(self, u):
        return np.zeros(len(u))

    def gradient(self, u):
        return np.zeros(len(u)), np.zeros(u.shape)


def test_an_acquisition_is_lowered_around_a_failure_and_less_so_later():
    centre = np.array([0.5, 0.5])
    fresh, old = (Avoiding(Flat(), [(centre, age)], 2.0, 2) for age in (0, 9))
    near = centre + np.array([0.02, 0.0])
    assert fresh(centre[None])[0] == -2.0
    assert fresh(near[None])[0] < -1.0
    assert old(near[None])[0] == 0.0
    value, slope = fresh.gradient(near[None])
    assert value[0] == fresh(near[None])[0]
    step = np.array([[1e-6, 0.0]])
    assert slope[0, 0] == pytest.approx((fresh(near + step)[0] - fresh(near - step)[0]) / 2e-6, rel=1e-5)


def test_elsewhere_is_the_best_point_apart_from_the_taken_ones():
    class Slope:
        def __call__(self, u):
            return u[:, 0].copy()

    box = Box([(0.0, 1.0)] * 2)
    taken = np.array([[1.0, 0.5]])
    u = elsewhere(Slope(), box, taken[0], taken, 0.05, np.random.default_rng(0))
    assert np.abs(u - taken[0]).max() > 0.05
    assert u[0] > 0.95
    everything = elsewhere(Slope(), box, taken[0], taken, 2.0, np.random.default_rng(0))
    assert box.contains(everything[None])[0]
