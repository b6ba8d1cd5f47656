"""Parts: the state of a strategy is that of its parts, with the costs and the arithmetic that it reckons with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from mfopt_plugins.method.kept import many, mapping, positive
from mfopt_plugins.surrogates.arithmetic import arithmetic


class Part(Protocol):
    """A part of a strategy with a state of its own."""

    def state(self) -> Mapping[str, Any] | None:
        """As plain values; None where it cannot be told just now."""

    def restore(self, state: object) -> None:
        """Take it up; a ValueError for what is none."""


def tell_parts(parts: Mapping[str, Part], costs: Sequence[float]) -> dict[str, Any] | None:
    """The states of these parts, by their names; None where one cannot tell it just now."""
    states = {name: part.state() for name, part in parts.items()}
    if any(state is None for state in states.values()):
        return None
    return {**states, "costs": list(costs), "arithmetic": arithmetic()}


def restore_parts(
    parts: Mapping[str, Part], state: object, costs: Sequence[float], reprice: Callable[[Sequence[float]], None]
) -> None:
    """Have the parts, in their order, take up what others told; first `reprice`, where their costs were not these."""
    given = mapping(state, *parts, "costs", "arithmetic")
    if given["arithmetic"] != arithmetic():
        raise ValueError("a state must come from a CPU and a build that compute as these do, got another")
    theirs = many(positive, len(costs))(given["costs"])
    if theirs != list(costs):
        reprice(theirs)
    for name, part in parts.items():
        part.restore(given[name])
