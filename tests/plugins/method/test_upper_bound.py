"""φ = min_m φ_m, its gradient, and its maximum over finite sets."""

import numpy as np
import pytest

from mfopt.domains.finite import FiniteSet
from mfopt.errors import Exhausted
from mfopt_plugins.method import upper_bound as module
from mfopt_plugins.method.upper_bound import MultiFidelityUCB, argmax
from mfopt_plugins.surrogates.matern import Matern
from mfopt_plugins.surrogates.se import SE
from mfopt_plugins.surrogates.se_python import SEPython


def fitted(surrogates, dim=2):
    rng = np.random.default_rng(3)
    models = []
    for k, surrogate in enumerate(surrogates):
        model = surrogate.model(dim, 1e-6)
        u = rng.random((8, dim))
        model.fit(u, np.sin(5 * u[:, 0] + k) + u[:, 1], rng)
        models.append(model)
    return models


def bounds(models, u, beta, zetas):
    posteriors = [model.posterior(u) for model in models]
    return np.array([m + np.sqrt(beta * v) + z for (m, v), z in zip(posteriors, zetas, strict=True)])


@pytest.mark.parametrize(
    "surrogates", [[SE(), SE()], [SEPython(), SEPython()], [SE(), Matern()], [Matern(1.5), Matern(0.5)], [SE()]]
)
def test_phi_is_the_smallest_bound_and_its_gradient_that_bounds(surrogates):
    models = fitted(surrogates)
    zetas = [0.3, 0.0][-len(surrogates) :]
    phi = MultiFidelityUCB(models, surrogates, 2.0, zetas)
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
    MultiFidelityUCB(models, [one, one], 1.0, [0.0, 0.0])(np.zeros((1, 2)))
    assert calls == [2]
    MultiFidelityUCB(models, [one, other], 1.0, [0.0, 0.0])(np.zeros((1, 2)))
    assert calls == [2]


class Column:
    """An acquisition that reads the first coordinate."""

    def __call__(self, u):
        return u[:, 0].copy()


def test_on_a_finite_set_the_maximum_is_exact_the_first_of_equals_and_never_avoided():
    points = FiniteSet([[0.0, 0.0], [3.0, 1.0], [3.0, 0.0], [1.0, 1.0]])
    assert np.array_equal(argmax(Column(), points, None, None, 1), points.points[1])
    avoid = np.array([False, True, False, False])
    assert np.array_equal(argmax(Column(), points, None, None, 1, avoid), points.points[2])
    with pytest.raises(Exhausted):
        argmax(Column(), points, None, None, 1, np.ones(4, dtype=bool))


@pytest.mark.parametrize("chunk", [1, 97, 5000])
def test_the_size_of_the_chunks_does_not_matter(chunk, monkeypatch):
    points = FiniteSet(np.random.default_rng(0).random((1001, 2)))
    monkeypatch.setattr(module, "CHUNK", chunk)
    assert np.array_equal(argmax(Column(), points, None, None, 1), points.points[np.argmax(points.points[:, 0])])


def test_an_acquisition_of_minus_infinity_still_has_a_point():
    points = FiniteSet([[0.0], [1.0]])
    assert np.array_equal(argmax(lambda u: np.full(len(u), -np.inf), points, None, None, 1), points.points[0])
