"""φ = min_m φ_m as the compiled surrogates compute it, against the formula over the same models."""

import numpy as np
import pytest

from mfopt.hooks import AcquisitionDefaults, FullAcquisition, with_defaults
from mfopt_plugins.surrogates.matern import Matern
from mfopt_plugins.surrogates.se import SE
from mfopt_plugins.surrogates.se_python import SEPython

BETA, ZETAS = 4.0, [0.3, 0.1, 0.0]


class Plain(AcquisitionDefaults):
    """φ by its formula, from the posteriors of the models."""

    def __init__(self, models, zetas):
        self.models, self.zetas = models, zetas

    def gradient(self, u):
        values, slopes = [], []
        for model, zeta in zip(self.models, self.zetas, strict=True):
            mean, var, dmean, dvar = model.posterior_gradient(u)
            values.append(mean + np.sqrt(BETA * var) + zeta)
            slopes.append(dmean + 0.5 * np.sqrt(BETA / var)[:, None] * dvar)
        lowest = np.argmin(values, axis=0)
        return np.min(values, axis=0), np.array([slopes[m][i] for i, m in enumerate(lowest)])


def data(sizes=(20, 8, 4)):
    rng = np.random.default_rng(0)
    for k, n in enumerate(sizes):
        u = rng.random((n, 2))
        yield u, np.sin(5 * u[:, 0]) * np.cos(3 * u[:, 1]) + u.sum(axis=1) + 0.1 * np.cos(7 * u[:, 0] + k)


def apart(surrogates):
    """One model per fidelity, each from its own surrogate."""
    models = [surrogate.model(2, 1e-4) for surrogate in surrogates]
    for model, (u, y) in zip(models, data(), strict=True):
        model.fit(u, y, np.random.default_rng(1))
    return models


def coupled(surrogate):
    joint = surrogate.coupled(2, [1e-4] * 3)
    joint.fit(list(data()), np.random.default_rng(1))
    return joint.models


MODELS = {
    "coupled": lambda: coupled(SE()),
    "some of the coupled": lambda: coupled(Matern(1.5))[1:],
    "one each": lambda: apart([SE()] * 3),
    "of different instances": lambda: apart([Matern(0.5), Matern(1.5), Matern(1.8)]),
}


@pytest.mark.parametrize("kind", MODELS)
def test_a_fused_bound_is_the_plain_one(kind):
    models = MODELS[kind]()
    zetas = ZETAS[-len(models) :]
    fused, plain = SE().bound(models, BETA, zetas), Plain(models, zetas)
    u = np.random.default_rng(5).random((50, 2))
    np.testing.assert_allclose(fused(u), plain(u), rtol=1e-9, atol=1e-9)
    for ours, theirs in zip(fused.gradient(u), plain.gradient(u), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-7)
    for _ in range(2):
        np.testing.assert_allclose(fused.recurring(u), plain(u), rtol=1e-7, atol=1e-7)
    points = np.random.default_rng(6).random((500, 2))
    avoid = np.zeros(500, dtype=bool)
    for _ in range(3):
        best = fused.argmax(points, avoid)
        assert best == plain.argmax(points, avoid)
        avoid[best] = True
    models[-1].extend(points[:1], np.array([1.0]))
    assert fused.argmax(points, avoid) == plain.argmax(points, avoid)


@pytest.mark.parametrize("kind", MODELS)
def test_a_fused_bound_has_all_abilities_of_an_acquisition(kind):
    models = MODELS[kind]()
    bound = SE().bound(models, BETA, ZETAS[-len(models) :])
    assert isinstance(bound, FullAcquisition)
    assert with_defaults(bound) is bound


@pytest.mark.parametrize("kind", MODELS)
def test_the_gradient_is_that_of_the_smallest_piece(kind):
    models = MODELS[kind]()
    bound = SE().bound(models, BETA, ZETAS[-len(models) :])
    u = np.random.default_rng(3).random((30, 2))
    values, slopes = bound.pieces(u)
    phi, slope = bound.gradient(u)
    assert values.shape == (len(models), 30)
    assert slopes.shape == (len(models), 30, 2)
    assert np.array_equal(phi, values.min(axis=0))
    for i, m in enumerate(values.argmin(axis=0)):
        assert np.array_equal(slope[i], slopes[m, i])


def test_at_a_kink_the_gradient_is_that_of_the_lowest_fidelity():
    """Two models that are mirror images: at the mirror they are equal to the bit, with opposite gradients."""
    x, y = np.array([[0.125], [0.25], [0.75]]), np.array([1.0, 2.0, 4.0])
    surrogate = SE(lengthscale=0.3, scale=1.0, mean=0.0)
    models = [surrogate.model(1, 0.01), surrogate.model(1, 0.01)]
    models[0].extend(x, y)
    models[1].extend(1.0 - x, y)
    for sign, order in ((1, models), (-1, models[::-1])):
        bound = surrogate.bound(order, BETA, [0.0, 0.0])
        values, slopes = bound.pieces(np.array([[0.5]]))
        assert values[0, 0] == values[1, 0]
        assert slopes[0, 0, 0] == -slopes[1, 0, 0]
        assert sign * bound.gradient(np.array([[0.5]]))[1][0, 0] == sign * slopes[0, 0, 0] > 0


def test_rows_are_those_of_the_largest_process():
    assert SE().bound(apart([SE()] * 3), BETA, ZETAS).rows == 20
    models = coupled(SE())
    bound = SE().bound(models, BETA, ZETAS)
    assert bound.rows == 32
    models[0].truncate(5)
    assert bound.rows == 17


def test_models_of_another_surrogate_are_refused():
    foreign = [SEPython().model(2), SEPython().model(2)]
    with pytest.raises(TypeError, match=r"made by this surrogate \(CompiledModel\), got CompiledModel, GPModel"):
        SE().bound([SE().model(2), foreign[0]], BETA, [0.1, 0.0])
    with pytest.raises(TypeError, match="made by this surrogate"):
        SE().bound(SEPython().coupled(2, [None, None]).models, BETA, [0.1, 0.0])
