"""mf-naive, mf-naive-random, mf-sko, co-kriging and the options of mf-gp-ucb."""

import numpy as np
import pytest

import mfopt
from mfopt.protocols import Record
from mfopt_plugins.method.improvement import Tamed
from mfopt_plugins.strategies.co_kriging import CoKriging
from mfopt_plugins.strategies.mf_gp_ucb import MFGPUCB
from mfopt_plugins.strategies.mf_naive import MFNaive
from mfopt_plugins.strategies.mf_naive_random import MFNaiveRandom
from mfopt_plugins.strategies.mf_sko import MFSKO, AugmentedImprovement, tell_noise
from mfopt_plugins.strategies.ucb.affine import Affine
from mfopt_plugins.surrogates.ar1 import AR1
from mfopt_plugins.surrogates.se import SE
from tests.plugins.runs import FUNCTIONS, SQUARE, fidelity_models, high, low, quick, run, show, trace


def optimizer(strategy, domain=SQUARE, costs=(1.0, 10.0), capital=200.0, rng=0, **options):
    return mfopt.Optimizer(domain, costs, strategy=strategy, capital=capital, rng=rng, maximiser=quick(), **options)


# ---------------------------------------------------------------------------------------------- mf-naive


@pytest.mark.parametrize("strategy", [MFNaive, MFNaiveRandom])
def test_half_of_the_capital_goes_to_the_first_fidelity_then_the_target_sees_the_best_points(strategy):
    opt = optimizer(strategy(), capital=60.0)
    trials = run(opt, FUNCTIONS)
    assert [t.fidelity for t in trials] == [0] * 30 + [1] * 3
    values = sorted((low(t.x) for t in trials[:30]), reverse=True)
    assert [low(t.x) for t in trials[30:]] == values[:3]


@pytest.mark.parametrize("strategy", [MFNaive, MFNaiveRandom])
def test_the_limit_is_an_upper_one(strategy):
    """The paper's max(Λ/(2λ₁), 500) read as a minimum."""
    opt = optimizer(strategy(limit=12), capital=100.0)
    assert [t.fidelity for t in run(opt, FUNCTIONS)][:13] == [0] * 12 + [1]
    assert MFNaive()._limit == 500


def test_without_capital_the_limit_alone_counts():
    trials = run(optimizer(MFNaiveRandom(limit=15), capital=None), FUNCTIONS, 20)
    assert [t.fidelity for t in trials] == [0] * 15 + [1] * 5


def test_fidelities_between_are_not_used():
    opt = optimizer(MFNaiveRandom(), costs=(1.0, 3.0, 9.0), capital=60.0)
    run(opt, [low, None, high])
    assert set(opt.history.fidelity) == {0, 2}


def test_the_first_part_begins_with_the_points_that_mf_gp_ucb_has_there():
    traces = [
        trace(run(optimizer(name, capital=1000.0), FUNCTIONS, 25))
        for name in ("mf-gp-ucb:rule=gamma", "mf-naive", "mf-naive-random")
    ]
    assert np.array_equal(traces[0], traces[1])
    assert np.array_equal(traces[0], traces[2])


def test_when_every_point_was_seen_the_first_method_goes_on_one_by_one():
    opt = optimizer(MFNaiveRandom(limit=3), capital=100.0)
    assert [t.fidelity for t in run(opt, FUNCTIONS)][:10] == [0, 0, 0, 1, 1, 1, 0, 1, 0, 1]


def test_a_first_fidelity_that_always_fails_leaves_random_target_queries():
    opt = optimizer(MFNaiveRandom(), capital=40.0)
    while not opt.done:
        trial = opt.ask()
        if trial.fidelity == 0:
            opt.tell(trial, status="failed")
        else:
            opt.tell(trial, high(trial.x))
    assert opt.best is not None


