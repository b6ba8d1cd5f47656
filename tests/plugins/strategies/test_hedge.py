"""The hedge of mf-gp-ucb: where cheap fidelities tell nothing, the target's own model takes over."""

import numpy as np
import pytest

import mfopt
from mfopt_plugins.strategies.mf_gp_ucb import MFGPUCB
from mfopt_plugins.strategies.ucb.departures import Departures
from mfopt_plugins.strategies.ucb.hedge import ALONE, MARGIN, MOST, SCORES, Hedge
from mfopt_plugins.surrogates.se import SE
from tests.plugins.runs import FUNCTIONS, SQUARE, fidelity_models, quick, run


def bowl(x):
    return -float((x[0] - 0.3) ** 2 + 2 * (x[1] - 0.6) ** 2)


def stranger(x):
    return float(np.sin(13 * x[0]) + np.cos(17 * x[1]))


def noise(x):
    """Nothing but noise, the same at the same point."""
    digits = np.frombuffer(np.ascontiguousarray(x).tobytes(), dtype=np.uint32)
    return float(np.random.default_rng(digits).standard_normal())


def optimizer(strategy="mf-gp-ucb", capital=200.0, rng=0, **options):
    return mfopt.Optimizer(SQUARE, [1.0, 10.0], strategy=strategy, capital=capital, rng=rng, **options)


def kinds(trials):
    return [trial.reason.kind for trial in trials]


def test_a_cheap_fidelity_of_pure_noise_costs_little():
    regrets = {}
    for name, strategy in {"hedged": MFGPUCB(), "not": MFGPUCB(hedged=False)}.items():
        ends = []
        for seed in range(7):  # single runs differ by orders of magnitude, and with the versions of SciPy
            opt = optimizer(strategy, capital=300.0, rng=seed)
            run(opt, [noise, bowl])
            ends.append(-opt.best.y)
        regrets[name] = float(np.median(ends))
    assert regrets["hedged"] < 1e-2 * regrets["not"]


def test_a_good_cheap_fidelity_is_not_hedged_against():
    trials = run(optimizer(), [lambda x: 0.5 * bowl(x) + 3.0, bowl])
    assert "hedge" not in kinds(trials)


def forrester(x):
    return float(-((6 * x[0] - 2) ** 2) * np.sin(12 * x[0] - 4))


def blown_up(x):
    """Like the target, but for a twentieth of X near its lesser maximum."""
    return 100.0 if 0.007 < x[0] < 0.057 else 0.8 * forrester(x) - 3 * float(x[0] - 0.5)


@pytest.mark.parametrize("seed", [94, 190, 191])
def test_the_hedge_leaves_a_lesser_maximum(seed):
    opt = mfopt.Optimizer([(0.0, 1.0)], [1.0, 10.0], capital=300.0, rng=seed)
    run(opt, [blown_up, forrester])
    assert opt.best.y > 6.0  # the lesser maximum has 0.99


def test_hedged_queries_are_for_the_target_and_say_why():
    trials = run(optimizer(), [stranger, bowl])
    hedged = [trial for trial in trials if trial.reason.kind == "hedge"]
    late = trials[trials.index(hedged[0]) :]
    assert sum(trial.cost for trial in late if trial.fidelity == 1) > 0.6 * sum(trial.cost for trial in late)
    assert {trial.fidelity for trial in hedged} == {1}
    assert "predicted the target better" in str(hedged[0].reason)


@pytest.mark.parametrize("options", [{"hedged": False}, {"rule": "gamma"}, {"mode": "paper"}])
def test_without_the_option_or_the_rule_nothing_is_hedged(options):
    trials = run(optimizer(MFGPUCB(**options), maximiser=quick()), [stranger, bowl])
    assert "hedge" not in kinds(trials)


class Recorded:
    """A hedge over two fidelities whose target has these rows."""

    def __init__(self, count):
        self.models = fidelity_models([SE()] * 2, [None, None], (0, 1), 2, 0, coupled=True)
        points = np.random.default_rng(0).random((count, 2))
        for u in points:
            self.models.observations.add(u, 0, stranger(u))
            self.models.observations.add(u, 1, bowl(u))
        self.models.update()
        problem = mfopt.protocols.Problem(
            mfopt.Box(SQUARE), (1.0, 10.0), (None, 0.0), (None, None), None, (SE(), SE()), quick(), 0
        )
        self.hedge = Hedge(problem, self.models, Departures())


