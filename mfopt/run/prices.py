"""Prices: what a query at each fidelity costs, as given or as learnt from the costs that were told.

Costs that are given stay what they are as long as no other cost is told. From the first one on (Optimizer.tell with a
cost) they are learnt, on a log scale, since costs are positive and vary by factors:

    log c = θ_m + ε     c the cost of a query at fidelity m; ε ~ N(0, v), from query to query
    θ ~ N(log λ, S)     S = UNIT² 11ᵀ + RATIO² I: the costs given may be in another unit, their ratios are roughly right

v is pooled over the fidelities. Where no costs are given, λ is a guess (`first_costs`) and S is wide.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from mfopt.fidelities import Fidelity
from mfopt.protocols import Array

UNIT, RATIO = math.log(3.0), math.log(1.5)  # how far given costs may be off: all of them, and each by itself
FREE_UNIT, FREE_RATIO = math.log(100.0), math.log(10.0)  # the same where none were given
VARIES, WEIGHT = 0.3, 2.0  # √v before anything is known, and how many costs that counts for
STEP = 4.0  # guessed ratio of the costs of neighbouring fidelities
QUERIES = 100.0  # guessed number of target queries that the capital pays for
SURE = 2.0  # standard deviations from which on an order of costs is certain
ALIKE = 1.2  # neighbouring costs with a smaller ratio are nearly equal


@dataclass(frozen=True)
class CostEstimate:
    """What the next query at a fidelity will cost: `cost` is the median, two in three lie within a `factor` of it."""

    cost: float
    factor: float
    told: int  # number of costs that it was learnt from

    def __str__(self) -> str:
        return f"{self.cost:.3g} within a factor of {self.factor:.2f}"


def first_costs(fidelities: Sequence[Fidelity], capital: float | None) -> tuple[float, ...]:
    """The costs given; where there are none, a guess to begin with."""
    given = tuple(fidelity.cost for fidelity in fidelities if fidelity.cost is not None)
    if given:
        return given
    target = 1.0 if capital is None else capital / QUERIES
    return tuple(target / STEP**m for m in reversed(range(len(fidelities))))


class Prices:
    """The cost of a query at each fidelity, in the user's unit; `costs` is what to reckon with now.

    Only costs of evaluations that had a value are learnt from: one that fails may end at once, or after long.
    """

    def __init__(self, fidelities: Sequence[Fidelity], capital: float | None) -> None:
        self.costs = first_costs(fidelities, capital)
        self.learnt = False  # whether any cost was told
        self._names = [fidelity.name for fidelity in fidelities]
        self._start = np.log(self.costs)
        unit, ratio = (UNIT, RATIO) if fidelities[0].cost is not None else (FREE_UNIT, FREE_RATIO)
        self._trust = np.linalg.inv(unit**2 + ratio**2 * np.eye(len(fidelities)))  # S⁻¹
        self._count = np.zeros(len(fidelities))
        self._mean = np.zeros(len(fidelities))  # of the logarithms told
        self._squares = np.zeros(len(fidelities))  # of their differences from that mean, summed
        self._spread = np.zeros(len(fidelities))  # standard deviations of the logarithm of the next cost

    def learn(self, m: int, cost: float) -> None:
        """A query at fidelity m has cost this. A cost of 0 says nothing about others."""
        if cost <= 0.0:
            return
        self.learnt = True
        step = math.log(cost) - self._mean[m]
        self._count[m] += 1
        self._mean[m] += step / self._count[m]
        self._squares[m] += step * (math.log(cost) - self._mean[m])
        theta, covariance, v = self._posterior()
        self._spread = np.sqrt(np.diag(covariance) + v)
        self.costs = tuple(np.exp(theta).tolist())

    def _posterior(self) -> tuple[Array, Array, float]:
        """Mean and covariance of θ, and v."""
        freedom = np.maximum(self._count - 1, 0).sum()
        v = float((WEIGHT * VARIES**2 + self._squares.sum()) / (WEIGHT + freedom))
        covariance = np.linalg.inv(self._trust + np.diag(self._count / v))
        return covariance @ (self._trust @ self._start + self._count / v * self._mean), covariance, v

    @property
    def estimates(self) -> tuple[CostEstimate, ...]:
        """One per fidelity; costs that are given and were never contradicted are certain."""
        rows = zip(self.costs, np.exp(self._spread).tolist(), self._count.astype(int).tolist(), strict=True)
        return tuple(CostEstimate(*row) for row in rows)

    def oddities(self) -> list[str]:
        """A sentence for each pair of neighbours whose learnt costs are in the wrong order, or nearly equal."""
        if not self.learnt:
            return []
        theta, covariance, _ = self._posterior()
        found = []
        for m, (low, high) in enumerate(pairwise(self.costs)):
            step = theta[m + 1] - theta[m]
            doubt = SURE * math.sqrt(covariance[m, m] + covariance[m + 1, m + 1] - 2.0 * covariance[m, m + 1])
            pair = f"{self._names[m]} costs {low:.3g} and {self._names[m + 1]} {high:.3g}"
            if step + doubt < 0.0:
                found.append(f"{pair}: the one that should be cheaper is not, leave it out or change their order")
            elif step + doubt < math.log(ALIKE):
                found.append(f"{pair}, nearly the same: the one that should be cheaper saves little")
        return found
