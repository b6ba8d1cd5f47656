"""Fidelities with a unit and a zero of their own, within one process (surrogates/coupled/calibration.py)."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from mfopt_plugins.surrogates.coupled import learning
from mfopt_plugins.surrogates.given import Given
from mfopt_plugins.surrogates.matern import Matern
from mfopt_plugins.surrogates.se import SE
from mfopt_plugins.surrogates.se_python import SEPython


def smooth(u):
    return np.sin(5 * u[:, 0]) * np.cos(3 * u[:, 1]) + u.sum(axis=1)


def rows(sizes, functions, seed=0):
    rng = np.random.default_rng(seed)
    points = [rng.random((n, 2)) for n in sizes]
    return [(u, f(u)) for u, f in zip(points, functions, strict=True)]


def fitted(data, surrogate=None, calibrate=True, noises=None):
    joint = (surrogate or SE()).coupled(2, noises or [None] * len(data))
    if calibrate:
        joint.calibrate()
    joint.fit(data, np.random.default_rng(1))
    return joint


@pytest.mark.parametrize("surrogate", [SE(), Matern(2.5), SEPython()])
def test_the_gradient_of_the_likelihood_agrees_with_differences(surrogate):
    data = rows([9, 6, 5], [smooth, lambda u: 3 * smooth(u) + 1, lambda u: smooth(u) ** 2])
    layout = learning.lay_out(Given().broadcast(2), [None] * 3, calibrated=True)
    rng = np.random.default_rng(3)
    for signs in ([1.0, 1.0, 1.0], [-1.0, 1.0, 1.0]):
        evaluate = surrogate.coupled(2, [None] * 3)._evaluate(_coded(data))
        likelihood = learning.log_likelihood(evaluate, 2, layout, np.array(signs))
        theta = layout.centre + 0.3 * rng.standard_normal(len(layout))
        ((value, slope),) = likelihood(theta)
        numeric = approx_fprime(theta, lambda t, f=likelihood: f(t)[0][0], 1e-6)
        assert np.isfinite(value)
        np.testing.assert_allclose(slope, numeric, rtol=2e-3, atol=1e-2)


@pytest.mark.parametrize("surrogate", [SE(), Matern(2.5), Matern(1.7)])
def test_the_likelihood_in_one_call_is_that_of_its_steps(surrogate):
    data = _coded(rows([9, 6, 5], [smooth, lambda u: 3 * smooth(u) + 1, lambda u: smooth(u) ** 2]))
    layout = learning.lay_out(Given().broadcast(2), [None] * 3, calibrated=True)
    at_once = surrogate.coupled(2, [None] * 3)._evaluate(data)
    stepwise = learning.evaluate_with(surrogate.make, data)
    rng = np.random.default_rng(3)
    for signs in ([1.0, 1.0, 1.0], [-1.0, 1.0, 1.0]):
        hyper = learning.unpack(layout, layout.centre + 0.3 * rng.standard_normal(len(layout)), np.array(signs))
        for ours, theirs in zip(at_once(hyper), stepwise(hyper), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-13)


def _coded(data):
    joint = SE().coupled(2, [None] * len(data))
    return [(joint.encode(u, k), y) for k, (u, y) in enumerate(data)]


@pytest.mark.parametrize(("a", "b"), [(0.3, 20.0), (4.0, -7.0)])
def test_a_cheap_fidelity_that_is_scaled_and_shifted_tells_as_much_as_one_that_is_not(a, b):
    u = np.random.default_rng(8).random((200, 2))
    errors = {}
    for name, cheap, calibrate in (
        ("plain", smooth, False),
        ("as it is", lambda u: a * smooth(u) + b, False),
        ("calibrated", lambda u: a * smooth(u) + b, True),
    ):
        target = fitted(rows([30, 4], [cheap, smooth]), calibrate=calibrate).models[1]
        errors[name] = np.sqrt(np.mean((target.posterior(u)[0] - smooth(u)) ** 2))
    assert errors["calibrated"] < 0.2 * errors["as it is"]
    assert errors["calibrated"] < 10 * errors["plain"] + 0.02


def test_models_of_cheap_fidelities_speak_in_their_own_unit():
    joint = fitted(rows([30, 8], [lambda u: 3 * smooth(u) + 10, smooth]))
    told = joint.describe(0)
    assert told["factor"] == pytest.approx(3.0, rel=0.15)
    assert told["shift"] == pytest.approx(10.0, abs=1.0)
    assert (joint.describe(1)["factor"], joint.describe(1)["shift"]) == (1.0, 0.0)
    u = np.random.default_rng(4).random((50, 2))
    mean, var, dmean, dvar = joint.models[0].posterior_gradient(u)
    np.testing.assert_allclose(mean, 3 * smooth(u) + 10, atol=0.6)
    for c in range(2):
        e = 1e-5 * np.eye(2)[c]
        up, down = joint.models[0].posterior(u + e), joint.models[0].posterior(u - e)
        np.testing.assert_allclose(dmean[:, c], (up[0] - down[0]) / 2e-5, rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(dvar[:, c], (up[1] - down[1]) / 2e-5, rtol=1e-2, atol=1e-3)
    assert (var >= 0).all()


def test_a_negated_fidelity_is_recognised_and_only_that_one():
    opposite = fitted(rows([30, 9], [lambda u: 2.0 - smooth(u), smooth]))
    assert opposite.describe(0)["factor"] < 0
    u = np.random.default_rng(4).random((100, 2))
    assert np.sqrt(np.mean((opposite.models[1].posterior(u)[0] - smooth(u)) ** 2)) < 0.1
    for other in (smooth, lambda u: 0.5 * smooth(u) - 3, lambda u: np.sin(40 * u[:, 0] + 9 * u[:, 1])):
        assert fitted(rows([30, 9], [other, smooth])).describe(0)["factor"] > 0


def test_known_noise_is_that_of_the_values_told():
    rng = np.random.default_rng(0)
    data = rows([40, 10], [lambda u: 100 * smooth(u) + 500, smooth])
    data[0] = (data[0][0], data[0][1] + rng.normal(0.0, 5.0, 40))
    joint = fitted(data, noises=[25.0, 0.0])
    assert joint.describe(0)["noise"] == 25.0
    assert joint.describe(1)["noise"] == 0.0
    assert joint.describe(0)["factor"] == pytest.approx(100.0, rel=0.3)


def test_compiled_and_plain_process_learn_the_same():
    data = rows([15, 6], [lambda u: -2 * smooth(u) + 4, smooth])
    u = np.random.default_rng(6).random((30, 2))
    posteriors = [fitted(data, one).models[1].posterior(u) for one in (SE(), SEPython())]
    np.testing.assert_allclose(posteriors[0][0], posteriors[1][0], atol=1e-3)
    np.testing.assert_allclose(posteriors[0][1], posteriors[1][1], atol=1e-3)


def test_bounds_over_several_calibrated_fidelities_are_those_of_their_models():
    surrogate = SE()
    joint = fitted(rows([20, 6], [lambda u: 3 * smooth(u) + 10, smooth]), surrogate)
    u = np.random.default_rng(6).random((30, 2))
    bound = surrogate.bound(joint.models, 4.0, [0.5, 0.0])
    each = [model.posterior(u) for model in joint.models]
    expected = np.min(
        [mean + 2 * np.sqrt(var) + zeta for (mean, var), zeta in zip(each, [0.5, 0.0], strict=True)], axis=0
    )
    np.testing.assert_allclose(bound(u), expected, rtol=1e-9)


def test_what_is_not_calibrated_keeps_one_unit():
    layout = learning.lay_out(Given().broadcast(2), [None, None])
    hyper = learning.unpack(layout, layout.fix(layout.centre + 1.0), np.ones(2))
    assert hyper.calibration.is_plain
