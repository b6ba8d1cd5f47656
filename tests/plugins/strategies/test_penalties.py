"""Penalties, outliers of a cheap fidelity, and values in tiny and huge units."""

import numpy as np
import pytest

import mfopt
from mfopt_plugins.method.softening import AsinhSoftening
from mfopt_plugins.strategies.ucb.softener import Softener
from tests.plugins.runs import FUNCTIONS, SQUARE, high, low, quick, run, trace


def with_penalty(function, size):
    return lambda x: -size if x[0] > 0.7 else function(x)


def optimizer(strategy, direction="maximize", capital=200.0):
    return mfopt.Optimizer(
        SQUARE, [1.0, 10.0], strategy=strategy, capital=capital, rng=1, maximiser=quick(), direction=direction
    )


@pytest.mark.parametrize("strategy", ["mf-gp-ucb", "gp-ucb", "gp-ei"])
@pytest.mark.parametrize("size", [1e2, 1e100])
def test_a_penalty_does_not_stall_the_method(strategy, size):
    opt = optimizer(strategy)
    run(opt, [with_penalty(f, size) for f in FUNCTIONS])
    assert 2.0 - opt.best.y < 0.02


def test_a_cheap_fidelity_that_blows_up_does_no_lasting_harm():
    opt = optimizer("mf-gp-ucb")
    run(opt, [lambda x: 1e6 if x[0] > 0.7 else low(x), high])
    assert 2.0 - opt.best.y < 1e-3


@pytest.mark.parametrize(("direction", "side"), [("maximize", "below"), ("minimize", "above")])
@pytest.mark.parametrize("strategy", ["mf-gp-ucb", "gp-ei"])
def test_the_reason_tells_of_values_far_from_the_rest(strategy, direction, side):
    sign = 1.0 if direction == "maximize" else -1.0
    opt = optimizer(strategy, direction)
    functions = [lambda x, f=f: sign * with_penalty(f, 1e6)(x) for f in FUNCTIONS]
    reason = run(opt, functions)[-1].reason
    told = opt.history.y[opt.history.fidelity == 1]
    rest = told[np.abs(told) < 1e6]
    assert reason.far[-1] == len(told) - len(rest) > 0
    assert reason.lowest[-1] == (rest.min() if sign > 0 else rest.max())
    assert f"far {side} the rest count as little worse than {reason.lowest[-1]:.6g}" in str(reason)


@pytest.mark.parametrize("strategy", ["mf-gp-ucb", "gp-ucb", "gp-ei"])
@pytest.mark.parametrize("scale", [2.0**-498, 2.0**332])
def test_values_that_vary_by_1e_150_or_by_1e100_give_the_same_trials(strategy, scale):
    traces = []
    for factor in (1.0, scale):
        opt = optimizer(strategy, capital=120.0)
        traces.append(trace(run(opt, [lambda x, f=f, a=factor: a * f(x) for f in FUNCTIONS])))
    assert len(traces[0]) == len(traces[1])
    assert np.allclose(*traces, atol=1e-6)


def test_terms_far_above_all_values_stay_within_reach_of_them():
    """Softened values come back through sinh, which would turn a wide bound into 1e18."""
    softener = Softener(None)
    softener.softening = AsinhSoftening(0.0, 1.0, 1.0)
    highest = softener.softening.value(10.0)
    terms = [np.array(v) for v in ([1.0, 2.0], [40.0, 0.1], [5.0, 0.0], [46.0, 2.1], [1.0, np.inf])]
    mean, width, zeta, phi, gamma = softener.in_unit_of_y(*terms, highest, 4.0)
    assert (np.abs([mean, width, zeta, phi]) < 1e3).all()
    np.testing.assert_allclose(mean + width + zeta, phi)
    assert mean[1] == pytest.approx(np.sinh(2.0))
    assert gamma[1] == np.inf
