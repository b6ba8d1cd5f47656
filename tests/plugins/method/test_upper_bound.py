"""φ = min_m φ_m and its gradient."""

import numpy as np
import pytest

from mfopt_plugins.method.upper_bound import PlainBound, take_lowest
from mfopt_plugins.surrogates.matern import Matern
from mfopt_plugins.surrogates.se import SE
from mfopt_plugins.surrogates.se_python import SEPython
from tests.plugins.runs import fidelity_models


def fitted(surrogates, dim=2):
    rng = np.random.default_rng(3)
    models = []
    for k, surrogate in enumerate(surrogates):
        model = surrogate.model(dim, 1e-6)
        u = rng.random((8, dim))
        model.fit(u, np.sin(5 * u[:, 0] + k) + u[:, 1], rng)
        models.append(model)
    return models


def upper_bound(models, surrogates, beta, zetas):
    """φ as strategies get it, over models that are fitted already."""
    every = fidelity_models(surrogates, [1e-6] * len(models), range(len(models)), 2, 0)
    every.models = models
    return every.bound(range(len(models)), beta, zetas)


def bounds(models, u, beta, zetas):
    posteriors = [model.posterior(u) for model in models]
    return np.array([m + np.sqrt(beta * v) + z for (m, v), z in zip(posteriors, zetas, strict=True)])


@pytest.mark.parametrize(
    "surrogates", [[SE(), SE()], [SEPython(), SEPython()], [SE(), Matern()], [Matern(1.5), Matern(0.5)], [SE()]]
)
def test_phi_is_the_smallest_bound_and_its_gradient_that_bounds(surrogates):
    models = fitted(surrogates)
    zetas = [0.3, 0.0][-len(surrogates) :]
    phi = upper_bound(models, surrogates, 2.0, zetas)
    u = np.random.default_rng(0).random((40, 2))
    every = bounds(models, u, 2.0, zetas)
    assert np.allclose(phi(u), every.min(axis=0), rtol=1e-12, atol=1e-12)
    if len(surrogates) == 2:
        assert set(every.argmin(axis=0)) == {0, 1}
    value, slope = phi.gradient(u)
    assert np.allclose(value, phi(u), rtol=1e-12, atol=1e-12)
    for j in range(2):
        step = 1e-6 * np.eye(2)[j]
        numeric = (phi(u + step) - phi(u - step)) / 2e-6
        # A kink within the step spoils the difference quotient, not the gradient.
        gap = np.diff(np.sort(every, axis=0), axis=0)
        smooth = gap[0] > 1e-4 if len(gap) else np.ones(len(u), dtype=bool)
        assert np.allclose(slope[smooth, j], numeric[smooth], rtol=1e-4, atol=1e-5)


def test_the_fused_bound_is_used_only_for_surrogates_of_one_class():
    calls = []

    class Fused(SEPython):
        def bound(self, models, beta, zetas):
            calls.append(len(models))
            return lambda u: np.zeros(len(u))

    one, other = Fused(), SEPython()
    models = fitted([one, other])
    upper_bound(models, [one, one], 1.0, [0.0, 0.0])(np.zeros((1, 2)))
    assert calls == [2]
    upper_bound(models, [one, other], 1.0, [0.0, 0.0])(np.zeros((1, 2)))
    assert calls == [2]


class Known:
    """A model whose mean and deviation are the first and the second coordinate."""

    n = 0

    def posterior_gradient(self, u):
        zeros = np.zeros(len(u))
        dvar = np.stack([zeros, 2 * u[:, 1]], axis=1)
        return u[:, 0], u[:, 1] ** 2, np.stack([zeros + 1, zeros], axis=1), dvar


def test_the_gradient_of_a_bound_follows_from_that_of_mean_and_variance():
    values, slopes = PlainBound([Known()], 9.0, [0.5]).pieces(np.array([[0.2, 0.7], [1.0, 0.4]]))
    assert np.allclose(values, [[0.2 + 3 * 0.7 + 0.5, 1.0 + 3 * 0.4 + 0.5]])
    assert np.allclose(slopes, [[[1.0, 3.0], [1.0, 3.0]]])


def test_where_nothing_is_uncertain_the_mean_alone_has_a_gradient():
    values, slopes = PlainBound([Known()], 4.0, [0.0]).pieces(np.array([[5.0, 0.0]]))
    assert values == [[5.0]]
    assert np.array_equal(slopes, [[[1.0, 0.0]]])


def test_the_lowest_piece_is_taken_at_each_point_and_of_equal_ones_the_first():
    values = np.array([[1.0, 5.0, 2.0], [3.0, 4.0, 2.0]])
    slopes = np.arange(12.0).reshape(2, 3, 2)
    phi, slope = take_lowest(values, slopes)
    assert np.array_equal(phi, [1.0, 4.0, 2.0])
    assert np.array_equal(slope, [slopes[0, 0], slopes[1, 1], slopes[0, 2]])
