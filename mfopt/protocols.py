"""The interfaces between the parts of mfopt: what a plugin implements, and what it is handed.

Notation, here and in every plugin:

    X       the domain, seen as a subset of the unit cube [0, 1]^dim ("unit coordinates", written u or U)
    m       a fidelity, 0-based: 0 is the cheapest, M - 1 the target
    y       a value, in the user's unit but always to be *maximised* (the Optimizer flips the sign for minimisation)
    U       (q, dim) points, one per row; y, mean, var (q,); gradients (q, dim)

A datum takes one way through the parts and never goes back:

    Optimizer --View--> Strategy --Acquisition--> Maximiser --U--> Acquisition --U--> Model (posterior)

User units exist only in the Optimizer and the Domain. No part keeps global state; randomness comes from the
generators handed in.

What a plugin may offer beyond this, and what is then done with it, is in mfopt/hooks/.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
import numpy.typing as npt

Array: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

# The version of these interfaces. It changes when a plugin that was right would no longer be. A plugin may say for
# which it was written, by an attribute `protocol_version`, and is refused when it is loaded unless the two agree.
VERSION = 1

# Two points of a box that differ by at most this in every unit coordinate are the same point: no value could tell them
# apart. Points of a finite set are the same if they are one row of it.
SAME = 1e-6


@dataclass(frozen=True)
class Block:
    """The unit coordinates of one parameter of X: those from `start` up to, not including, `stop`."""

    start: int
    stop: int
    levels: Array | None  # (L, stop − start): its values, where there are few enough to list; None: a continuum

    @property
    def coordinates(self) -> slice:
        return slice(self.start, self.stop)


@runtime_checkable
class Domain(Protocol):
    """X: which points may be evaluated, and how user units map to the unit cube and back."""

    @property
    def dim(self) -> int:
        """Number of unit coordinates (what the models see)."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the user's coordinates."""

    @property
    def points(self) -> Array | None:
        """All distinct points of a finite X, (N, dim) in unit coordinates; None when X is not finite."""

    def validate(self, x: object) -> Array:
        """`x` as a 1-D float64 array in user units; a DomainError if it is not a point of X."""

    def encode(self, x: Array) -> Array:
        """User units (q, d) to unit coordinates (q, dim)."""

    def decode(self, u: Array) -> Array:
        """Unit coordinates (q, dim) to user units (q, d)."""

    def contains(self, u: Array) -> BoolArray:
        """Which rows of unit coordinates lie in X."""

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """`n` points drawn uniformly from X, in unit coordinates; an EmptyDomain error if there seem to be none."""

    def locate(self, u: Array) -> int | None:
        """The row of the user's candidate list that `u` stands for; None when X is not finite."""

    def describe(self) -> Mapping[str, Any]:
        """What defines X, as plain JSON-able values."""


class Model(Protocol):
    """The posterior of one fidelity."""

    @property
    def n(self) -> int:
        """Number of rows conditioned on."""

    def fit(self, u: Array, y: Array, rng: np.random.Generator) -> None:
        """Learn the hyper-parameters from these rows and condition on them alone."""

    def extend(self, u: Array, y: Array) -> None:
        """Condition on more rows; hyper-parameters stay."""

    def truncate(self, n: int) -> None:
        """Forget all rows but the first `n`; hyper-parameters stay."""

    def posterior(self, u: Array) -> tuple[Array, Array]:
        """Mean and variance of the function (without the noise of an observation)."""

    def posterior_gradient(self, u: Array) -> tuple[Array, Array, Array, Array]:
        """Mean, variance and their gradients in u."""

    def describe(self) -> Mapping[str, Any]:
        """Hyper-parameters and the like, as plain JSON-able values."""


class JointModel(Protocol):
    """One posterior of several fidelities, which is seen through one Model each: a row of one may move all of them."""

    @property
    def models(self) -> Sequence[Model]:
        """A Model per fidelity; `n`, `extend` and `truncate` speak of that fidelity's rows alone."""

    def fit(self, rows: Sequence[tuple[Array, Array]], rng: np.random.Generator) -> None:
        """Learn the hyper-parameters from these rows, (u, y) per fidelity, and condition on them alone."""


@runtime_checkable
class CovariantModel(JointModel, Protocol):
    """A joint model that also tells how its fidelities vary together."""

    def covariance(self, u: Array, k: int, other: int) -> Array:
        """The posterior covariance of the k-th and the other fidelity's function at each row of u."""

    def covariance_gradient(self, u: Array, k: int, other: int) -> tuple[Array, Array]:
        """The same with its gradient in u."""


