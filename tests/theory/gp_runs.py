"""Runs of MF-GP-UCB and GP-UCB in theory mode on samples of the generative process, on a finite X."""

from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace

import numpy as np

import mfopt
from mfopt import regret, theory
from mfopt_plugins.strategies.gp_ucb import GPUCB
from mfopt_plugins.strategies.mf_gp_ucb import MFGPUCB
from mfopt_plugins.surrogates.se import SE

LENGTHSCALE, NOISE, DELTA = 0.25, 0.02**2, 0.1
KERNEL = theory.squared_exponential(LENGTHSCALE)


@dataclass(frozen=True)
class Sample:
    """f⁽¹⁾..f⁽ᴹ⁾ at the points of X, given A2."""

    points: np.ndarray
    values: np.ndarray  # (M, N)
    zetas: list
    costs: list
    xi: float

    @property
    def gammas(self):
        return theory.gamma_from_zeta(self.zetas, self.costs)

    @property
    def labels(self):
        return theory.partition(self.values, self.zetas, self.gammas)

    @property
    def beta(self):
        return partial(
            theory.beta_mf_discrete, size=len(self.points), fidelities=len(self.costs), delta=DELTA, xi=self.xi
        )


def line(zeta, seed, size=50):
    """Two fidelities on a line, at costs 1 and 10, with their ξ."""
    points = np.linspace(0, 1, size)[:, None]
    rng = np.random.default_rng(seed)
    values = theory.sample_fidelities(KERNEL, points, [zeta], rng)[0]
    xi = min(1.0, theory.xi_monte_carlo(KERNEL, points, [zeta], rng).value)
    return Sample(points, values, [zeta, 0.0], [1.0, 10.0], xi)


def square(zeta, seed, side=15):
    """Two fidelities on a square, at costs 1 and 50, many modes; ξ = 1, so that both methods have nearly the same β."""
    axis = np.linspace(0, 1, side)
    points = np.array(np.meshgrid(axis, axis)).reshape(2, -1).T.copy()
    values = theory.sample_fidelities(KERNEL, points, [zeta], np.random.default_rng(seed))[0]
    return Sample(points, values, [zeta, 0.0], [1.0, 50.0], 1.0)


@dataclass(frozen=True)
class Run:
    """What was queried: rows of X, fidelities, noisy values, and the values without noise."""

    rows: np.ndarray
    fidelity: np.ndarray
    y: np.ndarray
    exact: SimpleNamespace  # a history whose values are f⁽ᵐ⁾(x_t)

    def regret(self, optimum):
        return regret.simple_regret(self.exact, optimum, target=1)


def run(problem, capital, seed, strategy="mf-gp-ucb"):
    """Known kernel, known noise, no initial design: the algorithm of the theorems."""
    method = GPUCB("theory", delta=DELTA) if strategy == "gp-ucb" else MFGPUCB("theory", delta=DELTA, xi=problem.xi)
    fidelities = [
        mfopt.Fidelity(f"f{m}", cost, zeta, NOISE)
        for m, (cost, zeta) in enumerate(zip(problem.costs, problem.zetas, strict=True))
    ]
    optimizer = mfopt.Optimizer(
        mfopt.FiniteSet(problem.points),
        fidelities=fidelities,
        strategy=method,
        surrogate=SE(lengthscale=LENGTHSCALE, scale=1.0, mean=0.0),
        capital=capital,
        rng=seed,
    )
    noise = np.random.default_rng([seed, 1])
    rows = []
    while not optimizer.done:
        trial = optimizer.ask()
        rows.append(trial.index)
        optimizer.tell(trial, problem.values[trial.fidelity, trial.index] + np.sqrt(NOISE) * noise.standard_normal())
    told = optimizer.history
    rows = np.array(rows)
    exact = SimpleNamespace(fidelity=told.fidelity, y=problem.values[told.fidelity, rows], cost=told.cost)
    return Run(rows, told.fidelity, told.y, exact)
