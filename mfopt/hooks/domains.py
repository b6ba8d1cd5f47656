"""What a domain may offer, and what follows for one that does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from mfopt.protocols import Array, Block, Domain


@runtime_checkable
class HasBlocks(Protocol):
    """A domain whose parameters are not all numbers from a continuum: it tells how each lies in the unit coordinates.

    The coordinates of one parameter share a length-scale where the surrogate can (TiesScales). A maximiser keeps
    parameters with levels on their levels.
    """

    @property
    def blocks(self) -> tuple[Block, ...]:
        """One per parameter, in the order of the unit coordinates."""


@runtime_checkable
class SnapsPoints(Protocol):
    """A domain that knows, for any point of the cube, the point of the grid of its discrete parameters it stands for.

    `contains` is True only for points that `snap` leaves as they are, so that models see what will be evaluated.
    """

    def snap(self, u: Array) -> Array:
        """Discrete parameters at their nearest level, inactive ones at rest; constraints are not looked at."""


@runtime_checkable
class NamesValues(Protocol):
    """A domain that knows its values as the user wrote them: integers, strings, booleans.

    Without it params are the floats of x by their names.
    """

    def params(self, x: Array) -> dict[str, Any]:
        """The values of a point (d,) in user units by name, as Python's own; only those that count."""


@runtime_checkable
class NamesArguments(Protocol):
    """A domain whose points may be given to users' functions as params. Without it they are given x."""

    @property
    def named(self) -> bool:
        """Whether they are, because x would not do."""


def blocks_of(domain: Domain) -> tuple[Block, ...]:
    """The blocks of a domain; one continuum per coordinate where it does not tell."""
    if isinstance(domain, HasBlocks):
        return domain.blocks
    return tuple(Block(j, j + 1, None) for j in range(domain.dim))


def place(domain: Domain, w: Array, blocks: Sequence[Block] | None = None) -> Array:
    """Points of the cube (q, dim) from one number in [0, 1] per parameter: its place among the values, where listed.

    `blocks` are those of the domain, from a caller that has kept them: a domain makes them anew each time.
    """
    u = np.empty((len(w), domain.dim))
    for k, block in enumerate(blocks_of(domain) if blocks is None else blocks):
        if block.levels is None:
            u[:, block.coordinates] = w[:, k : k + 1]
        else:
            count = len(block.levels)
            u[:, block.coordinates] = block.levels[np.minimum((w[:, k] * count).astype(np.intp), count - 1)]
    return u


def row_keys(u: Array, columns: npt.NDArray[np.intp] | None = None) -> list[bytes]:
    """One key per row, equal for rows that are equal bit by bit, in these columns or in all; to remember rows by."""
    if columns is not None:
        u = u[:, columns]
    if u.shape[1] == 0:
        return [b""] * len(u)
    keys: list[bytes] = np.ascontiguousarray(u).view(f"V{8 * u.shape[1]}").ravel().tolist()
    return keys
