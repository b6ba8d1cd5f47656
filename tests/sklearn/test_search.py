"""MultiFidelitySearchCV beside scikit-learn's own search classes."""

import warnings

import joblib
import numpy as np
import pytest
import scipy.stats
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge, RidgeCV
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import mfopt
from mfopt import InputError
from mfopt.sklearn import MultiFidelitySearchCV

X, Y = make_classification(300, 6, random_state=0)
C = {"C": mfopt.Real(1e-3, 1e3, log=True)}


def search(estimator=None, space=C, **options):
    given = {"capital": 2.5, "cv": 3, "random_state": 0, **options}
    return MultiFidelitySearchCV(SVC() if estimator is None else estimator, space, **given)


def checks(*estimators):
    """parametrize_with_checks, whose older versions hand pytest a generator, which newer versions of pytest refuse."""
    made = parametrize_with_checks(list(estimators))
    names, cases = made.args
    return pytest.mark.parametrize(names, list(cases), **made.kwargs)


@checks(
    search(LogisticRegression(), capital=1.2, cv=2),
    search(Ridge(), {"alpha": mfopt.Real(0.1, 10, log=True)}, capital=1.2, cv=2),
    search(
        make_pipeline(StandardScaler(), LogisticRegression()),
        {"logisticregression__C": mfopt.Real(0.1, 10, log=True)},
        capital=1.2,
        cv=2,
    ),
)
def test_scikit_learns_own_checks_pass(estimator, check):
    if check.func.__name__ == "check_supervised_y_2d":
        pytest.skip("scikit-learn expects its own search classes to fail it: DataConversionWarning not caught")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn's checks give awkward data, and its tests ignore warnings
        check(estimator)


def test_the_results_are_those_of_a_search_with_more_columns():
    found = search().fit(X, Y)
    results = found.cv_results_
    grid = GridSearchCV(SVC(), {"C": [1.0]}, cv=3).fit(X, Y)
    assert set(results) == set(grid.cv_results_) | {"fidelity", "resource", "time", "status"}
    assert {len(column) for column in results.values()} == {len(results["params"])}
    assert set(results["resource"].tolist()) <= set(found.resources_) == {20, 60, 200}
    assert set(results["status"].tolist()) == {"ok"}
    assert (results["time"] > 0).all()
    full = results["fidelity"] == 2
    assert found.best_score_ == results["mean_test_score"][full].max()
    assert found.best_params_ == results["params"][found.best_index_]
    assert results["fidelity"][found.best_index_] == 2
    assert 1 <= full.sum() < len(full)


def test_the_winner_is_fitted_to_all_data_and_used():
    found = search().fit(X, Y)
    expected = SVC(C=found.best_params_["C"]).fit(X, Y)
    np.testing.assert_array_equal(found.predict(X), expected.predict(X))
    assert found.score(X, Y) == expected.score(X, Y)
    assert found.best_estimator_.get_params()["C"] == found.best_params_["C"]


def test_a_score_with_the_full_resource_is_that_of_plain_cross_validation():
    found = search().fit(X, Y)
    grid = GridSearchCV(SVC(), {"C": [found.best_params_["C"]]}, cv=3).fit(X, Y)
    assert grid.best_score_ == pytest.approx(found.best_score_, rel=1e-12)


def test_the_seed_repeats_a_search():
    first, second, other = (search(random_state=seed).fit(X, Y).cv_results_["params"] for seed in (3, 3, 4))
    assert first == second != other


def test_a_parameter_may_be_the_resource():
    forest = RandomForestClassifier(20, random_state=0)
    found = search(forest, {"max_depth": mfopt.Integer(1, 6)}, resource="n_estimators").fit(X, Y)
    results = found.cv_results_
    assert found.resources_ == [2, 6, 20]
    assert [params["n_estimators"] for params in results["params"]] == results["resource"].tolist()
    assert found.best_estimator_.n_estimators == 20
    given = search(forest, {"max_depth": [1, 2]}, resource="n_estimators", levels=[3, 9]).fit(X, Y)
    assert given.resources_ == [3, 9]
    assert given.best_estimator_.n_estimators == 9