@pytest.mark.parametrize("mode", ["practical", "paper"])
def test_mf_naive_chooses_half_of_its_cheap_queries_at_least(mode):
    opt = optimizer(MFNaive(limit=30, mode=mode), costs=[1.0, 1000.0], capital=5000.0)
    design = [trial.reason.kind == "initial design" for trial in run(opt, [low, high]) if trial.fidelity == 0]
    assert design == [True] * 15 + [False] * 15


def test_with_one_fidelity_mf_naive_is_gp_ucb():
    traces = [trace(run(optimizer(name, costs=[1.0], capital=20.0), [high])) for name in ("mf-naive", "gp-ucb")]
    assert np.array_equal(*traces)


# ---------------------------------------------------------------------------------------------- the Forrester example


def forrester(x):
    return float((6 * x[0] - 2) ** 2 * np.sin(12 * x[0] - 4))


def cheap_forrester(x):
    return 0.5 * forrester(x) + 10 * (x[0] - 0.5) - 5


@pytest.mark.parametrize("name", ["mf-sko", "co-kriging"])
def test_the_published_example_is_solved_with_few_expensive_queries(name):
    """Forrester et al. (2007): 4 expensive and 11 cheap values to begin with; the optimum is at 0.757249."""
    opt = optimizer(name, [(0.0, 1.0)], capital=45.0, direction="minimize")
    expensive, cheap = np.array([[0.0], [0.4], [0.6], [1.0]]), np.linspace(0.0, 1.0, 11)[:, None]
    opt.add(expensive, 1, [forrester(x) for x in expensive])
    opt.add(cheap, 0, [cheap_forrester(x) for x in cheap])
    trials = run(opt, [cheap_forrester, forrester])
    assert abs(opt.best.x[0] - 0.757249) < 5e-3
    assert sum(t.fidelity == 1 for t in trials) <= 4


@pytest.mark.parametrize("seed", [0, 1])
def test_mf_sko_solves_it_from_a_random_design_too(seed):
    opt = optimizer("mf-sko", [(0.0, 1.0)], capital=110.0, direction="minimize", rng=seed)
    run(opt, [cheap_forrester, forrester])
    assert abs(opt.best.x[0] - 0.757249) < 5e-3


# ---------------------------------------------------------------------------------------------- mf-sko


def joint_models(noises=(1e-4, 1e-6)):
    one = AR1()
    both = fidelity_models([one, one], noises, [0, 1], 2, 0)
    rng = np.random.default_rng(0)
    for i, u in enumerate(rng.random((14, 2))):
        show(both, Record(i, u, 0, low(u), True))
        if i < 5:
            show(both, Record(i, u, 1, high(u), True))
    both.update()
    return both


QUERY = np.random.default_rng(1).random((20, 2))


@pytest.mark.parametrize("k", [0, 1])
def test_the_augmented_improvement_is_the_product_of_its_factors_by_monte_carlo(k):
    models = joint_models((0.04, 1e-6))
    best, ratio = 1.0, (10.0, 1.0)[k]
    rng = np.random.default_rng(2)
    value = np.exp(AugmentedImprovement(models, k, best, ratio, 1.0)(QUERY))
    for i, u in enumerate(QUERY):
        means = [model.posterior(u[None])[0][0] for model in models.models]
        cov = np.array([[models.joint.covariance(u[None], a, b)[0] for b in range(2)] for a in range(2)])
        draws = rng.multivariate_normal(means, cov, 40_000)
        improvement = np.maximum(draws[:, 1] - best, 0.0)
        correlation = abs(np.corrcoef(draws[:, k], draws[:, 1])[0, 1])
        eta = np.sqrt(models.noise(k))
        plain = improvement.mean() * correlation * (1 - eta / np.sqrt(cov[k, k] + eta**2)) * ratio
        error = improvement.std() / 200 * ratio + 0.02 * plain
        assert abs(value[i] - plain) <= 5 * error + 1e-9


