"""When mf-gp-ucb softens values, and what it shows of that."""

import numpy as np
import pytest

import mfopt
from mfopt import problems
from mfopt_plugins.strategies.mf_gp_ucb import MFGPUCB
from mfopt_plugins.surrogates.matern import Matern
from mfopt_plugins.surrogates.se import SE
from mfopt_plugins.surrogates.se_python import SEPython
from tests.plugins.runs import quick, run

DOMAIN = [(0.0, 1.0)] * 3


def peaks(x, height):
    """Flat but for two narrow peaks."""
    x = np.atleast_2d(x)
    first = np.exp(-30 * ((x - 0.3) ** 2).sum(axis=1))
    second = np.exp(-30 * ((x - 0.7) ** 2).sum(axis=1))
    return height * first + 9 * second + 0.01 * x.sum(axis=1)


CHEAP, DEAR = (lambda x: float(peaks(x, 9.5)[0])), (lambda x: float(peaks(x, 10.0)[0]))


def optimizer(strategy=None, surrogate="se", **options):
    return mfopt.Optimizer(
        DOMAIN,
        [1.0, 20.0],
        strategy=strategy or MFGPUCB(),
        surrogate=surrogate,
        capital=300.0,
        rng=1,
        maximiser=quick(),
        **options,
    )


@pytest.mark.parametrize("surrogate", [SE(), Matern(), SEPython()])
def test_peaks_on_a_plain_are_softened_and_a_process_is_not(surrogate):
    rng = np.random.default_rng(0)
    u = rng.random((80, 3))
    found = surrogate.softening(u, peaks(u, 10.0), np.random.default_rng(1))
    assert found.strength == 1.0
    assert found.location == pytest.approx(peaks(u, 10.0).mean())
    wave = np.sin(6 * u[:, 0]) + np.cos(5 * u[:, 1]) * u[:, 2]
    assert surrogate.softening(u, wave, np.random.default_rng(1)).strength == 0.0


def test_hartmann6_is_such_a_plain():
    u = np.random.default_rng(0).random((150, 6))
    assert SE().softening(u, problems.get("hartmann6").functions[0](u), np.random.default_rng(1)).strength == 1.0


def test_a_scale_in_the_unit_of_y_or_values_that_are_all_equal_leave_them_as_they_are():
    u = np.random.default_rng(0).random((80, 3))
    assert SE(scale=2.0).softening(u, peaks(u, 10.0), np.random.default_rng(1)).strength == 0.0
    assert SE().softening(u, np.full(80, 3.0), np.random.default_rng(1)).strength == 0.0


def test_reasons_are_in_the_unit_of_y_and_add_up():
    opt = optimizer(MFGPUCB(rule="gamma"))
    trials = run(opt, [CHEAP, DEAR])
    strategy = opt.strategy
    assert strategy._softener.softening.strength > 0.0
    assert opt.best.y > 8.9
    shown = [trial.reason for trial in trials if trial.reason.kind == "ucb" and np.isfinite(trial.reason.phi).all()]
    assert len(shown) > 3
    for reason in shown:
        terms = [np.array(t) for t in (reason.mean, reason.width, reason.zeta)]
        np.testing.assert_allclose(sum(terms), reason.phi, rtol=1e-9, atol=1e-9)
        chosen = reason.fidelity
        if chosen == 0:
            assert reason.width[0] >= reason.gamma[0]
    assert max(reason.mean[1] for reason in shown) > 5.0  # softened values end below
    values = np.concatenate([strategy._observations.rows(k)[1] for k in range(2)])
    assert values.max() < opt.history.y.max()


@pytest.mark.parametrize(
    ("strategy", "surrogate"),
    [
        (MFGPUCB(softened=False), "se"),
        (MFGPUCB(affine=True), "se"),
        (MFGPUCB(gammas=[0.1]), "se"),
        (MFGPUCB(zetas=[0.5]), "se"),
        (MFGPUCB(), "ar1"),
        (MFGPUCB(), [SE(), SE()]),
    ],
)
def test_values_stay_as_they_are(strategy, surrogate):
    opt = optimizer(strategy, surrogate)
    run(opt, [CHEAP, DEAR])
    assert len(opt.history) > 50
    assert opt.strategy._softener.softening.strength == 0.0


def test_softening_in_the_middle_of_a_run_learns_everything_anew():
    """The first values show no peak; when more do, ζ, γ and all rows are seen in the new light."""
    opt = optimizer(MFGPUCB(initial_capital=0.0, rule="gamma"))
    rng = np.random.default_rng(0)
    for x in 0.2 * rng.random((12, 3)) + [0.8, 0.0, 0.4]:
        opt.add(x, 0, CHEAP(x), cost=0.0)
    opt.ask()
    strategy = opt.strategy
    assert strategy._softener.softening.strength == 0.0
    gammas = strategy._schedule.gamma.values
    for x in rng.random((60, 3)):
        opt.add(x, 0, CHEAP(x), cost=0.0)
    opt.ask()
    assert strategy._softener.softening.strength > 0.0
    values = strategy._observations.rows(0)[1]
    np.testing.assert_allclose(values, strategy._softener.softening(opt.history.y), rtol=1e-12)
    assert strategy._models.models[0].n == 72
    assert strategy._schedule.gamma.values[0] == pytest.approx(0.01 * np.ptp(values))
    assert strategy._schedule.gamma.values[0] != gammas[0]
    assert strategy._schedule.zeta.neighbour == pytest.approx(0.01 * np.ptp(values))
