"""Where evaluations fail, learnt from labels."""

import numpy as np
import pytest

from mfopt import Box
from mfopt_plugins.method import crashes
from mfopt_plugins.method.failures import FEAR, HOPE, FailureModel
from mfopt_plugins.method.observations import Observations


def model(points, fails, positions=None, costs=(1.0,)):
    """A model of these outcomes; `fails` says which of them failed."""
    dim = points.shape[1]
    seen = Observations(range(len(costs)), Box([(0.0, 1.0)] * dim))
    for i, (u, failed) in enumerate(zip(points, fails, strict=True)):
        seen.add(u, 0 if positions is None else positions[i], None if failed else 1.0)
    failures = FailureModel(seen, costs, dim)
    failures.update()
    return failures


def uniform(count, dim, seed=0):
    return np.random.default_rng(seed).random((count, dim))


def test_nothing_is_done_before_the_first_failure():
    points = uniform(5, 2)
    failures = model(points, np.zeros(5, dtype=bool))
    assert not failures.active
    assert not failures.is_likely(points[0], 0)


@pytest.mark.parametrize("dim", [2, 6])
def test_a_half_space_is_learnt_from_a_few_outcomes(dim):
    points = uniform(30, dim)
    failures = model(points, points[:, 0] > 0.5)
    fresh = uniform(400, dim, seed=1)
    clear = np.abs(fresh[:, 0] - 0.5) > 0.2
    right = (failures.probability(fresh, 0) > 0.5) == (fresh[:, 0] > 0.5)
    assert right[clear].mean() > 0.93


def test_failures_at_random_lower_no_region():
    points = uniform(100, 2)
    failures = model(points, np.random.default_rng(5).random(100) < 0.05)
    assert failures.active
    (excess,), (slope,) = failures.excess_gradient(uniform(500, 2, seed=1), [0])
    assert (excess > 0).mean() < 0.02
    assert failures.hope == HOPE
    assert (slope[excess == 0.0] == 0.0).all()


def test_many_failures_at_random_are_not_taken_for_avoidable():
    points = uniform(100, 2)
    failures = model(points, np.random.default_rng(5).random(100) < 0.3)
    assert failures.base > 0.15
    assert failures.hope > 0.0


def test_much_lost_in_a_region_makes_the_model_cautious():
    points = uniform(40, 2)
    assert model(points, points[:, 0] > 0.3).hope == FEAR
    assert model(points, points[:, 0] > 0.97).hope == HOPE


def test_there_is_less_fear_where_failures_are_found_out_at_little_cost():
    """Costs lost: 18 of 130, with two target queries that count as paid before the first."""
    points = np.vstack([uniform(40, 2), uniform(7, 2, seed=1)])
    positions = [0] * 40 + [1] * 7
    failed = points[:, 0] > 0.6
    failed[40:] = False
    points[40:, 0] *= 0.6
    failures = model(points, failed, positions, (1.0, 10.0))
    assert failures.tells(0)
    assert 0.1 < failed.sum() / 130.0 < 0.15
    assert failures.hope == 0.0


def test_of_two_fidelities_that_fail_alike_one_tells_about_the_other():
    points = np.vstack([uniform(40, 2), uniform(10, 2, seed=1)])
    positions = [0] * 40 + [1] * 10
    alike = model(points, points[:, 0] > 0.5, positions, (1.0, 10.0))
    assert alike.tells(0)
    assert alike.is_likely(np.array([0.9, 0.5]), 1)
    assert not alike.is_likely(np.array([0.1, 0.5]), 1)


@pytest.mark.parametrize("alone", [0, 1])
def test_a_fidelity_that_fails_alone_says_nothing_of_the_other(alone):
    points = np.vstack([uniform(40, 2), uniform(20, 2, seed=1)])
    positions = np.array([0] * 40 + [1] * 20)
    failures = model(points, (points[:, 0] > 0.5) & (positions == alone), positions.tolist(), (1.0, 10.0))
    there = np.array([0.9, 0.5])
    assert failures.is_likely(there, alone)
    assert not failures.is_likely(there, 1 - alone)
    assert not failures.tells(0)


