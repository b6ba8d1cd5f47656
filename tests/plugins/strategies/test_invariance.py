"""Runs that must agree: other units, other bounds, another implementation of the same posterior."""

import numpy as np
import pytest

import mfopt
from mfopt_plugins.surrogates.se import SE
from mfopt_plugins.surrogates.se_python import SEPython
from tests.plugins.runs import FUNCTIONS, SQUARE, quick, run, trace


@pytest.mark.parametrize("name", ["mf-gp-ucb", "gp-ucb", "gp-ei", "gp-pi", "mf-sko", "co-kriging"])
@pytest.mark.parametrize("scale", [2.0**-27, 2.0**40])
def test_a_change_of_unit_by_a_power_of_two_gives_the_very_same_trials(name, scale):
    """1e-8 to 1e12; powers of two make rounding the same too."""
    traces = []
    for factor in (1.0, scale):
        opt = mfopt.Optimizer(SQUARE, [1.0, 10.0], strategy=name, capital=200.0, rng=0, maximiser=quick())
        traces.append(trace(run(opt, [lambda x, f=f, a=factor: a * f(x) for f in FUNCTIONS])))
    assert len(traces[0]) == len(traces[1])
    assert np.allclose(*traces, atol=1e-9)


@pytest.mark.parametrize(("scale", "offset"), [(1e-8, 3e-8), (1e12, -5e12), (3.0, 100.0)])
def test_an_affine_change_of_values_gives_the_same_trials_up_to_rounding(scale, offset):
    traces = []
    for a, b in ((1.0, 0.0), (scale, offset)):
        opt = mfopt.Optimizer(SQUARE, [1.0, 10.0], capital=160.0, rng=0, noise=[1e-4 * a**2] * 2, maximiser=quick())
        traces.append(trace(run(opt, [lambda x, f=f, a=a, b=b: a * f(x) + b for f in FUNCTIONS])))
    assert np.allclose(*traces, atol=1e-3)


def test_an_affine_change_of_the_box_gives_the_same_trials_up_to_rounding():
    plain = mfopt.Optimizer(SQUARE, [1.0, 10.0], capital=160.0, rng=0, noise=1e-4, maximiser=quick())
    moved = mfopt.Optimizer(
        [(-7.0, -3.0), (1e6, 3e6)], [1.0, 10.0], capital=160.0, rng=0, noise=1e-4, maximiser=quick()
    )
    low, high = np.array([-7.0, 1e6]), np.array([-3.0, 3e6])
    theirs = trace(run(moved, [lambda x, f=f: f((x - low) / (high - low)) for f in FUNCTIONS]))
    theirs[:, :2] = (theirs[:, :2] - low) / (high - low)
    assert np.allclose(trace(run(plain, FUNCTIONS)), theirs, atol=1e-3)


@pytest.mark.parametrize("domain", [SQUARE, mfopt.FiniteSet(np.random.default_rng(0).random((300, 2)))])
def test_with_fixed_hyper_parameters_compiled_and_plain_surrogate_give_the_same_fifty_trials(domain):
    traces = []
    for make in (SE, SEPython):
        opt = mfopt.Optimizer(
            domain, [1.0, 10.0], rng=0, noise=1e-2, surrogate=make(lengthscale=0.4, scale=1.0, mean=0.5), capital=500.0
        )
        traces.append(trace(run(opt, FUNCTIONS, 50)))
    assert len(traces[0]) == 50
    assert np.allclose(*traces, rtol=0, atol=1e-6)
