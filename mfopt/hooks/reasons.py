"""What a reason, by which a strategy explains a query, may offer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class TellsKind(Protocol):
    """A reason that names the rule by which the query was chosen."""

    @property
    def kind(self) -> str:
        """A word or two, such as "initial design"."""


@runtime_checkable
class TurnsSign(Protocol):
    """A reason with values in it, which a user who minimises wants to read with their own sign."""

    def negated(self) -> Any:
        """The same reason with the signs of means and bounds changed."""


class Estimate(Protocol):
    """What a query is expected to cost: about `cost`, two in three times within a `factor` of it."""

    @property
    def cost(self) -> float:
        """The median."""

    @property
    def factor(self) -> float:
        """By which it may be off, upwards and downwards."""


@runtime_checkable
class ShowsCosts(Protocol):
    """A reason that shows what queries are expected to cost, where costs are learnt from those told."""

    def priced(self, estimates: Sequence[Estimate]) -> Any:
        """The same reason with these estimates, one per fidelity."""
