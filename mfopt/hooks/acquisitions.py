"""What an acquisition may offer; `with_defaults` adds what is missing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Protocol, runtime_checkable

import numpy as np

from mfopt.protocols import Acquisition, Array, BoolArray

CHUNK = 8192  # points of a finite X evaluated at once: bounds memory, results do not depend on it


@runtime_checkable
class HasPieces(Protocol):
    """A minimum of smooth functions that tells them one by one, so that a maximiser can treat its kinks exactly."""

    def pieces(self, u: Array) -> tuple[Array, Array]:
        """Values (K, q) and gradients (K, q, dim) of the K functions at the rows of u."""


@runtime_checkable
class KeepsRecurring(Protocol):
    """Remembers what it finds out about points that come back at later asks."""

    def recurring(self, u: Array) -> Array:
        """The same as a call, for points that will come back."""


@runtime_checkable
class CountsRows(Protocol):
    """Says what an evaluation costs."""

    @property
    def rows(self) -> int:
        """Number of rows of the largest model behind it."""


@runtime_checkable
class FindsArgmax(Protocol):
    """Finds its maximum over a finite set without evaluating all of it."""

    def argmax(self, points: Array, avoid: BoolArray | None) -> int:
        """The row of the largest value, the first among equals, without those that the mask `avoid` marks."""


@runtime_checkable
class FullAcquisition(Acquisition, HasPieces, KeepsRecurring, CountsRows, FindsArgmax, Protocol):
    """An acquisition with all abilities."""


class AcquisitionDefaults(ABC):
    """The abilities of an acquisition in terms of its values and gradients; a base class for those that have no better.

    One piece, nothing kept, cost unknown, every point of a finite set evaluated.
    """

    def __call__(self, u: Array) -> Array:
        """Values at the rows of u."""
        return self.gradient(u)[0]

    @abstractmethod
    def gradient(self, u: Array) -> tuple[Array, Array]:
        """Values and gradients at the rows of u."""

    def pieces(self, u: Array) -> tuple[Array, Array]:
        """The acquisition as its only piece."""
        value, slope = self.gradient(u)
        return np.array(value)[None], np.asarray(slope)[None]

    def recurring(self, u: Array) -> Array:
        """The same as a call."""
        return self(u)

    @property
    def rows(self) -> int:
        """1: not known."""
        return 1

    def argmax(self, points: Array, avoid: BoolArray | None) -> int:
        """The row of the largest value, by looking at all of them."""
        best, best_value = -1, -np.inf
        for start in range(0, len(points), CHUNK):
            values = self(points[start : start + CHUNK])
            if avoid is not None:
                values = np.where(avoid[start : start + CHUNK], -np.inf, values)
            i = int(np.argmax(values))
            if best < 0 or values[i] > best_value:
                best, best_value = start + i, float(values[i])
        return best


class _WithDefaults(AcquisitionDefaults):
    """Someone's acquisition, with what it does not offer filled in."""

    def __init__(self, acquisition: Acquisition) -> None:
        self._acquisition = acquisition
        # Asked once: isinstance with a protocol is slow, and these are called for every batch.
        self._pieces = acquisition.pieces if isinstance(acquisition, HasPieces) else super().pieces
        self._recurring = acquisition.recurring if isinstance(acquisition, KeepsRecurring) else acquisition
        self._argmax = acquisition.argmax if isinstance(acquisition, FindsArgmax) else super().argmax
        self._rows = acquisition.rows if isinstance(acquisition, CountsRows) else super().rows

    def __call__(self, u: Array) -> Array:
        return self._acquisition(u)

    def gradient(self, u: Array) -> tuple[Array, Array]:
        return self._acquisition.gradient(u)

    def pieces(self, u: Array) -> tuple[Array, Array]:
        return self._pieces(u)

    def recurring(self, u: Array) -> Array:
        return self._recurring(u)

    def argmax(self, points: Array, avoid: BoolArray | None) -> int:
        return self._argmax(points, avoid)

    @property
    def rows(self) -> int:
        return self._rows


def with_defaults(acquisition: Acquisition) -> FullAcquisition:
    """The acquisition itself where it has all abilities, otherwise one that adds those it lacks."""
    return acquisition if isinstance(acquisition, FullAcquisition) else _WithDefaults(acquisition)