def test_scores_are_bounded_so_that_one_surprise_does_not_decide():
    hedge = Recorded(8).hedge
    hedge.judge(np.array([0.5, 0.5]), 1e6)
    hedge.judge(np.array([0.4, 0.5]), -1e6)
    assert all(abs(score) <= MOST for score in hedge._scores)
    assert MOST < MARGIN < SCORES * MOST
    assert 0 < ALONE < 1


def test_predictions_are_compared_only_from_three_values_on():
    hedge = Recorded(2).hedge
    hedge.judge(np.array([0.5, 0.5]), 0.0)
    assert hedge._scores == []


def test_pending_points_count_as_told_while_the_next_is_chosen():
    hedge = Recorded(8).hedge
    point = np.array([[0.9, 0.1]])
    with hedge.hallucinate(np.empty((0, 2))):
        before = hedge.bound(4.0)(point)
    with hedge.hallucinate(point):
        assert hedge.bound(4.0)(point) < before - 1e-3
    assert hedge.bound(4.0)(point) == pytest.approx(before, rel=1e-9)


def test_the_model_alone_depends_on_nothing_but_the_rows():
    one, other = Recorded(9).hedge, Recorded(9).hedge
    with one.hallucinate(np.array([[0.5, 0.5]])):
        other.forget()
    points = np.random.default_rng(1).random((5, 2))
    with one.hallucinate(np.empty((0, 2))), other.hallucinate(np.empty((0, 2))):
        assert (one.bound(1.0)(points) == other.bound(1.0)(points)).all()


def test_the_first_target_query_is_the_best_cheap_point():
    opt = optimizer(maximiser=quick())
    trials = run(opt, FUNCTIONS, 11)
    values = [FUNCTIONS[0](trial.x) for trial in trials[:10]]
    assert trials[10].fidelity == 1
    assert (trials[10].x == trials[int(np.argmax(values))].x).all()
    assert "best point of the cheapest" in trials[10].reason.text


@pytest.mark.parametrize("options", [{"promoted": False}, {"initial_capital": 20.0}])
def test_a_design_left_to_chance_asks_the_target_elsewhere(options):
    trials = run(optimizer(MFGPUCB(**options), maximiser=quick()), FUNCTIONS, 11)
    cheap = np.array([trial.x for trial in trials if trial.fidelity == 0])
    (target,) = [trial.x for trial in trials if trial.fidelity == 1]
    assert not (cheap == target).all(axis=1).any()


def test_where_every_cheap_query_failed_chance_decides():
    opt = optimizer(maximiser=quick(), capital=1000.0)
    for _ in range(10):
        opt.tell(opt.ask(), status="failed")
    while (trial := opt.ask()).fidelity == 0:
        opt.tell(trial, status="failed")
    assert trial.fidelity == 1
    assert np.isfinite(trial.x).all()


def test_the_default_prefers_a_rough_kernel_and_others_the_papers():
    def kernel(**options):
        opt = mfopt.Optimizer(SQUARE, capital=300.0, rng=0, maximiser=quick(), **options)
        run(opt, FUNCTIONS, 15)
        return opt.strategy._models.models[-1].describe()["kernel"]

    assert kernel(costs=[1.0, 10.0]).startswith("matern52")
    assert kernel(costs=[1.0, 10.0], surrogate="se").startswith("se")
    assert kernel(costs=[1.0, 10.0], strategy=MFGPUCB(rule="gamma")).startswith("se")
    assert kernel(costs=[1.0, 10.0], strategy="gp-ucb").startswith("se")


@pytest.mark.parametrize("name", ["hedged", "muted", "promoted", "coupled", "doubt", "isotropic", "last_query"])
def test_a_switch_is_on_or_off(name):
    with pytest.raises(mfopt.errors.InputError, match=f"{name} must be True, False or None, got 'maybe'"):
        MFGPUCB(**{name: "maybe"})


def test_values_that_nobody_asked_for_are_learnt_from_when_there_is_something_to_compare(monkeypatch):
    """A study that is opened again is shown all its values before its state: none of them must cost a fit."""
    learnt, learn = [], Hedge._learn
    monkeypatch.setattr(Hedge, "_learn", lambda self, u, y: (learnt.append(len(y)), learn(self, u, y)))
    opt = mfopt.Optimizer([(0, 1)] * 2, [1.0, 10.0], rng=0)
    x = np.random.default_rng(0).random((40, 2))
    opt.add(x, 0, x.sum(axis=1))
    opt.add(x, 1, x.sum(axis=1))
    assert opt.strategy is not None  # which has been shown all of it
    assert learnt == []
    while len(opt.history) < 84 or not learnt:
        trial = opt.ask()
        opt.tell(trial, float(trial.x.sum()))
        assert len(opt.history) < 200
    assert all(n >= 3 for n in learnt)
