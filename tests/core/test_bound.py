"""Levels of a process, the bound over them and what it remembers, against plain posteriors; accuracy is that of GP."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mfopt_core import GP, Bound, Level

TAILS = ([0.0, 0.0], [1.0, 0.0], [1.0, 1.0])
UNITS = ((-0.5, 0.3), (2.0, -1.0), (1.0, 0.0))  # factor and shift by level
BETA, ZETAS = 4.0, [0.3, 0.1, 0.0]
KERNELS = [("se", None), ("matern12", None), ("matern32", None), ("matern52", None), ("matern", 1.8)]


def coupled(n=60, kernel="se", nu=None, noise=1e-3):
    """A process over points of two coordinates and three fidelities, with a noise of its own for each row."""
    rng = np.random.default_rng(0)
    gp = GP(kernel, [0.4, 0.6, 3.0, 5.0], 1.7, 0.0, 0.2, nu)
    if n:
        x = np.hstack([rng.random((n, 2)), np.array(TAILS)[rng.integers(0, 3, n)]])
        gp.extend(x, np.sin(5 * x[:, :2].sum(axis=1)) + 0.2 * x[:, 2], noise * (1 + rng.random(n)))
    return gp


def levels_of(gp):
    return [Level(gp, tail, *unit) for tail, unit in zip(TAILS, UNITS, strict=True)]


def reference(level, x, zeta):
    """φ_m and its gradient from the posterior of the whole process."""
    both = np.hstack([x, np.tile(level.tail, (len(x), 1))])
    mean, var, dmean, dvar = level.gp.posterior_gradient(both)
    sigma = np.sqrt(var)
    value = level.factor * mean + level.shift + np.sqrt(BETA) * abs(level.factor) * sigma + zeta
    slope = level.factor * dmean + 0.5 * np.sqrt(BETA) * abs(level.factor) * dvar / sigma[:, None]
    return value, slope[:, : x.shape[1]]


@pytest.mark.parametrize("n", [0, 1, 60, 300])
@pytest.mark.parametrize(("kernel", "nu"), KERNELS)
def test_the_pieces_are_the_bounds_of_the_levels_and_their_gradients(kernel, nu, n):
    levels = levels_of(coupled(n, kernel, nu))
    bound = Bound(levels, BETA, ZETAS)
    for q in (0, 1, 2, 3, 5, 101):  # every way in which a pass is filled up
        x = np.random.default_rng(q).random((q, 2))
        values, slopes = bound.pieces(x)
        assert values.shape == (3, q)
        assert slopes.shape == (3, q, 2)
        for m, level in enumerate(levels):
            value, slope = reference(level, x, ZETAS[m])
            np.testing.assert_allclose(values[m], value, rtol=1e-10, atol=1e-10)
            np.testing.assert_allclose(slopes[m], slope, rtol=1e-6, atol=1e-7)
        np.testing.assert_array_equal(bound(x), values.min(axis=0))
        phi, gradient = bound.gradient(x)
        np.testing.assert_array_equal(phi, values.min(axis=0))
        np.testing.assert_array_equal(gradient, slopes[values.argmin(axis=0), np.arange(q)] if q else slopes[0])


def test_levels_of_several_processes_may_be_mixed():
    first, second = coupled(40), coupled(70, "matern52")
    levels = [*levels_of(first)[:2], *levels_of(second), levels_of(first)[2], Level(GP("se", 0.5, 1.0, 0.1))]
    zetas = np.arange(7) / 10
    x = np.random.default_rng(3).random((20, 2))
    values, _ = Bound(levels, BETA, zetas).pieces(x)
    for m, level in enumerate(levels[:-1]):
        np.testing.assert_allclose(values[m], reference(level, x, zetas[m])[0], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(values[-1], np.full(20, np.sqrt(BETA) + 0.6))
    assert Bound(levels, BETA, zetas).rows == 70


actions = st.lists(
    st.tuples(st.sampled_from(["append", "truncate", "ask", "ask", "again"]), st.integers(0, 70)), max_size=12
)


@given(actions=actions, seed=st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_remembered_bounds_are_the_bounds_whatever_happened_to_the_process(actions, seed):
    rng = np.random.default_rng(seed)
    gp = coupled(30)
    levels, seen = levels_of(gp), rng.random((1, 2))
    for action, size in actions:
        if action == "append":
            for _ in range(size // 10):
                gp.append([*rng.random(2), *TAILS[size % 3]], rng.standard_normal())
        elif action == "truncate":
            gp.truncate(min(gp.n, size))
        else:
            new = rng.random((size, 2)) if action == "ask" else np.repeat(rng.random((size // 2, 2)), 2, axis=0)
            seen = np.vstack([seen, new])[-200:]
            some = levels if size % 2 else levels[2:]
            bound = Bound(some, BETA, ZETAS[-len(some) :])
            x = seen[rng.permutation(len(seen))]
            np.testing.assert_allclose(bound.recurring(x), bound(x), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize(("kernel", "nu"), KERNELS)
def test_the_bits_of_what_is_remembered_do_not_depend_on_when_a_point_was_first_looked_at(kernel, nu):
    """A study that is reopened remembers nothing, and goes on as one that was not."""
    rng, gp = np.random.default_rng(0), coupled(20, kernel, nu)
    bound, points = Bound(levels_of(gp), BETA, ZETAS), rng.random((60, 2))
    for size in rng.integers(1, 40, 8):
        x = np.hstack([rng.random((size, 2)), np.array(TAILS)[rng.integers(0, 3, size)]])
        gp.extend(x, rng.standard_normal(size), np.full(size, 1e-3))
        bound.recurring(points[rng.permutation(60)[: rng.integers(1, 30)]])
        gp.extend(x[:3] + 0.01, [1.0, 2.0, 3.0][: len(x)], np.full(len(x[:3]), 1e-3))  # as values that are awaited
        bound.recurring(points[rng.permutation(60)[: rng.integers(1, 30)]])
        gp.truncate(gp.n - len(x[:3]))
    assert gp.n > 128  # more than a block
    expected = bound.recurring(points)
    np.testing.assert_array_equal(Bound(levels_of(gp), BETA, ZETAS).recurring(points), expected)
    alone = [Bound(levels_of(gp), BETA, ZETAS).recurring(point[None])[0] for point in points]
    np.testing.assert_array_equal(alone, expected)


def test_points_that_were_not_used_for_longest_make_way_and_come_back_as_they_were():
    gp = coupled(20)
    level = levels_of(gp)[2]
    bound, rng = Bound([level], BETA, [0.0]), np.random.default_rng(1)
    first = rng.random((100, 2))
    bound.recurring(first)
    for _ in range(20):
        u = np.repeat(rng.random((500, 2)), 2, axis=0)  # a point given twice takes one place
        np.testing.assert_allclose(bound.recurring(u), bound(u), rtol=1e-9)
        bound.recurring(first)
    assert level.remembered == 8192
    np.testing.assert_allclose(bound.recurring(first), bound(first), rtol=1e-9)
    many = rng.random((9000, 2))  # more than can be remembered at once
    np.testing.assert_allclose(bound.recurring(many), bound(many), rtol=1e-9)
    assert level.remembered == 8192


def test_fewer_points_are_remembered_where_rows_are_many():
    gp = GP("se", [0.5], 1.0, 1e-2)
    level = Level(gp)
    bound = Bound([level], BETA, [0.0])
    x = np.random.default_rng(0).random((8000, 1))
    gp.extend(x[:100], np.zeros(100))
    bound.recurring(x)
    assert level.remembered == 8000
    gp.extend(x[:1900], np.zeros(1900))
    np.testing.assert_allclose(bound.recurring(x[:50]), bound(x[:50]), rtol=1e-9)
    bound.recurring(x[:50] / 3)
    assert level.remembered <= (40 << 20) // (8 * 2000)


@pytest.mark.parametrize("some", [slice(0, 3), slice(2, 3), slice(0, 1)])
def test_the_argmax_over_a_finite_set_is_exact_and_follows_the_process(some):
    gp = coupled(60)
    bound = Bound(levels_of(gp)[some], BETA, ZETAS[some])
    points = np.random.default_rng(6).random((700, 2))
    avoid = np.zeros(700, dtype=bool)
    for k in range(20):
        best = bound.argmax(points, avoid)
        assert best == np.argmax(np.where(avoid, -np.inf, bound(points)))
        avoid[best] = True
        gp.append([*points[best], *TAILS[k % 3]], np.sin(k))
        if k % 7 == 6:
            gp.truncate(gp.n - 3)
    others = points[::-1].copy()
    assert bound.argmax(others) == np.argmax(bound(others))


def test_a_copied_level_goes_on_to_the_bit():
    gp, rng = coupled(40), np.random.default_rng(2)
    levels = levels_of(gp)
    lattice, points = rng.random((300, 2)), rng.random((90, 2))
    bound = Bound(levels, BETA, ZETAS)
    bound.recurring(lattice)
    bound.argmax(points)
    gp.append([0.3, 0.4, 1.0, 1.0], 0.5)
    bound.recurring(lattice[:200])
    for again in (pickle.loads(pickle.dumps((levels, points))), copy.deepcopy((levels, points))):
        copies, same = again
        assert copies[0].gp is copies[2].gp
        assert [level.remembered for level in copies] == [300] * 3
        other = Bound(copies, BETA, ZETAS)
        for one in (gp, copies[0].gp):
            one.append([0.6, 0.1, 0.0, 0.0], 0.2)
        np.testing.assert_array_equal(other.recurring(lattice), bound.recurring(lattice))
        assert other.argmax(same) == bound.argmax(points)
        gp.truncate(gp.n - 1)


def test_what_was_pickled_is_checked():
    level = levels_of(coupled(5))[2]
    x = np.random.default_rng(0).random((3, 2))
    Bound([level], 1.0, [0.0]).recurring(x)
    make, (gp, tail, factor, shift, (order, columns), listed) = level.__reduce__()
    for bad in ([0, 0, 1], [0, 1, 3], [-1, 0, 1]):
        with pytest.raises(ValueError, match="order must hold different slots from 0 to 2"):
            make(gp, tail, factor, shift, (np.array(bad), columns), listed)
    with pytest.raises(ValueError, match="columns must have from 0 to 5 rows"):
        make(gp, tail, factor, shift, (order, (columns[0], columns[1] + 9, *columns[2:])), listed)
    again = make(gp, tail, factor, shift, (order[:2], columns), listed)  # one slot is free
    assert again.remembered == 2
    bound = Bound([again], 1.0, [0.0])
    np.testing.assert_allclose(bound.recurring(x), bound(x), rtol=1e-9)
    assert again.remembered == 3


def test_bad_arguments_are_refused():
    gp = coupled(5)
    level = Level(gp, [0.0, 0.0])
    with pytest.raises(ValueError, match="tail must leave at least one of 4 coordinates, got 4"):
        Level(gp, [0.0] * 4)
    with pytest.raises(ValueError, match=r"factor must be a number other than 0, .* got 0.0"):
        Level(gp, [0.0], 0.0)
    with pytest.raises(ValueError, match="one Level per fidelity is needed"):
        Bound([], 1.0, [])
    with pytest.raises(ValueError, match="one Level per fidelity is needed"):
        Bound([gp], 1.0, [0.0])
    with pytest.raises(ValueError, match="beta must not be negative, got -1"):
        Bound([level], -1.0, [0.0])
    with pytest.raises(ValueError, match=r"zetas must have shape \(1,\)"):
        Bound([level], 1.0, [0.0, 0.0])
    bound = Bound([level], 1.0, [0.0])
    with pytest.raises(ValueError, match="points must have 2 coordinates, got 3"):
        bound(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="there must be a point to choose"):
        bound.argmax(np.empty((0, 2)))
    with pytest.raises(ValueError, match="avoid must leave at least one point, got a mask that covers all 2"):
        bound.argmax(np.zeros((2, 2)), [True, True])
    with pytest.raises(ValueError, match=r"avoid must be a mask of shape \(2,\)"):
        bound.argmax(np.zeros((2, 2)), [True])
