"""Conditions: which parameters of a point count, by the values of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mfopt.checks import show
from mfopt.domains.dimensions import Dimension
from mfopt.domains.discrete import Categorical, Integer, Ordinal
from mfopt.errors import DomainError, InputError
from mfopt.protocols import Array, BoolArray


class Conditions:
    """A parameter counts where every parameter that its `when` names counts, and has one of the values given there."""

    def __init__(self, dimensions: Sequence[Dimension], names: Sequence[str]) -> None:
        self._rules: list[list[tuple[int, Array]]] = [  # for each parameter: those it depends on, with their values
            [_as_rule(names[j], parent, value, dimensions, names) for parent, value in _as_mapping(names[j], dim.when)]
            for j, dim in enumerate(dimensions)
        ]
        self._order = self._sort(names)

    def depends(self, j: int) -> bool:
        """Whether parameter j may be inactive."""
        return bool(self._rules[j])

    def active(self, x: Array) -> BoolArray:
        """Which parameters count at the rows of x, (q, d) in user units."""
        active = np.ones(x.shape, dtype=np.bool_)
        for j in self._order:
            for parent, values in self._rules[j]:
                active[:, j] &= active[:, parent] & np.isin(x[:, parent], values)
        return active

    def _sort(self, names: Sequence[str]) -> list[int]:
        """The parameters that have conditions, each after those that it depends on."""
        order: list[int] = []
        waiting = [j for j, rules in enumerate(self._rules) if rules]
        while waiting:
            ready = [j for j in waiting if not any(parent in waiting for parent, _ in self._rules[j])]
            if not ready:
                raise InputError(f"conditions must not go round in a circle, got {[names[j] for j in waiting]}")
            order += ready
            waiting = [j for j in waiting if j not in ready]
        return order


def _as_mapping(name: str, when: object) -> list[tuple[Any, Any]]:
    if when is None:
        return []
    if not isinstance(when, Mapping) or not when:
        raise InputError(f"when of {name} must be {{parameter: value or list of values}}, got {show(when)}")
    return list(when.items())


def _as_rule(
    name: str, parent: object, given: object, dimensions: Sequence[Dimension], names: Sequence[str]
) -> tuple[int, Array]:
    """The place of the parameter that `name` depends on, and the values that it must have, in user units."""
    if parent not in names or parent == name:
        raise InputError(f"when of {name} must name another parameter of {list(names)}, got {show(parent)}")
    place = list(names).index(str(parent))
    dimension = dimensions[place]
    if not isinstance(dimension, Categorical | Ordinal | Integer):
        raise InputError(f"when of {name} must name an Integer, Ordinal or Categorical parameter, got {show(parent)}")
    values = given if isinstance(given, list | tuple | set | frozenset) else [given]
    if not values:
        raise InputError(f"when of {name} must give {parent} at least one value, got none")
    try:
        return place, np.array([dimension.validate(value, str(parent)) for value in values])
    except DomainError as error:
        raise InputError(f"when of {name}: {error}") from None
