"""Risk: what a strategy over several fidelities does about a query that is likely to fail.

dares         a point that may fail is asked if it promises much more than those that work
find_dark     a position that would tell of the target at a point, but fails there, so that only the target is left
pays          a look where only the target is left must promise more, and the sum of them is limited
fails_alone   a fidelity that fails at a point where the next one does not: the query moves up
find_probe    a target query that may fail waits for a cheaper one at the same point, which tells
find_test     where a cheap fidelity fails, the next one is asked once whether it does, too
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mfopt.protocols import Acquisition, Array, Query
from mfopt_plugins.method.failures import FailureModel
from mfopt_plugins.method.kept import Kept, array, collection, count, fields, group, many
from mfopt_plugins.method.observations import Observations

ALONE = 0.25  # by which the chance of failure one fidelity up must be lower for a query to move there
DARING = 10.0  # times the gain that a safe point promises: what one that may fail must promise
DARED = 0.03  # of all that was spent: what failures of such points may take
DARK = 0.1  # of all that was spent: what target queries where only the target is left may take, beside the best value
ENOUGH = 3  # failures of a fidelity after which the next one is tested


class Risk(Kept):
    """The questions above, for fidelities of these costs, by position; to be asked once something has failed."""

    kept = fields(_tested=collection(count), _probes=many(group(array, count)), _dared=many(array), _dark=many(array))

    def __init__(self, failures: FailureModel, observations: Observations, costs: Sequence[float]) -> None:
        self._failures = failures
        self._observations = observations
        self._costs = costs
        self._top = len(costs) - 1
        self._tested: set[int] = set()  # positions that were asked where the one below fails
        self._dared: list[Array] = []  # points that were asked although they might fail
        self._dark: list[Array] = []  # points where the target was asked because a cheaper fidelity fails there
        self._probes: list[tuple[Array, int]] = []  # probes whose target query waits for their outcome

    @property
    def may_dare(self) -> bool:
        """Whether fear keeps queries from points that may well work, and daring has cost little so far."""
        if self._failures.hope >= 0.0:
            return False
        if not self._dared:
            return True
        failed, dared = self._observations.failures(), np.array(self._dared)
        lost = sum(self._costs[k] for u, k in failed if self._observations.same(dared, u).any())
        return lost <= DARED * self._spent()

    def _spent(self) -> float:
        """What values and failures have cost."""
        spent = sum(cost * n for cost, n in zip(self._costs, self._observations.counts, strict=True))
        return spent + sum(self._costs[k] for _, k in self._observations.failures())

    @property
    def has_only_failed(self) -> bool:
        """Whether target queries have failed and none has worked: the bound knows no better place for the next one."""
        failed = any(k == self._top for _, k in self._observations.failures())
        return failed and self._observations.counts[self._top] == 0

    def dares(self, u: Array, gain: float, least: float) -> bool:
        """Whether the gain that u promises, times its chance to work at the target, is far more than `least`.

        Fear keeps to what is known to work. Where that promises next to nothing, more of it is no better than a
        failure. The less a failure costs, because a cheaper fidelity tells, the less must be promised.
        """
        chance = 1.0 - float(self._failures.probability(u[None], self._top)[0])
        price = min([1.0, *(self._costs[k] / self._costs[-1] for k in range(self._top) if self._failures.tells(k))])
        if chance * gain <= max(DARING * price, 1.0) * max(least, 0.0):
            return False
        self._dared.append(u)
        return True

    def find_dark(self, u: Array, worth: Array) -> int | None:
        """The cheapest position that would be asked at u for what it is worth, but is likely to fail there alone."""
        for k in range(self._top):
            if float(worth[k]) / self._costs[k] > 1.0 / self._costs[-1] and self.fails_alone(u, k):
                return k
        return None

    def pays(self, u: Array, k: int, gain: float, least: float) -> bool:
        """Whether the target is to be asked at u, where position k fails and `least` is the gain where it works.

        A cheap look elsewhere costs a target query here, so that it must promise as much more. Many of them would be
        needed to know the region as well as the rest of X: unless the best value lies there, they are a bet, and take
        no more than a part of what is spent.
        """
        if gain <= self._costs[-1] / self._costs[k] * least:
            return False
        points, values = self._observations.worked(self._top)
        is_bet = len(values) > 0 and not self.fails_alone(points[int(np.argmax(values))], k)
        if is_bet and least > 0.0 and self._costs[-1] * (1 + len(self._dark)) > DARK * self._spent():
            return False
        self._dark.append(u)
        return True

    def fails_alone(self, u: Array, k: int) -> bool:
        """Whether position k is likely to fail at this point, and one above it is not."""
        here, *above = (float(self._failures.probability(u[None], j)[0]) for j in range(k, self._top + 1))
        return here > 0.5 and min(above) < here - ALONE

    def find_probe(self, u: Array, pending: Sequence[Query]) -> int | None:
        """The cheapest position that tells whether the target fails at u, for less than its failure would cost."""
        if self._top == 0:
            return None
        chance = float(self._failures.probability(u[None], self._top)[0]) - self._failures.base
        for k in range(self._top):
            worth = self._failures.tells(k) and self._costs[k] < chance * self._costs[-1]
            if worth and not self._observations.is_taken(u, k, pending):
                return k
        return None

    def wait_for(self, u: Array, k: int) -> None:
        """The target is to be asked at u if the probe at position k has a value."""
        self._probes.append((u, k))

    def find_probed(self, pending: Sequence[Query]) -> Array | None:
        """The point of a probe that has a value now, each once."""
        for i, (u, k) in enumerate(self._probes):
            if self._observations.is_waiting(u, k, pending):
                continue
            del self._probes[i]
            if self._observations.value(u, k) is not None and not self._observations.is_taken(u, self._top, pending):
                return u
            return self.find_probed(pending)
        return None

    def find_test(self, acquisition: Acquisition, least: float) -> tuple[Array, int] | None:
        """A point where position k − 1 failed, and k, if it promises more than `least` and k was never asked there."""
        failures = self._observations.failures()
        for k in range(1, self._top + 1):
            points = [u for u, j in failures if j == k - 1]
            if k in self._tested or len(points) < ENOUGH or self._is_known(k):
                continue
            values = acquisition(np.array(points))
            if float(values.max()) > least:
                self._tested.add(k)
                return points[int(np.argmax(values))], k
        return None

    def _is_known(self, k: int) -> bool:
        """Whether an outcome at position k lies nearer to a failure one below than to a value there."""
        below = self._observations.worked(k - 1)[0]
        failed = np.array([u for u, j in self._observations.failures() if j == k - 1])
        for u in self._observations.queried_points(k):
            nearest = np.abs(below - u).max(axis=1, initial=0.0).min(initial=np.inf)
            if np.abs(failed - u).max(axis=1).min() < nearest:
                return True
        return False