def test_rows_of_data_may_be_given_as_numbers():
    assert search(levels=[30, 150]).fit(X, Y).resources_ == [30, 150]


@pytest.mark.filterwarnings("ignore::mfopt.errors.CostWarning")
def test_time_is_what_evaluations_cost_where_there_is_a_limit_alone():
    found = search(start=False, capital=None, time_limit="1s").fit(X, Y)
    told = sum(one.told for one in found.cost_estimates_)
    assert told > 0
    assert (found.cv_results_["fidelity"][told:] == 2).all()  # what was left of the time went to candidates
    fixed = search().fit(X, Y)
    assert [one.cost for one in fixed.cost_estimates_] == [0.1, 0.3, 1.0]


def search_by(ticks, limit):
    """A search whose clock advances by half a second with every look at it."""

    class Ticking(MultiFidelitySearchCV):
        @staticmethod
        def _clock():
            ticks.append(0.5 * len(ticks))
            return ticks[-1]

    return Ticking(SVC(), C, time_limit=limit, cv=3, random_state=0)


@pytest.mark.filterwarnings("ignore::mfopt.errors.CostWarning")
def test_the_clock_of_a_search_is_that_of_its_limit_and_of_its_costs():
    ticks = []
    found = search_by(ticks, 20.0).fit(X, Y)
    assert 17.0 <= ticks[-1] < 25.0
    assert 0.4 < min(one.cost for one in found.cost_estimates_) < 2.0


@pytest.mark.filterwarnings("ignore::mfopt.errors.CostWarning")
def test_the_time_that_is_left_in_the_end_is_for_promising_candidates(monkeypatch):
    asked = []
    ask = mfopt.Optimizer.ask
    monkeypatch.setattr(mfopt.Optimizer, "ask", lambda self: asked.append(ask(self)) or asked[-1])
    monkeypatch.setattr(mfopt.Optimizer, "done", property(lambda self: len(asked) >= 9))  # long before the limit
    ticks = []
    results = search_by(ticks, 30.0).set_params(start=False).fit(X, Y).cv_results_
    assert 2 in results["fidelity"][:9]  # so that nothing had to be evaluated for want of a value
    assert ticks[-1] > 30.0
    assert (results["fidelity"][9:] == 2).all()
    full = [params["C"] for params, m in zip(results["params"], results["fidelity"], strict=True) if m == 2]
    assert len(full) == len(set(full)) >= 4
    cheap = results["mean_test_score"][results["fidelity"] == 0]
    assert np.median(results["mean_test_score"][9:]) > np.median(cheap)


@pytest.mark.filterwarnings("ignore::mfopt.errors.CostWarning")
def test_a_stored_search_that_has_spent_its_time_has_none_left_for_candidates(tmp_path, monkeypatch):
    given = {"storage": str(tmp_path / "study.db"), "study": "svc"}
    first = search_by([], 20.0).set_params(**given).fit(X, Y)
    for name, value in (("done", True), ("remaining", 0.0)):
        monkeypatch.setattr(mfopt.Optimizer, name, property(lambda self, value=value: value))
    again = search_by([], 20.0).set_params(**given).fit(X, Y)
    assert len(again.cv_results_["params"]) == 1  # the best is scored once more
    assert again.best_params_ == first.best_params_


def test_a_limit_that_is_too_short_still_gives_a_result():
    found = search(capital=None, time_limit=1e-6).fit(X, Y)
    assert found.cv_results_["resource"].tolist() == [200]


