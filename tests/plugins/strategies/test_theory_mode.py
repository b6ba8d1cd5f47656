"""Theory mode is Algorithm (mfgpucb): beside a transcription of it in NumPy, trial by trial."""

from functools import partial

import numpy as np
import pytest

import mfopt
from mfopt import theory
from mfopt_plugins.maximisers.direct import Direct
from mfopt_plugins.strategies.gp_ucb import GPUCB
from mfopt_plugins.strategies.mf_gp_ucb import MFGPUCB
from mfopt_plugins.surrogates.se import SE

ELL, SCALE, NOISE, DELTA, XI = 0.3, 1.5, 0.01, 0.1, 0.5
A, B = 3.0, 2.0
COSTS, ZETAS = [1.0, 4.0, 20.0], [0.6, 0.3, 0.0]
KERNEL = theory.squared_exponential(ELL, SCALE)
AXIS = np.linspace(0.0, 1.0, 9)
GRID = np.array(np.meshgrid(AXIS, AXIS)).reshape(2, -1).T


def values_at(x, m, noise):
    """f⁽ᵐ⁾ with noise."""
    return np.sin(5 * x[0]) + np.cos(4 * x[1]) + (2 - m) * 0.25 * np.sin(9 * x[0]) + np.sqrt(NOISE) * noise


def transcribe(points, beta, gammas, zetas, costs, capital, noise, discrete):
    """Algorithm (mfgpucb), Algorithm (gpucb) with one fidelity: the queries (x_t, m_t) within the capital."""
    fidelities = len(costs)
    data = [([], []) for _ in range(fidelities)]
    queries, spent = [], 0.0
    while spent + costs[-1] <= capital:
        root = np.sqrt(beta(len(queries) + 1))
        mean, width = np.zeros((2, fidelities, len(points)))
        for m, (x, y) in enumerate(data):
            k, gram = (
                KERNEL(points, np.array(x).reshape(-1, 2)),
                KERNEL(np.array(x).reshape(-1, 2), np.array(x).reshape(-1, 2)),
            )
            inverse = np.linalg.inv(gram + NOISE * np.eye(len(x)))
            mean[m] = k @ inverse @ np.array(y)
            width[m] = root * np.sqrt(SCALE - np.einsum("ij,jk,ik->i", k, inverse, k))
        i = int(np.argmax((mean + width + np.array(zetas)[:, None]).min(axis=0)))
        known = [any(np.array_equal(points[i], x) for x in xs) for xs, _ in data]
        below = [m for m in range(fidelities - 1) if width[m, i] >= gammas[m] or (discrete and not known[m])]
        m = min([*below, fidelities - 1])
        data[m][0].append(points[i])
        data[m][1].append(values_at(points[i], 3 - fidelities + m, noise[len(queries)]))
        queries.append((*points[i], m))
        spent += costs[m]
    return np.array(queries)


class OnGrid:
    """A maximiser that looks at the points of a grid alone."""

    def maximise(self, acquisition, domain, rng, t):
        return GRID[int(np.argmax(acquisition(GRID)))].copy()


def run(domain, strategy, costs, capital, noise, maximiser="direct"):
    opt = mfopt.Optimizer(
        domain,
        costs,
        noise=NOISE,
        strategy=strategy,
        surrogate=SE(lengthscale=ELL, scale=SCALE, mean=0.0),
        maximiser=maximiser,
        capital=capital,
        rng=0,
    )
    trials = []
    while not opt.done:
        trial = opt.ask()
        opt.tell(trial, values_at(trial.x, 3 - len(costs) + trial.fidelity, noise[len(trials)]))
        trials.append(trial)
    return trials


def rows(trials):
    return np.array([(*trial.x, trial.fidelity) for trial in trials])


BOX, FINITE = mfopt.Box([(0.0, 1.0)] * 2), mfopt.FiniteSet(GRID)
FINITE_BETA = partial(theory.beta_mf_discrete, size=len(GRID), fidelities=3, delta=DELTA, xi=XI)
WIDE = [2.0, 1.5]
BOX_BETA = partial(theory.beta_mf_compact, d=2, fidelities=3, delta=DELTA, a=A, b=B, xi=XI)


@pytest.mark.parametrize(
    ("domain", "beta", "constants"),
    [
        (FINITE, FINITE_BETA, {}),
        (FINITE, FINITE_BETA, {"gammas": WIDE}),  # so wide that "never queried here" decides about the fidelity
        (BOX, BOX_BETA, {"a": A, "b": B, "gammas": WIDE}),
    ],
    ids=["finite", "finite, wide γ", "box"],
)
def test_mf_gp_ucb_asks_what_the_algorithm_asks(domain, beta, constants):
    noise = np.random.default_rng(1).standard_normal(2000)
    strategy = MFGPUCB("theory", zetas=ZETAS, delta=DELTA, xi=XI, **constants)
    trials = run(domain, strategy, COSTS, 300.0, noise, OnGrid())
    gammas = constants.get("gammas") or theory.gamma_from_zeta(ZETAS, COSTS)
    expected = transcribe(GRID, beta, gammas, ZETAS, COSTS, 300.0, noise, discrete=domain is FINITE)
    assert len(expected) > 30
    assert {0, 1, 2} == {int(m) for m in expected[:, -1]}
    assert np.array_equal(rows(trials), expected)
    assert {trial.reason.kind for trial in trials} == {"ucb"}
    assert [trial.reason.beta for trial in trials] == [beta(t) for t in range(1, len(trials) + 1)]


