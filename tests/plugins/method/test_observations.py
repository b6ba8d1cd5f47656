"""Which points were queried where, and what "the same point" means."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfopt import Box, FiniteSet
from mfopt.protocols import SAME, Query
from mfopt_plugins.method.observations import RECENT, SMALLEST, Observations, find_within

SQUARE = Box([(0.0, 1.0)] * 2)


def test_values_are_found_by_point_and_fidelity():
    seen = Observations([0, 1], SQUARE)
    u = np.array([0.25, 0.5])
    seen.add(u, 0, 1.0)
    seen.add(u, 0, 2.0)
    seen.add(u, 1, None)
    assert seen.value(u, 0) == 2.0
    assert seen.value(u + 1e-12, 0) == 2.0
    assert seen.value(u + 1e-3, 0) is None
    assert seen.value(u, 1) is None
    assert seen.counts == [2, 0]


@pytest.mark.parametrize(("step", "same"), [(0.0, True), (0.9 * SAME, True), (1.1 * SAME, False)])
def test_every_question_about_a_point_of_a_box_has_one_answer(step, same):
    seen = Observations([0, 3], SQUARE)
    u = np.array([0.25, 0.5])
    near = u + np.array([0.0, step])
    seen.add(u, 1, 1.0)
    assert (seen.value(near, 1) is not None) is same
    assert seen.is_taken(near, 1, []) is same
    assert seen.is_taken(near, 0, [Query(0, u, 0)]) is same
    assert not seen.is_taken(near, 0, [Query(0, u, 3)])
    seen.add(near, 1, 1.0)
    assert (seen.is_repeatable(1) is not None) is same


def test_points_of_a_finite_set_are_told_apart_however_close_they_are():
    domain = FiniteSet([[0.0], [1e-9], [1.0]])
    seen = Observations([0], domain)
    seen.add(domain.points[0], 0, 1.0)
    assert seen.is_taken(domain.points[0], 0, [])
    assert not seen.is_taken(domain.points[1], 0, [])


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1), st.one_of(st.none(), st.floats(-9, 9))), max_size=60))
def test_rows_are_the_values_in_the_order_told(outcomes):
    seen = Observations([0, 1], Box([(0.0, 1.0)]))
    for place, k, y in outcomes:
        seen.add(np.array([place / 5]), k, y)
    for k in range(2):
        told = [(place / 5, y * (abs(y) >= SMALLEST)) for place, level, y in outcomes if level == k and y is not None]
        u, y = seen.rows(k)
        assert list(zip(u[:, 0], y, strict=True)) == told
        assert seen.counts[k] == len(told)
        queried = [place / 5 for place, level, _ in outcomes if level == k]
        assert sorted(seen.queried_points(k)[:, 0]) == sorted(queried)
        again = [y for place, y in told if place == 0.0]
        assert seen.value(np.array([0.0]), k) == (again[-1] if again else None)


def test_values_of_one_point_agree_or_show_noise():
    seen = Observations([0, 1, 2], SQUARE)
    for k, ys in enumerate([(1.0, 1.0), (1.0, 1.1), (1.0,)]):
        for y in ys:
            seen.add(np.array([0.5, 0.5]), k, y)
        seen.add(np.array([0.1, 0.1]), k, 5.0)
    assert seen.is_repeatable(0) is True
    assert seen.is_repeatable(1) is False
    assert seen.is_repeatable(2) is None


def test_a_failure_is_forgotten_after_some_outcomes():
    seen = Observations([0], Box([(0.0, 1.0)]))
    seen.add(np.array([0.5]), 0, None)
    ages = []
    for _ in range(RECENT):
        ages += [age for _, _, age in seen.recent_failures()]
        seen.add(np.array([0.1]), 0, 1.0)
    assert ages == list(range(RECENT))
    assert seen.recent_failures() == []
    assert seen.failures() == [(pytest.approx(np.array([0.5])), 0)]


def test_a_bound_becomes_a_row_once_values_on_both_sides_are_known_and_is_never_a_value():
    seen = Observations([0], Box([(0.0, 1.0)]))
    low, high, best, worst = np.array([0.1]), np.array([0.2]), np.array([0.9]), np.array([0.5])
    seen.add(low, 0, None, bound=1.0)
    seen.add(high, 0, None, bound=7.0)
    assert seen.counts == [0]
    seen.add(best, 0, 2.0)
    assert seen.rows(0)[1].tolist() == [2.0]
    seen.add(worst, 0, 0.0)
    assert seen.rows(0)[1].tolist() == [2.0, 0.0, 1.0]  # the other bound says nothing
    assert seen.value(low, 0) is None
    assert seen.worked(0)[0].tolist() == [[0.9], [0.5]]
    seen.add(low, 0, 0.5)
    assert seen.is_repeatable(0) is None
    assert seen.value(low, 0) == 0.5


def test_rows_of_a_finite_set_are_finished_by_a_value_a_pending_query_or_two_failures():
    domain = FiniteSet([[0.0], [1.0], [2.0], [3.0]])
    points = domain.points
    seen = Observations([0, 1], domain)
    seen.add(points[0], 1, 5.0)
    seen.add(points[3], 1, None)
    pending = [Query(0, points[1], 1), Query(1, points[2], 0)]
    assert seen.finished_rows(1, pending).tolist() == [True, True, False, False]
    seen.add(points[3], 1, None)
    assert seen.finished_rows(1, pending).tolist() == [True, True, False, True]
    assert seen.finished_rows(0, pending).tolist() == [False, False, True, False]
    assert not seen.all_finished(1, pending)
    seen.add(points[2], 1, 1.0)
    assert seen.all_finished(1, pending)


@pytest.mark.parametrize("dim", [1, 2, 7])
@pytest.mark.parametrize("distance", [0.0, 1e-9, 0.1, 1.0])
def test_near_rows_are_those_whose_coordinates_are_all_near(dim, distance):
    rng = np.random.default_rng(dim)
    points = np.round(rng.random((97, dim)), 1)
    for u in (points[3], rng.random(dim)):
        np.testing.assert_array_equal(find_within(points, u, distance), np.abs(points - u).max(axis=1) <= distance)


def test_without_rows_none_is_near():
    assert find_within(np.empty((0, 2)), np.zeros(2), 1.0).shape == (0,)
