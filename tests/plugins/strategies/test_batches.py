"""Trials that are asked for together: no near-copies at one fidelity where values are not noisy."""

from itertools import combinations

import numpy as np
import pytest

import mfopt

NEAR = 0.001  # in unit coordinates; the points of the finite set are farther apart
DOMAINS = {
    "box": lambda: mfopt.Box([(0, 1)] * 2),
    "finite": lambda: mfopt.FiniteSet(np.random.default_rng(1).random((150, 2))),
    "space": lambda: mfopt.Space(
        {"a": mfopt.Real(0, 1), "b": mfopt.Integer(0, 10), "c": mfopt.Categorical(["p", "q", "r"])}
    ),
}


def bowl(u):
    return -float(((u - 0.4) ** 2).sum())


def rough(u):
    """Deterministic, but a smooth model can only take its values for noise."""
    return bowl(u) + float(np.sin(1e4 * u.sum()))


def assert_apart(points, trials, near):
    for (u, one), (v, other) in combinations(zip(points, trials, strict=True), 2):
        assert one.fidelity != other.fidelity or np.abs(u - v).max() > near


@pytest.mark.parametrize("function", [bowl, rough])
@pytest.mark.parametrize("name", DOMAINS)
@pytest.mark.parametrize("costs", [[1.0], [1.0, 5.0]])
@pytest.mark.parametrize("strategy", ["mf-gp-ucb", "gp-ucb", "gp-ei", "gp-pi"])
def test_a_batch_holds_no_near_copies_at_one_fidelity(strategy, costs, name, function):
    opt = mfopt.Optimizer(DOMAINS[name](), costs, strategy=strategy, capital=50 * costs[-1], rng=3)
    for _ in range(4):
        trials = opt.ask(8)
        points = opt.domain.encode(np.array([trial.x for trial in trials]))
        assert_apart(points, trials, NEAR)
        for u, trial in zip(points, trials, strict=True):
            opt.tell(trial, function(u) + 0.1 * (len(costs) - 1 - trial.fidelity) * u[0])


@pytest.mark.parametrize(("dim", "seed"), [(1, 0), (2, 1), (2, 2), (2, 3)])
def test_a_batch_stays_apart_where_another_point_calls_for_another_fidelity(dim, seed):
    opt = mfopt.Optimizer([(0, 1)] * dim, [1.0, 10.0], capital=300, rng=seed)
    while not opt.done:
        trials = opt.ask(8)
        assert_apart([trial.x for trial in trials], trials, 0.009)
        for trial in trials:
            y = -((trial.x - 0.3) ** 2).sum() * (1.0 if trial.fidelity else 0.9)
            opt.tell(trial, float(y) + 0.05 * np.sin(20 * trial.x[0]))


@pytest.mark.parametrize("dim", [1, 2])
def test_the_initial_design_holds_no_near_copies(dim):
    for seed in range(20):
        trials = mfopt.Optimizer([(0, 1)] * dim, [1.0, 10.0], capital=300, rng=seed).ask(8)
        assert_apart([trial.x for trial in trials], trials, 0.009)
