"""Shape: how failing regions look, chosen by the evidence of the outcomes (crashes.py) times a prior.

    lengths    ℓ, one length-scale per coordinate
    oblique    w, a sum of coordinates, with signs, that has a length-scale of its own: many edges are x₀ + x₁ = c
    rate       ε, the share of failures that come at random
    coupling   ρ, how far neighbouring fidelities fail at the same places

The metric A has a row e_j/ℓ_j for every coordinate, and the row w where there is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations

import numpy as np

from mfopt.protocols import Array, BoolArray
from mfopt_plugins.method.crashes import Crashes, Outcomes, Sites, Theta
from mfopt_plugins.method.kept import array, group, number

_TYPICAL, _TOGETHER, _APART = 0.5, 1.5, 1.0  # prior of length-scales, in units of √dim: log-normal, and of their ratios
_SUM = -1.0  # logarithm of the prior that there is a sum; its length-scale is as likely as one of coordinates
_RATES = {0.002: 0.0, 0.03: 0.0, 0.1: -0.5, 0.3: -1.0}  # ε, with the logarithm of its prior
_COUPLINGS = {0.0: -2.0, 0.7: -1.0, 0.99: 0.0}  # ρ, likewise
_FACTORS = (0.4, 2.5)  # steps of a length-scale
_SHORTEST, _LONGEST = 0.02, 20.0
_PASSES = 2  # over all numbers that are chosen
_CANDIDATES = 3  # coordinates of which two may begin a sum: those with the shortest length-scales
_BEGIN = 2.0  # weight in a first sum, in units of 1/ℓ


@dataclass(frozen=True)
class Shape:
    """See above; w is 0 without a sum, otherwise its entries are 0, c and −c."""

    lengths: Array
    oblique: Array
    rate: float
    coupling: float

    @classmethod
    def typical(cls, dim: int) -> Shape:
        """What is assumed before anything is known."""
        return cls(np.full(dim, _TYPICAL * np.sqrt(dim)), np.zeros(dim), 0.03, 0.99)

    @property
    def theta(self) -> Theta:
        """The same, with the metric in place of its parts."""
        metric = np.diag(1.0 / self.lengths)
        if self.oblique.any():
            metric = np.vstack([metric, self.oblique])
        return Theta(metric, self.rate, self.coupling)

    def prior(self) -> float:
        """The logarithm of its density, up to a constant."""
        typical = _TYPICAL * np.sqrt(len(self.lengths))
        steps = np.log(self.lengths / typical)
        value = -0.5 * float((steps.mean() / _TOGETHER) ** 2 + np.sum(((steps - steps.mean()) / _APART) ** 2))
        if self.oblique.any():
            value += _SUM - 0.5 * float(np.log(np.abs(self.oblique).max() * typical) / _TOGETHER) ** 2
        return value + _RATES[self.rate] + _COUPLINGS[self.coupling]

    def state(self) -> list[object]:
        """As plain values."""
        return [self.lengths.copy(), self.oblique.copy(), self.rate, self.coupling]

    @classmethod
    def read(cls, state: object, dim: int) -> Shape:
        """From a state; a ValueError where it cannot be one."""
        lengths, oblique, rate, coupling = group(array, array, number, number)(state)
        if lengths.shape != (dim,) or not (lengths > 0.0).all():
            raise ValueError(f"length-scales must be {dim} positive numbers, got {lengths}")
        if oblique.shape != (dim,):
            raise ValueError(f"a sum must have {dim} weights, got {oblique}")
        if rate not in _RATES or coupling not in _COUPLINGS:
            raise ValueError(f"rate and coupling must be among those tried, got {rate} and {coupling}")
        return cls(lengths, oblique, rate, coupling)


def learn(outcomes: Outcomes, shape: Shape) -> Shape:
    """Climb from this shape: one number after the other to the best of its neighbours."""

    def judge(candidate: Shape, start: Sites | None) -> tuple[float, Sites]:
        crashes = Crashes(outcomes, candidate.theta, start)
        crashes.settle()
        return crashes.evidence() + candidate.prior(), crashes.sites

    best, (value, sites) = shape, judge(shape, None)
    for _ in range(_PASSES):
        before = value
        for find_neighbours in _neighbourhoods(len(shape.lengths), several=len(np.unique(outcomes.k)) > 1):
            for candidate in find_neighbours(best):
                found, settled = judge(candidate, sites)  # which are nearly those of a neighbour
                if found > value:
                    best, value, sites = candidate, found, settled
        if value == before:
            break
    return best


def _neighbourhoods(dim: int, several: bool) -> Iterator[Callable[[Shape], list[Shape]]]:
    """Other length-scales, all at once and each; other ε, ρ where `several` positions have outcomes, and sums."""
    everything = [np.ones(dim, dtype=np.bool_)]
    for chosen in everything + (list(np.eye(dim, dtype=np.bool_)) if dim > 1 else []):
        yield partial(_scale, chosen=chosen)
    yield lambda shape: [replace(shape, rate=rate) for rate in _RATES if rate != shape.rate]
    if several:
        yield lambda shape: [replace(shape, coupling=coupling) for coupling in _COUPLINGS if coupling != shape.coupling]
    yield _sum


def _scale(shape: Shape, chosen: BoolArray) -> list[Shape]:
    """With other length-scales of the chosen coordinates."""
    lengths = [np.where(chosen, factor, 1.0) * shape.lengths for factor in _FACTORS]
    return [replace(shape, lengths=np.clip(one, _SHORTEST, _LONGEST)) for one in lengths]


def _sum(shape: Shape) -> list[Shape]:
    """With a sum of two coordinates that matter; where there is one, with a steeper one, one more or one less."""
    oblique, dim = shape.oblique, len(shape.lengths)
    sums = []
    if not oblique.any():
        for i, j in combinations(np.argsort(shape.lengths, kind="stable")[:_CANDIDATES].tolist(), 2):
            for sign in (1.0, -1.0):
                pair = np.eye(dim)[i] + sign * np.eye(dim)[j]
                sums.append(_BEGIN / shape.lengths[i] * pair)
    else:
        sums += [oblique / factor for factor in _FACTORS]
        weight = np.abs(oblique).max()
        for j in range(dim):
            sums += [np.where(np.arange(dim) == j, one, oblique) for one in (0.0, weight, -weight) if one != oblique[j]]
    return [replace(shape, oblique=one if np.count_nonzero(one) > 1 else np.zeros(dim)) for one in sums]