@pytest.mark.parametrize("k", [0, 1])
def test_the_augmented_improvement_has_its_gradient(k):
    acquisition = AugmentedImprovement(joint_models(), k, 1.5, 10.0, 2.0)
    value, slope = acquisition.gradient(QUERY)
    assert np.array_equal(value, acquisition(QUERY))
    for j in range(2):
        step = 1e-6 * np.eye(2)[j]
        numeric = (acquisition(QUERY + step) - acquisition(QUERY - step)) / 2e-6
        assert np.allclose(slope[:, j], numeric, rtol=1e-3, atol=1e-4 * np.abs(slope).max())


@pytest.mark.parametrize("best", [-3.0, 1.5, 40.0])
def test_the_joint_model_tells_the_best_of_the_augmented_improvements(best):
    models = joint_models()
    plain = [AugmentedImprovement(models, k, best, ratio, 2.0) for k, ratio in enumerate((10.0, 1.0))]
    noises = [tell_noise(models, k, 2.0) for k in range(2)]
    fused = models.joint.improvement(best, 2.0, noises, np.log([10.0, 1.0]), Tamed.TAIL)
    values = np.array([Tamed(one)(QUERY) for one in plain])
    assert np.allclose(fused(QUERY), values.max(axis=0), rtol=1e-10)
    which = values.argmax(axis=0)
    slopes = np.array([Tamed(one).gradient(QUERY)[1] for one in plain])[which, np.arange(len(QUERY))]
    assert np.allclose(fused.gradient(QUERY)[1], slopes, rtol=1e-6, atol=1e-6 * np.abs(slopes).max())


@pytest.mark.parametrize("mode", ["practical", "paper"])
def test_one_search_finds_what_a_search_per_fidelity_finds(mode, monkeypatch):
    def choices():
        opt = optimizer(MFSKO(mode=mode), costs=(1.0, 3.0, 9.0), capital=135.0)
        trials = run(opt, [low, high, high])
        first = next(t for t in trials if t.reason.kind == MFSKO.kind and "promises most" in t.reason.text)
        return first.x, first.fidelity, opt.best.y

    x, fidelity, best = choices()
    monkeypatch.setattr(MFSKO, "_look_at_all", lambda *arguments: None)
    other_x, other_fidelity, other_best = choices()
    assert np.allclose(x, other_x, atol=1e-3)
    assert fidelity == other_fidelity
    assert abs(best - other_best) < 0.02


def test_a_known_cheap_point_is_worth_nothing_there():
    models = joint_models((0.0, 0.0))
    acquisition = AugmentedImprovement(models, 0, 1.5, 10.0, 2.0)
    known = models.observations.rows(0)[0]
    value, slope = acquisition.gradient(known)
    assert np.isfinite(value).all()
    assert np.isfinite(slope).all()
    assert value.max() < acquisition(QUERY).max() - 5


@pytest.mark.parametrize("name", ["mf-sko", "co-kriging"])
def test_a_joint_surrogate_of_the_user_is_used_and_another_one_replaced(name):
    own = AR1(nu=2.5)
    given = optimizer(name, surrogate=own)
    assert given.strategy._models.joint.describe(0)["kernel"] == "ar1 over matern52"
    default = optimizer(name)
    assert default.strategy._models.joint.describe(1)["kernel"] == "ar1 over se"
    assert optimizer(name, costs=[1.0]).strategy._models.joint is None


@pytest.mark.parametrize("name", ["mf-sko", "co-kriging"])
def test_three_fidelities_begin_without_a_target_value_and_get_one(name):
    opt = optimizer(name, costs=(1.0, 3.0, 9.0), capital=75.0)
    trials = run(opt, [low, high, high])
    chosen = [t for t in trials if t.reason.kind != "initial design"]
    assert chosen[0].fidelity == 2
    assert "no target value is known" in chosen[0].reason.text
    assert opt.best.y > 1.9


