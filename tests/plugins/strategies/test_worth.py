"""The rules of mf-gp-ucb that are our own: what a value is worth, the target's share, calibrated fidelities."""

import numpy as np
import pytest

import mfopt
from mfopt.errors import InputError
from mfopt_plugins.strategies.mf_gp_ucb import MFGPUCB
from mfopt_plugins.surrogates.se import SE
from tests.plugins.runs import FUNCTIONS, SQUARE, fidelity_models, high, quick, run


def optimizer(domain=SQUARE, costs=(1.0, 10.0), strategy="mf-gp-ucb", capital=200.0, rng=0, **options):
    """With the kernel that suits functions as smooth as those below, so that few values tell much."""
    plugins = {"surrogate": "se", "maximiser": quick(), **options}
    return mfopt.Optimizer(domain, costs, strategy=strategy, capital=capital, rng=rng, **plugins)


def test_the_design_is_cheap_but_for_one_target_query():
    trials = run(optimizer(capital=1000.0), FUNCTIONS, 14)
    kinds = [trial.reason.kind for trial in trials]
    assert [trial.fidelity for trial in trials[:11]] == [0] * 10 + [1]
    assert set(kinds[:11]) == {"initial design"}
    assert "initial design" not in kinds[11:]


def test_a_design_that_is_paid_for_is_the_papers():
    trials = run(optimizer(strategy=MFGPUCB(initial_capital=20.0)), FUNCTIONS, 11)
    assert [trial.fidelity for trial in trials] == [0] * 10 + [1]
    trials = run(optimizer(strategy=MFGPUCB(initial_capital=40.0)), FUNCTIONS, 22)
    assert [trial.fidelity for trial in trials] == [0] * 20 + [1] * 2


@pytest.mark.parametrize("costs", [(1.0, 10.0), (1.0, 3.0, 9.0), (1.0, 1000.0), (1.0, 1.5)])
def test_a_target_value_is_there_by_three_target_costs(costs):
    opt = optimizer(costs=costs, capital=10 * costs[-1])
    functions = [*FUNCTIONS[:1] * (len(costs) - 1), FUNCTIONS[-1]]
    while opt.best is None:
        trial = opt.ask()
        opt.tell(trial, functions[trial.fidelity](trial.x))
    assert opt.spent <= max(3 * costs[-1], 3 * costs[0] + costs[-1])


@pytest.mark.parametrize("share", [0.2, 1 / 3, 0.6])
def test_the_target_has_its_share(share):
    opt = optimizer(strategy=MFGPUCB(share=share), capital=300.0)
    run(opt, FUNCTIONS)
    cost, target = np.cumsum(opt.history.cost), np.cumsum(opt.history.cost * (opt.history.fidelity == 1))
    later = cost > 40.0
    assert (target[later] >= share * cost[later] - 10.0).all()


def test_without_a_share_nothing_is_asked_for_it():
    trials = run(optimizer(strategy=MFGPUCB(share=0.0)), FUNCTIONS)
    assert "share" not in {trial.reason.kind for trial in trials}
    assert "share" in {trial.reason.kind for trial in run(optimizer(strategy=MFGPUCB(share=0.8)), FUNCTIONS)}


def test_the_fidelity_is_the_one_that_is_worth_most_for_what_it_costs():
    costs = np.array([1.0, 4.0, 16.0])
    opt = optimizer(costs=tuple(costs), capital=320.0, strategy=MFGPUCB(hedged=False, promoted=False))
    functions = [lambda x: high(x) + 0.3 * np.sin(9 * x[0]), lambda x: high(x) + 0.1 * np.cos(9 * x[1]), high]
    trials = [trial for trial in run(opt, functions) if trial.reason.kind == "ucb" and trial.reason.worth]
    assert len({trial.fidelity for trial in trials}) > 1
    for trial in trials:
        worth = np.array(trial.reason.worth)
        assert worth[2] == pytest.approx(1.0, abs=0.05) or worth[2] <= 1.0
        if trial.fidelity < 2:
            assert worth[trial.fidelity] / costs[trial.fidelity] > 1 / costs[2]
        assert trial.reason.gamma == (np.inf,) * 3
        assert np.isinf(trial.reason.phi[:2]).all()
        assert trial.reason.phi[2] == pytest.approx(trial.reason.mean[2] + trial.reason.width[2])
    assert "explains" in str(trials[-1].reason)


