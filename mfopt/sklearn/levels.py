"""Levels: the resource of which cheaper fidelities get less, and how much each gets."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

import numpy as np

from mfopt.checks import real_number, show
from mfopt.errors import InputError
from mfopt.fidelities import Fidelity
from mfopt.sklearn.subsets import FEWEST, count_rows

SAMPLES = "n_samples"


@dataclass(frozen=True)
class Levels:
    """How much of the resource each fidelity has: for samples parts or numbers of rows, otherwise parameter values."""

    resource: str
    amounts: tuple[float, ...]
    costs: tuple[float, ...]  # of an evaluation, in those with the full resource

    @property
    def of_samples(self) -> bool:
        """Whether the resource is the number of training rows."""
        return self.resource == SAMPLES

    def fidelities(self, timed: bool) -> list[Fidelity]:
        """One per level; it costs its part of the resource, or seconds that nobody knows yet."""
        each = zip(self.amounts, self.costs, strict=True)
        return [Fidelity(f"{self.resource} {one:g}", None if timed else cost) for one, cost in each]

    def params(self, m: int) -> dict[str, Any]:
        """What is set in the estimator at fidelity m."""
        return {} if self.of_samples else {self.resource: self.amounts[m]}


def make_levels(resource: object, given: object, estimator: Any, searched: Mapping[str, object]) -> Levels:
    """The levels that these arguments of the search stand for; `searched` are the parameters of its space."""
    if not isinstance(resource, str):
        raise InputError(f'resource must be "{SAMPLES}" or the name of a parameter, got {show(resource)}')
    amounts = _read_amounts(given)
    if resource == SAMPLES:
        if amounts[-1] > 1.0 and amounts[0] <= 1.0:
            raise InputError(f"levels must be all parts, up to 1, or all numbers of rows, got {show(given)}")
        return _make(resource, amounts)
    own = estimator.get_params()
    if resource not in own:
        raise InputError(f'resource must be "{SAMPLES}" or a parameter of the estimator, got {resource!r}')
    if resource in searched:
        raise InputError(f"resource must not be a parameter of the space, got {resource!r}")
    if amounts[-1] > 1.0:
        values = tuple(int(one) if float(one).is_integer() else one for one in amounts)
        return _make(resource, values)
    full = own[resource]
    if isinstance(full, bool) or not isinstance(full, int | float) or full <= 0:
        raise InputError(
            f"levels that are parts need an estimator whose {resource} is a positive number, got {show(full)}; give "
            "levels as values"
        )
    values = tuple(max(math.ceil(part * full), 1) if isinstance(full, int) else part * full for part in amounts)
    if any(low >= high for low, high in pairwise(values)):
        raise InputError(f"levels must give increasing values of {resource}, got {list(values)}")
    return _make(resource, values)


def fit_to_rows(levels: Levels, rows: Sequence[int]) -> Levels:
    """The same for splits with so many training rows; levels with equal rows are one, the last of them."""
    if not levels.of_samples:
        return levels
    amounts = levels.amounts
    if amounts[-1] > 1.0 and amounts[-1] > max(rows):
        raise InputError(
            f"levels that are numbers of rows must be at most those that a split trains with, {max(rows)}, "
            f"got {show(list(amounts))}"
        )
    counts = np.array([[count_rows(amount, each) for each in rows] for amount in amounts])
    last = [m for m in range(len(amounts)) if m + 1 == len(amounts) or (counts[m] != counts[m + 1]).any()]
    if len(last) < len(amounts):
        message = f"levels must have different numbers of rows, got {counts[:, 0].tolist()}: equal ones become one"
        warnings.warn(message, stacklevel=2)
    as_wanted = all(FEWEST <= (one if one > 1.0 else one * each) <= each for one in amounts for each in rows)
    sums = counts.sum(axis=1).tolist()
    costs = levels.costs if as_wanted else [one / sums[-1] for one in sums]
    return Levels(levels.resource, tuple(amounts[m] for m in last), tuple(costs[m] for m in last))


def _make(resource: str, amounts: Sequence[float]) -> Levels:
    return Levels(resource, tuple(amounts), tuple(one / amounts[-1] for one in amounts))


def _read_amounts(given: object) -> Sequence[float]:
    listed = isinstance(given, list | tuple) or getattr(given, "ndim", 0) == 1
    if not listed or not len(cast(Sized, given)):
        raise InputError(f"levels must be a list of parts or amounts with at least one entry, got {show(given)}")
    amounts = [real_number(one, "each of levels") for one in cast(Iterable[object], given)]
    if amounts[0] <= 0.0 or any(low >= high for low, high in pairwise(amounts)):
        raise InputError(f"levels must be positive and strictly increasing, got {show(given)}")
    if amounts[-1] < 1.0:
        raise InputError(f"levels that are parts of the resource must end with 1, got {show(given)}")
    return amounts
