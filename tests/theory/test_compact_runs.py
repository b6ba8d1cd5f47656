"""The compact theorem at the level of runs: MF-GP-UCB in theory mode on samples of a process over [0, 1].

Λ_1 and Λ_2 are beyond what can be run, so the two inequalities from which the theorem follows are held against every
query: Lemma (TmnHmBound), and eq. (Rtildenctsbound) with the information gain of the queries themselves.
"""

from math import pi, sqrt

import numpy as np
import pytest

import mfopt
from mfopt import theory
from mfopt_plugins.strategies.gp_ucb import GPUCB
from mfopt_plugins.strategies.mf_gp_ucb import MFGPUCB
from mfopt_plugins.surrogates.se import SE

ELL, NOISE, DELTA, ZETA, FEATURES = 0.2, 0.01, 0.1, 0.4, 1000
COSTS = [1.0, 5.0]


def sample(seed):
    """f⁽¹⁾ and f⁽²⁾ on [0, 1], f⁽²⁾ a sample of the SE process by random Fourier features, within ζ of each other."""
    rng = np.random.default_rng(seed)
    w, p = rng.standard_normal(FEATURES) / ELL, rng.uniform(0, 2 * pi, FEATURES)
    weights = rng.standard_normal(FEATURES) * sqrt(2 / FEATURES)

    def high(x):
        return np.cos(np.multiply.outer(np.asarray(x)[..., 0], w) + p) @ weights

    def low(x):
        return high(x) + 0.5 * ZETA * np.sin(12 * np.asarray(x)[..., 0] + p[0])

    return [low, high]


def run(strategy, functions, costs, capital, seed):
    opt = mfopt.Optimizer(
        [(0.0, 1.0)],
        fidelities=[
            mfopt.Fidelity(f"f{m}", cost, ZETA if m < len(costs) - 1 else 0.0, NOISE) for m, cost in enumerate(costs)
        ],
        strategy=strategy,
        surrogate=SE(lengthscale=ELL, scale=1.0, mean=0.0),
        capital=capital,
        rng=seed,
    )
    noise = np.random.default_rng([seed, 1])
    trials = []
    while not opt.done:
        trials.append(opt.ask())
        exact = float(functions[trials[-1].fidelity](trials[-1].x))
        opt.tell(trials[-1], exact + sqrt(NOISE) * noise.standard_normal())
    return trials


def information(points):
    model = SE(lengthscale=ELL, scale=1.0, mean=0.0).model(1, NOISE)
    return theory.information_gain(model, np.array(points), NOISE)


@pytest.mark.parametrize("seed", range(4))
def test_every_query_of_mf_gp_ucb_keeps_what_the_proof_says(seed):
    functions = sample(seed)
    a, b = theory.smoothness_se(1, 1.0, ELL)
    trials = run(MFGPUCB("theory", delta=DELTA, xi=1.0, a=a, b=b, gammas=[1.0]), functions, COSTS, 150.0, seed)
    optimum = functions[-1](np.linspace(0, 1, 20_001)[:, None]).max()
    for t, trial in enumerate(trials, start=1):
        for m, zeta in enumerate((ZETA, 0.0)):
            gap = optimum - float(functions[m](trial.x)) - zeta
            assert gap <= 2 * trial.reason.width[m] + 1 / t**2, "Lemma (TmnHmBound)"
    points = [trial.x for trial in trials if trial.fidelity == 1]
    assert len(points) > 5
    assert len(points) < len(trials)
    regrets = [optimum - float(functions[1](x)) for x in points]
    beta = trials[-1].reason.beta
    bound = sqrt(theory.c1(NOISE) * len(points) * beta * information(points)) + pi**2 / 6
    assert sum(regrets) <= bound, "eq. (Rtildenctsbound)"
    assert min(regrets) <= bound / len(points)


@pytest.mark.parametrize("seed", range(3))
def test_gp_ucb_keeps_its_theorem(seed):
    functions = sample(seed)[1:]
    a, b = theory.smoothness_se(1, 1.0, ELL)
    trials = run(GPUCB("theory", delta=DELTA, a=a, b=b), functions, [1.0], 40.0, seed)
    optimum = functions[0](np.linspace(0, 1, 20_001)[:, None]).max()
    best, points = np.inf, []
    for n, trial in enumerate(trials, start=1):
        points.append(trial.x)
        best = min(best, optimum - float(functions[0](trial.x)))
        # Ψ_n is at least the gain of these points, so this is stricter than the theorem.
        assert best <= theory.gpucb_bound(n, trial.reason.beta, information(points), NOISE, compact=True)