def test_co_kriging_climbs_with_every_point_and_drops_it_after_a_failure():
    opt = optimizer(CoKriging(initial_capital=24.0), costs=(1.0, 3.0, 9.0), capital=None)
    trials = run(opt, [low, high, high], 29)
    later = [t for t in trials if t.reason.kind == "co-kriging"][1:]
    assert len(later) >= 9
    for first, second, third in zip(later[::3], later[1::3], later[2::3], strict=False):
        assert [first.fidelity, second.fidelity, third.fidelity] == [0, 1, 2]
        assert np.array_equal(first.x, second.x)
        assert np.array_equal(first.x, third.x)
    while (trial := opt.ask()).fidelity != 0:
        opt.tell(trial, high(trial.x))
    opt.tell(trial, status="failed")
    assert not np.array_equal(opt.ask().x, trial.x)


# ---------------------------------------------------------------------------------------------- options of mf-gp-ucb


def shifted(x):
    return 0.4 * high(x) - 7.0


def paired_models(count):
    both = fidelity_models([SE(), SE()], [0.0, 0.0], [0, 1], 2, 0)
    for i, u in enumerate(np.random.default_rng(0).random((30, 2))):
        show(both, Record(i, u, 0, shifted(u), True))
        if i < count:
            show(both, Record(i, u, 1, high(u), True))
    both.update()
    return both


def test_scale_and_offset_are_learnt_from_pairs():
    affine = Affine([True, True])
    affine.learn(paired_models(2))
    assert affine.a.tolist() == [1.0, 1.0]
    affine.learn(paired_models(20))
    assert affine.a[0] == pytest.approx(2.5, rel=0.05)
    assert affine.value(0, shifted([0.3, 0.3])) == pytest.approx(high([0.3, 0.3]), abs=0.05)
    assert (affine.a[1], affine.b[1]) == (1.0, 0.0)


def test_the_corrected_model_is_that_of_the_corrected_function():
    both = paired_models(20)
    affine = Affine([True, True])
    affine.learn(both)
    model = affine.model(0, both.models[0])
    assert affine.model(1, both.models[1]) is both.models[1]
    mean, var, dmean, dvar = model.posterior_gradient(QUERY)
    raw, raw_var, draw, draw_var = both.models[0].posterior_gradient(QUERY)
    assert np.allclose(mean, affine.a[0] * raw + affine.b[0])
    assert np.allclose(var, affine.a[0] ** 2 * raw_var)
    assert np.allclose(dmean, affine.a[0] * draw)
    assert np.allclose(dvar, affine.a[0] ** 2 * draw_var)
    assert np.allclose(model.posterior(QUERY), [mean, var])
    u = np.array([[0.5, 0.5]])
    model.extend(u, model.posterior(u)[0])
    assert np.allclose(model.posterior(QUERY)[0], mean, atol=1e-4)
    model.truncate(30)
    assert model.n == both.models[0].n == 30


def test_the_correction_keeps_zeta_small_where_the_cheap_fidelity_is_shifted():
    zetas = []
    for affine in (False, True):
        opt = optimizer(MFGPUCB(affine=affine), capital=200.0)
        trials = run(opt, [shifted, high])
        zetas.append(trials[-1].reason.zeta[0])
        assert opt.best.y > 1.9
    assert zetas[0] > 7
    assert zetas[1] < 1


def test_a_fidelity_whose_zeta_is_known_is_not_corrected():
    opt = optimizer(MFGPUCB(zetas=[10.0], affine=True), capital=150.0)
    run(opt, [shifted, high])
    assert opt.strategy._affine.a.tolist() == [1.0, 1.0]


def test_the_option_is_off_by_default_and_does_nothing_then():
    opt = optimizer("mf-gp-ucb", capital=150.0)
    run(opt, [shifted, high])
    assert opt.strategy._affine.a.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MFNaive(limit=0), "limit must be at least 1, got 0"),
        (lambda: MFNaive(beta_factor=-1.0), "beta_factor must be positive and finite, got -1.0"),
        (lambda: MFGPUCB("theory", zetas=[1.0], affine=True), 'affine must be False in mode "theory"'),
    ],
)
def test_a_bad_option_is_named(call, message):
    with pytest.raises(mfopt.InputError, match=message):
        call()
