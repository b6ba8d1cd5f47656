"""Failures: evaluations without a score, as the user is warned of them."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.exceptions import FitFailedWarning

from mfopt.checks import show
from mfopt.sklearn.rows import Row


class Failures:
    """Warns of the first candidate at each level that no fold could fit, and in the end of how many have no score.

    A candidate may fail for its own sake, and a whole level may: too few rows for the classes, or for the neighbours.
    scikit-learn itself warns of folds that fail beside others that do not.
    """

    def __init__(self, resource: str, amounts: Sequence[float]) -> None:
        self._names = [f"{resource} = {amount:g}" for amount in amounts]
        self._warned: set[int] = set()

    def warn(self, m: int, params: Mapping[str, Any], error: Exception) -> None:
        """Of this evaluation, if it is the first at fidelity m that no fold could fit."""
        if m in self._warned:
            return
        self._warned.add(m)
        why = find_reason(str(error))
        message = f"all fits with {self._names[m]} failed for {show(dict(params))}, the first of them with: {why}"
        warnings.warn(message, FitFailedWarning, stacklevel=2)

    def summarise(self, rows: Sequence[Row]) -> None:
        """Warn of how many have no score, level by level; a fold that fails when it is scored, too, leaves none."""
        failed = Counter(row.fidelity for row in rows if row.score is None)
        if not failed:
            return
        made = Counter(row.fidelity for row in rows)
        parts = [
            f"{'all' if failed[m] == made[m] else f'{failed[m]} of'} {made[m]} with {self._names[m]}"
            for m in sorted(failed)
        ]
        message = f"{failed.total()} of {len(rows)} evaluations have no score: {', '.join(parts)}"
        warnings.warn(message, FitFailedWarning, stacklevel=2)


def find_reason(text: str) -> str:
    """The first error that scikit-learn's message tells, without its traceback."""
    _, _, details = text.partition("failed with the following error:\n")
    lines = details.partition("\n" + "-" * 80)[0].splitlines()
    begin = max((k for k, line in enumerate(lines) if line.startswith("Traceback")), default=-1) + 1
    return next((line for line in lines[begin:] if line and not line.startswith(" ")), text.strip().split("\n", 1)[0])
