"""The Gaussian process against a plain reference, for every kernel and across the borders of blocks (128 rows)."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mfopt_core import GP, KERNELS
from tests.core.reference import PlainGP

ALL = [(name, 0.9 if name == "matern" else None) for name in KERNELS]


def data(n, d, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.random((n, d))
    return x, np.sin(4 * x.sum(axis=1)) + 0.1 * rng.normal(size=n)


def appended(gp, x, y):
    for row, value in zip(x, y, strict=True):
        gp.append(row, value)
    return gp


def in_groups(gp, x, y, sizes, noises=None):
    at = 0
    for size in sizes:
        rows = slice(at, at + size)
        gp.extend(x[rows], y[rows], None if noises is None else noises[rows])
        at += size
    return gp


@pytest.mark.parametrize("first", [1, 5, 120, 127, 128, 300])
@pytest.mark.parametrize("more", [[1] * 20, [2, 1, 3] * 5, [1, 40, 1, 1, 4, 3, 3, 140, 2], [130, 1, 1]])
def test_sizes_give_the_rows_of_groups_to_the_bit(first, more):
    sizes = [first, *more]
    x, y = data(sum(sizes), 3)
    noises = np.random.default_rng(2).uniform(1e-6, 1e-2, len(y))
    apart = in_groups(GP("matern52", np.full(3, 0.4), 1.3, 1e-6), x, y, sizes, noises)
    for threads in (1, 2):
        together = GP("matern52", np.full(3, 0.4), 1.3, 1e-6, threads=threads)
        together.extend(x, y, noises, sizes)
        assert np.array_equal(apart.cholesky(), together.cholesky())
        assert np.array_equal(apart.weights, together.weights)


@pytest.mark.parametrize("sizes", [[60, 1, 1, 1, 1, 2, 2], [30, 30, 5, 3], [1] * 62 + [6]])
def test_sizes_give_the_jitter_of_groups(sizes):
    x, y = data(60, 2)
    x, y = np.vstack([x, x[:1], x[4:5] + 0.3, x[1:3], x[10:14]]), np.ones(68)
    apart = in_groups(GP("se", 0.5, 1.0, 0.0), x, y, sizes)
    together = GP("se", 0.5, 1.0, 0.0)
    together.extend(x, y, None, sizes)
    assert apart.jitter == together.jitter > 0.0
    assert np.array_equal(apart.cholesky(), together.cholesky())


def test_sizes_give_the_jitter_of_groups_whose_noises_are_rounding():
    """Which pivots are too small depends on the noises of a group, not on those of others."""
    rng, jitters = np.random.default_rng(0), set()
    for _ in range(1000):
        sizes = rng.choice([1, 1, 1, 2, 3, 4], 10).tolist()
        x = np.repeat(rng.random((sum(sizes), 2)), 2, axis=0)[: sum(sizes)]
        y, noises = rng.standard_normal(len(x)), rng.choice([0.0, 1e-16, 1e-15, 1e-14, 1e-8], len(x))
        apart, together = in_groups(GP("se", 0.5, 1.0, 0.0), x, y, sizes, noises), GP("se", 0.5, 1.0, 0.0)
        together.extend(x, y, noises, sizes)
        assert apart.jitter == together.jitter
        assert np.array_equal(apart.cholesky(), together.cholesky())
        jitters.add(apart.jitter)
    assert len(jitters) > 1


@pytest.mark.parametrize("sizes", [[2, 2], [], [5, 0], [6, -1], [3, 3], [5, 2**63 - 1], [2.5, 2.5], [[5]], 5, "5"])
def test_sizes_that_are_not_those_of_the_rows_are_refused(sizes):
    gp = GP("se", 0.5, 1.0, 1e-6)
    with pytest.raises((ValueError, TypeError), match="sizes"):
        gp.extend(*data(5, 2), sizes=sizes)
    assert gp.n == 0


@pytest.mark.parametrize(("kernel", "nu"), ALL)
@pytest.mark.parametrize(("n", "d"), [(1, 1), (7, 2), (128, 3), (129, 6), (301, 9)])
def test_posterior_and_likelihood_agree_with_the_reference(kernel, nu, n, d):
    x, y = data(n, d)
    z = np.random.default_rng(1).random((97, d)) * 1.5
    ell = np.linspace(0.4, 0.9, d)
    parameters = (kernel, ell, 1.7, 1e-3, 0.3, nu)
    plain = PlainGP(*parameters).fit(x, y)
    mean, var = plain.posterior(z)
    together, one_by_one = GP(*parameters), appended(GP(*parameters), x, y)
    together.extend(x, y)
    for gp in (together, one_by_one):
        assert gp.n == n
        assert gp.d == d
        got_mean, got_var = gp.posterior(z)
        np.testing.assert_allclose(got_mean, mean, rtol=0, atol=1e-9)
        np.testing.assert_allclose(got_var, var, rtol=0, atol=1e-11)
        np.testing.assert_allclose(gp.cholesky(), plain.factor, atol=1e-10)
        assert gp.log_marginal_likelihood() == pytest.approx(plain.log_marginal_likelihood(), rel=1e-10, abs=1e-7)
        assert gp.jitter == 0.0


@pytest.mark.parametrize(("kernel", "nu"), [("se", None), ("matern", 2.5)])
def test_weights_are_minus_the_gradient_of_the_likelihood_in_the_values(kernel, nu):
    rng = np.random.default_rng(5)
    x, y, noises = rng.random((9, 2)), rng.normal(3.0, 2.0, 9), rng.uniform(0.1, 0.5, 9)

    def make(values):
        gp = GP(kernel, np.array([0.3, 0.7]), 2.5, 0.2, mean=1.5, nu=nu)
        gp.extend(x, values, noises)
        return gp

    gp = make(y)
    factor = gp.cholesky()
    np.testing.assert_allclose(gp.weights, np.linalg.solve(factor @ factor.T, y - 1.5), rtol=1e-9)
    step = 1e-5 * np.eye(9)
    up, down = ([make(y + sign * e).log_marginal_likelihood() for e in step] for sign in (1, -1))
    np.testing.assert_allclose(-gp.weights, (np.array(up) - down) / 2e-5, rtol=1e-5, atol=1e-7)
    gp.truncate(0)
    assert gp.weights.shape == (0,)


def test_a_gp_without_data_is_its_prior():
    gp = GP("matern52", [0.5, 0.5], 2.0, 0.1, 0.7)
    mean, var, dmean, dvar = gp.posterior_gradient(np.random.default_rng(0).random((5, 2)))
    assert np.all(mean == 0.7)
    assert np.all(var == 2.0)
    assert not dmean.any()
    assert not dvar.any()
    assert gp.log_marginal_likelihood() == 0.0
    assert gp.log_marginal_likelihood(grad=True)[1].tolist() == [0.0] * 5
    assert gp.posterior(np.empty((0, 2)))[0].shape == (0,)


def test_a_kernel_may_be_used_before_its_gp_has_seen_a_point():
    gp, other = GP("se", 0.5, 1.3, 1e-3), GP("se", 0.5, 1.3, 1e-3)
    x, y = data(20, 3)
    gp.kernel(x, x)
    assert gp.d == 3
    gp.extend(x, y)
    other.extend(x, y)
    np.testing.assert_array_equal(gp.x, x)
    np.testing.assert_array_equal(gp.posterior(x)[0], other.posterior(x)[0])


@pytest.mark.parametrize("q", [1, 2, 3, 255, 256, 257, 600])
def test_results_do_not_depend_on_how_points_are_batched(q):
    x, y = data(150, 3)
    gp = GP("se", 0.5, 1.0, 1e-3)
    gp.extend(x, y)
    z = np.random.default_rng(2).random((q, 3))
    mean, var = gp.posterior(z)
    one = [gp.posterior(z[i : i + 1]) for i in range(min(q, 20))]
    np.testing.assert_allclose([m[0] for m, _ in one], mean[:20], rtol=0, atol=1e-12)
    np.testing.assert_allclose([v[0] for _, v in one], var[:20], rtol=0, atol=1e-13)


@given(
    sizes=st.lists(st.integers(0, 70), min_size=1, max_size=6),
    keep=st.floats(0, 1),
    seed=st.integers(0, 2**32 - 1),
)
@settings(max_examples=40, deadline=None)
def test_any_mixture_of_append_extend_and_truncate_is_the_gp_of_the_rows_that_are_left(sizes, keep, seed):
    x, y = data(sum(sizes) + 1, 2, seed)
    gp = GP("matern32", [0.5, 0.8], 1.3, 1e-2, -0.2)
    rows, at = [], 0
    for k, size in enumerate(sizes):
        if k % 2:
            gp.extend(x[at : at + size], y[at : at + size])
        else:
            appended(gp, x[at : at + size], y[at : at + size])
        rows += range(at, at + size)
        at += size
        kept = int(keep * len(rows)) if k % 3 == 1 else len(rows)
        gp.truncate(kept)
        del rows[kept:]
    gp.append(x[at], y[at])
    rows.append(at)
    np.testing.assert_array_equal(gp.x, x[rows])
    np.testing.assert_array_equal(gp.y, y[rows])
    mean, var = PlainGP("matern32", np.array([0.5, 0.8]), 1.3, 1e-2, -0.2).fit(x[rows], y[rows]).posterior(x)
    np.testing.assert_allclose(gp.posterior(x)[0], mean, atol=1e-9)
    np.testing.assert_allclose(gp.posterior(x)[1], var, atol=1e-9)


def test_truncate_restores_the_very_bits():
    x, y = data(140, 3)
    gp = GP("se", 0.5, 1.0, 1e-4)
    gp.extend(x[:120], y[:120])
    before = gp.posterior(x), gp.posterior_gradient(x), gp.log_marginal_likelihood(grad=True)[1]
    gp.extend(x[120:], y[120:])
    gp.posterior_gradient(x)
    gp.truncate(120)
    after = gp.posterior(x), gp.posterior_gradient(x), gp.log_marginal_likelihood(grad=True)[1]
    for a, b in zip([*before[0], *before[1], before[2]], [*after[0], *after[1], after[2]], strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(("kernel", "nu"), ALL)
@pytest.mark.parametrize("n", [5, 150])
def test_posterior_gradients_agree_with_central_differences(kernel, nu, n):
    x, y = data(n, 3)
    gp = GP(kernel, [0.5, 0.9, 0.7], 1.4, 1e-3, 0.2, nu)
    gp.extend(x, y)
    z = np.random.default_rng(3).random((300, 3))
    mean, var, dmean, dvar = gp.posterior_gradient(z)
    np.testing.assert_array_equal(mean, gp.posterior(z)[0])
    np.testing.assert_array_equal(var, gp.posterior(z)[1])
    step = 1e-4  # of fourth order: large enough for rounding not to show
    for c in range(3):
        e = step * np.eye(3)[c]
        far, near = [np.subtract(gp.posterior(z + k * e), gp.posterior(z - k * e)) for k in (2, 1)]
        slopes = (8 * near - far) / (12 * step)
        np.testing.assert_allclose(dmean[:, c], slopes[0], rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(dvar[:, c], slopes[1], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(gp.posterior_gradient(z[:1])[2], dmean[:1], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("kernel", "nu"), ALL)
@pytest.mark.parametrize("isotropic", [True, False])
@pytest.mark.parametrize("n", [6, 140])
def test_the_likelihoods_gradient_agrees_with_central_differences(kernel, nu, isotropic, n):
    x, y = data(n, 2)
    theta = np.log([0.6, 1.3, 1e-2]) if isotropic else np.log([0.6, 0.9, 1.3, 1e-2])
    theta = np.append(theta, 0.2)

    def gp(t):
        ell = np.exp(t[0]) if isotropic else np.exp(t[:2])
        model = GP(kernel, ell, np.exp(t[-3]), np.exp(t[-2]), t[-1], nu)
        model.extend(x, y)
        return model

    value, gradient = gp(theta).log_marginal_likelihood(grad=True)
    assert value == gp(theta).log_marginal_likelihood()
    step = 1e-5 * np.eye(len(theta))
    numeric = [(gp(theta + e).log_marginal_likelihood() - gp(theta - e).log_marginal_likelihood()) / 2e-5 for e in step]
    np.testing.assert_allclose(gradient, numeric, rtol=1e-5, atol=1e-5)


def test_covariance_is_that_of_the_posterior_and_samples_have_it():
    x, y = data(30, 2)
    gp = GP("se", 0.4, 1.2, 1e-2, 0.5)
    gp.extend(x, y)
    z = np.random.default_rng(4).random((6, 2))
    mean, var = gp.posterior(z)
    covariance = gp.covariance(z)
    np.testing.assert_allclose(np.diag(covariance), var, atol=1e-12)
    np.testing.assert_array_equal(covariance, covariance.T)
    assert np.linalg.eigvalsh(covariance).min() > -1e-12
    draws = gp.sample(z, 40_000, np.random.default_rng(5))
    assert draws.shape == (40_000, 6)
    np.testing.assert_allclose(draws.mean(axis=0), mean, atol=5 * np.sqrt(var.max() / 40_000))
    np.testing.assert_allclose(np.cov(draws.T), covariance, atol=0.05 * var.max())
    np.testing.assert_array_equal(draws, gp.sample(z, 40_000, np.random.default_rng(5)))


def test_samples_at_noiseless_data_repeat_the_data():
    gp = GP("se", 0.4, 1.0, 0.0)
    gp.extend([[0.1], [0.5]], [1.0, -1.0])
    draws = gp.sample([[0.1], [0.5], [0.1]], 10, np.random.default_rng(0))
    np.testing.assert_allclose(draws, np.tile([1.0, -1.0, 1.0], (10, 1)), atol=1e-5)


def test_a_gp_survives_pickling():
    x, y = data(140, 2)
    for kernel, nu in ALL:
        gp = GP(kernel, [0.4, 0.6], 1.5, 1e-3, 0.1, nu)
        gp.extend(x, y)
        copy = pickle.loads(pickle.dumps(gp))
        assert repr(copy) == repr(gp)
        np.testing.assert_array_equal(copy.posterior(x)[0], gp.posterior(x)[0])
    assert pickle.loads(pickle.dumps(GP("se", 0.4, 1.5, 0.0))).n == 0


def test_the_same_calls_give_the_same_bits():
    def run():
        x, y = data(300, 4)
        gp = GP("matern52", 0.5, 1.0, 1e-4)
        gp.extend(x[:200], y[:200])
        appended(gp, x[200:], y[200:])
        return [*gp.posterior_gradient(x * 0.9), *gp.log_marginal_likelihood(grad=True)]

    for a, b in zip(run(), run(), strict=True):
        np.testing.assert_array_equal(a, b)


# The kernel of far-away points makes the factorisation trivial.
FIVE_THOUSAND_ROWS = """
import re
import numpy as np
from mfopt_core import GP
def peak():
    with open("/proc/self/status") as file:
        return 1024 * int(re.search(r"VmHWM:\\s*(\\d+) kB", file.read())[1])
x = np.linspace(0, 1, 5000)[:, None]
before = peak()
gp = GP("se", 1e-6, 1.0, 1e-2)
for start in range(0, 5000, 500):
    gp.extend(x[start : start + 500], np.zeros(500))
print(gp.n, peak() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads /proc")
def test_memory_for_five_thousand_rows_is_close_to_that_of_the_triangle():
    """In a process of its own: the most that this one has ever used may be more already."""
    done = subprocess.run([sys.executable, "-c", FIVE_THOUSAND_ROWS], capture_output=True, text=True, check=True)
    n, grown = map(int, done.stdout.split())
    assert n == 5000
    assert 0.9 <= grown / (n * (n + 1) / 2 * 8) <= 1.3
