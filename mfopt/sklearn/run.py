"""Run: what the optimiser of a search asks for is evaluated by scikit-learn, candidate by candidate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from mfopt.errors import AlreadyTold, Exhausted
from mfopt.optimizer import Optimizer
from mfopt.parallel.progress import Progress
from mfopt.run.trial import Trial
from mfopt.sklearn.failures import Failures
from mfopt.sklearn.rows import Row
from mfopt.sklearn.scales import Scale, find_scale
from mfopt.sklearn.spaces import Point, SearchSpace
from mfopt.sklearn.start import Start

if TYPE_CHECKING:
    from mfopt.sklearn.search import MultiFidelitySearchCV

Evaluate = Callable[..., Any]

GIVE_UP = 5  # evaluations in a row, from the first on, after whose failure something else must be wrong


class Run:
    """One run of a search, from its start to a row for the best candidate."""

    def __init__(
        self,
        search: MultiFidelitySearchCV,
        evaluate: Evaluate,
        optimizer: Optimizer,
        space: SearchSpace,
        start: Start,
        limit: float | None,
        shown: bool,
    ) -> None:
        self._search = search
        self._rows = search._rows
        self._evaluate = evaluate
        self._optimizer = optimizer
        self._space = space
        self._start = start
        self._top = len(optimizer.fidelities) - 1
        self._timed = optimizer.fidelities[0].cost is None
        self._clock = search._clock
        self._end = np.inf if limit is None else self._clock() + limit
        # Other programs read a study, and versions that knew no scales have written it: it holds the scores themselves.
        stored = search.storage is not None
        self._scale = Scale() if stored else find_scale(search.estimator, search.scoring, search.refit)
        self._failures = Failures(search._levels.resource, search._resources())
        self._display = Progress(unit=self._scale.read) if shown else None

    def go(self) -> None:
        """Until the optimiser is done or the time is over; then make sure that the best candidate has a row."""
        try:
            self._spend_budget()
        finally:
            if self._display is not None:
                self._display.close(self._optimizer)
        self._score_best()
        self._failures.summarise(self._rows.rows)

    def _spend_budget(self) -> None:
        if self._start.wanted:
            self._begin()
        if not (self._start.alone and self._rows.knows(self._top)):
            self._ask_and_tell()
        if self._timed:
            self._use_rest()

    def _ask_and_tell(self) -> None:
        left: list[Trial] = self._optimizer.pending  # of a study that was interrupted
        while self._clock() < self._end and (left or not self._optimizer.done):
            began = self._clock()
            try:
                trial = left.pop(0) if left else self._optimizer.ask()
            except Exhausted:  # another process, at the same study, has just spent the rest
                return
            score = self._score_at(trial.x, trial.fidelity)
            cost = self._clock() - began if self._timed else None
            told = None if score is None else self._scale.tell(score)
            with suppress(AlreadyTold):  # by such a process: the first value counts
                self._optimizer.tell(trial, told, "failed" if score is None else "ok", cost)
            if self._display is not None:
                self._display.update(self._optimizer, trial)
            if len(self._rows.rows) == GIVE_UP and not self._rows.any_scored and not self._any_known():
                self._try_full()

    def _begin(self) -> None:
        """Evaluate the estimator as it is: no search is to end below it.

        Where its parameters lie in X, a study that exists knows them. Elsewhere it does not, and they are evaluated
        again.
        """
        if self._start.x is None:
            self._score(dict(self._start.params), None, self._top)
        elif not len(self._optimizer.history.y) and not self._optimizer.pending:
            self._add(self._start.x)

    def _try_full(self) -> None:
        """Where nothing has worked, evaluate one more candidate with the full resource: below there may be too little.

        If that fails, too, scikit-learn's error is raised.
        """
        own = self._start.x
        self._add(self._draw() if self._start.wanted or own is None else own, needed=True)

    def _use_rest(self) -> None:
        """Evaluate the most promising candidates with the full resource, in the time that is left.

        The optimiser has ended since an evaluation is expected to take longer than that. It may, as the last one of any
        search with a time limit, and without it what the last cheap evaluations have shown would be of no use. A study
        that has spent its capital before has no such time.
        """
        while self._clock() < self._end and self._optimizer.remaining > 0.0:
            found = self._find_promising()
            if found is None:
                return
            self._add(found)

    def _find_promising(self) -> Point | None:
        """The candidate with the best mean of all or, where it is known, of those that are known with less alone."""
        if not self._any_known():
            return None
        best = self._optimizer.recommend(anywhere=True)
        if not self._rows.knows(self._top, best.x):
            return best.x
        history = self._optimizer.history
        others: list[Point] = [x for x in history.x[np.isfinite(history.y)] if not self._rows.knows(self._top, x)]
        if not others:
            return None
        means, _ = self._optimizer.predict(np.array(others))
        return others[int(np.argmax(means))]

    def _score_best(self) -> None:
        """Give the best candidate a row, where it was found before this run began, and the search a result."""
        best = self._optimizer.best
        if best is not None:
            if not self._rows.knows(self._top, best.x):
                self._score_at(best.x, self._top, needed=True)
        elif not self._rows.knows(self._top):  # no time for a single evaluation with the full resource
            found = self._optimizer.recommend().x if self._any_known() else self._draw()
            self._score_at(found, self._top, needed=True)

    def _any_known(self) -> bool:
        return bool(np.isfinite(self._optimizer.history.y).any())

    def _draw(self) -> Point:
        domain = self._space.domain
        found: Point = domain.decode(domain.sample(1, np.random.default_rng(self._optimizer.seed)))[0]
        return found

    def _add(self, x: Point, needed: bool = False) -> None:
        """Evaluate with the full resource what the optimiser has not asked for, and tell it."""
        began = self._clock()
        score = self._score_at(x, self._top, needed)
        if score is not None:
            cost = self._clock() - began if self._timed else self._optimizer.costs[self._top]
            self._optimizer.refresh()  # what others have spent meanwhile
            cost = min(cost, self._optimizer.remaining)
            self._optimizer.add(x, self._top, self._scale.tell(score), cost)

    def _score_at(self, x: Point, m: int, needed: bool = False) -> float | None:
        """The score of a point of X at fidelity m."""
        return self._score(self._space.params(self._space.domain.params(x)), x, m, needed)

    def _score(self, given: Mapping[str, Any], x: Point | None, m: int, needed: bool = False) -> float | None:
        """The score of a candidate at fidelity m, which gets a row; None where it failed, unless it is `needed`."""
        search = self._search
        params = {**given, **search._levels.params(m)}
        row = Row(params, m, x)
        self._rows.rows.append(row)
        subset = search._subsets[m if search._levels.of_samples else 0]
        began = self._clock()
        try:
            results = self._evaluate([params], cv=subset)
        except ValueError as error:
            if "fits failed" not in str(error) or needed:
                raise
            row.failed, row.seconds = True, self._clock() - began
            self._failures.warn(m, params, error)
            return None
        score = float(results[f"mean_test_{search._metric(results)}"][-1])
        row.score = score if np.isfinite(score) else None
        return row.score
