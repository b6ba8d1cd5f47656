"""With one fidelity: no local maximum holds a run for ever, batches hold no copies, noise is tested."""

import numpy as np
import pytest

import mfopt
from mfopt_plugins.strategies.mf_gp_ucb import MFGPUCB
from mfopt_plugins.strategies.ucb.doubt import Doubt
from tests.plugins.runs import FUNCTIONS, SQUARE, run


def forrester(x):
    return -float((6 * x[0] - 2) ** 2 * np.sin(12 * x[0] - 4))


def gramacy_lee(x):
    """So wavy that a model of few values takes it for noise."""
    return -float(np.sin(10 * np.pi * x[0]) / (2 * x[0]) + (x[0] - 1) ** 4)


@pytest.mark.parametrize("strategy", ["mf-gp-ucb", "gp-ucb", "gp-pi"])
@pytest.mark.parametrize("seed", [0, 3, 4])  # stuck at 0.99 before there was doubt with one fidelity
def test_no_seed_stays_in_the_lesser_maximum(strategy, seed):
    opt = mfopt.Optimizer([(0.0, 1.0)], [1.0], strategy=strategy, capital=30.0, rng=seed)
    run(opt, [forrester])
    assert opt.best.y > 5.9  # the median of random search is 5.95


def test_without_doubt_it_does():
    opt = mfopt.Optimizer([(0.0, 1.0)], [1.0], strategy=MFGPUCB(doubt=False), capital=30.0, rng=0)
    run(opt, [forrester])
    assert opt.best.y < 1.0


def test_refinements_in_vain_make_room_for_other_places():
    doubt, looks = Doubt(), []
    for best in (1.0, 1.5, 1.5, 1.5, 1.6, 1.6):
        doubt.refine(best, spread=1.0, costs=[1.0])
        looks.append(doubt.looks)
    assert looks == [1, 1, 2, 4, 1, 2]


def test_what_seems_to_be_noise_is_tested_by_a_second_value_of_one_point():
    opt = mfopt.Optimizer([(0.5, 2.5)], [1.0], strategy="gp-ucb", capital=30.0, rng=0)
    trials = run(opt, [gramacy_lee])
    tests = [trial for trial in trials if trial.reason.kind == "test of noise"]
    assert len(tests) == 1
    earlier = [trial.x[0] for trial in trials[: tests[0].id]]
    assert tests[0].x[0] in earlier
    assert not opt.recommend().noisy  # both values agreed, so the model has to follow the waves
    assert opt.strategy._models.models[0].describe()["noise"] < 1e-4
    assert opt.best.y > 0.86  # of 0.869


def test_where_there_is_noise_the_second_value_shows_it():
    rng = np.random.default_rng(0)
    opt = mfopt.Optimizer([(0.0, 1.0)], [1.0], strategy="gp-ei", capital=25.0, rng=2)
    trials = run(opt, [lambda x: forrester(x) + 2.0 * rng.standard_normal()])
    assert sum(trial.reason.kind == "test of noise" for trial in trials) == 1
    assert opt.recommend().noisy


def test_near_points_with_far_values_are_tested_for_noise():
    opt = mfopt.Optimizer([(0.0, 1.0)], [1.0], strategy="gp-ucb:initial_capital=0", capital=25.0, rng=2)
    for x, y in ((0.1, 0.0), (0.3, 0.4), (0.5, 0.2), (0.701, 1.0), (0.7, 0.5)):  # a short length-scale explains all
        opt.add([x], 0, y)
    trial = opt.ask()
    assert (trial.reason.kind, trial.x[0]) == ("test of noise", 0.701)


@pytest.mark.parametrize(("noise", "factor"), [(0.0, 0.2), (0.01, 4.0)])
def test_one_noisy_fidelity_has_a_larger_beta(noise, factor):
    opt = mfopt.Optimizer([(0.0, 1.0)], [1.0], noise=noise, strategy="gp-ucb", capital=25.0, rng=2)
    for _ in range(6):
        trial = opt.ask()
        opt.tell(trial, forrester(trial.x))
    assert trial.reason.kind == "ucb"
    assert trial.reason.beta == pytest.approx(factor * np.log(2 * 6))


@pytest.mark.parametrize("strategy", ["mf-gp-ucb", "gp-ucb", "gp-ei", "gp-pi", "mf-sko", "co-kriging"])
def test_a_batch_holds_no_near_copies_at_one_fidelity(strategy):
    opt = mfopt.Optimizer(SQUARE, [1.0, 5.0], strategy=strategy, capital=250.0, rng=3)
    for _ in range(5):
        trials = opt.ask(8)
        for m in (0, 1):
            chosen = [t.x for t in trials if t.fidelity == m and t.reason.kind != "initial design"]
            for i, x in enumerate(chosen):
                assert all(np.abs(x - other).max() > 1e-3 for other in chosen[:i])
        for trial in trials:
            opt.tell(trial, FUNCTIONS[trial.fidelity](trial.x))


def test_one_by_one_a_maximum_is_still_refined():
    opt = mfopt.Optimizer(SQUARE, [1.0], strategy="gp-ucb", capital=40.0, rng=1)
    run(opt, [lambda x: 1.0 - (x[0] - 0.31) ** 2 - (x[1] - 0.62) ** 2 + 0.1 * np.sin(3 * x[0])])
    x = opt.history.x[np.argsort(-opt.history.y)[:2]]
    assert np.abs(x[0] - x[1]).max() < 1e-3
