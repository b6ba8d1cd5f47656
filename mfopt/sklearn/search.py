"""MultiFidelitySearchCV: a cross-validated search that looks at most candidates with little of a resource."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import check_random_state

from mfopt.checks import real_number, seconds
from mfopt.errors import InputError
from mfopt.optimizer import Optimizer
from mfopt.parallel.progress import Progress
from mfopt.run.trial import Trial
from mfopt.sklearn.levels import Levels, make_levels
from mfopt.sklearn.opening import open_optimizer
from mfopt.sklearn.rows import Row, Rows, mean_scores
from mfopt.sklearn.scales import Scale, find_scale
from mfopt.sklearn.spaces import SearchSpace, make_space
from mfopt.sklearn.start import own_point
from mfopt.sklearn.subsets import Splits, Subset

Evaluate = Callable[..., Any]

CAPITAL = 20.0  # evaluations with the full resource, where neither a capital nor a time limit is given
GIVE_UP = 5  # evaluations in a row, from the first on, after whose failure something else must be wrong


class MultiFidelitySearchCV(BaseSearchCV):  # type: ignore[misc]
    """Search for the parameters with the best cross-validated score, mostly with less data or fewer iterations.

        search = MultiFidelitySearchCV(
            SVC(), {"C": mfopt.Real(0.1, 1000, log=True), "gamma": scipy.stats.loguniform(1e-4, 1)}, time_limit=60
        )
        search.fit(X, y).best_params_

    It is used like GridSearchCV and RandomizedSearchCV, whose attributes it has. What mfopt adds:

    space         a mfopt.Space, or a dict from names of parameters to mfopt dimensions, pairs (low, high), lists of
                  choices and scipy.stats distributions
    resource      what cheaper fidelities have less of: "n_samples", rows of the training data, or a parameter of the
                  estimator, such as "n_estimators" or "max_iter" ("model__max_iter" in a pipeline)
    levels        how much each fidelity has, the last is the target: parts of the full resource (for a parameter, of
                  the estimator's own value), or amounts. Subsets of rows are nested, and stratified for classes
    start         whether the estimator's own parameters are the first candidate, with the full resource, so that the
                  best is no worse than they are; what lies outside of the space is moved to the nearest place in it
    capital       the budget, in evaluations with the full resource; by default 20. A fidelity costs its part of one
    time_limit    seconds, or a string such as "10m", after which no evaluation starts; refit comes after it. Without a
                  capital what an evaluation costs is the time that it takes, which is learnt, and the limit is the
                  budget; what is left of it in the end goes to the most promising candidates
    strategy, surrogate, maximiser, storage, study
                  those of mfopt.Optimizer. A study that exists is gone on with, and a larger capital or time limit
                  becomes its own: its evaluations count, but have no rows
    random_state  seed of the search and of the subsets

    scoring, cv, n_jobs, refit, error_score, return_train_score, pre_dispatch and verbose are scikit-learn's. n_jobs are
    the folds that are fitted at once. Of several metrics refit must name the one to be optimised. R² and its
    like, and scikit-learn's losses, are told to the optimiser as −log of what is missing to their bound, and so a study
    holds them.

    cv_results_ has a row per evaluation, with columns fidelity, resource, time (seconds of all folds) and status ("ok"
    or "failed") beside scikit-learn's. best_index_ is the best row with the full resource. A candidate that no fold can
    fit is a failed evaluation, and the search goes on; if the first five are, scikit-learn's error is raised.
    resources_ holds the resource of each fidelity, cost_estimates_ what an evaluation was found to cost.
    """

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

    def _run_search(self, evaluate_candidates: Evaluate) -> None:
        """Called by fit: ask, evaluate and tell until the capital or the time is used up."""
        limit = None if self.time_limit is None else seconds(self.time_limit, "time_limit")
        space = make_space(self.space)
        levels = make_levels(self.resource, self.levels, self.estimator, self._names(space))
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        given = getattr(self, "_checked_cv_orig", self.cv)  # scikit-learn 1.4 keeps what it made of cv to itself
        splits = Splits(given, seed, is_classifier(self.estimator))
        parts = levels.amounts if levels.of_samples else [1.0]
        self._subsets = [Subset(splits, part) for part in parts]
        self._levels, self._rows = levels, Rows(self.error_score)
        optimizer = self._make_optimizer(space, levels, seed, limit)
        _Run(self, evaluate_candidates, optimizer, space, limit).go()
        optimizer.close()
        self.resources_ = self._resources()
        self.cost_estimates_ = optimizer.cost_estimates
        self._complete_results()
        del self._subsets, self._levels, self._rows, self._formatted

    def _resources(self) -> list[float]:
        """How much of the resource each fidelity has."""
        return [one.size for one in self._subsets] if self._levels.of_samples else list(self._levels.amounts)

    def _names(self, space: SearchSpace) -> dict[str, object]:
        """The parameters of the space, all of which the estimator has."""
        known = self.estimator.get_params()
        for name in space.domain.names:
            if name not in known:
                raise InputError(f"space must hold parameters of the estimator, got {name!r}")
        return dict.fromkeys(space.domain.names)

    def _make_optimizer(self, space: SearchSpace, levels: Levels, seed: int, limit: float | None) -> Optimizer:
        timed = self.capital is None and limit is not None
        capital = limit if timed else real_number(CAPITAL if self.capital is None else self.capital, "capital")
        made = {
            "domain": space.domain,
            "fidelities": levels.fidelities(timed),
            "strategy": self.strategy,
            "surrogate": self.surrogate,
            "maximiser": self.maximiser,
            "rng": None if self.storage is not None and self.random_state is None else seed,
        }
        return open_optimizer(made, capital, self.storage, self.study)

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
        if not isinstance(self.refit, str):
            raise InputError(f"refit must name the metric to be optimised, where there are several, got {self.refit!r}")
        return self.refit

    @staticmethod
    def _select_best_index(refit: Any, refit_metric: str, results: Any) -> Any:
        """The best row with the full resource."""
        if callable(refit):
            return BaseSearchCV._select_best_index(refit, refit_metric, results)
        full = results["fidelity"] == results["fidelity"].max()
        scores = np.where(full, results[f"mean_test_{refit_metric}"], -np.inf)
        return int(np.argmax(np.where(np.isnan(scores), -np.inf, scores)))


class _Run:
    """One run of a search: what the optimiser asks for is evaluated by scikit-learn, candidate by candidate."""

    def __init__(
        self,
        search: MultiFidelitySearchCV,
        evaluate: Evaluate,
        optimizer: Optimizer,
        space: SearchSpace,
        limit: float | None,
    ) -> None:
        self._search = search
        self._evaluate = evaluate
        self._optimizer = optimizer
        self._space = space
        self._timed = optimizer.fidelities[0].cost is None
        self._clock = search._clock
        self._end = np.inf if limit is None else self._clock() + limit
        # Other programs read a study, and versions that knew no scales have written it: it holds the scores themselves.
        stored = search.storage is not None
        self._scale = Scale() if stored else find_scale(search.estimator, search.scoring, search.refit)

    def go(self) -> None:
        """Until the optimiser is done or the time is over; then make sure that the best candidate has a row."""
        display = Progress(unit=self._scale.read) if self._search.verbose > 0 else None
        top = len(self._optimizer.fidelities) - 1
        if self._search.start:
            self._begin(top)
        left: list[Trial] = self._optimizer.pending  # of a study that was interrupted
        while self._clock() < self._end and (left or not self._optimizer.done):
            began = self._clock()
            trial = left.pop(0) if left else self._optimizer.ask()
            score = self._score(trial.params, trial.fidelity)
            cost = self._clock() - began if self._timed else None
            told = None if score is None else self._scale.tell(score)
            self._optimizer.tell(trial, told, "failed" if score is None else "ok", cost)
            if display is not None:
                display.update(self._optimizer, trial)
        if self._timed:
            self._use_rest(top)
        if display is not None:
            display.close(self._optimizer)
        best = self._optimizer.best
        if best is None:  # no time for a single evaluation with the full resource: one is made all the same
            scored = np.isfinite(self._optimizer.history.y).any()
            found = self._optimizer.recommend().params if scored else self._draw()
            self._score(found, top, needed=True)
        elif not any(row.fidelity == top and self._has(row, best.params) for row in self._search._rows.rows):
            self._score(best.params, top, needed=True)  # it was found before this run began

    def _begin(self, top: int) -> None:
        """Evaluate the estimator's own parameters, if nothing was evaluated yet: no search is to end below them."""
        point = own_point(self._space, self._search.estimator.get_params())
        begun = len(self._optimizer.history.y) or self._optimizer.pending
        if point is None or begun or self._clock() >= self._end:
            return
        began = self._clock()
        score = self._score(point, top)
        if score is not None:
            cost = self._clock() - began if self._timed else self._optimizer.costs[top]
            self._optimizer.add(point, top, self._scale.tell(score), min(cost, self._optimizer.remaining))

    def _use_rest(self, top: int) -> None:
        """Evaluate the most promising candidates with the full resource, in the time that is left.

        The optimiser has ended since an evaluation is expected to take longer than that. It may, as the last one of any
        search with a time limit, and without it what the last cheap evaluations have shown would be of no use. A study
        that has spent its capital before has no such time.
        """
        while self._clock() < self._end and self._optimizer.remaining > 0.0:
            found = self._find_promising(top)
            if found is None:
                return
            began = self._clock()
            score = self._score(found, top)
            if score is not None:
                cost = min(self._clock() - began, self._optimizer.remaining)
                self._optimizer.add(found, top, self._scale.tell(score), cost)

    def _find_promising(self, top: int) -> dict[str, Any] | None:
        """The candidate with the best mean of all or, where it is known, of those that are known with less alone."""
        history = self._optimizer.history
        if not np.isfinite(history.y).any():
            return None
        known = [row for row in self._search._rows.rows if row.fidelity == top]
        best: dict[str, Any] = self._optimizer.recommend(anywhere=True).params
        if not any(self._has(row, best) for row in known):
            return best
        worked = [params for params, y in zip(history.params, history.y, strict=True) if np.isfinite(y)]
        others = [params for params in worked if not any(self._has(row, params) for row in known)]
        if not others:
            return None
        means, _ = self._optimizer.predict(others)
        return others[int(np.argmax(means))]

    def _draw(self) -> dict[str, Any]:
        domain = self._space.domain
        point = domain.decode(domain.sample(1, np.random.default_rng(self._optimizer.seed)))[0]
        return domain.params(point)

    def _has(self, row: Row, point: dict[str, Any]) -> bool:
        """Whether a row is the evaluation of this point."""
        wanted = self._space.params(point)
        return all(row.params.get(name) is value or row.params.get(name) == value for name, value in wanted.items())

    def _score(self, point: dict[str, Any], m: int, needed: bool = False) -> float | None:
        """The score of a candidate at fidelity m, which gets a row; None where it failed, unless it is `needed`."""
        search = self._search
        params = {**self._space.params(point), **search._levels.params(m)}
        row = Row(params, m)
        search._rows.rows.append(row)
        subset = search._subsets[m if search._levels.of_samples else 0]
        began = self._clock()
        try:
            results = self._evaluate([params], cv=subset)
        except ValueError as error:
            if "fits failed" not in str(error) or needed:
                raise
            row.failed, row.seconds = True, self._clock() - began
            if len(search._rows.rows) >= GIVE_UP and not search._rows.any_worked:
                raise
            return None
        score = float(results[f"mean_test_{search._metric(results)}"][-1])
        return score if np.isfinite(score) else None
