"""Subsets: less training data for the cheaper fidelities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import check_cv
from sklearn.utils.multiclass import type_of_target

from mfopt.checks import show
from mfopt.errors import InputError

Rows = npt.NDArray[np.intp]

FEWEST = 10  # rows of a subset, where there are so many


class Splits:
    """The splits of a cross-validation, made once, so that all fidelities and trials are compared on the same ones.

    The training rows of each are put in an order of which every beginning is a stratified sample, see `order_rows`.
    """

    def __init__(self, cv: Any, seed: int, classifier: bool) -> None:
        self._cv = cv
        self._seed = seed
        self._classifier = classifier
        self._made: list[tuple[Rows, Rows]] | None = None

    @property
    def sizes(self) -> list[int]:
        """Training rows of each split; none before they are made."""
        return [len(train) for train, _ in self._made or []]

    def get(self, X: Any, y: Any, params: dict[str, Any]) -> list[tuple[Rows, Rows]]:
        """Training rows in that order, and test rows, of each split."""
        if self._made is None:
            cv = check_cv(self._cv, y, classifier=self._classifier)
            splits = [(np.asarray(train), np.asarray(test)) for train, test in cv.split(X, y, **params)]
            if not splits:
                raise InputError(f"cv must give at least one split, got none from {show(self._cv)}")
            rngs = [np.random.default_rng([self._seed, k]) for k in range(len(splits))]
            labels = np.asarray(y) if self._classifier and _has_classes(y) else None
            self._made = [
                (train[order_rows(len(train), None if labels is None else labels[train], rng)], test)
                for (train, test), rng in zip(splits, rngs, strict=True)
            ]
        return self._made


class Subset:
    """A cross-validation splitter: the same splits with a part of the training rows; smaller parts lie in larger ones.

    `amount` is the part, or above 1 the number of rows. Test rows are all there, so that scores can be compared.
    """

    def __init__(self, splits: Splits, amount: float) -> None:
        self._splits = splits
        self._amount = amount

    def split(self, X: Any, y: Any = None, groups: Any = None, **params: Any) -> Iterator[tuple[Rows, Rows]]:
        """Training and test rows of each split."""
        given = params if groups is None else {**params, "groups": groups}
        for train, test in self._splits.get(X, y, given):
            yield np.sort(train[: count_rows(self._amount, len(train))]), test

    @property
    def size(self) -> int:
        """Training rows of the first split, once the splits are made."""
        return count_rows(self._amount, self._splits.sizes[0])


def count_rows(amount: float, rows: int) -> int:
    """How many of so many training rows are in a subset: that part, or above 1 that number, but at least FEWEST."""
    wanted = amount if amount > 1 else np.ceil(amount * rows)
    return min(max(int(wanted), FEWEST), rows)


def order_rows(count: int, labels: npt.NDArray[Any] | None, rng: np.random.Generator) -> Rows:
    """An order of rows with these labels in which every beginning has the classes in their proportions.

    The i-th of the n rows of a class, in random order, has the place (i + ½)/n; rows are sorted by it. The first of
    each class come before all others, so that no class is missing in a subset that has room for all. Without labels the
    order is random.
    """
    shuffled = rng.permutation(count)
    if labels is None:
        return shuffled
    place = np.empty(count)
    _, codes = np.unique(labels[shuffled], return_inverse=True)
    for code in range(codes.max() + 1):
        members = np.flatnonzero(codes.ravel() == code)
        place[members] = (np.arange(len(members)) + 0.5) / len(members)
        place[members[0]] = -1.0
    return shuffled[np.argsort(place, kind="stable")]


def _has_classes(y: Any) -> bool:
    return y is not None and type_of_target(y) in ("binary", "multiclass")
