"""What the models need from a Gaussian process with fixed hyper-parameters (mfopt_core.GP has it)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar, overload

import numpy as np

from mfopt.protocols import Array
from mfopt_plugins.method.kept import array, finite, group, positive


@dataclass(frozen=True)
class Hyper:
    """Hyper-parameters: length-scales ℓ (d,), k(x, x), the noise variance η² and the constant prior mean."""

    lengthscale: Array
    scale: float
    noise: float
    mean: float

    def state(self) -> list[Any]:
        """As plain values."""
        return [self.lengthscale.copy(), self.scale, self.noise, self.mean]

    @classmethod
    def read(cls, state: object) -> Hyper:
        """From the state of another one; a ValueError where it cannot be one."""
        lengthscale, scale, noise, mean = group(array, positive, finite, finite)(state)
        if lengthscale.ndim != 1 or not (lengthscale > 0.0).all() or noise < 0.0:
            raise ValueError(f"length-scales must be positive and noise not negative, got {lengthscale} and {noise}")
        return cls(lengthscale, scale, noise, mean)

    def is_same(self, other: Hyper) -> bool:
        """Whether the other has the same numbers, to the bit."""
        rest = (self.scale, self.noise, self.mean) == (other.scale, other.noise, other.mean)
        return rest and bool(np.array_equal(self.lengthscale, other.lengthscale))


class GaussianProcess(Protocol):
    """f ~ GP(mean, k), observed with noise η²."""

    @property
    def n(self) -> int:
        """Number of rows conditioned on."""

    @property
    def jitter(self) -> float:
        """What had to be added to the diagonal for the factorisation to succeed; 0.0 normally."""

    @property
    def weights(self) -> Array:
        """(k(X, X) + noise)⁻¹ (y − mean) of the rows: minus the derivative of log p(y) in y."""

    def extend(self, X: Array, y: Array, noise: Array | None = None, sizes: Sequence[int] | None = None) -> None:
        """Condition on more rows; `noise` has a variance for each where that is not the process's η².

        With `sizes` it ends as if they came in groups of so many, to the bit.
        """

    def truncate(self, n: int) -> None:
        """Forget all rows but the first n."""

    def posterior(self, X: Array) -> tuple[Array, Array]:
        """Mean and variance at the rows of X."""

    def posterior_gradient(self, X: Array) -> tuple[Array, Array, Array, Array]:
        """Mean, variance and their gradients."""

    # log p(y); with `grad` also its derivatives in (log ℓ_1..d, log scale, log noise, mean), with `rows` also those in
    # the log noise of each row.
    @overload
    def log_marginal_likelihood(self, grad: Literal[False] = False) -> float: ...
    @overload
    def log_marginal_likelihood(self, grad: Literal[True], rows: Literal[False] = False) -> tuple[float, Array]: ...
    @overload
    def log_marginal_likelihood(self, grad: Literal[True], rows: Literal[True]) -> tuple[float, Array, Array]: ...


Process = TypeVar("Process", bound=GaussianProcess)
_Made = TypeVar("_Made", bound=GaussianProcess, covariant=True)


class MakeGP(Protocol[_Made]):
    """Makes a process without data."""

    def __call__(self, hyper: Hyper) -> _Made:
        """The process with these hyper-parameters."""