@pytest.mark.parametrize("hope", [0.5, 0.0, -0.3])
def test_the_gradient_of_the_excess_is_that_of_its_values(hope):
    points = uniform(30, 3)
    failures = model(points, points[:, 0] + points[:, 1] > 1.0)
    u = uniform(50, 3, seed=2)
    (excess,), (slope,) = failures.excess_gradient(u, [0], hope)
    assert np.array_equal(failures.excess(u, [0], hope)[0], excess)
    assert (excess > 0.0).any()
    for j in range(3):
        step = 1e-6 * np.eye(3)[j]
        numeric = (failures.excess(u + step, [0], hope)[0] - failures.excess(u - step, [0], hope)[0]) / 2e-6
        assert slope[excess > 1e-3, j] == pytest.approx(numeric[excess > 1e-3], rel=1e-4, abs=1e-5)


def test_where_everything_failed_the_chance_is_lowest_far_away():
    points = 0.3 * uniform(6, 2)
    failures = model(points, np.ones(6, dtype=bool))
    near, far = failures.excess(np.array([[0.15, 0.15], [1.0, 1.0]]), [0])[0]
    assert far < near


def test_many_outcomes_are_thinned():
    points = uniform(2000, 2)
    failures = model(points, points[:, 0] > 0.8)
    assert failures.is_likely(np.array([0.95, 0.5]), 0)
    assert not failures.is_likely(np.array([0.2, 0.5]), 0)


def test_the_same_outcomes_are_not_learnt_from_twice():
    points = uniform(20, 2)
    failures = model(points, points[:, 0] > 0.5)
    before = failures.probability(points, 0)
    failures.update()
    assert np.array_equal(failures.probability(points, 0), before)


def test_outcomes_told_later_are_conditioned_on_as_if_all_were_told_at_once(monkeypatch):
    monkeypatch.setattr(crashes, "_SETTLED", 1e-12)
    monkeypatch.setattr(crashes, "_SWEEPS", 1000)
    points, costs = uniform(35, 2), (1.0, 10.0)
    seen = Observations(range(2), Box([(0.0, 1.0)] * 2))
    failures = FailureModel(seen, costs, 2)
    for i, u in enumerate(points):
        seen.add(u, i % 2, None if u[0] > 0.6 else 1.0)
        if seen.outcomes in (30, 31, 35):
            failures.update()  # numbers are chosen at 30, not again before 36
    monkeypatch.setattr("mfopt_plugins.method.failures.learn", lambda outcomes, shape: shape)
    whole = FailureModel(seen, costs, 2)
    whole._shape = failures._shape
    whole.update()
    fresh = uniform(100, 2, seed=1)
    for k in (0, 1):
        assert failures.probability(fresh, k) == pytest.approx(whole.probability(fresh, k), abs=1e-9)
        assert failures.excess(fresh, [k]) == pytest.approx(whole.excess(fresh, [k]), abs=1e-9)


def test_values_that_turn_out_to_be_failures_or_none_are_one_outcome_each():
    """What lies far below the rest may be known late, and be taken back when more is known."""
    points = uniform(40, 2)
    values = [None, *np.sin(5.0 * points[:20, 0]), *[-1e4] * 4, None, -30.0, -200.0, -1e3, -3e3, 1.0, -5.0]
    seen = Observations([0], Box([(0.0, 1.0)] * 2))
    failures, turned, failed = FailureModel(seen, [1.0], 2), set(), 0
    for u, y in zip(points, values, strict=False):
        seen.add(u, 0, y)
        seen.update_outliers()
        turned.add(int(np.sign(seen.failed - failed - (y is None))))
        failed = seen.failed
        failures.update()
        taken = failures._outcomes
        assert sorted(map(tuple, taken.u[taken.failed])) == sorted(tuple(one) for one, _ in seen.failures())
        assert sorted(map(tuple, taken.u[~taken.failed])) == sorted(map(tuple, seen.worked(0)[0]))
    assert turned == {-1, 0, 1}
