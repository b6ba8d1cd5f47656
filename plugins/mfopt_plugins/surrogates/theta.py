"""θ: the hyper-parameters of a process as one vector, with their priors, and the θ that is most likely a posteriori.

θ consists of named parts. Positive hyper-parameters stand in it as logarithms, so that a prior

    log ℓ ~ N(log centre, sigma²)   or, without the logarithm,   ρ ~ N(centre, sigma²)

says by which factor (by how much) they are expected to differ from their centre. A learning module says what the
parts are and how the log likelihood depends on them; the priors, the limits, the entries that are given and the search
are here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from mfopt.protocols import Array
from mfopt_plugins.surrogates.climb import Function, climb

Name: TypeAlias = str | tuple[str, int]  # of a part; the number tells parts of several levels apart
# Terms of the log likelihood at θ, which are summed in this order, each with its gradient in θ.
LogLikelihood: TypeAlias = Callable[[Array], Iterable[tuple[float, Array]]]

AFRESH = 1.5  # growth of the rows after which the previous optimum is not the only start of the next search
_DRAWS, _KEPT = 24, 3  # starts that are tried where there are no priors, and from how many the search begins
NOTHING = 0.25  # of log posterior density: hyper-parameters that are worse by less are not worth a change
_ITERATIONS = 60  # of L-BFGS-B from one start, at most
_STEPS = 40  # from the previous optimum, at most
_LEAST = 0.005  # of log posterior density: the search from there ends when less is to be gained
_FAR = 20.0  # gained: then the previous optimum was no guide, and the centre of the priors is tried too
_WIDTH = 4.0  # deviations of the prior on either side of its centre, where a part has no limits


@dataclass(frozen=True)
class Part:
    """Hyper-parameters that have one name and one prior; all numbers but `sigma` are theirs, not their logarithms."""

    name: Name
    centre: Array  # of the prior, one per entry of θ
    sigma: float  # deviation of the prior, for a positive part that of the logarithm
    positive: bool = True  # stands in θ as logarithms
    difference: float | None = None  # variance of the difference between two entries; None: entries are independent
    limits: tuple[float, float] | None = None
    given: Sequence[float | None] | None = None  # values that are not learnt, None where they are
    groups: Sequence[int] | None = None  # by value, the entry that it is; None: every value has an entry of its own

    def encode(self, values: npt.ArrayLike) -> Array:
        """The entries of θ for these values; for a positive part, values below its lower limit count as that."""
        if not self.positive:
            return np.asarray(values, dtype=np.float64)
        return np.asarray(np.log(values if self.limits is None else np.maximum(values, self.limits[0])))

    def decode(self, theta: Array) -> Array:
        """The values for these entries of θ."""
        entries = np.asarray(np.exp(theta)) if self.positive else theta
        return entries if self.groups is None else entries[list(self.groups)]

    def choose(self, values: npt.ArrayLike) -> npt.ArrayLike:
        """One value per entry: those of one entry are equal."""
        if self.groups is None:
            return values
        return np.asarray(values)[np.unique(self.groups, return_index=True)[1]]

    def add_up(self, slope: Array) -> Array:
        """The derivatives in the entries of θ, from those in the values (of a positive part, in their logarithms)."""
        return slope if self.groups is None else np.bincount(self.groups, slope, len(self.centre)).astype(np.float64)


@dataclass(frozen=True)
class Optimum:
    """The best θ that was found."""

    theta: Array
    density: float  # the log posterior density there, up to a constant
    gain: float = inf  # over that of the previous optimum
    inverse: Array | None = None  # H of climb.py, for the next search


class Layout:
    """θ as a vector that is made of these parts, in this order; if `flat`, without priors within their limits."""

    def __init__(self, parts: Sequence[Part], flat: bool = False) -> None:
        self._flat = flat
        self._parts = {part.name: part for part in parts}
        ends = np.cumsum([len(part.centre) for part in parts]).tolist()
        self._slices = {part.name: slice(end - len(part.centre), end) for part, end in zip(parts, ends, strict=True)}
        self.centre = np.concatenate([part.encode(part.centre) for part in parts])
        self._sigma = np.concatenate([np.full(len(part.centre), part.sigma) for part in parts])
        self._precision = self._invert_covariance()
        self._low, self._high = self._find_limits()
        self._free = self._low < self._high  # the entries that are learnt; both limits of the others are what is given

    def __len__(self) -> int:
        return len(self.centre)

    def __getitem__(self, name: Name) -> slice:
        """Which entries of θ, and so of a gradient in θ, the part of this name takes."""
        return self._slices[name]

    def pack(self, values: Mapping[Name, npt.ArrayLike]) -> Array:
        """θ for these values of all parts."""
        return np.concatenate([part.encode(part.choose(values[name])) for name, part in self._parts.items()])

    def unpack(self, theta: Array) -> dict[Name, Array]:
        """The values of all parts for this θ."""
        return {name: part.decode(theta[self._slices[name]]) for name, part in self._parts.items()}

    def add_up(self, name: Name, slope: Array) -> Array:
        """The derivatives in the entries of a part, from those in its values: values of one entry are added up."""
        return self._parts[name].add_up(slope)

    def fix(self, theta: Array) -> Array:
        """The same θ with the entries that are given."""
        return np.where(self._free, theta, self._low)

    def choose_starts(
        self, previous: Array | None, afresh: bool, rng: np.random.Generator, width: float = 1.0
    ) -> list[Array]:
        """Where a search starts: at the previous optimum, and if `afresh` also at the centre of the priors.

        The first search has no previous optimum. It starts at the centre, and at a draw from the priors with their
        deviations times `width`.
        """
        if previous is None:
            return [self.centre, self.centre + width * self._sigma * rng.standard_normal(len(self._sigma))]
        return [previous, self.centre] if afresh else [previous]

    def screen_starts(
        self, likelihood: LogLikelihood, starts: Sequence[Array], rng: np.random.Generator
    ) -> list[Array]:
        """The most likely of these starts and of draws from the priors.

        Without priors the likelihood has plateaus, all noise or no correlation at all, from which no ascent leads away.
        """
        draws = self.centre + self._sigma * rng.standard_normal((_DRAWS, len(self)))
        candidates = [np.clip(self.fix(start), self._low, self._high) for start in (*starts, *draws)]
        values = [sum(term for term, _ in likelihood(theta)) for theta in candidates]
        order = np.argsort(-np.nan_to_num(values, nan=-np.inf), kind="stable")
        return [candidates[i] for i in order[:_KEPT]]

    def search(
        self,
        likelihood: LogLikelihood,
        previous: Array | None,
        inverse: Array | None,
        afresh: bool,
        rng: np.random.Generator,
        width: float = 1.0,
    ) -> Optimum:
        """The maximum a posteriori, from where `choose_starts` says.

        From the previous optimum it is climbed to with the H that was found there (`inverse`), which takes a few
        evaluations where little has changed.
        """
        starts = self.choose_starts(previous, afresh, rng, width)
        if previous is None:
            return self.find_maximum(likelihood, starts)
        found = self._climb(likelihood, previous, inverse)
        far = starts[1:] or ([self.centre] if found.gain > _FAR else [])
        if far:
            other = self.find_maximum(likelihood, far)
            if other.density > found.density:
                return replace(other, gain=other.density - found.density + found.gain)
        return found

    def _climb(self, likelihood: LogLikelihood, start: Array, inverse: Array | None) -> Optimum:
        """The maximum near `start`."""
        free, low, high = self._free, self._low, self._high
        theta = np.clip(start, low, high)
        if not free.any():
            return Optimum(theta, 0.0, 0.0)
        function = self._log_posterior(likelihood)
        if inverse is not None and inverse.shape != (free.sum(), free.sum()):
            inverse = None  # other entries were given then
        first = function(theta[free])
        values = iter([first])  # which the climb asks for first
        theta[free], density, inverse = climb(
            lambda entries: next(values, None) or function(entries),
            theta[free],
            low[free],
            high[free],
            inverse,
            _STEPS,
            _LEAST,
        )
        return Optimum(theta, density, density - first[0], inverse)

    def maximise_posterior(
        self, likelihood: LogLikelihood, starts: Sequence[Array], iterations: int = _ITERATIONS
    ) -> Array:
        """The maximum a posteriori: the best θ within the limits that L-BFGS-B finds from these starts.

        Entries that are given stay.
        """
        return self.find_maximum(likelihood, starts, iterations).theta

    def find_maximum(
        self, likelihood: LogLikelihood, starts: Sequence[Array], iterations: int = _ITERATIONS
    ) -> Optimum:
        """The same, with what else is known of it."""
        from scipy.optimize import minimize  # slow to import, and most asks learn nothing

        free, low, high = self._free, self._low, self._high
        function = self._log_posterior(likelihood)

        def negative(entries: Array) -> tuple[float, Array]:
            value, slope = function(entries)
            return -value, -slope

        best, best_value, inverse = low.copy(), np.inf, None
        for start in starts if free.any() else []:
            found = minimize(
                negative,
                np.clip(start, low, high)[free],
                jac=True,
                method="L-BFGS-B",
                bounds=list(zip(low[free], high[free], strict=True)),
                options={"maxiter": iterations},
            )
            if not found.fun >= best_value:
                best[free], best_value, inverse = (
                    found.x,
                    float(found.fun),
                    np.asarray(found.hess_inv @ np.eye(len(found.x))),
                )
        return Optimum(best, -best_value, inf, inverse)

    def _log_posterior(self, likelihood: LogLikelihood) -> Function:
        """The log posterior density, up to a constant, and its gradient, of the entries that are learnt."""

        def posterior(entries: Array) -> tuple[float, Array]:
            theta = self._low.copy()
            theta[self._free] = entries
            value, slope = self._log_prior(theta)
            for term, by_theta in likelihood(theta):
                value += term
                slope = slope + by_theta
            if not (np.isfinite(value) and np.isfinite(slope).all()):
                return -1e25, np.zeros(len(entries))
            return value, slope[self._free]

        return posterior

    def _log_prior(self, theta: Array) -> tuple[float, Array]:
        """The logarithm of the prior density, up to a constant, and its gradient."""
        if self._flat:
            return 0.0, np.zeros(len(theta))
        away = theta - self.centre
        if self._precision is None:
            scaled = away / self._sigma
            return -0.5 * float(scaled @ scaled), -scaled / self._sigma
        slope = -(self._precision @ away)
        return 0.5 * float(away @ slope), slope

    def _invert_covariance(self) -> Array | None:
        """The inverse of the prior covariance; None where all parts have independent entries."""
        if all(part.difference is None for part in self._parts.values()):
            return None
        covariance = np.diag(self._sigma**2)
        for name, part in self._parts.items():
            if part.difference is not None:
                # var(a − b) = 2 sigma² − 2 cov(a, b) is the difference that is asked for.
                block = self._slices[name]
                covariance[block, block] = part.sigma**2 - 0.5 * part.difference * (1.0 - np.eye(len(part.centre)))
        return np.asarray(np.linalg.inv(covariance))

    def _find_limits(self) -> tuple[Array, Array]:
        """The lowest and the highest θ."""
        low, high = self.centre - _WIDTH * self._sigma, self.centre + _WIDTH * self._sigma
        for name, part in self._parts.items():
            block = self._slices[name]
            if part.limits is not None:
                low[block], high[block] = part.encode(part.limits)
            for i, value in enumerate(part.given or []):
                if value is not None:
                    low[block][i] = high[block][i] = part.encode([value])[0]
        return low, high