@runtime_checkable
class Surrogate(Protocol):
    """A kind of model (plugin group `mfopt.surrogates`); its options are set in its constructor."""

    def model(self, dim: int, noise: float | None = None) -> Model:
        """A fresh model without data; `noise` is the known noise variance, None when it is to be learnt."""


class Acquisition(Protocol):
    """A function on X whose maximiser is the next query."""

    def __call__(self, u: Array) -> Array:
        """Values at the rows of u."""

    def gradient(self, u: Array) -> tuple[Array, Array]:
        """Values and gradients at the rows of u."""


@runtime_checkable
class Maximiser(Protocol):
    """Finds the maximum of an acquisition over a domain that is not finite (plugin group `mfopt.maximisers`)."""

    def maximise(self, acquisition: Acquisition, domain: Domain, rng: np.random.Generator, t: int) -> Array:
        """The best point found, (dim,), in X; `t` counts the queries so far, for budgets that grow with it."""


@dataclass(frozen=True)
class Problem:
    """What a strategy is told once, before the first ask."""

    domain: Domain
    costs: tuple[float, ...]  # λ_1 < ... < λ_M, at the start
    zetas: tuple[float | None, ...]  # known bounds ‖f_M − f_m‖∞ ≤ ζ_m; None where unknown, 0 for the target
    noises: tuple[float | None, ...]  # known noise variances; None where they are to be learnt
    capital: float | None  # Λ, None for unlimited
    surrogates: tuple[Surrogate, ...]  # one per fidelity
    maximiser: Maximiser
    seed: int  # root of every random stream of the run
    threads: int = 1  # that may compute at once; results must not depend on it


@dataclass(frozen=True)
class Query:
    """A point at a fidelity: what is pending."""

    id: int
    u: Array
    fidelity: int


@dataclass(frozen=True)
class Record:
    """A finished query, or data that nobody asked for (then `asked` is False)."""

    id: int
    u: Array
    fidelity: int
    y: float | None  # None: the evaluation failed
    asked: bool
    bound: float | None = None  # of one that failed: the value is known to be at most this; None: nothing is known


@dataclass(frozen=True)
class View:
    """What a strategy sees at an ask."""

    t: int  # number of this ask, from 1
    remaining: float  # capital not spent and not promised to pending queries; inf when unlimited
    pending: Sequence[Query]
    rng: np.random.Generator  # a stream of this ask's own: the same seed and t give the same numbers
    costs: tuple[float, ...]  # of a query at each fidelity, as expected now: Problem.costs, unless others were told


@dataclass(frozen=True)
class Suggestion:
    """What a strategy answers: a point of X in unit coordinates, a fidelity that `remaining` pays for, and why."""

    u: Array
    fidelity: int
    reason: Any


@dataclass(frozen=True)
class Posterior:
    """What a strategy believes of one fidelity's function, given all that was told (see hooks.PredictsValues)."""

    model: Model  # of values to be maximised
    noisy: bool  # whether a second query of a point would tell something new
    restore: Callable[[Array], Array] | None = None  # the model's values in the unit of y, increasing; None: they are
    failing: Callable[[Array], BoolArray] | None = None  # which rows of u are likely to fail; None: nothing is known
    lowest: float | None = None  # values told that are lower count as failed, in the unit of y; None: all are believed

    def predict(self, u: Array) -> tuple[Array, Array]:
        """Mean and standard deviation of the function at the rows of u, in the unit of y.

        Where the model sees values through an increasing map, these are the median and half of the interval that holds
        the middle 68 %: both ends are those of the model's normal distribution, mapped back.
        """
        mean, var = self.model.posterior(u)
        std = np.sqrt(var)
        if self.restore is None:
            return mean, std
        low, middle, high = (self.restore(mean + step * std) for step in (-1.0, 0.0, 1.0))
        return middle, 0.5 * (high - low)


@runtime_checkable
class Strategy(Protocol):
    """A method (plugin group `mfopt.strategies`). One instance serves one run."""

    def start(self, problem: Problem) -> None:
        """Called once. A problem that the method cannot treat is refused here with an InputError."""

    def ask(self, view: View) -> Suggestion:
        """The next query. Raises Exhausted when no useful query is left."""

    def tell(self, record: Record) -> None:
        """Learn the outcome of a query, or data that nobody asked for: in the order told, before the next ask."""
