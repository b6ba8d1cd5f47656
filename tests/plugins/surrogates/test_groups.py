"""A process that is made again from its rows and groups is the same to the bit."""

import numpy as np
import pytest

import mfopt_core
from mfopt_plugins.surrogates.ar1 import AR1
from mfopt_plugins.surrogates.groups import Groups
from mfopt_plugins.surrogates.se import SE

RNG = np.random.default_rng(0)
U, Y = RNG.random((300, 3)), RNG.standard_normal(300)


def process(noise=1e-6):
    return mfopt_core.GP("se", np.full(3, 0.4), 1.3, noise, mean=0.2)


def grow(gp, groups, sizes):
    for size in sizes:
        gp.extend(U[gp.n : gp.n + size], Y[gp.n : gp.n + size])
        groups.add(size, gp.jitter)


def same(one, other):
    return one.n == other.n and np.array_equal(one.cholesky(), other.cholesky())


def test_rows_in_the_same_groups_give_the_same_factor():
    gp, groups = process(), Groups()
    grow(gp, groups, [150, 1, 1, 7, 40, 1])
    again = process()
    Groups().rebuild(again, groups.state(gp.n), U[: gp.n], Y[: gp.n])
    assert same(gp, again)


def test_rows_that_came_and_went_leave_no_trace():
    gp, groups = process(), Groups()
    for size in (90, 5, 1):
        grow(gp, groups, [size, 4, 2])
        gp.truncate(gp.n - 6)
        groups.cut(gp.n)
    assert groups.state(gp.n) == {"sizes": [90, 5, 1], "jitter": 0.0}
    again = process()
    Groups().rebuild(again, groups.state(gp.n), U[: gp.n], Y[: gp.n])
    assert same(gp, again)


def test_what_is_there_already_stays():
    noise = 1e-3  # with 1e-6 rounding alone moves the means by 2e-9
    gp, groups = process(noise), Groups()
    grow(gp, groups, [100, 1, 1])
    later, more = process(noise), Groups()
    grow(later, more, [100, 1, 1, 30])
    tracked = gp.track(U[200:])
    groups.rebuild(gp, more.state(later.n), U[: later.n], Y[: later.n])
    assert same(gp, later)
    np.testing.assert_allclose(tracked.mean, later.posterior(U[200:])[0], rtol=0, atol=1e-9)
    more.cut(101)
    later.truncate(101)
    groups.rebuild(gp, more.state(101), U[:101], Y[:101])
    assert same(gp, later)


def test_a_group_that_was_cut_cannot_be_told():
    gp, groups = process(), Groups()
    grow(gp, groups, [50, 20])
    gp.truncate(60)
    groups.cut(60)
    assert groups.state(60) is None
    groups.cut(0)
    assert groups.state(0) == {"sizes": [], "jitter": 0.0}


def test_a_new_jitter_makes_one_group_of_all_rows():
    gp, groups = process(noise=0.0), Groups()
    grow(gp, groups, [60])
    twice, values = np.vstack([U[:60], U[:3]]), np.concatenate([Y[:60], Y[:3]])
    gp.extend(twice[60:], values[60:])
    groups.add(3, gp.jitter)
    assert gp.jitter > 0.0
    assert groups.state(63) == {"sizes": [63], "jitter": gp.jitter}
    again = process(noise=0.0)
    Groups().rebuild(again, groups.state(63), twice, values)
    assert same(gp, again)
    with pytest.raises(ValueError, match="the jitter of these rows must be"):
        Groups().rebuild(process(noise=0.0), {"sizes": [63], "jitter": 0.0}, twice, values)


@pytest.mark.parametrize("sizes", [[5, 5], [], [10, 0], [-10, 20], [10.0], "10", [10**30]])
def test_groups_that_do_not_fit_are_refused(sizes):
    with pytest.raises(ValueError, match="must"):
        Groups().rebuild(
            process(),
            {"sizes": sizes, "jitter": 0.0},
            U[:10] if sizes != [5, 5] else U[:11],
            Y[: 10 + (sizes == [5, 5])],
        )


@pytest.mark.parametrize("kind", ["model", "coupled", "joint"])
def test_a_model_that_has_other_rows_takes_those_of_the_state(kind):
    """Two processes may have seen other values of the same points before one takes up the state of the other."""
    rng = np.random.default_rng(3)
    rows = [(rng.random((n, 2)), rng.standard_normal(n)) for n in (12, 6)][: 1 if kind == "model" else 2]

    def make():
        if kind == "model":
            return SE(lengthscale=0.3, scale=1.0, mean=0.0).model(2, 1e-4)
        return SE().coupled(2, [1e-4, 1e-4]) if kind == "coupled" else AR1().joint(2, [1e-4, 1e-4])

    def posterior(model):
        target = model if kind == "model" else model.models[-1]
        return target.posterior(np.full((1, 2), 0.4))

    told, knows = make(), make()
    told.fit(*(rows[0] if kind == "model" else [rows]), rng)
    state = told.state()
    knows.restore(state, [(u, y[::-1]) for u, y in rows])
    knows.restore(state, rows)
    assert np.array_equal(posterior(knows), posterior(told))
