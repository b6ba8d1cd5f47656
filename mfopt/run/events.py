"""Event: one step of a run. The state of an optimiser is a function of its events in their order."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mfopt.protocols import Array


@dataclass(frozen=True, eq=False)
class Event:
    """What happened.

    ask       trial `id` was handed out: x (user units), u (unit coordinates), fidelity, cost, reason
    refuse    the strategy had no query; `reason` is what it said, (message, which)
    tell      trial `id` has the value y; None: it failed
    add       data that nobody asked for: as an ask and a tell in one
    capital   Λ is y from here on
    """

    kind: str
    id: int = -1
    x: Array = field(default_factory=lambda: np.empty(0))
    u: Array = field(default_factory=lambda: np.empty(0))
    fidelity: int = 0
    cost: float = 0.0
    reason: Any = None
    y: float | None = None