def test_every_kind_of_space_is_understood():
    space = {
        "C": scipy.stats.loguniform(0.1, 10),
        "gamma": scipy.stats.uniform(0.1, 2.0),
        "degree": scipy.stats.randint(2, 5),
        "kernel": ["rbf", "poly"],
        "class_weight": [None, {0: 1, 1: 2}],
        "tol": scipy.stats.gamma(2.0, scale=1e-3),
        "max_iter": scipy.stats.poisson(100_000),
        "coef0": (0.0, 1.0),
        "shrinking": mfopt.Categorical([True, False]),
    }
    params = search(space=space, start=False).fit(X, Y).cv_results_["params"]
    assert all(0.1 <= one["C"] <= 10 and 0.1 <= one["gamma"] <= 2.1 and one["degree"] in (2, 3, 4) for one in params)
    assert {type(one["max_iter"]) for one in params} == {int}
    assert all(98_000 < one["max_iter"] < 102_000 and 0 < one["tol"] < 0.02 for one in params)
    weights = [one["class_weight"] for one in params]
    assert None in weights
    assert {0: 1, 1: 2} in weights


def test_a_pair_of_integers_does_for_a_depth_that_is_none_by_itself():
    found = search(DecisionTreeClassifier(random_state=0), {"max_depth": (2, 8)}, start=False).fit(X, Y)
    assert set(found.cv_results_["status"].tolist()) == {"ok"}
    assert found.best_params_["max_depth"] in range(2, 9)


def test_several_metrics_are_scored_and_refit_names_the_one_that_counts():
    scoring = {"right": "accuracy", "area": "roc_auc"}
    found = search(scoring=scoring, refit="area").fit(X, Y)
    full = found.cv_results_["fidelity"] == 2
    assert found.best_score_ == found.cv_results_["mean_test_area"][full].max()
    assert "mean_test_right" in found.cv_results_
    assert not hasattr(search(refit=False).fit(X, Y), "best_estimator_")


@pytest.mark.parametrize("refit", [False, lambda results: 0])
@pytest.mark.parametrize("scoring", [["accuracy", "roc_auc"], ("accuracy",), {"right": "accuracy"}])
def test_several_metrics_without_a_name_are_refused_before_anything_is_evaluated(scoring, refit):
    class Watched(SVC):
        def fit(self, X, y, sample_weight=None):
            raise AssertionError("fitted")

    with pytest.raises(InputError, match="refit must name the metric to be optimised, where there are several, got"):
        search(Watched(), scoring=scoring, refit=refit, error_score="raise").fit(X, Y)


def test_a_callable_refit_sees_the_rows_of_all_levels():
    def choose(results):
        seen.append(set(results["fidelity"].tolist()))
        return int(np.argmax(results["fidelity"] == 2))

    seen = []
    found = search(refit=choose).fit(X, Y)
    assert len(seen[0]) > 1
    assert found.best_params_ == found.cv_results_["params"][found.best_index_]


def test_arrays_and_other_objects_may_be_choices():
    alphas = [np.logspace(-3, 0, 4), np.logspace(0, 3, 4), np.logspace(0, 3, 5)]
    space = {"alphas": alphas, "fit_intercept": [True, False]}
    found = search(RidgeCV(), space, capital=6).fit(X, Y * 1.0)
    assert any(found.best_params_["alphas"] is one for one in [*alphas, RidgeCV().alphas])
    for own in (alphas[1].copy(), np.ones(3)):
        assert search(RidgeCV(own), space, capital=6).fit(X, Y * 1.0).cv_results_["params"][0]["alphas"] is not None


