"""Cheap fidelities whose values tell nothing about each other: the target need not wait for values of its own."""

import numpy as np
import pytest

import mfopt
from mfopt_plugins.strategies.mf_gp_ucb import MFGPUCB
from mfopt_plugins.strategies.ucb.departures import Departures
from mfopt_plugins.strategies.ucb.hedge import BEGINNING, MARGIN, Hedge
from mfopt_plugins.strategies.ucb.muteness import FEWEST, GROWN, TARGETS, Muteness
from mfopt_plugins.surrogates.se import SE
from tests.plugins.runs import SQUARE, fidelity_models, quick, run
from tests.plugins.strategies.test_hedge import bowl, kinds, noise, optimizer, stranger

CHEAP = {"noise": noise, "constant": lambda x: 7.0, "stranger": stranger, "target": bowl}


def judged(*cheap, count=20, targets=TARGETS, told=1):
    """The muteness of these cheap fidelities at random points, told each so many times."""
    used = tuple(range(len(cheap) + 1))
    surrogates, noises = (SE(),) * len(used), (None,) * len(used)
    models = fidelity_models(surrogates, noises, used, 2, 0, coupled=True)
    points = np.random.default_rng(0).random((count, 2))
    for k, f in enumerate([*cheap, bowl]):
        for u in points[: targets if f is bowl and k == len(cheap) else None]:
            for _ in range(told):
                models.observations.add(u, k, f(u))
    models.update()
    costs = tuple(10.0**k for k in used)
    problem = mfopt.protocols.Problem(
        mfopt.Box(SQUARE), costs, (None,) * len(cheap) + (0.0,), noises, None, surrogates, quick(), 0
    )
    muteness = Muteness(problem, models)
    muteness.judge()
    return muteness


@pytest.mark.parametrize(
    ("name", "mute"), [("noise", True), ("constant", True), ("stranger", False), ("target", False)]
)
def test_values_that_cannot_be_predicted_from_each_other_are_mute(name, mute):
    assert judged(CHEAP[name], count=40).found is mute


def test_one_fidelity_that_can_be_predicted_is_enough():
    assert judged(noise, noise).found
    assert not judged(noise, bowl).found


def test_points_told_twice_predict_each_other_and_count_once():
    assert judged(noise, told=2).found


def test_few_values_are_not_judged():
    assert not judged(noise, count=FEWEST - 1).found
    assert not judged(noise, targets=TARGETS - 1).found


def test_values_are_judged_again_when_they_have_grown():
    muteness = judged(noise, count=20)
    observations, rng = muteness._models.observations, np.random.default_rng(1)
    for _ in range(int(20 * GROWN) - 20 - 1):
        observations.add(rng.random(2), 0, noise(rng.random(2)))
    muteness.judge()
    assert muteness._judged == 20
    observations.add(rng.random(2), 0, noise(rng.random(2)))
    muteness.judge()
    assert muteness._judged == int(20 * GROWN)


def test_a_state_is_told_and_taken_up():
    one, other = judged(noise), judged(bowl)
    other.restore(one.state())
    assert other.found
    assert other.state() == one.state()
    one.restart()
    assert one.state() == {"found": False, "_judged": 0}


def test_the_scores_have_the_last_word():
    found = judged(noise)
    hedge = Hedge(found._problem, found._models, Departures())
    hedge._muteness.restore(found.state())
    for scores, alone in (([], True), ([-MARGIN + 1.0], True), ([-3.0, -3.0], False), ([3.0, 3.0], True)):
        hedge._scores = scores
        hedge._decide()
        assert hedge.prefers_alone is alone


def test_the_target_takes_over_early_begins_apart_and_says_why():
    trials = run(optimizer(capital=100.0, maximiser=quick()), [noise, bowl])
    hedged = [trial for trial in trials if trial.reason.kind == "hedge"]
    before = trials[: trials.index(hedged[0])]
    assert sum(trial.cost for trial in before) <= 60.0
    targets = [trial for trial in trials if trial.fidelity == 1]
    assert len(targets) > BEGINNING
    first = [trial for trial in hedged if trial in targets[:BEGINNING]]
    assert first
    known = np.array([trial.x for trial in before if trial.fidelity == 0])
    assert all((known == trial.x).all(axis=1).any() for trial in first)
    assert all("first where a cheap value is known" in trial.reason.text for trial in first)
    assert any("not even from each other" in trial.reason.text for trial in hedged)


@pytest.mark.parametrize("seed", range(4))
def test_a_point_of_the_beginning_where_the_target_fails_is_not_asked_for_ever(seed):
    opt = optimizer(capital=100.0, rng=seed, maximiser=quick())
    failed = []
    while not opt.done:
        trial = opt.ask()
        fails = trial.fidelity == 1 and trial.x[0] > 0.6
        if fails:
            failed.append(trial.x.tobytes())
        opt.tell(trial, None if fails else [noise, bowl][trial.fidelity](trial.x), "failed" if fails else "ok")
    assert opt.strategy._hedge._muteness.found
    assert len(set(failed)) == len(failed)


def test_without_the_option_target_values_have_to_tell():
    options = [{"muted": False}, {"hedged": False}, {"mode": "paper"}]
    for strategy in (MFGPUCB(**option) for option in options):
        trials = run(optimizer(strategy, capital=60.0, maximiser=quick()), [noise, bowl])
        assert "hedge" not in kinds(trials)


def test_values_without_a_pattern_that_are_nearly_the_targets_own_are_not_given_up():
    """As with things on a shelf whose descriptors say nothing: what a cheap look finds good is good."""
    shelf = mfopt.FiniteSet(np.random.default_rng(0).random((300, 2)))
    opt = mfopt.Optimizer(shelf, [1.0, 10.0], capital=150.0, rng=0)
    trials = run(opt, [lambda x: noise(x) + 0.05 * noise(x + 1.0), noise])
    assert opt.strategy._hedge._muteness.found
    targets = [trial for trial in trials if trial.fidelity == 1]
    assert "hedge" in kinds(targets[:BEGINNING])
    assert "hedge" not in kinds(targets[BEGINNING + 1 :])


def test_noise_regrets_much_less_at_ten_full_evaluations():
    differences = []
    for seed in range(6):
        ends = []
        for strategy in (MFGPUCB(), MFGPUCB(muted=False)):
            opt = optimizer(strategy, capital=100.0, rng=seed)
            run(opt, [noise, bowl])
            ends.append(np.log10(-opt.best.y))
        differences.append(ends[0] - ends[1])
    assert np.mean(differences) < -0.5
