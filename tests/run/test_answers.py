"""What a run predicts and recommends."""

import json
import math

import numpy as np
import pytest

import mfopt
from mfopt import Fidelity, InputError, Optimizer
from mfopt.cli import main
from mfopt.errors import DomainError, NoValue, PluginError
from mfopt.protocols import Posterior
from mfopt.run.answers import PosteriorMean
from mfopt_plugins.strategies.mf_gp_ucb import MFGPUCB
from mfopt_plugins.surrogates.se import SE
from tests.optimizer.toys import RandomSearch
from tests.plugins.runs import quick, run
from tests.plugins.strategies.test_softened import CHEAP, DEAR
from tests.plugins.strategies.test_softened import optimizer as peaked

BOX = mfopt.Box([(-1.0, 3.0), (1.0, 100.0)], names=["a", "b"], log=[False, True])


def f(x):
    return 5.0 - (x[0] - 1.0) ** 2 - (math.log10(x[1]) - 1.0) ** 2


def told(strategy="gp-ei", noise=None, sd=0.0, direction="maximize", n=20, **options):
    """A short run on the box, with noise of standard deviation sd."""
    rng, sign = np.random.default_rng(1), 1.0 if direction == "maximize" else -1.0
    opt = Optimizer(BOX, [1.0], strategy=strategy, noise=noise, direction=direction, capital=float(n), rng=2, **options)
    run(opt, [lambda x: sign * f(x) + sd * rng.standard_normal()])
    return opt


@pytest.mark.parametrize("strategy", ["mf-gp-ucb", "gp-ei", "random", "direct"])
def test_predictions_are_of_f_in_the_users_unit_and_sign(strategy):
    for direction, sign in (("maximize", 1.0), ("minimize", -1.0)):
        opt = told(strategy, direction=direction)
        mean, std = opt.predict([1.0, 10.0])
        assert isinstance(mean, float)
        assert isinstance(std, float)
        assert mean == pytest.approx(sign * 5.0, abs=0.05)
        assert 0.0 <= std < 0.5


def test_one_point_many_points_and_params_agree():
    opt = told()
    points = np.array([[1.0, 10.0], [2.0, 20.0], [0.0, 3.0]])
    mean, std = opt.predict(points)
    assert mean.shape == std.shape == (3,)
    dicts = [{"a": a, "b": b} for a, b in points.tolist()]
    for given in (points.tolist(), [tuple(x) for x in points.tolist()], list(points), dicts):
        np.testing.assert_array_equal(opt.predict(given)[0], mean)
    for k, x in enumerate(points):
        for given in (x, x.tolist(), dicts[k]):
            assert opt.predict(given) == pytest.approx((mean[k], std[k]), rel=1e-3)
    assert [len(part) for part in opt.predict(np.empty((0, 2)))] == [0, 0]


def test_bad_points_and_fidelities_are_refused_by_rule_and_value():
    opt = told()
    for bad in ([5.0, 10.0], [1.0], {"a": 1.0}, [[1.0, 10.0], [5.0, 10.0]]):
        with pytest.raises(DomainError):
            opt.predict(bad)
    with pytest.raises(InputError, match="one point or a list of points"):
        opt.predict([1.0, [1.0, 10.0]])
    with pytest.raises(InputError, match=r"shape \(1, 1, 2\)"):
        opt.predict(np.ones((1, 1, 2)))
    with pytest.raises(InputError, match="from 0 to 0, got 1"):
        opt.predict([1.0, 10.0], 1)
    with pytest.raises(InputError, match=r"one of \['fidelity 0'\] or its number, got 'coarse'"):
        opt.predict([1.0, 10.0], "coarse")


def test_before_any_value_there_is_no_answer():
    opt = Optimizer(BOX, [1.0, 2.0])
    for ask in (lambda: opt.predict([1.0, 10.0]), opt.recommend):
        with pytest.raises(NoValue, match="needs at least one value, got none"):
            ask()
    assert opt.recommend_if_noisy() is None
    opt.tell(opt.ask(), status="failed")
    with pytest.raises(NoValue):
        opt.recommend()
    opt.add([1.0, 10.0], 0, 4.0)  # at the cheap fidelity alone: a first idea of the target
    assert opt.recommend().params == pytest.approx({"a": 1.0, "b": 10.0})


