"""MF-GP-UCB through the Optimizer: the rules of the paper, one by one. Those that are our own are in test_worth.py."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mfopt
from mfopt import theory
from mfopt.errors import ZetaWarning
from mfopt_plugins.strategies.gp_ucb import GPUCB
from mfopt_plugins.strategies.mf_gp_ucb import MFGPUCB
from mfopt_plugins.surrogates.matern import Matern
from mfopt_plugins.surrogates.se import SE
from tests.plugins.runs import FUNCTIONS, SQUARE, high, low, quick, run, trace


def optimizer(domain=SQUARE, costs=(1.0, 10.0), strategy="mf-gp-ucb:rule=gamma", capital=200.0, rng=0, **options):
    return mfopt.Optimizer(domain, costs, strategy=strategy, capital=capital, rng=rng, maximiser=quick(), **options)


GRID = np.array([[i, j] for i in range(6) for j in range(6)]) / 5.0


# ---------------------------------------------------------------------------------------------- reduction to GP-UCB


@pytest.mark.parametrize("options", [{}, {"mode": "theory", "a": 1.0, "b": 1.0}], ids=["practical", "theory"])
@pytest.mark.parametrize("domain", [SQUARE, mfopt.FiniteSet(GRID)])
def test_with_one_fidelity_it_is_gp_ucb(options, domain):
    traces = [
        trace(run(optimizer(domain, [1.0], strategy(**options), capital=25.0), [high])) for strategy in (MFGPUCB, GPUCB)
    ]
    assert len(traces[0]) == 25
    assert np.array_equal(*traces)


def test_gp_ucb_queries_the_target_only_and_ignores_other_data():
    plain, warm = (optimizer(strategy="gp-ucb", capital=200.0) for _ in range(2))
    warm.add(np.array([[0.1, 0.2], [0.3, 0.4]]), 0, [5.0, 6.0])
    assert np.array_equal(trace(run(plain, FUNCTIONS)), trace(run(warm, FUNCTIONS)))
    assert set(plain.history.fidelity) == {1}


# ---------------------------------------------------------------------------------------------- initial design


def test_the_initial_design_starts_at_the_first_fidelity_then_the_second():
    trials = run(optimizer(capital=1000.0), FUNCTIONS, 30)
    kinds = [trial.reason.kind for trial in trials]
    assert [t.fidelity for t in trials[:28]] == [0] * 25 + [1] * 3
    assert set(kinds[:28]) == {"initial design"}
    assert "initial design" not in kinds[28:]


def test_strategies_that_share_a_seed_share_initial_points():
    several = optimizer(strategy=MFGPUCB(initial_capital=60.0), capital=1000.0)
    single = optimizer(strategy=GPUCB(initial_capital=30.0), capital=1000.0)
    ours = [t.x for t in run(several, FUNCTIONS, 33) if t.fidelity == 1]
    theirs = [t.x for t in run(single, FUNCTIONS, 3)]
    assert np.array_equal(ours, theirs)


def test_data_that_are_there_already_replace_initial_points():
    opt = optimizer(capital=1000.0)
    opt.add(np.random.default_rng(0).random((23, 2)), 0, np.arange(23.0))
    trials = run(opt, FUNCTIONS, 5)
    assert [t.fidelity for t in trials] == [0, 0, 1, 1, 1]


def test_without_any_value_points_stay_random_and_differ():
    opt = optimizer(capital=None, strategy=MFGPUCB(initial_capital=20.0))
    trials = opt.ask(30)
    assert {t.reason.kind for t in trials} == {"initial design"}
    assert len(np.unique([t.x for t in trials], axis=0)) == 30


# ---------------------------------------------------------------------------------------------- the choice


def test_the_fidelity_is_the_smallest_whose_width_reaches_gamma():
    opt = optimizer(strategy=MFGPUCB(initial_capital=20.0, rule="gamma"))
    trials = [t for t in run(opt, mfopt.problems.get("currin").functions) if t.reason.kind == "ucb"]
    assert {t.fidelity for t in trials} == {0, 1}
    for trial in trials:
        reason = trial.reason
        if "capital" not in reason.text:
            assert trial.fidelity == (0 if reason.width[0] >= reason.gamma[0] else 1)
        assert reason.beta == theory.beta_practical(reason.t, 2)
        for k in range(2):
            assert reason.phi[k] == pytest.approx(reason.mean[k] + reason.width[k] + reason.zeta[k])


def test_a_fidelity_without_data_is_left_out_of_the_minimum():
    functions = [low, high, high]
    opt = optimizer(costs=(1.0, 5.0, 25.0), capital=400.0)
    trials = run(opt, functions)
    first = next(t for t in trials if t.reason.kind == "ucb")
    assert first.reason.phi[2] == np.inf
    assert np.isfinite(first.reason.phi[:2]).all()
    after = [t for t in trials if t.reason.kind == "ucb" and np.isfinite(t.reason.phi[2])]
    assert after
    assert set(opt.history.fidelity) == {0, 1, 2}


def test_a_bad_value_above_is_checked_below_and_zeta_becomes_twice_the_violation():
    functions = [lambda x: high(x) - 0.5, high]
    trials = run(optimizer(capital=300.0), functions)
    at = [i for i, t in enumerate(trials) if t.reason.kind == "check of ζ"]
    assert at
    check, after = trials[at[0]], trials[at[0] + 1]
    assert check.fidelity == 0
    assert any(np.array_equal(t.x, check.x) and t.fidelity == 1 for t in trials[: at[0]])
    assert check.reason.zeta[0] < 0.5
    assert after.reason.zeta[0] == pytest.approx(1.0)
    assert len(at) == 1


def test_a_check_that_fails_is_not_repeated():
    opt = optimizer(capital=300.0)
    trials = []
    while not opt.done:
        trials.append(opt.ask())
        x, fidelity = trials[-1].x, trials[-1].fidelity
        if fidelity == 0 and x[1] > 0.8:
            opt.tell(trials[-1], status="failed")
        else:
            opt.tell(trials[-1], high(x) if fidelity else high(x) - 3 * x[1])
    checks = [t.x.tobytes() for t in trials if t.reason.kind == "check of ζ"]
    assert checks
    assert len(set(checks)) == len(checks)


def test_known_zetas_are_used_and_no_check_is_made():
    fidelities = [mfopt.Fidelity("low", 1.0, zeta=0.25), mfopt.Fidelity("high", 10.0)]
    opt = optimizer(costs=None, fidelities=fidelities, capital=250.0)
    trials = run(opt, FUNCTIONS)
    assert not [t for t in trials if t.reason.kind == "check of ζ"]
    assert {t.reason.zeta for t in trials if t.reason.kind == "ucb"} == {(0.25, 0.0)}


def test_a_known_zeta_that_data_contradict_is_told_once_and_the_run_goes_on():
    opt = optimizer(strategy=MFGPUCB(zetas=[0.01]))
    opt.add([0.5, 0.5], 0, 1.0)
    opt.add([0.5, 0.5], 1, 3.0)
    with pytest.warns(ZetaWarning, match=r"differ by at most 0\.01 at a point, got 2"):
        assert opt.strategy.violations == {0: 2.0}
    assert run(opt, FUNCTIONS, 20)


def test_gamma_grows_while_nothing_above_is_queried():
    """With a first fidelity so rough that it never becomes certain, only growth of γ leads to the target."""
    rng = np.random.default_rng(0)
    strategy = MFGPUCB(initial_capital=100.0, coupled=False)
    trials = run(optimizer(capital=400.0, strategy=strategy), [lambda x: float(rng.standard_normal()), high])
    gammas = [t.reason.gamma[0] for t in trials if t.reason.kind == "ucb"]
    assert gammas[-1] >= 2 * gammas[0]
    assert all(later in (now, 2 * now) for now, later in pairwise(gammas))


@pytest.mark.parametrize("costs", [(1.0,), (1.0, 3.0), (1.0, 3.0, 9.0), (1.0, 2.0, 4.0, 8.0)])
def test_any_number_of_fidelities_finds_the_maximum(costs):
    functions = [lambda x, k=k: high(x) + 0.05 * k * np.cos(7 * x[0]) for k in range(len(costs) - 1, -1, -1)]
    opt = optimizer(costs=costs, capital=25 * costs[-1])
    run(opt, functions)
    assert opt.best.y > 2 - 0.02
    assert opt.spent <= opt.capital


def test_fidelities_may_have_different_surrogates_and_noise():
    opt = optimizer(surrogate=[Matern(1.5), SE()], noise=[0.01, 0.0])
    rng = np.random.default_rng(0)
    run(opt, [lambda x: low(x) + 0.1 * rng.standard_normal(), high])
    assert opt.best.y > 1.8


def test_the_method_reaches_low_regret_on_the_papers_problems():
    for name, capital, limit in [("currin", 25, 1e-2), ("hartmann3", 14, 5e-2)]:
        problem = mfopt.problems.get(name)
        opt = mfopt.Optimizer(problem.domain, problem.costs, capital=capital * problem.costs[-1], rng=1)
        run(opt, problem.functions)
        assert problem.optimum - opt.best.y < limit


# ---------------------------------------------------------------------------------------------- theory mode


def test_theory_mode_uses_the_theorems_constants_and_queries_every_fidelity_of_a_finite_point_first():
    opt = optimizer(mfopt.FiniteSet(GRID), strategy=MFGPUCB("theory", zetas=[0.2], xi=1.0), capital=None)
    trials = run(opt, FUNCTIONS, 40)
    gamma = 0.2 * np.sqrt(1 / 10)
    below = set()
    for trial in trials:
        assert trial.reason.beta == theory.beta_mf_discrete(trial.reason.t, 36, 2, 0.1)
        assert trial.reason.gamma[0] == pytest.approx(gamma)
        assert trial.reason.zeta == (0.2, 0.0)
        if trial.fidelity == 0:
            below.add(trial.index)
        else:
            assert trial.index in below
    assert {t.fidelity for t in trials} == {0, 1}


def test_theory_mode_on_a_box_uses_the_compact_theorem():
    strategy = MFGPUCB("theory", zetas=[0.2], gammas=[0.5], xi=0.5, a=3.0, b=2.0)
    reasons = [t.reason for t in run(optimizer(strategy=strategy, capital=150.0), FUNCTIONS)]
    assert {reason.kind for reason in reasons} == {"ucb"}
    for reason in reasons:
        assert reason.beta == theory.beta_mf_compact(reason.t, 2, 2, 0.1, a=3.0, b=2.0, xi=0.5)
        assert reason.gamma[0] == 0.5


# ---------------------------------------------------------------------------------------------- capital


@settings(max_examples=40, deadline=None)
@given(
    costs=st.lists(st.integers(1, 40), min_size=1, max_size=3, unique=True),
    extra=st.floats(0.0, 12.0),
    seed=st.integers(0, 1000),
)
def test_capital_is_never_overspent_and_the_last_payable_query_is_at_the_target(costs, extra, seed):
    costs = sorted(float(c) for c in costs)
    capital = costs[-1] * (1 + extra)
    opt = optimizer([(0.0, 1.0)], costs, capital=capital, rng=seed)
    trials = run(opt, [lambda x, k=k: float(np.sin(5 * x[0]) + k) for k in range(len(costs))])
    assert opt.spent <= capital
    assert capital - opt.spent < costs[-1]
    assert trials[-1].fidelity == len(costs) - 1
    assert opt.best is not None


def test_the_last_target_query_exploits():
    trials = run(optimizer(capital=205.0), FUNCTIONS)
    last = trials[-1]
    assert last.reason.kind == "last target query"
    assert [t.reason.kind for t in trials].count("last target query") == 1


# ---------------------------------------------------------------------------------------------- ask and tell


def test_the_same_seed_gives_the_same_trials_and_another_seed_others():
    traces = [trace(run(optimizer(rng=seed), FUNCTIONS)) for seed in (3, 3, 4)]
    assert np.array_equal(traces[0], traces[1])
    assert not np.array_equal(traces[0][0], traces[2][0])


@pytest.mark.parametrize("domain", [SQUARE, mfopt.FiniteSet(GRID)])
def test_parallel_asks_differ_and_may_be_told_in_any_order(domain):
    opt = optimizer(domain, capital=None)
    run(opt, FUNCTIONS, 40)
    trials = opt.ask(6)
    queries = {(*t.x, t.fidelity) for t in trials}
    assert len(queries) == 6
    for trial in reversed(trials):
        opt.tell(trial, FUNCTIONS[trial.fidelity](trial.x))
    assert len(opt.history.y) == 46


def test_pending_queries_leave_no_trace_in_the_models():
    opt = optimizer(capital=None)
    run(opt, FUNCTIONS, 60)
    opt.ask()
    counts = [model.n for model in opt.strategy._models.models]
    assert sum(counts) == 60
    opt.ask(3)
    assert [model.n for model in opt.strategy._models.models] == counts


@pytest.mark.parametrize("domain", [SQUARE, mfopt.FiniteSet(GRID)])
def test_a_failed_point_is_not_proposed_again_at_once_and_does_not_reach_the_models(domain):
    opt = optimizer(domain, capital=None)
    run(opt, FUNCTIONS, 40)
    failed = opt.ask()
    opt.tell(failed, status="failed")
    following = run(opt, FUNCTIONS, 5)
    assert all(not np.allclose(t.x, failed.x, atol=1e-3) for t in following)
    assert sum(model.n for model in opt.strategy._models.models) <= 45


def test_a_run_in_which_everything_fails_ends_with_its_capital():
    opt = optimizer(capital=60.0)
    while not opt.done:
        opt.tell(opt.ask(), status="failed")
    assert opt.best is None
    assert opt.spent <= 60.0


# ---------------------------------------------------------------------------------------------- domains


@pytest.mark.parametrize("noise", [0.0, None])
def test_a_noiseless_finite_set_is_exhausted_when_every_point_was_a_target_query(noise):
    opt = optimizer(mfopt.FiniteSet(GRID[:12]), capital=None, noise=noise)
    trials = run(opt, FUNCTIONS, 500)
    at_target = [t.index for t in trials if t.fidelity == 1]
    again = 1 if noise is None else 0  # a second value tells that there is no noise, if nothing else has
    assert sorted(set(at_target)) == list(range(12))
    assert len(at_target) == 12 + again
    with pytest.raises(mfopt.Exhausted):
        opt.ask()


def test_a_noisy_finite_set_is_never_exhausted_and_good_points_are_repeated():
    rng = np.random.default_rng(0)
    opt = optimizer(mfopt.FiniteSet(GRID[:12]), [1.0], capital=60.0, noise=0.25)
    trials = run(opt, [lambda x: high(x) + 0.5 * rng.standard_normal()])
    assert len(trials) == 60


def test_one_candidate_is_enough():
    opt = optimizer(mfopt.FiniteSet([[2.0, 3.0]]), capital=None)
    assert {t.fidelity for t in run(opt, FUNCTIONS, 100)} == {0, 1}


def test_no_point_of_a_noiseless_box_is_queried_twice_at_a_fidelity():
    """The maximum is a corner: without care it would be asked for again and again."""
    opt = optimizer(capital=300.0)
    run(opt, [lambda x: float(x.sum()) + 0.01, lambda x: float(x.sum())])
    rows = np.column_stack([opt.history.x, opt.history.fidelity])
    assert len(np.unique(rows, axis=0)) == len(rows)
    assert opt.best.y == pytest.approx(2.0)


def test_every_query_lies_in_a_constrained_x():
    box = mfopt.Box([(-1.0, 1.0), (0.0, 10.0)], constraints=lambda x: x[:, 0] + x[:, 1] / 10 < 0.3)
    trials = run(optimizer(box, capital=200.0), FUNCTIONS)
    x = np.array([t.x for t in trials])
    assert (x[:, 0] + x[:, 1] / 10 < 0.3).all()


def test_a_constant_function_still_gets_to_the_target():
    opt = optimizer(capital=300.0)
    run(opt, [lambda x: 1.0, lambda x: 1.0])
    assert np.sum(opt.history.fidelity == 1) > 6


def test_minimising_mirrors_maximising():
    up = run(optimizer(), FUNCTIONS)
    down = run(optimizer(direction="minimize"), [lambda x: -low(x), lambda x: -high(x)])
    assert np.array_equal(trace(up), trace(down))
    ours, theirs = up[-1].reason, down[-1].reason
    assert theirs.bound == "lower"
    assert theirs.phi == tuple(-p for p in ours.phi)


# ---------------------------------------------------------------------------------------------- options


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MFGPUCB(mode="fast"), 'mode must be "practical", "paper" or "theory", got \'fast\''),
        (lambda: MFGPUCB(zetas=[-1.0]), r"zetas must be finite and not negative, got \[-1.0\]"),
        (lambda: MFGPUCB(gammas=[float("nan")]), "gammas must be finite and not negative"),
        (lambda: MFGPUCB(initial_capital=-1.0), "initial_capital must be finite and not negative, got -1.0"),
        (lambda: MFGPUCB(beta_factor=0.0), "beta_factor must be positive and finite, got 0.0"),
        (lambda: MFGPUCB(beta_factor="a"), "beta_factor must be a number, got 'a'"),
        (lambda: MFGPUCB(delta=True), "delta must be a number, got True"),
        (lambda: MFGPUCB(gamma_shrink=0.5), "gamma_shrink must be at least 1, got 0.5"),
        (lambda: MFGPUCB(delta=1.0), "delta must lie strictly between 0 and 1, got 1.0"),
        (lambda: MFGPUCB(xi=0.0), r"xi must lie in \(0, 1\], got 0.0"),
        (
            lambda: optimizer(strategy=MFGPUCB("theory", xi=1.0, a=1.0, b=1.0)),
            "zetas must be given for every fidelity below the target",
        ),
        (lambda: optimizer(strategy=MFGPUCB(zetas=[1.0, 2.0, 3.0])), "zetas must hold one value per fidelity"),
        (lambda: optimizer(strategy=MFGPUCB(gammas=[])), "gammas must hold one value per fidelity"),
    ],
)
def test_a_bad_option_is_named(call, message):
    with pytest.raises(mfopt.InputError, match=message):
        call()
