"""The framework with the plugins that it ships."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint

import mfopt


def cheap(x):
    return float(np.sin(5.0 * x[0]) + 0.1 * np.cos(9.0 * x[0]))


def target(x):
    return float(np.sin(5.0 * x[0]))


def test_the_defaults_find_the_maximum():
    result = mfopt.maximize([cheap, target], [(0.0, 1.0)], [1.0, 10.0], 120.0, rng=0, progress=False)
    assert result.success
    assert result.fun > 0.999
    assert result.spent <= 120.0


def test_minimising_finds_the_minimum_of_the_negated_function():
    functions = [lambda x: -cheap(x), lambda x: -target(x)]
    result = mfopt.minimize(functions, [(0.0, 1.0)], [1.0, 10.0], 120.0, rng=0, progress=False)
    assert result.fun < -0.999


def test_a_finite_set_gives_its_best_candidate():
    rows = np.linspace(0.0, 1.0, 200)[:, None]
    opt = mfopt.Optimizer(mfopt.FiniteSet(rows), [1.0, 10.0], capital=120.0, rng=1)
    while not opt.done:
        trial = opt.ask()
        assert rows[trial.index] == trial.x
        opt.tell(trial, (cheap, target)[trial.fidelity](trial.x))
    assert opt.best.y > 0.999


def test_a_constrained_box_is_searched_on_its_boundary():
    domain = mfopt.Box([(0.0, 1.0), (0.0, 1.0)], constraints=LinearConstraint([1, 1], -np.inf, 1.0))
    opt = mfopt.Optimizer(domain, [1.0, 5.0], capital=80.0, rng=0)
    while not opt.done:
        trial = opt.ask()
        assert trial.x.sum() <= 1.0
        opt.tell(trial, float(trial.x[0] * trial.x[1]) + 0.01 * (1 - trial.fidelity))
    assert opt.best.y > 0.245


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_reasons_are_readable(direction):
    opt = mfopt.Optimizer([(0.0, 1.0)], [1.0, 10.0], capital=100.0, direction=direction, rng=0)
    while not opt.done:
        trial = opt.ask()
        opt.tell(trial, target(trial.x))
    text = str(trial.reason)
    assert "φ" in text
    assert ("upper" if direction == "maximize" else "lower") in text


@pytest.mark.parametrize("name", ["mf-gp-ucb", "gp-ucb", "gp-ei", "gp-pi", "mf-sko", "co-kriging", "direct"])
def test_the_loop_ends_by_itself_on_a_finite_set_that_is_used_up(name):
    """Nothing is said about noise: the strategy judges, and `done` knows before the next ask."""
    points = np.random.default_rng(0).random((9, 2))
    opt = mfopt.Optimizer(mfopt.FiniteSet(points), costs=[1.0, 5.0], capital=500.0, strategy=name, rng=0)
    while not opt.done:
        trial = opt.ask()
        opt.tell(trial, float(np.sin(5 * trial.x).sum()) + 0.1 * (trial.fidelity == 0))
    assert {tuple(x) for x in opt.history.x[opt.history.fidelity == 1]} == {tuple(x) for x in points}
    with pytest.raises(mfopt.Exhausted, match="all 9 points of X were queried"):
        opt.ask()


@pytest.mark.parametrize("size", [1e-120, 1e-8, 1e12, 1e139])
def test_values_of_any_size_are_optimised(size):
    opt = mfopt.Optimizer([(0.0, 1.0)], costs=[1.0, 5.0], capital=80.0, rng=0)
    while not opt.done:
        trial = opt.ask()
        opt.tell(trial, -size * float((trial.x[0] - 0.3) ** 2))
    assert abs(opt.best.x[0] - 0.3) < 0.02
    with pytest.raises(mfopt.InputError, match=r"y must be finite and at most 1e\+140 in size"):
        opt.add([[0.5]], 1, [1e200])
