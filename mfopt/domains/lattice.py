"""Lattice: the points of a product's discrete parameters, remembered in user units.

A search asks of many points that differ in their real numbers alone whether they lie in X. What the other coordinates
stand for, and whether they are exactly at values, is found out once for each combination of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mfopt.domains.dimensions import Real, Reals
from mfopt.hooks import row_keys
from mfopt.protocols import Array, BoolArray

if TYPE_CHECKING:
    from mfopt.domains.product import Product

_KNOWN = 20_000  # combinations that are remembered, at most
_REST = 0.5  # the unit coordinate of a number that does not count
_ELSEWHERE = 0.25  # another one, which is no rounding of it


class Lattice:
    """The combinations of discrete values of `product` that were met."""

    def __init__(self, product: Product) -> None:
        self._product = product
        starts = [block.start for block in product.blocks]
        numbers = {j: dimension for j, dimension in enumerate(product.dimensions) if isinstance(dimension, Real)}
        # Numbers that are decoded together: their places among the parameters, and among the unit coordinates.
        self._groups: list[tuple[list[int], list[int], Reals]] = []
        for log in (False, True):
            places = [j for j, dimension in numbers.items() if dimension.log == log]
            if places:
                self._groups.append((places, [starts[j] for j in places], Reals([numbers[j] for j in places])))
        self._numbers = [starts[j] for j in numbers]
        self._columns = np.setdiff1d(np.arange(product.dim), self._numbers)
        self._conditional = any(dimension.when is not None for dimension in numbers.values())
        # By the bytes of the other columns: user units of a point, NaN for what does not count; None: not at values.
        self._known: dict[bytes, list[float] | None] = {}

    def decode(self, u: Array) -> tuple[Array, BoolArray]:
        """User units of those rows of the cube (q, dim) that snap leaves as they are, and which rows these are."""
        keys = row_keys(u, self._columns)
        known = self._known
        if any(key not in known for key in keys):
            known = self._learn(u, keys)
        found = [known[key] for key in keys]
        on = np.array([row is not None for row in found])
        if not on.all():
            u, found = u[on], [row for row in found if row is not None]
        x = np.array(found, dtype=np.float64).reshape(len(found), len(self._product.dimensions))
        counts = x == x
        for places, columns, reals in self._groups:
            x[:, places] = reals.decode(u[:, columns])
        if self._conditional:
            x[~counts] = np.nan
            moved = [(~counts[:, places] & (u[:, columns] != _REST)).any(axis=1) for places, columns, _ in self._groups]
            still = ~np.logical_or.reduce(moved)
            if not still.all():
                on[on], x = still, x[still]
        return x, on

    def _learn(self, u: Array, keys: list[bytes]) -> dict[bytes, list[float] | None]:
        """What is known, these rows included. A dict that is full is left to other threads, which may be reading it."""
        known = self._known if len(self._known) + len(keys) <= _KNOWN else {}
        new = {key: i for i, key in enumerate(keys) if key not in known}
        rows = u[list(new.values())]
        rows[:, self._numbers] = _ELSEWHERE
        at_values = (self._product.snap(rows) == rows)[:, self._columns].all(axis=1)
        x = self._product.decode(rows).tolist()
        known.update((key, row if on else None) for key, row, on in zip(new, x, at_values.tolist(), strict=True))
        if len(known) <= _KNOWN:
            self._known = known
        return known

    def __getstate__(self) -> dict[str, object]:
        """A copy starts with nothing remembered: it may be sent to another process."""
        return {**self.__dict__, "_known": {}}