class Picky(ClassifierMixin, BaseEstimator):
    """Cannot be fitted where its parameter is small."""

    def __init__(self, a=1.0):
        self.a = a

    def fit(self, X, y, sample_weight=None):
        if self.a < 0.5:
            raise RuntimeError("a is too small")
        self.classes_ = np.unique(y)
        self.weights_ = sample_weight
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    def score(self, X, y, sample_weight=None):
        return self.a


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_a_candidate_that_cannot_be_fitted_is_a_failed_evaluation():
    found = search(Picky(), {"a": (0.0, 1.0)}, capital=6.0).fit(X, Y)
    results = found.cv_results_
    a, failed = np.array([one["a"] for one in results["params"]]), results["status"] == "failed"
    assert failed.any()
    np.testing.assert_array_equal(failed, a < 0.5)
    np.testing.assert_array_equal(np.isnan(results["mean_test_score"]), failed)
    np.testing.assert_allclose(results["mean_test_score"][~failed], a[~failed])
    assert found.best_score_ == a[results["fidelity"] == 2].max()
    numbered = search(Picky(), {"a": (0.0, 1.0)}, capital=6.0, error_score=-1.0).fit(X, Y).cv_results_
    assert numbered["mean_test_score"].min() == -1.0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_failures_at_the_end_have_rows_too():
    class Tires(Picky):
        def fit(self, X, y):
            full.append(len(y) == 200)
            if sum(full[:-1]) >= 3:  # the first candidate with all data was fitted in its three folds
                raise RuntimeError("no more")
            return super().fit(X, y)

    full = []
    results = search(Tires(), {"a": (0.5, 1.0)}, capital=4.0, refit=False).fit(X, Y).cv_results_
    assert len(results["status"]) == len(full) / 3
    assert set(results["status"][np.argmax(results["fidelity"] == 2) + 1 :]) == {"failed"}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_failures_everywhere_and_failures_that_are_to_be_raised_are_raised():
    with pytest.raises(ValueError, match="a is too small"):
        search(Picky(0.1), {"a": (0.0, 0.4)}).fit(X, Y)
    with pytest.raises(RuntimeError, match="a is too small"):
        search(Picky(0.1), {"a": (0.0, 0.4)}, error_score="raise").fit(X, Y)


def test_groups_stay_together():
    class Watched(DecisionTreeClassifier):
        def fit(self, X, y):
            seen.append(set(X[:, 0].astype(int).tolist()))
            return super().fit(X, y)

    seen = []
    groups = np.repeat(np.arange(30), 10)
    data = np.column_stack([groups, X])
    search(Watched(), {"max_depth": [1, 2, 3]}, cv=GroupKFold(3), refit=False).fit(data, Y, groups=groups)
    assert max(map(len, seen)) == 20


def test_sample_weights_go_with_their_rows():
    found = search(Picky(a=0.9), {"a": (0.6, 1.0)}).fit(X, Y, sample_weight=np.arange(300.0))
    assert found.best_estimator_.weights_.tolist() == list(range(300))


def test_metadata_is_routed():
    import sklearn

    with sklearn.config_context(enable_metadata_routing=True):
        estimator = LogisticRegression().set_fit_request(sample_weight=True)
        scorer = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        found = search(estimator, scoring=scorer, cv=GroupKFold(3))
        found.fit(X, Y, sample_weight=np.ones(300), groups=np.repeat(np.arange(30), 10))
        assert found.best_score_ > 0.5


def test_it_works_in_a_pipeline_and_around_one():
    pipe = make_pipeline(StandardScaler(), search(SVC()))
    assert pipe.fit(X, Y).score(X, Y) > 0.8
    around = search(make_pipeline(StandardScaler(), SVC()), {"svc__C": mfopt.Real(0.1, 10, log=True)}).fit(X, Y)
    assert around.best_params_["svc__C"] == around.best_estimator_[-1].C


def test_a_clone_is_the_same_search():
    given = search(strategy="random", levels=(0.2, 1.0))
    assert clone(given).get_params(deep=False).keys() == given.get_params(deep=False).keys()
    one, other = (each.fit(X, Y).cv_results_["params"] for each in (given, clone(given)))
    assert one == other


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_folds_run_in_parallel_with_the_same_results(backend):
    alone = search().fit(X, Y).cv_results_
    with joblib.parallel_config(backend=backend):
        together = search(n_jobs=2).fit(X, Y).cv_results_
    np.testing.assert_array_equal(alone["mean_test_score"], together["mean_test_score"])