def test_a_fidelity_is_known_by_number_and_name_whether_or_not_the_strategy_models_it():
    levels = [Fidelity("coarse", 1.0), Fidelity("fine", 3.0)]
    for strategy in ("mf-gp-ucb", "gp-ucb", "random"):
        opt = Optimizer(BOX, fidelities=levels, strategy=strategy, capital=60.0, rng=1, maximiser=quick())
        rng = np.random.default_rng(0)
        x = BOX.decode(rng.random((12, 2)))
        opt.add(x, 0, [f(point) - 2.0 for point in x])
        run(opt, [lambda x: f(x) - 2.0, f])
        assert opt.predict([1.0, 10.0], "coarse") == opt.predict([1.0, 10.0], 0)
        assert opt.predict([1.0, 10.0], 0)[0] == pytest.approx(3.0, abs=0.3)
        assert opt.predict([1.0, 10.0], "fine") == opt.predict([1.0, 10.0], 1) == opt.predict([1.0, 10.0])
        assert opt.predict([1.0, 10.0])[0] == pytest.approx(5.0, abs=0.3)


def test_with_noise_the_recommendation_is_the_best_mean_among_the_target_queries():
    opt = told("random", noise=1.0, sd=1.0, n=40)
    found = opt.recommend()
    means = opt.predict(opt.history.x)[0]
    assert found.noisy
    assert found.mean == pytest.approx(means.max())
    np.testing.assert_allclose(found.x, opt.history.x[np.argmax(means)])
    assert (found.mean, found.std) == pytest.approx(opt.predict(found.x))
    assert found.params == dict(zip("ab", found.x.tolist(), strict=True))
    assert f(found.x) > f(opt.best.x)  # the luckiest of 40 values is off
    assert opt.best.y - f(opt.best.x) > 2 * abs(found.mean - f(found.x))
    anywhere = opt.recommend(anywhere=True)
    assert anywhere.mean >= found.mean
    assert anywhere.mean >= opt.predict(BOX.decode(np.random.default_rng(0).random((500, 2))))[0].max()


def test_without_noise_it_is_the_best_point_to_the_bit():
    for noise in (None, 0.0):
        opt = told(noise=noise)
        found = opt.recommend()
        assert not found.noisy
        assert found.x is opt.best.x
        assert found.mean == pytest.approx(opt.best.y, abs=1e-3)
        assert opt.recommend_if_noisy() is None


def test_a_finite_set_is_looked_at_as_a_whole():
    rows = np.random.default_rng(0).random((50, 2))
    opt = Optimizer(mfopt.FiniteSet(rows, names=["a", "b"]), [1.0], noise=0.01, strategy="gp-ei", capital=20.0, rng=1)
    noise = np.random.default_rng(3)
    run(opt, [lambda x: x[0] + x[1] + 0.1 * noise.standard_normal()])
    found = opt.recommend(anywhere=True)
    assert (rows == found.x).all(axis=1).any()
    assert found.mean == pytest.approx(opt.predict(rows)[0].max())
    assert opt.recommend().mean <= found.mean


def test_softened_values_are_predicted_in_the_unit_of_y():
    opt = peaked()
    run(opt, [CHEAP, DEAR])
    assert opt.strategy._softener.active
    assert opt.predict(opt.best.x)[0] == pytest.approx(opt.best.y, abs=0.5)
    assert opt.best.y > 8.0
    x = np.random.default_rng(0).random((300, 3))
    mean, std = opt.predict(x)
    assert np.isfinite(mean).all()
    assert mean.max() < 20.0
    assert 0.0 <= std.min() < std.max() < 20.0
    inside = np.abs(mean - [DEAR(point) for point in x]) <= 3 * std + 0.05
    assert inside.mean() > 0.8


def test_the_mean_is_an_acquisition_with_its_gradient():
    opt = told()
    mean = PosteriorMean(opt.strategy.posterior(0).model)
    u = np.array([[0.4, 0.6]])
    step = 1e-4  # the mean is known to about 1e-9: a smaller step would measure its rounding
    for j in range(2):
        shift = step * np.eye(2)[j]
        assert mean.gradient(u)[1][0, j] == pytest.approx(
            (mean(u + shift)[0] - mean(u - shift)[0]) / (2 * step), rel=1e-3, abs=1e-6
        )
    assert mean.rows == 20


def test_trials_and_the_best_value_have_params():
    opt = told(n=8)
    assert opt.best.params == dict(zip("ab", opt.best.x.tolist(), strict=True))
    other = Optimizer(BOX, [1.0], rng=1)
    trial = other.ask()
    assert trial.params == dict(zip("ab", trial.x.tolist(), strict=True))
    assert all(type(value) is float for value in trial.params.values())


