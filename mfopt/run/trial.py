"""What the user holds: trials to carry out, and the best value so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from mfopt.protocols import Array


@dataclass(frozen=True, eq=False)
class Trial:
    """A query to carry out: evaluate function `fidelity` (0-based, the last is the target) at `x`."""

    id: int
    x: Array  # (d,), in user units, read-only
    fidelity: int
    cost: float
    index: int | None  # row of the user's candidates; None when X is not finite
    reason: Any  # why this point and this fidelity; print it
    claim: int | None = None  # in a study: how often the trial had been handed out when you got it


@dataclass(frozen=True, eq=False)
class Best:
    """The best value observed at the target fidelity."""

    x: Array  # (d,), in user units, read-only
    y: float
    trial_id: int
