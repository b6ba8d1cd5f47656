"""Several threads for one computation (threads=): the same to the bit, whatever their number."""

import pickle

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from mfopt_core import GP, Bound, Kernel, Level, Mixture
from tests.core.reference import PlainGP

N, Q, D = 1100, 700, 3  # several blocks of rows, several chunks of points
RNG = np.random.default_rng(0)
X, POINTS = RNG.random((N, D)), RNG.random((Q, D))
Y = np.sin(5 * X.sum(axis=1))


@pytest.fixture(autouse=True)
def one_thread_of_blas():
    with threadpool_limits(1, "blas"):
        yield


def plain(threads):
    return GP("matern52", [0.4, 0.5, 0.6], 2.0, 1e-4, 0.3, threads=threads)


def mixture(threads):
    return GP.mixed(Mixture([Kernel("se", [0.4, 0.5]), Kernel("se", [0.2, 0.3])], [[1.0, 0.0], [0.8, 0.5]]), threads)


def outcome(make, threads, coordinate=None):
    """All that can be computed with several threads; `coordinate` is what the last coordinates are rounded to."""
    x, points = X.copy(), POINTS.copy()
    if coordinate is not None:
        x[:, -1], points[:, -1] = np.round(x[:, -1]), coordinate
    gp = make(threads)
    gp.extend(x[:7], Y[:7], np.full(7, 1e-3))
    gp.extend(x[7:-2], Y[7:-2], np.full(N - 9, 1e-3))
    found = [gp.cholesky(), *gp.posterior(points), *gp.posterior_gradient(points[:30])]
    tracked = gp.track(points)
    level = Level(gp, [] if coordinate is None else [coordinate])
    own = np.ascontiguousarray(points if coordinate is None else points[:, :-1])
    bound = Bound([level], 4.0, [0.1])
    recurring = own[RNG_ORDER]  # some of them twice
    found += [bound.recurring(recurring[:100]), bound.argmax(own)]
    gp.extend(x[-2:], Y[-2:], np.full(2, 1e-3))
    found += [tracked.mean, tracked.var, bound.recurring(recurring), bound.recurring(recurring), bound.argmax(own)]
    return found


RNG_ORDER = np.concatenate([np.arange(Q), np.arange(0, Q, 3)])


@pytest.mark.parametrize(("make", "coordinate"), [(plain, None), (mixture, 1.0)])
def test_the_number_of_threads_changes_no_bit(make, coordinate):
    alone = outcome(make, 1, coordinate)
    for threads in (2, 5):
        for one, other in zip(alone, outcome(make, threads, coordinate), strict=True):
            np.testing.assert_array_equal(one, other)


def test_several_threads_compute_what_the_reference_does():
    gp, reference = plain(3), PlainGP("matern52", np.array([0.4, 0.5, 0.6]), 2.0, 1e-4, 0.3).fit(X, Y)
    gp.extend(X, Y)
    np.testing.assert_allclose(gp.cholesky(), reference.factor, atol=1e-9)
    for ours, theirs in zip(gp.posterior(POINTS), reference.posterior(POINTS), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_jitter_is_found_in_the_same_way():
    close = np.vstack([X, X[:40] + 1e-10])
    gps = [GP("se", 0.5, 1.0, 0.0, threads=threads) for threads in (1, 4)]
    for gp in gps:
        gp.extend(close, np.concatenate([Y, Y[:40]]))
    assert gps[0].jitter == gps[1].jitter > 0.0
    np.testing.assert_array_equal(gps[0].cholesky(), gps[1].cholesky())


def test_rows_one_by_one_after_many_at_once():
    """The last block may have a few rows only, which are solved for one by one."""
    for n in (256, 257, 259, 260, 384, 387, 388):
        gps = [plain(threads) for threads in (1, 2)]
        for gp in gps:
            gp.extend(X[:n], Y[:n])
            gp.append(X[n], Y[n])
        np.testing.assert_array_equal(gps[0].cholesky(), gps[1].cholesky())
        np.testing.assert_allclose(
            gps[0].cholesky(),
            PlainGP("matern52", np.array([0.4, 0.5, 0.6]), 2.0, 1e-4, 0.3).fit(X[: n + 1], Y[: n + 1]).factor,
            atol=1e-10,
        )


def test_a_copy_has_as_many_threads():
    for gp in (plain(3), mixture(3)):
        assert gp.threads == 3
        assert pickle.loads(pickle.dumps(gp)).threads == 3
    assert GP("se", 1.0, 1.0, 0.0).threads == 1


@pytest.mark.parametrize("threads", [0, -1, 257, 10**20])
def test_a_number_of_threads_is_checked(threads):
    with pytest.raises((ValueError, OverflowError), match=r"threads|int"):
        plain(threads)
    with pytest.raises(TypeError):
        plain("two")
