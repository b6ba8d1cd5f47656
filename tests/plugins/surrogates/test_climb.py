"""Climbs between limits, and what learning does with them."""

import numpy as np
import pytest
from scipy.optimize import minimize

from mfopt_plugins.surrogates.climb import climb
from mfopt_plugins.surrogates.gp.model import GPModel
from mfopt_plugins.surrogates.se import SE
from mfopt_plugins.surrogates.theta import NOTHING, Layout, Part

LOW, HIGH = np.full(4, -3.0), np.full(4, 3.0)
CURVES = np.diag([1.0, 30.0, 400.0, 5.0]) + 2.0


class Hill:
    """−½ (x − top)ᵀ C (x − top), which counts its calls."""

    def __init__(self, top):
        self.top, self.calls = np.asarray(top), 0

    def __call__(self, x):
        assert (x >= LOW).all()
        assert (x <= HIGH).all()
        self.calls += 1
        slope = CURVES @ (self.top - x)
        return float(-0.5 * (self.top - x) @ slope), slope


def test_slopes_whose_squares_overflow_are_climbed_without_a_warning():
    hill = Hill([0.5, -1.0, 0.2, 1.5])

    def steep(x):
        value, slope = hill(x)
        return 1e200 * value, 1e200 * slope

    _, value, _ = climb(steep, np.zeros(4), LOW, HIGH, None, 100, 1e-9)
    assert value > steep(np.zeros(4))[0]


def test_a_climb_ends_at_the_top():
    x, value, inverse = climb(Hill([0.5, -1.0, 2.0, 0.1]), np.zeros(4), LOW, HIGH, None, 100, 1e-9)
    np.testing.assert_allclose(x, [0.5, -1.0, 2.0, 0.1], atol=1e-3)
    assert value > -1e-6
    assert inverse.shape == (4, 4)


def test_a_variable_stays_at_its_limit():
    hill = Hill([0.5, -1.0, 9.0, 0.1])
    x, _, _ = climb(hill, np.zeros(4), LOW, HIGH, None, 100, 1e-9)
    assert x[2] == 3.0
    bounds = list(zip(LOW, HIGH, strict=True))
    best = minimize(lambda x: tuple(-part for part in hill(x)), np.zeros(4), jac=True, bounds=bounds).x
    np.testing.assert_allclose(x, best, atol=1e-3)


def test_with_the_curvature_of_an_earlier_climb_little_is_left_to_do():
    _, _, inverse = climb(Hill([0.5, -1.0, 2.0, 0.1]), np.zeros(4), LOW, HIGH, None, 100, 1e-6)
    for away, most in ((1e-4, 1), (0.05, 6)):
        hill = Hill([0.5 + away, -1.0, 2.0 - away, 0.1])
        _, value, _ = climb(hill, np.array([0.5, -1.0, 2.0, 0.1]), LOW, HIGH, inverse, 100, 0.005)
        assert hill.calls <= most
        assert value > -0.05


def test_a_curvature_that_promises_too_much_is_corrected():
    for size in (1.0, 1e3, 1e6):
        assert climb(Hill([0.5, -1.0, 2.0, 0.1]), np.zeros(4), LOW, HIGH, size * np.eye(4), 100, 1e-6)[1] > -1e-2


def test_a_climb_that_cannot_be_computed_stays_where_it_is():
    x, value, _ = climb(lambda x: (-1e25, np.zeros(4)), np.ones(4), LOW, HIGH, None, 10, 0.01)
    assert np.array_equal(x, np.ones(4))
    assert value == -1e25


def quadratic(top, calls):
    def likelihood(theta):
        calls.append(theta)
        return [(-50.0 * float((theta - top) @ (theta - top)), -100.0 * (theta - top))]

    return likelihood


def test_a_search_from_the_last_optimum_tells_what_it_gained():
    layout = Layout([Part("a", np.ones(3), 2.0, positive=False)])
    rng, calls = np.random.default_rng(0), []
    first = layout.search(quadratic(np.full(3, 0.3), calls), None, None, False, rng)
    assert first.gain == np.inf
    calls.clear()
    again = layout.search(quadratic(np.full(3, 0.3), calls), first.theta, first.inverse, False, rng)
    assert len(calls) == 1
    assert again.gain < 1e-6
    other = layout.search(quadratic(np.full(3, 0.6), calls), again.theta, again.inverse, False, rng)
    assert other.gain == pytest.approx(150.0 * 0.3**2, rel=0.1)
    np.testing.assert_allclose(other.theta, 0.6, atol=0.05)
    far = layout.search(quadratic(np.full(3, -4.0), calls), again.theta, again.inverse, False, rng)
    np.testing.assert_allclose(far.theta, -4.0, atol=0.2)


def wave(u):
    return np.sin(5 * u[:, 0]) + u[:, 1]


@pytest.mark.parametrize("coupled", [True, False])
def test_rows_that_say_nothing_new_leave_the_process_as_it_is(coupled):
    rng = np.random.default_rng(0)
    u = rng.random((60, 2))
    if coupled:
        joint = SE().coupled(2, [1e-4, 1e-4])
        rows = [(u[:40], wave(u[:40])), (u[40:], wave(u[40:]))]
        joint.fit(rows, rng)
        before = joint.gp
        joint.fit([(np.vstack([u[:40], u[40:42]]), wave(np.vstack([u[:40], u[40:42]]))), rows[1]], rng)
        assert joint.gp is before
        assert joint.gp.n == 62
        values = [(x, 3.0 * y + np.cos(20 * x[:, 0])) for x, y in rows]  # another function
        joint.fit(values, rng)
        assert joint.gp is not before
        model = joint.models[0]
    else:
        model = SE().model(2, 1e-4)
        model.fit(u[:40], wave(u[:40]), rng)
        before = model.gp
        model.fit(u[:42], wave(u[:42]), rng)
        assert model.gp is before
        assert model.n == 42
        model.fit(u[:40], 3.0 * wave(u[:40]) + np.cos(20 * u[:40, 0]), rng)
        assert model.gp is not before
    mean, _ = model.posterior(u[:5])
    np.testing.assert_allclose(mean, 3.0 * wave(u[:5]) + np.cos(20 * u[:5, 0]), atol=0.2)


def test_hyper_parameters_that_are_kept_are_nearly_as_likely_as_the_best():
    rng = np.random.default_rng(1)
    u = rng.random((90, 2))
    y = wave(u) + 0.3 * np.cos(9 * u[:, 1])
    model = SE().model(2)
    for n in (40, 44, 49, 54, 60, 66, 73, 81, 90):
        model.fit(u[:n], y[:n], np.random.default_rng(n))
    fresh: GPModel = SE().model(2)
    fresh.fit(u, y, np.random.default_rng(0))
    gap = fresh.gp.log_marginal_likelihood() - model.gp.log_marginal_likelihood()
    assert gap < NOTHING + 1.0  # the priors have a part in it, too
