"""Which values are outliers, and what they are seen as."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

import mfopt
from mfopt_plugins.method.observations import Observations
from mfopt_plugins.method.tails import Tail, measure_distances

SQUARE = mfopt.Box([(0.0, 1.0)] * 2)


def wave(u):
    return np.sin(5 * u[:, 0]) + u[:, 1]


def penalised(u, size):
    return np.where(u[:, 0] > 0.7, -size, wave(u))


def observe(rows, count=1):
    observations = Observations(range(count), SQUARE)
    for u, k, y in rows:
        observations.add(u, k, float(y))
    observations.update_outliers()
    return observations


@pytest.mark.parametrize("size", [1e2, 1e4, 1e10, 1e100])
@pytest.mark.parametrize("seed", range(5))
def test_a_penalty_lies_far_below_and_counts_as_a_failure(size, seed):
    u = np.random.default_rng(seed).random((30, 2))
    y = penalised(u, size)
    observations = observe((point, 0, value) for point, value in zip(u, y, strict=True))
    points, seen = observations.rows(0)
    rest = u[:, 0] <= 0.7
    assert observations.count_far(0) == observations.failed == (~rest).sum() > 0
    assert (points == u[rest]).all()
    assert (seen == y[rest]).all()
    assert (np.array([point for point, _ in observations.failures()]) == u[~rest]).all()
    assert len(observations.queried_points(0)) == 30
    assert observations.value(u[~rest][0], 0) is None


@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.integers(1, 5))
def test_smooth_values_at_random_points_stay_as_they_are(seed, n, dim):
    rng = np.random.default_rng(seed)
    u = rng.random((n, dim))
    y = -((u - rng.random(dim)) ** 2).sum(axis=1) + np.sin(3 * u[:, 0])
    tail = Tail()
    for i in range(1, n + 1):
        assert not tail.judge(u[:i], y[:i])


def test_queries_that_crowd_around_a_maximum_make_no_outliers_of_the_others():
    rng = np.random.default_rng(0)
    u = np.vstack([rng.random((5, 2)), 0.5 + 0.05 * rng.standard_normal((60, 2)) / np.arange(1, 61)[:, None]])
    observations = observe((point, 0, -((point - 0.5) ** 2).sum()) for point in u)
    assert observations.count_far(0) == 0


@pytest.mark.parametrize("seed", range(5))
def test_a_way_down_from_the_maximum_is_no_cliff_however_many_coordinates_there_are(seed):
    """Points chosen around a maximum, not close to each other in every coordinate, and a first one far away."""
    rng = np.random.default_rng(seed)
    around = 0.4 + rng.uniform(-1, 1, (20, 6)) * rng.permuted([0.1, 0.08, 0.03, 0.01, 0.01, 0.01])
    u = np.vstack([[0.9] * 6, around])
    y = np.exp(-3 * ((u - 0.4) ** 2).sum(axis=1))
    tail = Tail()
    for i in range(2, len(u) + 1):
        assert not tail.judge(u[:i], y[:i])
    # A penalty among them is one all the same, and the first value is none.
    u, y = np.vstack([u, [0.45] * 6]), np.append(y, -1e2)
    assert tail.judge(u, y)
    assert (y < tail.bottom).sum() == 1


def test_values_within_the_range_of_a_cheap_fidelity_are_no_outliers_however_much_better_the_others_are():
    """The target is asked where the cheap fidelity promises much; its unit and its sign are its own."""
    u = np.random.default_rng(0).random((30, 2))
    steep = -1e4 * ((u - 0.2) ** 2).sum(axis=1) ** 2
    rows = [(point, 0, -0.3 * y) for point, y in zip(u, steep, strict=True)]
    best = np.argsort(-steep)[[0, 1, 2, 3, -1]]
    rows += [(u[i], 1, steep[i]) for i in best]
    assert observe(rows, 2).count_far(1) == 0
    assert observe([*rows, (u[best[-2]] + 0.1, 1, -1e7)], 2).count_far(1) == 1


def test_what_was_taken_for_far_below_by_mistake_is_seen_again():
    """Few values say that the first lies far below; others in between say later that it does not."""
    u = np.linspace(0.0, 1.0, 30)[:, None]
    y = -((u[:, 0] - 0.2) ** 4)
    first = [2, 4, 6, 8, 10, 29]
    order = first + [i for i in range(30) if i not in first]
    tail, far = Tail(), []
    for n in range(2, 31):
        told = order[:n]
        if tail.is_suspect(y[told[-1]]):
            tail.judge(u[told], y[told])
        far.append(int((y[told] < tail.bottom).sum()))
    assert max(far) == 1
    assert far[-1] == 0


@settings(max_examples=30)
@given(st.floats(-140, 90), st.floats(-3, 3), st.integers(0, 100))
def test_the_unit_of_values_does_not_matter(exponent, offset, seed):
    """Powers of two, so that rounding is the same; the offset is in units of the values."""
    u = np.random.default_rng(seed).random((25, 2))
    scale = 2.0 ** round(exponent / np.log10(2))
    plain = observe((p, 0, y) for p, y in zip(u, penalised(u, 1e4), strict=True))
    scaled = observe((p, 0, y) for p, y in zip(u, scale * penalised(u, 1e4), strict=True))
    moved = observe((p, 0, y) for p, y in zip(u, penalised(u, 1e4) + offset, strict=True))
    np.testing.assert_array_equal(scale * plain.rows(0)[1], scaled.rows(0)[1])
    np.testing.assert_allclose(plain.rows(0)[1] + offset, moved.rows(0)[1], atol=1e-9)


def test_a_first_penalty_late_in_a_run_is_noticed_at_once():
    u = np.random.default_rng(0).random((40, 2)) * [0.7, 1.0]
    observations = observe((point, 0, y) for point, y in zip(u, wave(u), strict=True))
    assert not observations.update_outliers()
    observations.add(np.array([0.9, 0.5]), 0, -1e100)
    assert observations.update_outliers()
    assert observations.count_far(0) == 1
    assert observations.spread() < 10.0


@pytest.mark.parametrize("refuted", [False, True])
def test_values_far_above_are_wrong_only_where_the_target_refutes_them(refuted):
    u = np.random.default_rng(0).random((30, 2))
    cheap = np.where(u[:, 0] > 0.7, 1e6, wave(u))
    rows = [(point, 0, y) for point, y in zip(u, cheap, strict=True)]
    good = u[u[:, 0] <= 0.7][:3]
    rows += [(point, 1, y) for point, y in zip(good, wave(good), strict=True)]
    peak = u[int(np.argmax(u[:, 0]))]
    rows.append((peak, 1, float(wave(peak[None])[0]) if refuted else 1e6))
    observations = observe(rows, 2)
    assert (observations.rows(0)[1].max() < 3.0) == refuted
    assert observations.rows(1)[1].max() == max(y for _, k, y in rows if k == 1)
    # The models see what was told, or nothing: not a value in the place of a wrong one.
    assert observations.rows(0)[1].tolist() == (cheap[cheap < 1e6] if refuted else cheap).tolist()
    assert observations.failures() == [] if not refuted else len(observations.failures()) == (cheap == 1e6).sum()
    assert observations.count_far(0) == 0


def test_a_higher_value_may_take_in_what_lay_far_below():
    """The first two of the rest lie close together, so that ordinary values look far below, until the range grows."""
    rng = np.random.default_rng(0)
    tail, u = Tail(), rng.random((12, 2))
    y = np.array([-1e6, 1.7, 1.85, 0.1, 0.4, 0.6, 0.9, 1.1, 1.3, -1e6, 1.6, 2.1])
    for n in range(3, len(y) + 1):
        if tail.is_suspect(y[n - 1]) or n == 3:
            tail.judge(u[:n], y[:n], known=1.7 if n == 3 else None)
    assert (y < tail.bottom).sum() == 2


def ripples(u):
    """Many maxima, the highest at 0.4."""
    z = 2 * (u - 0.4)
    return (0.1 * np.cos(5 * np.pi * z) - z**2).sum(axis=1)


@pytest.mark.parametrize("seed", range(5))
def test_one_value_at_several_points_stays_far_below_however_steep_the_rest_becomes(seed):
    """Values around the maximum of a function with ripples lead down as steeply as to a penalty."""
    rng = np.random.default_rng(seed)
    first, crowd = rng.random((20, 4)), 0.4 + 0.1 * rng.standard_normal((40, 4)) / np.sqrt(np.arange(1, 41))[:, None]
    first[:8] = 0.8 + 0.2 * first[:8]
    u = np.clip(np.vstack([first, crowd[::-1]]), 0.0, 1.0)
    bad = np.arange(60) < 8
    y = np.where(bad, -1e2, ripples(u))
    tail = Tail()
    for n in range(2, 61):
        if tail.is_suspect(y[n - 1]) or n == 2:
            tail.judge(u[:n], y[:n])
        assert n < 20 or (y < tail.bottom).sum() == 8


def test_the_lowest_of_few_levels_does_not_lie_far_below():
    u = np.random.default_rng(0).random((30, 2))
    y = np.where(u[:, 0] < 0.5, 0.0, np.where(u[:, 1] < 0.5, 1.0, np.where(u[:, 1] < 0.8, 0.99, 0.98)))
    assert observe((point, 0, value) for point, value in zip(u, y, strict=True)).count_far(0) == 0


def two_fidelities(cheap, targets, n=25):
    """The cheap values at n points, and (point, value) at the target."""
    u = np.random.default_rng(0).random((n, 2))
    return observe([*((p, 0, y) for p, y in zip(u, cheap(u), strict=True)), *((p, 1, y) for p, y in targets)], 2)


GOOD, BAD, WORSE = np.array([0.3, 0.9]), np.array([0.9, 0.5]), np.array([0.75, 0.1])


def test_a_value_as_low_as_those_far_below_at_another_fidelity_lies_far_below():
    """One good target value alone says nothing about its range."""
    targets = [(GOOD, 1.9), (BAD, -1e2)]
    assert two_fidelities(lambda u: penalised(u, 1e2), targets).count_far(1) == 1
    assert two_fidelities(wave, targets).count_far(1) == 0  # it may be so steep
    assert two_fidelities(lambda u: penalised(u, 1e2), [(GOOD, 1.9), (BAD, -5.0)]).count_far(1) == 0


def test_the_same_value_where_the_cheap_ones_differ_lies_far_below():
    targets = [(GOOD, 1.9), (np.array([0.25, 0.8]), 1.7), (BAD, -30.0)]
    assert two_fidelities(wave, targets).count_far(1) == 0
    assert two_fidelities(wave, [*targets, (WORSE, -30.0)]).count_far(1) == 2
    assert two_fidelities(wave, [*targets, (WORSE, -31.0)]).count_far(1) == 0


def test_a_first_target_value_beyond_every_unit_lies_far_below_until_it_is_an_offset():
    observations = two_fidelities(wave, [(BAD, -1e100)])
    assert observations.count_far(1) == observations.failed == 1
    assert np.isnan(observations.lowest(1))
    observations.add(GOOD, 1, 1.9)
    observations.update_outliers()
    assert observations.count_far(1) == 1
    assert observations.rows(1)[1].tolist() == [1.9]
    assert two_fidelities(wave, [(BAD, -1e3)]).count_far(1) == 1
    assert two_fidelities(wave, [(BAD, -1e3), (GOOD, -998.1)]).count_far(1) == 0
    assert two_fidelities(wave, [(BAD, -20.0)]).count_far(1) == 0


@pytest.mark.parametrize("refuted", [False, True])
def test_one_value_some_ranges_above_the_rest_is_wrong_where_the_target_refutes_it(refuted):
    """Not so far above that it would be seen without the target, or if the values differed."""
    u = np.random.default_rng(0).random((30, 2))
    cheap = np.where(u[:, 0] > 0.7, 12.0, wave(u))
    good = u[u[:, 0] <= 0.7][:3]
    rows = [(point, 0, y) for point, y in zip(u, cheap, strict=True)]
    rows += [(point, 1, 0.2 * y) for point, y in zip(good, wave(good), strict=True)]
    peak = u[int(np.argmax(u[:, 0]))]
    rows.append((peak, 1, 0.2 * float(wave(peak[None])[0]) if refuted else 12.0))
    observations = observe(rows, 2)
    assert (observations.rows(0)[1].max() < 3.0) == refuted


@pytest.mark.parametrize("dim", [1, 3, 8, 20])
def test_distances_are_those_of_scipy(dim):
    rng = np.random.default_rng(dim)
    u, others = rng.random((30, dim)), rng.random((20, dim))
    np.testing.assert_allclose(measure_distances(u, others), cdist(u, others), rtol=1e-15)
    assert measure_distances(u[:0], others).shape == (0, 20)
