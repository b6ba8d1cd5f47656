"""Checks of ζ: values that lie too far from the fidelity below are asked for there too.

After a query at m > 1 with |y − μ_{m−1}(x)| > ζ the paper queries (x, m − 1), and lets ζ grow if the two values differ
by more than ζ (section "Choice of ζ_m's"). The mean is μ_{t−1}, that before the query, and neither the initial design
nor noise has a say. With `contradictions` four rules are our own (measured in benchmarks/experiments.md):

    A value outside [μ − β½σ − ζ, μ + β½σ + ζ] of the position below contradicts the bounds. Values of
    the initial design are checked only where they do, since chance put them where they are, not φ.

    The best target value is held against the bounds at each ask, since models change.

    The mean is that of the ask after the query.

    Three standard deviations of the noise are taken off a difference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from typing import TypeAlias

import numpy as np

from mfopt.protocols import Array, Query
from mfopt.theory.contract import NOISE_DEVIATIONS
from mfopt_plugins.method.kept import Kept, array, count, fields, flag, group, many, number
from mfopt_plugins.method.models import FidelityModels
from mfopt_plugins.strategies.base.initial import InitialDesign
from mfopt_plugins.strategies.ucb.affine import Affine
from mfopt_plugins.strategies.ucb.zeta import ZetaRule

Can: TypeAlias = Callable[[Array, int], bool]  # whether a query of a point at a position can be made


class ZetaChecks(Kept):
    """Holds values against ζ, in the unit of corrected values."""

    kept = fields(
        _waiting=many(group(array, count, number, flag)), _off=many(group(array, count)), _asked=many(many(array))
    )

    def __init__(
        self, zeta: ZetaRule, models: FidelityModels, design: InitialDesign, affine: Affine, contradictions: bool
    ) -> None:
        self._zeta = zeta
        self._models = models
        self._observations = models.observations
        self._design = design
        self._affine = affine
        self._contradictions = contradictions
        self._watches_best = contradictions and len(models.used) > 1
        self._waiting: list[tuple[Array, int, float, bool]] = []  # values told, to be checked; those of the design
        self._off: list[tuple[Array, int]] = []  # points and positions to be asked, as the paper has it
        self._asked: list[list[Array]] = [[] for _ in models.used]  # points that were asked for a check, by position

    def tell(self, u: Array, k: int, y: float, asked: bool) -> None:
        """Hold a value against those of the same point at other fidelities; one that was asked for is to be checked."""
        seen = self._observations.see(k, y)
        if seen is None:
            return
        for other in range(len(self._models.used)):
            value = None if other == k else self._observations.value(u, other)
            if value is None:
                continue
            if self._zeta.is_contract(k, other):
                self._hold_to_contract(u, k, seen, other)
            else:
                self._compare(k, seen, other, value)
        if asked and k > 0:
            of_design = self._design.has_issued(u, k)
            if self._contradictions:
                self._waiting.append((u, k, y, of_design))
            elif self._zeta.started and not of_design and self._is_off(u, k, seen, 0.0):
                self._off.append((u, k - 1))

    def next(self, pending: Sequence[Query], can: Can, beta: float) -> tuple[Array, int] | None:
        """The point and the position where the next check is to be made; None when there is none."""
        while self._off:
            u, low = self._off.pop(0)
            if self._can_ask(u, low, pending, can):
                return self._ask(u, low)
        while self._waiting:
            u, k, y, of_design = self._waiting.pop(0)
            widths = sqrt(beta) if of_design else 0.0
            seen = self._observations.see(k, y)
            off = seen is not None and self._is_off(u, k, seen, widths)
            if off and self._can_ask(u, k - 1, pending, can):
                return self._ask(u, k - 1)
        if self._watches_best:
            top = len(self._models.used) - 1
            points, values = self._observations.rows(top)
            best = int(np.argmax(values)) if len(values) else -1
            if best >= 0 and self._is_off(points[best], top, float(values[best]), sqrt(beta)):
                u = points[best].copy()
                if self._can_ask(u, top - 1, pending, can):
                    return self._ask(u, top - 1)
        return None

    def compare_all(self, spread: float) -> None:
        """Learn ζ anew from all pairs of values."""
        self._zeta.restart()
        if spread > 0:
            self._zeta.start(spread)
        for k in range(1, len(self._models.used)):
            if self._zeta.learnt[k - 1]:
                for u, y in zip(*self._observations.worked(k), strict=True):
                    value = self._observations.value(u, k - 1)
                    if value is not None:
                        self._compare(k, float(y), k - 1, value)

    def _compare(self, k: int, y: float, other: int, value: float) -> None:
        learnt = self._zeta.learnt[min(k, other)]
        noise = 0.0 if learnt and not self._contradictions else self._noise(k) + self._noise(other)
        self._zeta.compare(k, self._affine.value(k, y), other, self._affine.value(other, value), noise)

    def _hold_to_contract(self, u: Array, k: int, y: float, other: int) -> None:
        """Compare the means at this point, with the value y that is about to count, where both bounds were given."""
        own, others = np.append(self._observations.values(u, k), y), self._observations.values(u, other)
        noise = self._noise(k) / len(own) + self._noise(other) / len(others)
        self._zeta.hold_to_contract(k, float(own.mean()), other, float(others.mean()), noise)

    def _noise(self, k: int) -> float:
        """The noise variance of corrected values at position k."""
        return float(self._affine.a[k] ** 2 * self._models.noise(k))

    def _is_off(self, u: Array, k: int, y: float, widths: float) -> bool:
        """Whether the value y at position k lies off the mean one below by more than ζ and so many deviations."""
        low, a, b = k - 1, self._affine.a, self._affine.b
        if not self._zeta.learnt[low]:
            return False
        mean, sigma = self._models.at(u)
        difference = abs((a[k] * y + b[k]) - (a[low] * mean[low] + b[low]))
        if self._contradictions:
            difference -= NOISE_DEVIATIONS * sqrt(self._noise(k))
        return bool(max(difference, 0.0) > self._zeta.neighbour + widths * (abs(a[low]) * sigma[low]))

    def _can_ask(self, u: Array, low: int, pending: Sequence[Query], can: Can) -> bool:
        """True if u has no value at position `low`, no earlier check there failed, and the query can be made."""
        waits = [q.u for q in pending if q.fidelity == self._models.used[low]] + self._asked[low]
        if waits and self._observations.same(np.array(waits), u).any():
            return False
        return self._observations.value(u, low) is None and can(u, low)

    def _ask(self, u: Array, low: int) -> tuple[Array, int]:
        self._asked[low].append(u)
        return u, low