def test_the_result_shows_the_recommendation_where_there_is_noise():
    rng = np.random.default_rng(0)
    noisy = mfopt.maximize(
        [lambda x: f(x) + rng.standard_normal()], BOX, [1.0], 25.0, strategy="gp-ei", maximiser=quick(), rng=1
    )
    assert noisy.recommended.noisy
    assert noisy.recommended.mean < noisy.fun
    exact = mfopt.maximize([f], BOX, [1.0], 15.0, strategy="gp-ei", maximiser=quick(), rng=1)
    assert exact.recommended is None


def test_models_that_fail_at_the_end_do_not_cost_the_result():
    class Broken(MFGPUCB):
        def posterior(self, fidelity):
            raise RuntimeError("no such luck")

    with pytest.warns(RuntimeWarning, match="no such luck"):
        result = mfopt.maximize([f], BOX, [1.0], 8.0, strategy=Broken(), maximiser=quick(), rng=1)
    assert result.recommended is None
    assert result.fun == result.history.y.max()


def test_a_study_answers_too_and_the_command_best_shows_it(tmp_path, capsys):
    path = str(tmp_path / "study.db")
    opt = Optimizer(BOX, [1.0], noise=0.25, strategy="gp-ei", capital=25.0, rng=1, maximiser=quick(), storage=path)
    rng = np.random.default_rng(5)
    run(opt, [lambda x: f(x) + 0.5 * rng.standard_normal()])
    here, there = opt.recommend(), mfopt.Study.open(path).recommend()
    assert (here.mean, here.std, here.params) == (there.mean, there.std, there.params)
    assert main(["best", path, "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["recommended"] == {"x": here.params, "mean": here.mean, "std": here.std}
    assert main(["best", path]) == 0
    assert f"recommended  {here.mean!r} ± {here.std:.3g}" in capsys.readouterr().out


def test_what_is_printed_shows_the_values_that_users_know():
    space = mfopt.Space({"n": mfopt.Integer(1, 5), "c": ["a", "b"], "r": mfopt.Real(0, 1, when={"c": "b"})})
    opt = Optimizer(space, [1.0], noise=0.1, strategy="random", rng=0)
    opt.add({"n": 2, "c": "a"}, 0, 1.0)
    assert repr(opt.best) == "Best(params={'n': 2, 'c': 'a'}, y=1.0, trial_id=0)"
    assert repr(opt.recommend()).startswith("Recommendation(params={'n': 2, 'c': 'a'}, mean=")
    trial = opt.ask()
    assert repr(trial).startswith(f"Trial(params={trial.params}, id=1, fidelity=0, cost=1.0, index=None, reason=")
    named = Optimizer(BOX, [1.0], strategy="random", rng=0)
    named.add([0.5, 2.0], 0, 1.0)
    assert repr(named.best) == "Best(params={'a': 0.5, 'b': 2.0}, y=1.0, trial_id=0)"
    plain = Optimizer([(0, 1), (0, 1)], [1.0], strategy="random", rng=0)
    plain.add([0.5, 0.25], 0, 1.0)
    assert repr(plain.best) == "Best(x=array([0.5 , 0.25]), y=1.0, trial_id=0)"
    assert repr(plain.ask()).startswith("Trial(id=1, x=array(")


@pytest.mark.parametrize(
    ("failing", "message"),
    [
        (lambda u: 1 / 0, "failing raised ZeroDivisionError"),
        (lambda u: [True], r"failing must return a boolean per point, \d+, got \[True\]"),
        (lambda u: np.zeros(len(u)), "failing must return a boolean per point"),
    ],
)
def test_where_a_strategy_believes_that_evaluations_fail_is_checked(failing, message):
    class Believes(RandomSearch):
        def posterior(self, fidelity):
            model = SE().model(2, 1e-6)
            model.fit(np.array([[0.2, 0.3], [0.7, 0.1]]), np.array([0.0, 1.0]), np.random.default_rng(0))
            return Posterior(model, True, failing=failing)

    opt = Optimizer([(0, 1)] * 2, [1.0], strategy=Believes(), maximiser=quick(), rng=0)
    run(opt, [lambda x: float(x[0])], 1)
    with pytest.raises(PluginError, match=message) as caught:
        opt.recommend(anywhere=True)
    assert "Believes" in caught.value.plugin
