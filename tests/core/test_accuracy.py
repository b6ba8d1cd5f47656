"""The numerics of the core against 60 digits, with limits that scale with the problem:

    ‖LLᵀ − K‖_F ≤ 16 eps ‖K‖_F
    |mean error|     ≤ 0.05 n eps ‖K‖₂ ‖K⁻¹k*‖ ‖K⁻¹(y − m)‖   (+ eps |mean|: the result itself is rounded)
    |variance error| ≤ 0.2 n eps ‖K‖₂ ‖K⁻¹k*‖²                (+ eps k(x, x))

K includes the jitter that the core reports.
"""

import mpmath as mp
import numpy as np
import pytest

import mfopt_core
from tests.core.reference import ExactGP

EPS = np.finfo(float).eps
NOISES = [1e-2, 1e-5, 1e-8, 0.0]
N, D = 40, 2


def spread(rng):
    return rng.random((N, D))


def near_duplicates(rng):
    """Pairs at distances from 1e-3 down to 1e-9."""
    half = rng.random((N // 2, D))
    return np.concatenate([half, half + 10.0 ** -rng.uniform(3, 9, (N // 2, 1))])


def offset(rng):
    return 1e6 + rng.random((N, D))


def on_a_line(rng):
    return np.repeat(np.linspace(0, 1, N)[:, None], D, axis=1)


CASES = [
    pytest.param(points, ell, noise, size, id=f"{points.__name__}-ell{ell:g}-noise{noise:g}-y{size:g}")
    for points in (spread, near_duplicates, offset, on_a_line)
    for ell in (1e-3, 0.3, 1e6)
    for noise in NOISES
    for size in ((1e-150, 1.0, 1e150) if points is spread else (1.0,))
]


def as_mp(a):
    return mp.matrix([[mp.mpf(float(v)) for v in row] for row in a])


@pytest.mark.parametrize(("points", "ell", "noise", "size"), CASES)
def test_factor_mean_and_variance_are_accurate(points, ell, noise, size):
    rng = np.random.default_rng(7)
    x = points(rng)
    y = size * (0.3 + np.sin(5 * (x - x.mean(axis=0)).sum(axis=1)))
    scale, mean = size * 1.3 * size, 0.1 * size
    gp = mfopt_core.GP("se", ell, scale, noise * scale, mean)
    gp.extend(x[: N // 2], y[: N // 2])
    for i in range(N // 2, N):
        gp.append(x[i], y[i])
    exact = ExactGP(np.full(D, ell), scale, gp.noise + gp.jitter, mean, x, y)

    lower = as_mp(gp.cholesky() / size)
    k = exact.k / mp.mpf(size) ** 2
    assert mp.mnorm(lower * lower.T - k, "f") <= 16 * EPS * mp.mnorm(k, "f")

    norm = mp.mpf(np.linalg.norm(np.array(k.tolist(), dtype=float), 2)) * mp.mpf(size) ** 2
    targets = np.concatenate([x[:3], x[N // 2 :][:3] + 1e-7, x.mean(axis=0) + rng.normal(size=(4, D))])
    means, variances = gp.posterior(targets)
    for target, got_mean, got_var in zip(targets, means, variances, strict=True):
        true_mean, true_var, weights = exact.posterior(target)
        limit = N * EPS * norm * mp.norm(weights)
        assert abs(got_mean - true_mean) <= 0.05 * limit * mp.norm(exact.weights) + EPS * abs(true_mean)
        assert got_var >= 0.0
        assert abs(got_var - true_var) <= 0.2 * limit * mp.norm(weights) + EPS * mp.mpf(scale)


@pytest.mark.parametrize("noise", NOISES)
def test_a_thousand_exact_duplicates_are_one_point_with_less_noise(noise):
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.random((10, D)), np.full((1000, D), 0.5)])
    y = np.sin(x.sum(axis=1)) + np.sqrt(noise) * rng.normal(size=len(x))
    gp = mfopt_core.GP("se", 0.3, 1.0, noise)
    gp.extend(x, y)
    once = np.concatenate([np.full(10, noise), [noise / 1000]])
    exact = ExactGP(np.full(D, 0.3), 1.0, once, 0.0, x[:11], np.append(y[:10], y[10:].mean()))
    targets = np.concatenate([[[0.5, 0.5]], rng.random((5, D))])
    means, variances = gp.posterior(targets)
    true = [exact.posterior(target)[:2] for target in targets]
    np.testing.assert_allclose(means, [float(mean) for mean, _ in true], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(variances, [float(var) for _, var in true], rtol=1e-9, atol=1e-12)
    assert gp.jitter <= 1e-12


def test_jitter_is_zero_when_it_is_not_needed_and_reported_when_it_is():
    gp = mfopt_core.GP("se", 0.3, 2.0, 1e-6)
    gp.extend(np.random.default_rng(0).random((50, 2)), np.zeros(50))
    assert gp.jitter == 0.0
    gp = mfopt_core.GP("se", 0.3, 2.0, 0.0)
    gp.append([0.5], 1.0)
    gp.append([0.5], 1.0)
    assert 0.0 < gp.jitter < 1e-13
    gp.truncate(0)
    assert gp.jitter == 0.0


@pytest.mark.parametrize("kernel", ["se", "matern12", "matern32", "matern52"])
@pytest.mark.parametrize("noise", NOISES)
def test_contradicting_duplicates_give_no_nan_and_no_negative_variance(kernel, noise):
    rng = np.random.default_rng(1)
    x = np.repeat(rng.random((5, 3)), 20, axis=0)
    gp = mfopt_core.GP(kernel, 1e6, 1.0, noise)
    gp.extend(x, rng.normal(size=100))
    mean, var, dmean, dvar = gp.posterior_gradient(np.concatenate([x[:5], rng.normal(size=(20, 3)) * 1e7]))
    value, gradient = gp.log_marginal_likelihood(grad=True)
    for array in (mean, var, dmean, dvar, value, gradient):
        assert np.all(np.isfinite(array))
    assert np.all(var >= 0)


@pytest.mark.parametrize("size", [1e-150, 1e150])
def test_values_far_outside_the_priors_scale_overflow_nothing(size):
    rng = np.random.default_rng(2)
    gp = mfopt_core.GP("se", 0.5, 1.0, 0.0)
    gp.extend(rng.random((60, 1)), size * rng.normal(size=60))
    value, gradient = gp.log_marginal_likelihood(grad=True)
    mean, var = gp.posterior(rng.random((20, 1)))
    assert not np.isnan(value)
    assert not np.any(np.isnan(gradient))
    assert np.all(np.isfinite(mean))
    assert np.all(var >= 0)