def test_folds_run_on_a_dask_cluster():
    distributed = pytest.importorskip("distributed")
    options = {"processes": False, "threads_per_worker": 2, "dashboard_address": None}
    with (
        distributed.LocalCluster(1, **options) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        together = search(n_jobs=2).fit(X, Y).cv_results_
    np.testing.assert_array_equal(together["mean_test_score"], search().fit(X, Y).cv_results_["mean_test_score"])


def test_regression_and_splits_that_are_shuffled_anew_each_time():
    data, values = make_regression(120, 4, random_state=0)
    found = search(Ridge(), {"alpha": (0.1, 10.0)}, cv=KFold(3, shuffle=True)).fit(data, values)
    scores = found.cv_results_["mean_test_score"]
    alphas = np.array([one["alpha"] for one in found.cv_results_["params"]])
    full = found.cv_results_["fidelity"] == 2
    order = np.argsort(alphas[full])
    assert (np.diff(scores[full][order]) <= 1e-12).all()  # the less ridge the better, on one and the same split


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ({"space": {}}, "space must be a mfopt.Space or a dict"),
        ({"space": {"D": (0, 1)}}, "space must hold parameters of the estimator, got 'D'"),
        ({"space": {"C": "high"}}, "C must be a mfopt dimension"),
        ({"resource": "n_trees"}, 'resource must be "n_samples" or a parameter of the estimator'),
        ({"resource": "C"}, "resource must not be a parameter of the space"),
        ({"resource": "kernel"}, "levels that are parts need an estimator whose kernel is a positive number"),
        ({"levels": [0.5, 0.2, 1]}, "levels must be positive and strictly increasing"),
        ({"levels": [0.1, 0.5]}, "levels that are parts of the resource must end with 1"),
        ({"levels": [0.1, 50]}, "levels must be all parts"),
        ({"levels": 3}, "levels must be a list"),
        ({"levels": None}, "levels must be a list of parts or amounts with at least one entry, got None"),
        ({"levels": []}, "levels must be a list of parts or amounts with at least one entry"),
        ({"levels": [100, 1000]}, "levels that are numbers of rows must be at most those that a split .* 200, got"),
        ({"space": {"kernel": ("rbf", "poly")}}, r"kernel, a pair, must be two numbers .* choices go into a list"),
        ({"space": {"shrinking": (True, False)}}, r"choices go into a list: \[True, False\]"),
        ({"space": {"degree": (5, 1)}}, r"bounds must satisfy lo < hi, got \(5, 1\) for degree"),
        ({"start": "no"}, "start must be True or False, got 'no'"),
        ({"time_limit": "soon"}, "time_limit must be a number of seconds"),
        ({"capital": 0.5}, "capital must pay for a target query"),
    ],
)
def test_wrong_arguments_state_the_rule(options, rule):
    with pytest.raises(InputError, match=rule):
        search(**options).fit(X, Y)


def test_progress_is_shown_where_it_is_wanted(capsys):
    one = search(verbose=1)
    one.fit(X, Y)
    shown = capsys.readouterr()
    assert "best 0." in shown.err
    assert shown.out == ""
    assert one.verbose == 1
    search(verbose=2).fit(X, Y)
    assert "Fitting 3 folds for each of 1 candidates" in capsys.readouterr().out


def test_costs_in_an_odd_order_are_told_in_the_end(monkeypatch):
    monkeypatch.setattr(mfopt.Optimizer, "cost_oddities", property(lambda self: ["a costs 2 and b 1"]))
    with pytest.warns(mfopt.errors.CostWarning, match="costs should rise with the fidelity: a costs 2 and b 1"):
        search().fit(X, Y)


def test_iris_is_classified_within_a_few_full_evaluations():
    data, classes = load_iris(return_X_y=True)
    space = {"C": mfopt.Real(1e-3, 1e3, log=True), "gamma": mfopt.Real(1e-4, 1e1, log=True)}
    assert search(space=space, capital=8.0, cv=5).fit(data, classes).best_score_ >= 0.96
