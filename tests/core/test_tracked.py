"""Tracked points: always equal to a fresh posterior, whatever happened to the GP; and the lazy argmax is exact."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mfopt_core import GP, argmax_ucb


def f(x):
    return np.sin(5 * x.sum(axis=1)) + x[:, 0]


def grown(n, seed=0, noise=1e-3, kernel="se"):
    gp = GP(kernel, [0.3, 0.5], 1.5, noise, 0.1)
    x = np.random.default_rng(seed).random((n, 2))
    if n:
        gp.extend(x, f(x))
    return gp


def assert_current(tracked, points):
    mean, var = tracked.gp.posterior(points)
    np.testing.assert_allclose(tracked.mean, mean, atol=1e-9)
    np.testing.assert_allclose(tracked.var, var, atol=1e-10)


actions = st.lists(
    st.one_of(
        st.tuples(st.just("append"), st.integers(1, 5)),
        st.tuples(st.just("extend"), st.integers(0, 150)),
        st.tuples(st.just("truncate"), st.integers(0, 160)),
        st.tuples(st.just("look"), st.just(0)),
        st.tuples(st.just("argmax"), st.just(0)),
    ),
    max_size=10,
)


@given(actions=actions, lazy=st.booleans(), start=st.integers(0, 140), seed=st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_tracked_points_stay_current_through_any_history(actions, lazy, start, seed):
    rng = np.random.default_rng(seed)
    gp = grown(start, seed)
    points = rng.random((37, 2))
    tracked = gp.track(points, lazy=lazy)
    assert len(tracked) == 37
    for action, size in actions:
        if action == "append":
            for x in rng.random((size, 2)):
                gp.append(x, f(x[None])[0])
        elif action == "extend":
            x = rng.random((size, 2))
            gp.extend(x, f(x))
        elif action == "truncate":
            gp.truncate(min(gp.n, size))
        elif action == "look":
            assert_current(tracked, points)
        else:
            mean, var = gp.posterior(points)
            phi = mean + 2 * np.sqrt(var) + 0.5
            index, value = argmax_ucb([tracked], 4.0, [0.5])
            assert value == pytest.approx(phi.max(), abs=1e-9)
            assert phi[index] == pytest.approx(phi.max(), abs=1e-9)
    assert_current(tracked, points)


def test_truncate_restores_the_very_bits():
    gp = grown(130)
    points = np.random.default_rng(1).random((50, 2))
    tracked = gp.track(points)
    mean, var = tracked.mean, tracked.var
    gp.extend([[0.2, 0.2], [0.9, 0.1]], [5.0, -5.0])
    assert np.abs(tracked.mean - mean).max() > 0.1
    gp.truncate(130)
    np.testing.assert_array_equal(tracked.mean, mean)
    np.testing.assert_array_equal(tracked.var, var)


@pytest.mark.parametrize("n", [7, 130, 300])
def test_the_bits_do_not_depend_on_when_points_were_looked_at(n):
    """A study that is reopened remembers nothing, and goes on as one that was not."""
    rng = np.random.default_rng(n)
    gp, points = grown(n // 3, kernel="matern52"), rng.random((70, 2))
    known = [gp.track(points), gp.track(points, lazy=True), gp.track(points, lazy=True)]
    while gp.n < n:
        x = rng.random((min(n - gp.n, int(rng.integers(1, 40))), 2))
        gp.extend(x, f(x))
        argmax_ucb(known[:1], 4.0, [0.0])
        argmax_ucb(known[1:2], 4.0, [0.0])
        assert known[0].mean.shape == (70,)
    fresh = [gp.track(points), gp.track(points, lazy=True)]
    for other in known[1:] + fresh:
        np.testing.assert_array_equal(other.mean, known[0].mean)
        np.testing.assert_array_equal(other.var, known[0].var)
    alone = [gp.track(point[None], lazy=True) for point in points]
    np.testing.assert_array_equal([one.mean[0] for one in alone], known[0].mean)


def test_rows_replaced_by_other_rows_are_noticed():
    gp = grown(20)
    points = np.random.default_rng(1).random((10, 2))
    tracked = gp.track(points)
    gp.truncate(15)
    x = np.random.default_rng(2).random((5, 2))
    gp.extend(x, f(x) + 1.0)  # as many rows as before, but others
    assert_current(tracked, points)


def test_a_factor_rebuilt_with_jitter_is_noticed():
    gp = grown(20, noise=0.0)
    points = np.random.default_rng(1).random((10, 2))
    tracked = gp.track(points)
    gp.append(gp.x[3], gp.y[3])
    assert gp.jitter > 0.0
    assert_current(tracked, points)


@pytest.mark.parametrize("fidelities", [1, 2, 3])
@pytest.mark.parametrize("lazy", [True, False])
def test_the_lazy_argmax_is_exact_and_looks_at_few_points(fidelities, lazy):
    rng = np.random.default_rng(0)
    points = rng.random((3000, 2))
    gps = [grown(40 // (m + 1), seed=m) for m in range(fidelities)]
    zetas = [0.3 * (fidelities - 1 - m) for m in range(fidelities)]
    tracked = [gp.track(points, lazy=lazy) for gp in gps]
    looked_at = 0
    for step in range(40):
        posteriors = [gp.posterior(points) for gp in gps]
        phi = np.min([m + 1.5 * np.sqrt(v) + z for (m, v), z in zip(posteriors, zetas, strict=True)], axis=0)
        index, value = argmax_ucb(tracked, 2.25, zetas)
        assert value == pytest.approx(phi.max(), abs=1e-9)
        assert phi[index] == pytest.approx(phi.max(), abs=1e-9)
        looked_at += tracked[0].fresh
        gps[step % fidelities].append(points[index], f(points[index : index + 1])[0])
    assert looked_at < 40 * 3000 * 0.5


def test_excluded_points_are_not_chosen_and_ties_go_to_the_lowest_index():
    gp = grown(10)
    points = np.tile([[0.3, 0.7], [0.6, 0.2]], (5, 1))
    tracked = gp.track(points)
    first, value = argmax_ucb([tracked], 1.0, [0.0])
    assert first in (0, 1)
    exclude = np.zeros(10, dtype=bool)
    exclude[first] = True
    assert argmax_ucb([tracked], 1.0, [0.0], exclude) == (first + 2, value)


def test_bad_arguments_are_refused():
    gp, other = grown(5), grown(6, seed=1)
    points = np.random.default_rng(0).random((4, 2))
    tracked = gp.track(points)
    with pytest.raises(ValueError, match="at least one point to track"):
        gp.track(np.empty((0, 2)))
    with pytest.raises(ValueError, match=r"x must have shape \(q, 2\)"):
        gp.track(np.ones((3, 3)))
    with pytest.raises(ValueError, match="one Tracked per fidelity"):
        argmax_ucb([], 1.0, [])
    with pytest.raises(ValueError, match="one Tracked per fidelity"):
        argmax_ucb([gp], 1.0, [0.0])
    with pytest.raises(ValueError, match="tracker of its own, got one twice"):
        argmax_ucb([tracked, tracked], 1.0, [0.0, 0.0])
    with pytest.raises(ValueError, match="must track the same points"):
        argmax_ucb([tracked, other.track(points + 0.1)], 1.0, [0.0, 0.0])
    with pytest.raises(ValueError, match=r"zetas must have shape \(1,\)"):
        argmax_ucb([tracked], 1.0, [0.0, 1.0])
    with pytest.raises(ValueError, match=r"exclude must be a mask of shape \(4,\)"):
        argmax_ucb([tracked], 1.0, [0.0], [True])
    with pytest.raises(ValueError, match="exclude must leave at least one point"):
        argmax_ucb([tracked], 1.0, [0.0], [True] * 4)
    with pytest.raises(ValueError, match="beta must not be negative"):
        argmax_ucb([tracked], -1.0, [0.0])


def test_a_pickled_gp_and_its_tracked_points_go_on_to_the_bit():
    rng = np.random.default_rng(4)
    x, y, points = rng.random((90, 3)), rng.normal(size=90), rng.random((40, 3))
    for lazy, noise in ((False, 1e-6), (True, 1e-6), (False, 0.0)):
        gp = GP("matern52", [0.3, 0.5, 0.9], 1.7, noise, 0.2)
        gp.extend(x[:50], y[:50])
        if noise == 0.0:
            gp.extend(np.vstack([x[:2], x[:2] + 1e-9]), np.ones(4))  # so close that a jitter is needed
        tracked = gp.track(points, lazy=lazy)
        for row, value in zip(x[50:70], y[50:70], strict=True):
            gp.append(row, value)
            argmax_ucb([tracked], 2.0, [0.1])
        gp.truncate(66)
        again, copy = pickle.loads(pickle.dumps((gp, tracked)))
        assert copy.gp is again
        assert again.jitter == gp.jitter
        assert (gp.jitter > 0.0) == (noise == 0.0)
        for one in (gp, again):
            one.extend(x[70:], y[70:])
        assert copy.fresh == tracked.fresh
        assert argmax_ucb([copy], 2.0, [0.1]) == argmax_ucb([tracked], 2.0, [0.1])
        assert copy.fresh == tracked.fresh
        np.testing.assert_array_equal(copy.mean, tracked.mean)
        np.testing.assert_array_equal(copy.var, tracked.var)
        np.testing.assert_array_equal(again.cholesky(), gp.cholesky())
        for ours, theirs in zip(again.posterior_gradient(points), gp.posterior_gradient(points), strict=True):
            np.testing.assert_array_equal(ours, theirs)


def test_what_was_pickled_is_checked():
    gp = GP("se", 0.3, 1.0, 1e-4)
    gp.extend([[0.1], [0.5]], [1.0, 2.0])
    make, (*head, x, y, etas, rows, z, delta) = gp.__reduce__()
    for bad in (
        (x[:1], y, etas, rows, z, delta),
        (x, y, -etas, rows, z, delta),
        (x, y, etas, -rows, z, delta),
        (x, y, etas, rows[:1], z, delta),
        (x, y, etas, rows, z * np.nan, delta),
        (x, y, etas, rows, z, -1.0),
    ):
        with pytest.raises(ValueError, match="must"):
            make(*head, *bad)
    make, (_, points, stored, summed, dot, square, v) = gp.track([[0.2], [0.4], [0.9]]).__reduce__()
    for bad in (
        (points, stored + 1, summed, dot, square, v),
        (points, stored, summed + 1, dot, square, v),
        (points, stored, stored - 1, dot, square, v),
        (points, stored[:2], summed, dot, square, v),
        (points, stored, summed, dot, square, v[:1]),
        (points, stored, summed, dot[:2], square, v),
        (points, stored, summed, dot, square, v[:, :2]),
    ):
        with pytest.raises(ValueError, match="must"):
            make(gp, *bad)
