"""Events: the steps of a run. The state of an optimiser is a function of its events in their order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from mfopt.protocols import Array


@dataclass(frozen=True, eq=False)
class Asked:
    """A trial was handed out."""

    id: int
    x: Array  # in user units
    u: Array  # the same point in unit coordinates
    fidelity: int
    cost: float  # what it is expected to cost, and promised
    reason: Any


@dataclass(frozen=True, eq=False)
class Refused:
    """The strategy was asked and had no query; the fields are those of the Exhausted error it raised."""

    message: str
    which: str


@dataclass(frozen=True, eq=False)
class Told:
    """The outcome of a trial, in the user's direction."""

    id: int
    y: float | None  # None: the evaluation failed
    bound: float | None = None  # of one that failed: its value is known to be no better than this
    cost: float | None = None  # what it really cost; None: what was promised


@dataclass(frozen=True, eq=False)
class Added:
    """Data that nobody asked for: a trial and its value in one, with an id of its own."""

    id: int
    x: Array
    u: Array
    fidelity: int
    cost: float
    y: float


@dataclass(frozen=True, eq=False)
class CapitalSet:
    """From here on the capital Λ is `total`."""

    total: float


Event: TypeAlias = Asked | Refused | Told | Added | CapitalSet
