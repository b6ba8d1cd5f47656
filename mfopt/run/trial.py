"""What the user holds: trials to carry out, the best value so far, and the point to settle on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mfopt.protocols import Array


@dataclass(frozen=True, eq=False)
class Trial:
    """A query to carry out: evaluate function `fidelity` (0-based, the last is the target) at `x`."""

    id: int
    x: Array  # (d,), in user units, read-only
    fidelity: int
    cost: float  # what it is expected to cost
    index: int | None  # row of the user's candidates; None when X is not finite
    reason: Any  # why this point and this fidelity; print it
    params: dict[str, Any] = field(repr=False)  # x by name, as native Python values
    claim: int | None = None  # in a study: how often the trial had been handed out when you got it


@dataclass(frozen=True, eq=False)
class Best:
    """The best value observed at the target fidelity."""

    x: Array  # (d,), in user units, read-only
    y: float
    trial_id: int
    params: dict[str, Any] = field(repr=False)  # x by name, as native Python values


@dataclass(frozen=True, eq=False)
class Recommendation:
    """The point to settle on: where the target's posterior mean is best.

    `noisy` says whether values at the target are. Where they are not, the best observed value is as good an answer.
    """

    x: Array  # (d,), in user units, read-only
    mean: float  # of f at x, in the user's unit and sign
    std: float  # standard deviation of f at x, without the noise of an observation
    noisy: bool
    params: dict[str, Any] = field(repr=False)  # x by name, as native Python values
