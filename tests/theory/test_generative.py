"""The generative process: A2 always holds, and the sequential sampler is plain rejection, only faster."""

import numpy as np
import pytest
from scipy import stats

from mfopt import theory
from mfopt.errors import InputError

LINE = np.linspace(0, 1, 40)[:, None]
SMOOTH, ROUGH = theory.squared_exponential(0.5), theory.matern(0.5, 0.3)
CASES = {  # name: kernel, zetas
    "two, smooth": (SMOOTH, [0.7]),
    "three, smooth": (SMOOTH, [1.5, 0.9]),
    "two, rough": (ROUGH, [2.0]),
}


def draws(kernel, zetas, method, size, seed):
    return theory.sample_fidelities(kernel, LINE, zetas, np.random.default_rng(seed), size, method)


@pytest.mark.parametrize(("kernel", "zetas"), CASES.values(), ids=CASES)
def test_draws_have_the_distribution_of_plain_rejection(kernel, zetas):
    plain, fast = (draws(kernel, zetas, method, 1500, seed) for seed, method in enumerate(("plain", "sequential")))
    features = {
        "target in the middle": lambda f: f[:, -1, 20],
        "target's maximum": lambda f: f[:, -1].max(axis=1),
        "first at the end": lambda f: f[:, 0, 0],
        "largest difference": lambda f: np.abs(f[:, 0] - f[:, -1]).max(axis=1),
        "difference in the middle": lambda f: f[:, 0, 20] - f[:, -1, 20],
        "covariance of the ends": lambda f: f[:, 0, 0] * f[:, -1, -1],
        "curvature of a difference": lambda f: (f[:, 0, ::10] - f[:, -1, ::10]) @ np.array([1.0, -2.0, 0.0, 1.0]),
    }
    p = {name: stats.ks_2samp(feature(plain), feature(fast)).pvalue for name, feature in features.items()}
    assert min(p.values()) > 0.01 / len(features), p


@pytest.mark.parametrize(("kernel", "zetas"), CASES.values(), ids=CASES)
def test_the_estimate_of_xi_is_the_rate_of_plain_acceptance(kernel, zetas):
    rng = np.random.default_rng(5)
    thin = theory.factor(kernel, LINE)
    f = rng.standard_normal((8000, len(zetas) + 1, thin.rank)) @ thin.phi.T
    rate = (np.abs(f[:, :-1] - f[:, -1:]) <= np.array(zetas)[:, None]).all(axis=(1, 2)).mean()
    estimate = theory.xi_monte_carlo(kernel, LINE, zetas, rng)
    spread = np.hypot(estimate.error, np.sqrt(rate * (1 - rate) / 8000))
    assert abs(estimate.value - rate) < 4 * spread
    assert theory.xi_lower_bound(kernel, LINE, zetas, rng).value <= estimate.value


@pytest.mark.parametrize("zetas", [[1e-3], [0.1, 1e-2, 1e-3]])
def test_draws_come_where_plain_rejection_would_take_forever_and_satisfy_a2(zetas):
    rng = np.random.default_rng(0)
    grid = np.linspace(0, 1, 2000)[:, None]
    f = theory.sample_fidelities(theory.squared_exponential(), grid, zetas, rng, 20)
    assert f.shape == (20, len(zetas) + 1, 2000)
    difference = np.abs(f[:, :-1] - f[:, -1:]).max(axis=2)
    assert (difference <= np.array(zetas) * (1 + 1e-8)).all()
    assert (difference.max(axis=0) > 0.5 * np.array(zetas)).all()  # the bounds are used
    assert theory.xi_monte_carlo(theory.squared_exponential(), grid, zetas, rng).value < 1e-10


def test_at_small_zeta_the_functions_still_vary_as_the_mean_of_their_processes():
    f = theory.sample_fidelities(SMOOTH, LINE, [1e-3], np.random.default_rng(1), 2000)
    # f⁽¹⁾ ≈ f⁽²⁾ = (z_1 + z_2)/2 has half the variance: density exp(−f²/2)² of both
    assert f[:, 1, 7].var() == pytest.approx(0.5, rel=0.1)


def test_zeta_so_large_that_nothing_is_rejected_leaves_the_prior():
    f = theory.sample_fidelities(SMOOTH, LINE, [50.0], np.random.default_rng(2), 2000)
    assert stats.kstest(f[:, 0, 3], "norm").pvalue > 0.01
    assert stats.kstest(f[:, 1, 3], "norm").pvalue > 0.01
    assert abs(np.corrcoef(f[:, 0, 3], f[:, 1, 3])[0, 1]) < 0.08
    assert theory.xi_monte_carlo(SMOOTH, LINE, [50.0], np.random.default_rng(3)).value == pytest.approx(1.0)


def test_the_lower_bound_of_the_lemma_is_a_product_of_independent_events():
    rng = np.random.default_rng(4)
    thin = theory.factor(SMOOTH, LINE)
    small = [np.abs(rng.standard_normal((20_000, thin.rank)) @ thin.phi.T).max(axis=1) for _ in range(2)]
    expected = (small[0] < 0.75).mean() * (small[1] < 0.75).mean()
    estimate = theory.xi_lower_bound(SMOOTH, LINE, [1.5], rng)
    assert estimate.value == pytest.approx(expected, rel=0.1)
    assert 0 < estimate.error < 0.1 * estimate.value


def test_the_same_generator_gives_the_same_draws():
    assert np.array_equal(draws(SMOOTH, [0.1], "sequential", 3, 7), draws(SMOOTH, [0.1], "sequential", 3, 7))


def test_a_hopeless_case_is_an_error_that_says_how_many_were_tried():
    with pytest.raises(theory.SamplingError, match="0 of 1024 proposals did"):
        theory.sample_fidelities(ROUGH, LINE, [1e-3], np.random.default_rng(0), proposals=1000, method="plain")


@pytest.mark.parametrize("zetas", [[], [0.0], [1.0, np.inf]])
def test_zetas_must_be_positive_and_finite(zetas):
    with pytest.raises(InputError, match="zetas must be positive and finite"):
        theory.sample_fidelities(SMOOTH, LINE, zetas, np.random.default_rng(0))


def test_a_method_must_be_known():
    with pytest.raises(InputError, match='"sequential" or "plain", got \'fast\''):
        theory.sample_fidelities(SMOOTH, LINE, [1.0], np.random.default_rng(0), method="fast")
