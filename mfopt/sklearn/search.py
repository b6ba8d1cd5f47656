"""MultiFidelitySearchCV: a cross-validated search that looks at most candidates with little of a resource."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import check_random_state, indexable

from mfopt.checks import real_number, seconds
from mfopt.errors import CostWarning, InputError
from mfopt.fidelities import Fidelity
from mfopt.optimizer import Optimizer
from mfopt.sklearn.fingerprint import make_name
from mfopt.sklearn.levels import Levels, fit_to_rows, make_levels
from mfopt.sklearn.opening import open_optimizer
from mfopt.sklearn.rows import Rows, mean_scores
from mfopt.sklearn.run import Evaluate, Run
from mfopt.sklearn.spaces import SearchSpace, make_space
from mfopt.sklearn.start import make_start
from mfopt.sklearn.subsets import Splits, Subset

CAPITAL = 20.0  # evaluations with the full resource, where neither a capital nor a time limit is given
PASSING = ("_data", "_subsets", "_levels", "_rows", "_formatted")  # attributes that a search has while it runs
METRIC_RULE = "refit must name the metric to be optimised, where there are several"


class Data(NamedTuple):
    """What fit was given, which scikit-learn keeps to itself."""

    X: Any
    y: Any
    params: dict[str, Any]  # groups, weights and the like


class MultiFidelitySearchCV(BaseSearchCV):  # type: ignore[misc]
    """Search for the parameters with the best cross-validated score, mostly with less data or fewer iterations.

        search = MultiFidelitySearchCV(
            SVC(), {"C": mfopt.Real(0.1, 1000, log=True), "gamma": scipy.stats.loguniform(1e-4, 1)}, time_limit=60
        )
        search.fit(X, y).best_params_

    It is used like GridSearchCV and RandomizedSearchCV, whose attributes it has. What mfopt adds:

    space         a mfopt.Space, or a dict from names of parameters to mfopt dimensions, pairs (low, high), lists of
                  choices and scipy.stats distributions. A pair of ints is a range of integers where the estimator's
                  own value is an int, or None and the pair not (0, 1); otherwise one of real numbers
    resource      what cheaper fidelities have less of: "n_samples", rows of the training data, or a parameter of the
                  estimator, such as "n_estimators" or "max_iter" ("model__max_iter" in a pipeline)
    levels        how much each fidelity has, the last is the target: parts of the full resource (for a parameter, of
                  the estimator's own value), or amounts. Subsets of rows are nested, and stratified for classes; they
                  have ten rows at least, and levels that come out equal become one
    start         whether the estimator as it is is the first candidate, with the full resource, so that the best is no
                  worse. It is, too, where its own parameters do not lie in the space: best_params_ may hold them then
    capital       the budget, in evaluations with the full resource; by default 20. A fidelity costs its part of one.
                  The start costs one, so that less than 2 pays for nothing else
    time_limit    seconds, or a string such as "10m", after which no evaluation starts; refit comes after it. Without a
                  capital what an evaluation costs is the time that it takes, which is learnt, and the limit is the
                  budget; what is left of it in the end goes to the most promising candidates
    strategy, surrogate, maximiser
                  those of mfopt.Optimizer
    storage       where the search is kept, as for mfopt.Optimizer. The same search goes on there, and a larger capital
                  or time limit becomes its own: its evaluations count, but have no rows
    study         the name of the search in its storage. By default it is made of all that the scores depend on (data,
                  estimator, scoring, splits, levels, space) and of a seed that is a number, so that every fold of an
                  outer cross-validation has its own. A study that you name is gone on with whatever the data are
    random_state  seed of the search and of the subsets

    scoring, cv, n_jobs, refit, error_score, return_train_score, pre_dispatch and verbose are scikit-learn's. n_jobs are
    the folds that are fitted at once. Of several metrics refit must name the one to be optimised. A refit that is a
    function is given the rows of all levels; results["fidelity"] tells them apart. R² and its like, and scikit-learn's
    losses, are told to the optimiser as −log of what is missing to their bound; with a storage all scores are told as
    they are, and so a study holds them.

    cv_results_ has a row per evaluation, with columns fidelity, resource, time (seconds of all folds) and status ("ok"
    or "failed") beside scikit-learn's. best_index_ is the best row with the full resource. A candidate that no fold can
    fit is a failed evaluation, and the search goes on; a FitFailedWarning tells the first at each level, and in the end
    how many there were. If the first five fail, and another one with the full resource, scikit-learn's error is raised.
    resources_ holds the resource of each fidelity, cost_estimates_ what an evaluation was found to cost.
    """

    verbose: int
    _required_parameters = ("estimator", "space")  # as scikit-learn's checks know them
    _clock = staticmethod(time.perf_counter)  # seconds of evaluations and of the limit; an experiment may take another

    def __init__(
        self,
        estimator: Any,
        space: Any,
        *,
        resource: str = "n_samples",
        levels: Sequence[float] = (0.1, 0.3, 1.0),
        start: bool = True,
        capital: float | None = None,
        time_limit: float | str | None = None,
        strategy: Any = "mf-gp-ucb",
        surrogate: Any = None,
        maximiser: Any = "direct",
        storage: Any = None,
        study: str | None = None,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        random_state: Any = None,
        error_score: Any = np.nan,
        return_train_score: bool = False,
    ) -> None:
        super().__init__(
            estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.space = space
        self.resource = resource
        self.levels = levels
        self.start = start
        self.capital = capital
        self.time_limit = time_limit
        self.strategy = strategy
        self.surrogate = surrogate
        self.maximiser = maximiser
        self.storage = storage
        self.study = study
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, **params: Any) -> MultiFidelitySearchCV:
        """Search, and fit the best candidate to all data; the arguments are those of GridSearchCV.fit."""
        self._data = Data(X, y, {name: one for name, one in params.items() if one is not None})
        try:
            super().fit(X, y, **params)
        finally:
            for name in PASSING:
                self.__dict__.pop(name, None)
        return self

    def _run_search(self, evaluate_candidates: Evaluate) -> None:
        """Called by fit: ask, evaluate and tell until the capital or the time is used up."""
        data: Data = self.__dict__.pop("_data")  # not to be sent with this object to every worker
        self._check_refit()
        limit = None if self.time_limit is None else seconds(self.time_limit, "time_limit")
        own = self.estimator.get_params()
        space = make_space(self.space, own)
        self._check_names(space, own)
        levels = make_levels(self.resource, self.levels, self.estimator, dict.fromkeys(space.domain.names))
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        splits = self._split(data, seed)
        levels = fit_to_rows(levels, splits.sizes)
        self._subsets = [Subset(splits, part) for part in (levels.amounts if levels.of_samples else [1.0])]
        self._levels, self._rows = levels, Rows(self.error_score)
        timed = self.capital is None and limit is not None
        capital = None if timed else real_number(CAPITAL if self.capital is None else self.capital, "capital")
        start = make_start(self.start, space, own, capital)
        study = self.study
        if study is None and self.storage is not None:
            study = self._name_study(data, space, levels, timed)
        optimizer = self._make_optimizer(space, levels.fidelities(timed), seed, limit if timed else start.rest, study)
        verbose = self.verbose
        try:
            self.verbose = 0 if verbose == 1 else verbose  # or scikit-learn writes a line for every evaluation
            Run(self, evaluate_candidates, optimizer, space, start, limit, verbose > 0).go()
            self.cost_estimates_, oddities = optimizer.cost_estimates, optimizer.cost_oddities
        finally:
            self.verbose = verbose
            optimizer.close()
        self.resources_ = self._resources()
        self._complete_results()
        for oddity in oddities:
            warnings.warn(f"costs should rise with the fidelity: {oddity}", CostWarning, stacklevel=2)

    def _check_refit(self) -> None:
        """Of several metrics one is optimised; it must be known before anything is evaluated."""
        several = isinstance(self.scoring, list | tuple | set | Mapping)
        if several and not isinstance(self.refit, str):
            raise InputError(f"{METRIC_RULE}, got {self.refit!r}")

    @staticmethod
    def _check_names(space: SearchSpace, own: Mapping[str, Any]) -> None:
        """The estimator has all parameters of the space."""
        for name in space.domain.names:
            if name not in own:
                raise InputError(f"space must hold parameters of the estimator, got {name!r}")

    def _split(self, data: Data, seed: int) -> Splits:
        """The splits of these data, made before anything else: what a level has depends on their rows."""
        X, y = indexable(data.X, data.y)
        splits = Splits(self._given_cv(), seed, is_classifier(self.estimator))
        splits.get(X, y, self._get_routed_params_for_fit(data.params).splitter.split)
        return splits

    def _name_study(self, data: Data, space: SearchSpace, levels: Levels, timed: bool) -> str:
        """The name of the study of this search, and of no other: it has all that the scores depend on, and the seed."""
        metric = self.refit if isinstance(self.refit, str) else None
        scores = (self.scoring, metric, self.error_score, self._given_cv())
        return make_name(self.estimator, data, scores, space.describe(), levels, timed, self._given_seed())

    def _given_cv(self) -> Any:
        return getattr(self, "_checked_cv_orig", self.cv)  # scikit-learn 1.4 keeps what it made of cv to itself

    def _resources(self) -> list[float]:
        """How much of the resource each fidelity has."""
        return [one.size for one in self._subsets] if self._levels.of_samples else list(self._levels.amounts)

    def _given_seed(self) -> int | None:
        """The seed, where it is a number; a generator has another state at every fit."""
        return int(self.random_state) if isinstance(self.random_state, int | np.integer) else None

    def _make_optimizer(
        self, space: SearchSpace, fidelities: list[Fidelity], seed: int, capital: float | None, study: str | None
    ) -> Optimizer:
        made = {
            "domain": space.domain,
            "fidelities": fidelities,
            "strategy": self.strategy,
            "surrogate": self.surrogate,
            "maximiser": self.maximiser,
            # a study that exists has a seed, which only another one that was given contradicts
            "rng": None if self.storage is not None and self._given_seed() is None else seed,
        }
        return open_optimizer(made, capital, self.storage, study)

    def _format_results(self, candidate_params: Any, n_splits: int, out: Any, more_results: Any = None) -> Any:
        """What evaluate_candidates returns: the mean scores of the last row; `_complete_results` adds all others.

        cv_results_ made anew with every row would take time that grows with the square of their number.
        """
        results = mean_scores(out[-n_splits:])
        self._formatted = (results, candidate_params, n_splits, out, more_results)
        return results

    def _complete_results(self) -> None:
        """Make the last results, which fit goes on with, cv_results_: with rows that failed, and columns of ours."""
        results, candidate_params, n_splits, out, more_results = self._formatted
        all_params, all_out = self._rows.fill(candidate_params, n_splits, out)
        with warnings.catch_warnings():  # fit has said it for every fold that failed
            warnings.filterwarnings("ignore", "One or more of the", UserWarning)
            completed = super()._format_results(all_params, n_splits, all_out, more_results)
        results.clear()
        results.update(completed)
        scores = results[f"mean_test_{self._metric(results)}"]
        results.update(self._rows.columns(scores, all_out, n_splits, self._resources()))

    def _metric(self, results: Any) -> str:
        """The metric that is optimised, by its name in cv_results_."""
        if "mean_test_score" in results:
            return "score"
        if not isinstance(self.refit, str):  # a scorer of the user's own has given several
            raise InputError(f"{METRIC_RULE}, got {self.refit!r}")
        return self.refit

    @staticmethod
    def _select_best_index(refit: Any, refit_metric: str, results: Any) -> Any:
        """The best row with the full resource."""
        if callable(refit):
            return BaseSearchCV._select_best_index(refit, refit_metric, results)
        full = np.flatnonzero(results["fidelity"] == results["fidelity"].max())
        scores = results[f"mean_test_{refit_metric}"][full]
        return int(full[np.argmax(np.where(np.isnan(scores), -np.inf, scores))])
