"""Levels: the resource of which cheaper fidelities get less, and how much each gets."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from mfopt.checks import one_each, real_number, show
from mfopt.errors import InputError
from mfopt.fidelities import Fidelity

SAMPLES = "n_samples"


@dataclass(frozen=True)
class Levels:
    """How much of the resource each fidelity has: for samples parts or numbers of rows, otherwise parameter values."""

    resource: str
    amounts: tuple[float, ...]

    @property
    def of_samples(self) -> bool:
        """Whether the resource is the number of training rows."""
        return self.resource == SAMPLES

    def fidelities(self, timed: bool) -> list[Fidelity]:
        """One per level; it costs its part of the resource, or seconds that nobody knows yet."""
        top = self.amounts[-1]
        return [Fidelity(f"{self.resource} {one:g}", None if timed else one / top) for one in self.amounts]

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
        return Levels(resource, tuple(amounts))
    own = estimator.get_params()
    if resource not in own:
        raise InputError(f'resource must be "{SAMPLES}" or a parameter of the estimator, got {resource!r}')
    if resource in searched:
        raise InputError(f"resource must not be a parameter of the space, got {resource!r}")
    if amounts[-1] > 1.0:
        values = tuple(int(one) if float(one).is_integer() else one for one in amounts)
        return Levels(resource, values)
    full = own[resource]
    if isinstance(full, bool) or not isinstance(full, int | float) or full <= 0:
        raise InputError(
            f"levels that are parts need an estimator whose {resource} is a positive number, got {show(full)}; give "
            "levels as values"
        )
    values = tuple(max(math.ceil(part * full), 1) if isinstance(full, int) else part * full for part in amounts)
    if any(low >= high for low, high in pairwise(values)):
        raise InputError(f"levels must give increasing values of {resource}, got {list(values)}")
    return Levels(resource, values)


def _read_amounts(given: object) -> Sequence[float]:
    listed = isinstance(given, list | tuple) and len(given)
    amounts = [real_number(one, "each of levels") for one in one_each(given, listed or 1, "levels")]
    if amounts[0] <= 0.0 or any(low >= high for low, high in pairwise(amounts)):
        raise InputError(f"levels must be positive and strictly increasing, got {show(given)}")
    if amounts[-1] < 1.0:
        raise InputError(f"levels that are parts of the resource must end with 1, got {show(given)}")
    return amounts