@pytest.mark.parametrize(
    ("domain", "beta", "constants"),
    [
        (FINITE, partial(theory.beta_gpucb_discrete, size=len(GRID), delta=DELTA), {}),
        (BOX, partial(theory.beta_gpucb_compact, d=2, delta=DELTA, a=A, b=B), {"a": A, "b": B}),
    ],
    ids=["finite", "box"],
)
@pytest.mark.parametrize("method", [GPUCB, MFGPUCB])
def test_gp_ucb_asks_what_its_algorithm_asks(method, domain, beta, constants):
    noise = np.random.default_rng(2).standard_normal(100)
    trials = run(domain, method("theory", delta=DELTA, **constants), [1.0], 40.0, noise, OnGrid())
    expected = transcribe(GRID, beta, [], [0.0], [1.0], 40.0, noise, discrete=domain is FINITE)
    assert len(expected) == 40
    assert np.array_equal(rows(trials), expected)
    assert [trial.reason.beta for trial in trials] == [beta(t) for t in range(1, len(trials) + 1)]


def test_on_a_box_the_point_is_the_maximum_of_phi():
    noise = np.random.default_rng(3).standard_normal(2000)
    strategy = MFGPUCB("theory", zetas=ZETAS, delta=DELTA, xi=XI, a=A, b=B)
    fine = np.array(np.meshgrid(*[np.linspace(0.0, 1.0, 41)] * 2)).reshape(2, -1).T
    trials = run(BOX, strategy, COSTS, 100.0, noise, Direct(budget=3000))
    data = [([], []) for _ in COSTS]
    for t, trial in enumerate(trials):
        at = np.vstack([trial.x, fine])
        phi = np.full(len(at), np.inf)
        for zeta, (x, y) in zip(ZETAS, data, strict=True):
            points = np.array(x).reshape(-1, 2)
            k, gram = KERNEL(at, points), KERNEL(points, points) + NOISE * np.eye(len(points))
            var = SCALE - np.einsum("ij,ji->i", k, np.linalg.solve(gram, k.T))
            phi = np.minimum(phi, k @ np.linalg.solve(gram, np.array(y)) + np.sqrt(BOX_BETA(t + 1) * var) + zeta)
        assert phi[0] >= phi[1:].max() - 1e-3
        data[trial.fidelity][0].append(trial.x)
        data[trial.fidelity][1].append(values_at(trial.x, trial.fidelity, noise[t]))


def test_it_asks_a_noiseless_point_again_and_keeps_no_capital_back():
    points = mfopt.FiniteSet(np.array([[0.0], [1.0]]))
    strategy = MFGPUCB("theory", zetas=[0.5], gammas=[10.0], xi=1.0)
    surrogate = SE(lengthscale=0.1, scale=1.0, mean=0.0)
    opt = mfopt.Optimizer(points, [1.0, 2.0], noise=0.0, strategy=strategy, surrogate=surrogate, capital=10.0, rng=0)
    asked = []
    while not opt.done:
        trial = opt.ask()
        asked.append((trial.index, trial.fidelity))
        opt.tell(trial, 100.0 if trial.index == 1 else 0.0)
    assert asked.count((1, 1)) > 1


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MFGPUCB("theory", zetas=[0.2], a=1.0, b=1.0), "xi must be given in theory mode"),
        (lambda: MFGPUCB("theory", zetas=[0.2], xi=1.0, b=1.0), "a must be given in theory mode where X is not finite"),
        (lambda: MFGPUCB("theory", zetas=[0.2], xi=1.0, a=1.0), "b must be given in theory mode where X is not finite"),
        (lambda: GPUCB("theory", a=1.0), "b must be given in theory mode"),
    ],
)
def test_constants_must_be_given(make, message):
    with pytest.raises(mfopt.InputError, match=message):
        mfopt.Optimizer([(0.0, 1.0)], [1.0, 2.0], strategy=make())


@pytest.mark.parametrize("options", [{"zetas": [0.0]}, {"zetas": [0.2], "gammas": [0.0]}])
def test_a_threshold_of_zero_that_no_query_could_pass_is_refused(options):
    with pytest.raises(mfopt.InputError, match=r"gammas must be positive in theory mode, .* got \[0\.0\]"):
        mfopt.Optimizer(FINITE, [1.0, 2.0], strategy=MFGPUCB("theory", xi=1.0, **options))


def test_no_departure_from_the_algorithm_can_be_switched_on():
    plain, dressed = (
        MFGPUCB("theory", **options) for options in ({}, {"doubt": True, "coupled": True, "rule": "worth"})
    )
    assert plain.departures == dressed.departures
