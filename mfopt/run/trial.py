"""What the user holds: trials to carry out, the best value so far, and the point to settle on."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

from mfopt.protocols import Array


class _Named:
    """What has a point that is known by the names of its parameters, too."""

    x: Array
    _params: dict[str, Any]

    def __repr__(self) -> str:
        """With params in the place of x where that does not say it all: names, or what its numbers stand for."""
        params = self._params
        plain = list(params) == [f"x{j}" for j in range(len(self.x))]
        says_all = plain and all(type(value) is float for value in params.values())
        shown = {one.name: getattr(self, one.name) for one in fields(self) if one.repr}  # type: ignore[arg-type]
        if not says_all:
            shown = {"params": params} | {name: value for name, value in shown.items() if name != "x"}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in shown.items())})"

    @property
    def params(self) -> dict[str, Any]:
        """x by name, as native Python values: a dict of the caller's own."""
        return dict(self._params)


@dataclass(frozen=True, eq=False, repr=False)
class Trial(_Named):
    """A query to carry out: evaluate function `fidelity` (0-based, the last is the target) at `x`."""

    id: int
    x: Array  # (d,), in user units, read-only
    fidelity: int
    cost: float  # what it is expected to cost
    index: int | None  # row of the user's candidates; None when X is not finite
    reason: Any  # why this point and this fidelity; print it
    _params: dict[str, Any] = field(repr=False)
    claim: int | None = None  # in a study: how often the trial had been handed out when you got it


@dataclass(frozen=True, eq=False, repr=False)
class Best(_Named):
    """The best value observed at the target fidelity."""

    x: Array  # (d,), in user units, read-only
    y: float
    trial_id: int
    _params: dict[str, Any] = field(repr=False)


@dataclass(frozen=True, eq=False, repr=False)
class Recommendation(_Named):
    """The point to settle on: where the target's posterior mean is best.

    `noisy` says whether values at the target are. Where they are not, the best observed value is as good an answer.
    """

    x: Array  # (d,), in user units, read-only
    mean: float  # of f at x, in the user's unit and sign
    std: float  # standard deviation of f at x, without the noise of an observation
    noisy: bool
    _params: dict[str, Any] = field(repr=False)
