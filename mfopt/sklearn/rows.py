"""Rows: the evaluations of a search in their order, and those without a single score among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mfopt.sklearn.spaces import Point


@dataclass
class Row:
    """One evaluation: what the estimator was given, and at which fidelity.

    Values of parameters may be arrays or estimators, which cannot be compared; their place in X can.
    """

    params: dict[str, Any]
    fidelity: int
    x: Point | None  # where it is in X, as the optimiser knows it; None: nowhere
    score: float | None = None  # None: there is none, for at least one fold failed
    failed: bool = False  # no fold gave a score: scikit-learn keeps nothing of it
    seconds: float = 0.0  # until it had failed


class Rows:
    """The rows of cv_results_. scikit-learn keeps those that have scores; the others are put in between."""

    def __init__(self, error_score: Any) -> None:
        self._error_score = error_score
        self.rows: list[Row] = []

    @property
    def any_scored(self) -> bool:
        """Whether any evaluation gave a score."""
        return any(row.score is not None for row in self.rows)

    def knows(self, fidelity: int, x: Point | None = None) -> bool:
        """Whether there is a score at this fidelity; with x, whether that point was evaluated there at all."""
        rows = [row for row in self.rows if row.fidelity == fidelity]
        if x is None:
            return any(row.score is not None for row in rows)
        return any(row.x is not None and np.array_equal(row.x, x, equal_nan=True) for row in rows)

    def fill(
        self, params: Sequence[Mapping[str, Any]], n_splits: int, out: Sequence[Mapping[str, Any]]
    ) -> tuple[list[Any], list[Any]]:
        """Parameters and outcomes of all rows so far, from those that scikit-learn kept."""
        kept, like = 0, out[0]
        all_params: list[Any] = []
        all_out: list[Any] = []
        for row in self.rows:
            if row.failed:
                all_params.append(row.params)
                all_out += [self._make_outcome(like, row.seconds / n_splits)] * n_splits
            elif kept < len(params):
                all_params.append(params[kept])
                all_out += out[kept * n_splits : (kept + 1) * n_splits]
                kept += 1
        return all_params, all_out

    def _make_outcome(self, like: Mapping[str, Any], seconds: float) -> dict[str, Any]:
        """The outcome of a fold without a score, in the form of one that has."""
        scores = {key: like[key] for key in ("test_scores", "train_scores") if key in like}
        for key, one in scores.items():
            scores[key] = dict.fromkeys(one, self._error_score) if isinstance(one, dict) else self._error_score
        return {**like, **scores, "fit_time": seconds, "score_time": 0.0, "fit_error": "failed"}

    def columns(
        self, scores: Any, out: Sequence[Mapping[str, Any]], n_splits: int, resources: Sequence[float]
    ) -> dict[str, Any]:
        """The columns that scikit-learn does not have: fidelity, resource, time and status, by row."""
        shown = self.rows[: len(scores)]
        seconds = np.array([one["fit_time"] + one["score_time"] for one in out]).reshape(-1, n_splits)
        failed = np.array([row.failed for row in shown]) | ~np.isfinite(scores)
        return {
            "fidelity": np.array([row.fidelity for row in shown]),
            "resource": np.array([resources[row.fidelity] for row in shown]),
            "time": seconds.sum(axis=1),
            "status": np.where(failed, "failed", "ok"),
        }


def mean_scores(folds: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The mean test scores of one row, from the outcomes of its folds, by their names in cv_results_."""
    scores = [one["test_scores"] for one in folds]
    if not isinstance(scores[0], dict):
        return {"mean_test_score": np.array([np.mean(scores)])}
    return {f"mean_test_{name}": np.array([np.mean([one[name] for one in scores])]) for name in scores[0]}
