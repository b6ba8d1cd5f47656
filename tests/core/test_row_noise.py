"""Rows that come with a noise of their own, against the plain reference."""

import pickle

import numpy as np
import pytest

from mfopt_core import GP, argmax_ucb, mf_ucb
from tests.core.reference import PlainGP
from tests.core.test_gp import data

N = 140  # more than a block


def noisy(n=N, d=3):
    """A GP whose rows have very different noises, two of them none, with its data."""
    x, y = data(n, d)
    noise = 10.0 ** np.random.default_rng(5).uniform(-4, -1, n)
    noise[[2, n - 1]] = 0.0
    gp = GP("se", 0.6, 1.4, 1e-3, 0.2)
    gp.extend(x[:50], y[:50], noise[:50])
    gp.extend(x[50:], y[50:], noise[50:])
    return gp, x, y, noise


def test_posterior_and_likelihood_agree_with_the_reference():
    gp, x, y, noise = noisy()
    assert gp.n == N
    np.testing.assert_allclose(gp.noises, noise, rtol=1e-15)
    z = np.random.default_rng(1).random((97, 3))
    reference = PlainGP("se", 0.6, 1.4, noise, 0.2).fit(x, y)
    mean, var = reference.posterior(z)
    np.testing.assert_allclose(gp.posterior(z)[0], mean, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(gp.posterior(z)[1], var, rtol=1e-7, atol=1e-8)
    assert gp.log_marginal_likelihood() == pytest.approx(reference.log_marginal_likelihood(), rel=1e-9)


def test_slopes_of_rows_agree_with_central_differences_and_add_up():
    gp, x, y, noise = noisy()
    value, gradient, slopes = gp.log_marginal_likelihood(grad=True, rows=True)
    assert value == gp.log_marginal_likelihood()
    np.testing.assert_array_equal(gradient, gp.log_marginal_likelihood(grad=True)[1])
    assert gradient[-2] == pytest.approx(slopes.sum(), rel=1e-12)
    assert slopes[2] == 0.0  # without noise nothing depends on its logarithm

    def likelihood(scaled):
        other = GP("se", 0.6, 1.4, 1e-3, 0.2)
        other.extend(x, y, scaled)
        return other.log_marginal_likelihood()

    for i in (0, 17, 60, 130):
        step = np.where(np.arange(N) == i, 1e-2, 0.0)
        far, near = [likelihood(noise * np.exp(k * step)) - likelihood(noise * np.exp(-k * step)) for k in (2, 1)]
        assert slopes[i] == pytest.approx((8 * near - far) / 0.12, rel=1e-5)


def test_the_gps_own_noise_is_what_rows_have_without_one():
    x, y = data(30, 2)
    one, other = GP("se", 0.5, 1.0, 1e-2), GP("se", 0.5, 1.0, 1e-2)
    one.extend(x, y)
    other.extend(x, y, np.full(30, 1e-2))
    np.testing.assert_array_equal(one.posterior(x[:5])[0], other.posterior(x[:5])[0])
    np.testing.assert_array_equal(one.noises, np.full(30, 1e-2))


def test_noises_survive_truncation_jitter_and_pickling():
    gp, x, y, noise = noisy()
    before = gp.posterior(x[:5])
    gp.extend(x[:3] + 0.01, y[:3])
    gp.truncate(N)
    np.testing.assert_array_equal(gp.posterior(x[:5])[1], before[1])
    again = pickle.loads(pickle.dumps(gp))
    np.testing.assert_array_equal(again.posterior(x[:5])[0], gp.posterior(x[:5])[0])
    np.testing.assert_array_equal(again.noises, gp.noises)
    gp.extend(np.vstack([x[2], x[2]]), np.array([y[2], y[2]]), np.zeros(2))  # duplicates without noise
    assert gp.jitter > 0.0
    np.testing.assert_allclose(gp.noises[:N], noise, rtol=1e-15)


@pytest.mark.parametrize(
    ("noise", "what"), [([0.1], r"noise .*\(2,\)"), ([0.1, -1.0], "variance"), ([0.1, np.nan], "finite")]
)
def test_bad_noises_are_refused_and_nothing_is_added(noise, what):
    gp = GP("se", 0.5, 1.0, 1e-2)
    with pytest.raises(ValueError, match=what):
        gp.extend(np.zeros((2, 1)), [1.0, 2.0], noise)
    assert gp.n == 0


def test_the_maximum_over_trackers_of_one_gp():
    """One process over points and fidelities: a tracker per fidelity, which differ in the last coordinate."""
    gp, *_ = noisy()
    rng = np.random.default_rng(2)
    points = rng.random((400, 2))
    levels = [np.column_stack([points, np.full(400, level)]) for level in (0.0, 1.0)]
    trackers = [gp.track(level, lazy=True) for level in levels]
    zetas = [0.1, 0.0]
    bounds = [mf_ucb([gp], level, 2.0, [zeta]) for level, zeta in zip(levels, zetas, strict=True)]
    for _ in range(3):
        index, value = argmax_ucb(trackers, 2.0, np.array(zetas))
        phi = np.min(bounds, axis=0)
        assert index == int(np.argmax(phi))
        assert value == pytest.approx(phi.max(), abs=1e-9)
        gp.append(levels[1][index], 0.5)
        bounds = [mf_ucb([gp], level, 2.0, [zeta]) for level, zeta in zip(levels, zetas, strict=True)]
    with pytest.raises(ValueError, match="tracker of its own"):
        argmax_ucb([trackers[0], trackers[0]], 2.0, np.array(zetas))