def test_what_a_value_explains_is_the_variance_that_it_removes():
    models = fidelity_models([SE()] * 2, [None, None], (0, 1), 2, 0, coupled=True)
    rng = np.random.default_rng(0)
    for k, n in enumerate((12, 4)):
        for u in rng.random((n, 2)):
            models.observations.add(u, k, float(np.sin(4 * u.sum()) + 0.2 * k * u[0]))
    models.update()
    u = np.array([0.3, 0.8])
    parts = models.explain(u)
    gp = models.joint.gp
    points = np.vstack([models.joint.encode(u[None], k) for k in range(2)])
    covariance = gp.covariance(points)
    noises = [models.joint.describe(k)["noise"] for k in range(2)]
    for k in range(2):
        expected = covariance[k, 1] ** 2 / ((covariance[k, k] + noises[k]) * covariance[1, 1])
        assert parts[k] == pytest.approx(expected, rel=1e-4, abs=1e-6)
    assert [model.n for model in models.models] == [12, 4]


def test_a_useless_fidelity_is_left_alone():
    opt = optimizer(capital=300.0)
    run(opt, [lambda x: float(np.sin(50 * x[0]) * np.cos(47 * x[1])), high])
    late = opt.history.fidelity[len(opt.history) // 2 :]
    assert np.mean(late == 1) > 0.6


@pytest.mark.parametrize(("factor", "shift"), [(5.0, -40.0), (-1.0, 3.0)], ids=["scaled", "negated"])
def test_a_scaled_or_negated_fidelity_is_as_good_as_the_target(factor, shift):
    opt, alone = optimizer(capital=100.0), optimizer(capital=100.0, strategy="gp-ucb")
    functions = [lambda x: factor * high(x) + shift, high]
    run(opt, functions)
    run(alone, functions)
    assert opt.strategy._models.joint.describe(0)["factor"] == pytest.approx(factor, rel=0.05)
    assert opt.best.y >= alone.best.y - 1e-3


@pytest.mark.parametrize(
    "strategy",
    [
        MFGPUCB(rule="gamma"),
        MFGPUCB(gammas=[0.1]),
        MFGPUCB(zetas=[0.5]),
        MFGPUCB(affine=True),
        MFGPUCB(coupled=False),
        MFGPUCB(mode="theory", zetas=[0.5], xi=1.0, a=1.0, b=1.0),
    ],
)
def test_where_the_papers_rule_holds_there_is_no_worth(strategy):
    trials = run(optimizer(strategy=strategy, capital=150.0), FUNCTIONS)
    reasons = [trial.reason for trial in trials if trial.reason.kind == "ucb"]
    assert reasons
    assert all(reason.worth == () and np.isfinite(reason.gamma[0]) for reason in reasons)
    assert "share" not in {trial.reason.kind for trial in trials}


def test_one_that_cannot_be_calibrated_keeps_its_unit():
    opt = optimizer(strategy=MFGPUCB(calibrated=False))
    run(opt, FUNCTIONS)
    assert opt.strategy._models.joint.calibration.is_plain


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": "best"}, 'rule must be "worth" or "gamma", got \'best\''),
        ({"share": 1.0}, "share must be at least 0 and below 1, got 1.0"),
        ({"share": -0.1}, "share must be at least 0 and below 1, got -0.1"),
        ({"share": "third"}, "share must be a number, got 'third'"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        MFGPUCB(**options)


def test_eight_pending_trials_are_spread():
    opt = optimizer(capital=400.0)
    run(opt, FUNCTIONS, 16)
    trials = opt.ask(8)
    rows = np.column_stack([[trial.x for trial in trials], [trial.fidelity for trial in trials]])
    assert len(np.unique(rows.round(6), axis=0)) == 8


def test_a_target_that_only_failed_is_asked_elsewhere():
    opt = optimizer(capital=300.0)
    while not opt.done:
        trial = opt.ask()
        failed = trial.fidelity == 1 and trial.x[0] > 0.3
        opt.tell(trial, None if failed else FUNCTIONS[trial.fidelity](trial.x), "failed" if failed else "ok")
    assert opt.best is not None


@pytest.mark.parametrize(("middle", "checked"), [(4.0, True), (8.0, False)])
def test_a_check_may_cost_half_a_target_query(middle, checked):
    # The cheap ones know nothing of the target's bump, so that its values contradict them.
    bump = lambda x: 3.0 * float(np.exp(-((x[0] - 0.6) ** 2 + (x[1] - 0.6) ** 2) / 0.02))  # noqa: E731
    functions = [FUNCTIONS[0], FUNCTIONS[0], lambda x: FUNCTIONS[1](x) + bump(x)]
    trials = run(optimizer(costs=(1.0, middle, 10.0), capital=120.0), functions)
    assert checked == any(trial.reason.kind == "check of ζ" and trial.fidelity == 1 for trial in trials)
