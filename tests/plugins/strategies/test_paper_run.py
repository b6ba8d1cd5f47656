"""Paper mode beside a transcription of "Some Implementation Details" in NumPy, trial by trial."""

from math import log, sqrt

import nlopt
import numpy as np
import pytest

import mfopt
from mfopt import theory
from mfopt_plugins.strategies.mf_gp_ucb import MFGPUCB
from mfopt_plugins.surrogates.se import SE

DIM, ELL, SCALE, NOISE = 2, 0.25, 1.2, 1e-4
COSTS = [1.0, 3.0, 12.0]
CAPITAL, INITIAL = 330.0, 60.0
KERNEL = theory.squared_exponential(ELL, SCALE)
GRID = np.vstack([np.random.default_rng(5).random((500, DIM)), np.zeros(DIM), np.ones(DIM)])  # spans the unit square


def value(x, m):
    """f⁽ᵐ⁾, noiseless, whatever the method is told of noise."""
    rough = 0.4 * np.sin(14 * x[0]) * np.cos(11 * x[1])
    return float(np.sin(5 * x[0]) + np.cos(4 * x[1]) + rough - (2 - m) * 0.15 * np.cos(9 * x[0]))


class Posterior:
    """μ and σ of one fidelity."""

    def __init__(self, x, y):
        self.x, self.y = np.array(x).reshape(-1, DIM), np.array(y)
        self.inverse = np.linalg.inv(KERNEL(self.x, self.x) + NOISE * np.eye(len(self.x)))

    def at(self, u):
        k = KERNEL(u, self.x)
        var = SCALE - np.einsum("ij,jk,ik->i", k, self.inverse, k)
        return k @ self.inverse @ self.y, np.sqrt(np.maximum(var, 0.0))


class Section:
    """The section beside a run: its state, and what it asks next. Where points are as good as equal it follows."""

    def __init__(self, initial, argmax, slack):
        self.argmax, self.slack = argmax, slack
        self.data = [([x for x, k in initial if k == m], [value(x, k) for x, k in initial if k == m]) for m in range(3)]
        spread = max(np.ptp(y) for _, y in self.data if y)
        self.t, self.zeta, self.gamma, self.waited = 0, 0.01 * spread, [0.01 * spread] * 2, [0, 0]
        self.checks = 0
        for x in self.data[1][0]:  # the design may have a point at both fidelities
            if self.knows(x, 0):
                self.compare(x, 1)

    def knows(self, x, m):
        return any(np.array_equal(x, other) for other in self.data[m][0])

    def compare(self, x, m):
        difference = abs(value(x, m) - value(x, m - 1))
        if difference > self.zeta:
            self.zeta = 2 * difference

    def iterate(self, asked):
        """One iteration, and the checks of ζ which follow from it, beside what the run `asked`."""
        self.t += 1
        models = [Posterior(*one) for one in self.data]
        root, zetas = sqrt(0.2 * DIM * log(2 * self.t)), [2 * self.zeta, self.zeta, 0.0]

        def phi(u):
            both = [model.at(u) for model in models]
            return np.min([mean + root * sigma + z for (mean, sigma), z in zip(both, zetas, strict=True)], axis=0)

        x, fidelity = next(asked)
        wanted = self.argmax(phi, self.t)
        assert phi(x[None])[0] == pytest.approx(phi(wanted[None])[0], abs=self.slack)
        widths = [root * model.at(x[None])[1][0] for model in models]
        m = min([*(m for m in range(2) if widths[m] >= self.gamma[m]), 2])
        assert fidelity == m
        for k in range(2):
            self.waited[k] = 0 if m > k else self.waited[k] + 1
            if self.waited[k] > COSTS[k + 1] / COSTS[k]:
                self.gamma[k], self.waited[k] = 2 * self.gamma[k], 0
        while m > 0:
            off = abs(value(x, m) - Posterior(*self.data[m - 1]).at(x[None])[0][0]) > self.zeta
            checks = off and not self.knows(x, m - 1)
            if checks or self.knows(x, m - 1):
                self.compare(x, m)
            self.tell(x, m)
            if not checks:
                return
            again, m = next(asked)
            assert (again == x).all()
            self.checks += 1
        self.tell(x, m)

    def tell(self, x, m):
        self.data[m][0].append(x)
        self.data[m][1].append(value(x, m))


def on_grid(phi, t):
    return GRID[int(np.argmax(phi(GRID)))]


def on_box(phi, t):
    """DIRECT as NLopt has it, within the documented budget."""
    seen = []

    def objective(u, gradient):
        seen.append((float(phi(u[None])[0]), u.copy()))
        return -seen[-1][0]

    direct = nlopt.opt(nlopt.GN_DIRECT, DIM)
    direct.set_lower_bounds(np.zeros(DIM))
    direct.set_upper_bounds(np.ones(DIM))
    direct.set_min_objective(objective)
    direct.set_maxeval(200 * DIM + 2 * t)
    direct.optimize(np.full(DIM, 0.5))
    return max(seen, key=lambda one: one[0])[1]


@pytest.mark.parametrize(
    ("domain", "argmax", "slack"),  # DIRECT goes another way where two of its centres differ by rounding alone
    [(mfopt.FiniteSet(GRID), on_grid, 1e-9), (mfopt.Box([(0.0, 1.0)] * DIM), on_box, 1e-3)],
    ids=["finite", "box"],
)
def test_a_run_is_that_of_the_section(domain, argmax, slack):
    opt = mfopt.Optimizer(
        domain,
        COSTS,
        noise=NOISE,
        strategy=MFGPUCB("paper", initial_capital=INITIAL),
        surrogate=SE(lengthscale=ELL, scale=SCALE, mean=0.0),
        capital=CAPITAL,
        rng=0,
    )
    asked = []
    while not opt.done:
        trial = opt.ask()
        opt.tell(trial, value(trial.x, trial.fidelity))
        asked.append((trial.x, trial.fidelity))
    assert [m for _, m in asked[:40]] == [0] * 30 + [1] * 10
    section, left = Section(asked[:40], argmax, slack), iter(asked[40:])
    while True:
        try:
            section.iterate(left)
        except StopIteration:  # the capital is spent
            break
    assert section.t > 20
    assert section.checks > 0
    assert max(section.gamma) > min(section.gamma)
    assert {m for _, m in asked[40:]} == {0, 1, 2}
