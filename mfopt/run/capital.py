"""Capital: what may be spent, what is spent, and what is promised to pending trials."""

from __future__ import annotations

import math
from collections.abc import Sequence

# Ten queries of 0.1 fit into a capital of 1.0 although the products are rounded: amounts closer than this, relative
# to the capital, count as equal.
_ROUNDING = 1e-12


class Capital:
    """Λ and where it went, in the unit of the costs; `total` None is unlimited.

    Told trials are counted per fidelity and multiplied by λ_m, so that the sum does not depend on their order
    and its error does not grow with their number.
    """

    def __init__(self, total: float | None, costs: Sequence[float]) -> None:
        self.total = total
        self._costs = tuple(costs)
        self._told = [0] * len(self._costs)
        self._pending = [0] * len(self._costs)
        self._other = 0.0

    @property
    def spent(self) -> float:
        """Cost of everything told, failed trials included."""
        return self._clip(self._sum(self._told) + self._other)

    @property
    def remaining(self) -> float:
        """What is neither spent nor promised; inf when unlimited."""
        if self.total is None:
            return math.inf
        both = [a + b for a, b in zip(self._told, self._pending, strict=True)]
        left = self.total - (self._sum(both) + self._other)
        # An amount that is a price up to rounding pays that price.
        for cost in reversed(self._costs):
            if left < cost <= left + _ROUNDING * self.total:
                return cost
        return max(left, 0.0)

    def promise(self, fidelity: int) -> None:
        self._pending[fidelity] += 1

    def release(self, fidelity: int) -> None:
        """Take a promise back."""
        self._pending[fidelity] -= 1

    def pay(self, fidelity: int) -> None:
        """A promised trial has been told."""
        self._pending[fidelity] -= 1
        self._told[fidelity] += 1

    def charge(self, cost: float) -> None:
        """Pay for data that nobody asked for."""
        self._other += cost

    def _sum(self, counts: Sequence[int]) -> float:
        return math.fsum(n * cost for n, cost in zip(counts, self._costs, strict=True))

    def _clip(self, amount: float) -> float:
        return amount if self.total is None else min(amount, self.total)
