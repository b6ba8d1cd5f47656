"""Expected improvement and its probability: closed forms, Monte Carlo, other libraries, and far from the incumbent."""

import mpmath
import numpy as np
import pytest
from scipy.stats import norm

from mfopt_plugins.method.improvement import ExpectedImprovement, ProbabilityOfImprovement, Tamed, log_h
from mfopt_plugins.surrogates.se import SE


def fitted(scale=1.0):
    rng = np.random.default_rng(3)
    u = rng.random((8, 2))
    model = SE(lengthscale=0.3).model(2, 1e-6 * scale**2)
    model.fit(u, scale * (np.sin(5 * u[:, 0]) + u[:, 1]), rng)
    return model


QUERY = np.random.default_rng(0).random((40, 2))


@pytest.mark.parametrize("z", [-1e6, -1e3, -100.0, -60.001, -59.999, -30.0, -5.0, -1.0001, -0.9999, 0.0, 2.0, 50.0])
def test_log_h_agrees_with_fifty_digits(z):
    with mpmath.workdps(50):
        x = mpmath.mpf(z)
        if z < 0:
            # h(z) = ∫₀^∞ s φ(s − z) ds; with t = |z| s the exponentials are of the order of 1.
            integral = mpmath.quad(lambda t: t * mpmath.exp(-t - (t / x) ** 2 / 2), [0, 1, 10, 50, mpmath.inf])
            expected = float(mpmath.log(integral / x**2) - x**2 / 2 - mpmath.log(2 * mpmath.pi) / 2)
        else:
            expected = float(mpmath.log(mpmath.npdf(x) + x * mpmath.ncdf(x)))
    assert log_h(np.array([z]))[0] == pytest.approx(expected, rel=1e-11)


def test_expected_improvement_is_the_textbook_formula():
    model = fitted()
    mean, var = model.posterior(QUERY)
    sigma = np.sqrt(var)
    z = (mean - 1.2) / sigma
    textbook = (mean - 1.2) * norm.cdf(z) + sigma * norm.pdf(z)
    assert np.allclose(np.exp(ExpectedImprovement(model, 1.2)(QUERY)), textbook, rtol=1e-9)
    assert np.allclose(np.exp(ExpectedImprovement(model, 1.2, unit=4.0)(QUERY)), textbook / 4, rtol=1e-9)


def test_probability_of_improvement_is_the_textbook_formula():
    model = fitted()
    mean, var = model.posterior(QUERY)
    textbook = norm.cdf((mean - 1.2 - 0.1) / np.sqrt(var))
    assert np.allclose(np.exp(ProbabilityOfImprovement(model, 1.2, 0.1)(QUERY)), textbook, rtol=1e-9)


def test_both_agree_with_monte_carlo():
    model = fitted()
    mean, var = model.posterior(QUERY)
    draws = mean + np.sqrt(var) * np.random.default_rng(1).standard_normal((200_000, len(QUERY)))
    improvement = np.maximum(draws - 1.2, 0.0)
    error = improvement.std(axis=0) / np.sqrt(len(draws))
    expected = np.exp(ExpectedImprovement(model, 1.2)(QUERY))
    assert (np.abs(improvement.mean(axis=0) - expected) <= 5 * error + 1e-6).all()
    share = (draws > 1.3).mean(axis=0)
    probability = np.exp(ProbabilityOfImprovement(model, 1.2, 0.1)(QUERY))
    assert (np.abs(share - probability) <= 5 * np.sqrt(probability / len(draws)) + 1e-5).all()


class Posterior:
    """A posterior that is the same at every point, for libraries that ask a model of theirs."""

    def __init__(self, model):
        self._model = model

    def predict(self, X, return_std=True):
        mean, var = self._model.posterior(np.asarray(X))
        return -mean, np.sqrt(var)  # they minimise


def test_both_agree_with_scikit_optimize():
    theirs = pytest.importorskip("skopt.acquisition")
    model = fitted()
    ei = theirs.gaussian_ei(QUERY, Posterior(model), y_opt=-1.2, xi=0.0)
    pi = theirs.gaussian_pi(QUERY, Posterior(model), y_opt=-1.2, xi=0.1)
    assert np.allclose(np.exp(ExpectedImprovement(model, 1.2)(QUERY)), ei, rtol=1e-7, atol=1e-12)
    assert np.allclose(np.exp(ProbabilityOfImprovement(model, 1.2, 0.1)(QUERY)), pi, rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("incumbent", [1.2, 30.0, -30.0])
@pytest.mark.parametrize(
    "make",
    [
        lambda model, best: ExpectedImprovement(model, best),
        lambda model, best: ProbabilityOfImprovement(model, best, 0.05),
        lambda model, best: Tamed(ExpectedImprovement(model, best)),
    ],
)
def test_gradients_are_those_of_the_values(make, incumbent):
    acquisition = make(fitted(), incumbent)
    value, slope = acquisition.gradient(QUERY)
    assert np.array_equal(value, acquisition(QUERY))
    for j in range(2):
        step = 1e-6 * np.eye(2)[j]
        numeric = (acquisition(QUERY + step) - acquisition(QUERY - step)) / 2e-6
        assert np.allclose(slope[:, j], numeric, rtol=1e-4, atol=1e-4 * np.abs(slope).max())


def test_far_from_the_incumbent_there_is_still_a_way_up():
    """Plain EI is 0 in floating point here, and its gradient too."""
    acquisition = ExpectedImprovement(fitted(), 1e3)
    value, slope = acquisition.gradient(QUERY)
    assert (np.exp(value) == 0.0).all()
    assert np.isfinite(value).all()
    assert np.isfinite(slope).all()
    assert (np.abs(slope).max(axis=1) > 0).all()


def test_at_a_noiseless_row_values_and_gradients_are_finite():
    u = np.array([[0.2, 0.3], [0.6, 0.6]])
    model = SE(lengthscale=0.3, scale=1.0, mean=0.0).model(2, 0.0)
    model.fit(u, np.array([1.0, 2.0]), np.random.default_rng(0))
    for acquisition in (ExpectedImprovement(model, 2.0), ProbabilityOfImprovement(model, 2.0, 0.0)):
        value, slope = acquisition.gradient(u)
        assert np.isfinite(value).all()
        assert np.isfinite(slope).all()


def test_the_tamed_tail_keeps_order_and_the_near_part():
    class Line:
        def __call__(self, u):
            return u[:, 0].copy()

    values = -np.geomspace(1e-3, 1e22, 200)[:, None]
    tamed = Tamed(Line())(values)
    assert (np.diff(tamed) < 0).all()
    assert np.array_equal(tamed[values[:, 0] >= -20], values[values[:, 0] >= -20, 0])
    assert tamed.min() > -2000
