"""Axis: one parameter along an axis of a picture, numbers by their value, other values by their place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mfopt.domains.dimensions import Real
from mfopt.domains.discrete import Categorical, Integer, Ordinal
from mfopt.hooks import blocks_of
from mfopt.protocols import Array, Block, Domain

_LINE = 201  # values of a parameter from a continuum


class Axis:
    """Parameter j of a domain."""

    def __init__(self, domain: Domain, j: int) -> None:
        dimensions: Sequence[Any] = getattr(domain, "dimensions", [None] * len(domain.names))
        self.j = j
        self.name = domain.names[j]
        self._dimension = dimensions[j]
        self._domain = domain

    @property
    def _block(self) -> Block:
        return blocks_of(self._domain)[self.j]

    @property
    def discrete(self) -> bool:
        """Whether values are drawn as points rather than as a line."""
        return self._block.levels is not None

    def values(self, most: int = _LINE) -> Array:
        """The unit coordinates (L, width) of its values, in their order; of a continuum `most` of them."""
        if self._block.levels is not None:
            levels = self._block.levels  # of many integers not all are shown
            return levels[:: max(1, len(levels) // _LINE)]
        return np.linspace(0.0, 1.0, most)[:, None]

    def put(self, u: Array, values: Array) -> None:
        """Give the points u, (q, dim), these values of the parameter, (q, width)."""
        u[:, self._block.coordinates] = values

    def fill(self, u: Array, x: Array) -> Array:
        """Where the points u lie on the axis, also where the parameter does not count, so that a grid has no holes."""
        if self._dimension is None:
            return self.place(x[:, self.j])
        return self.place(self._dimension.decode(u[:, self._block.coordinates]))

    def place(self, x: Array) -> Array:
        """Where user units of the parameter lie on the axis; what does not count is NaN, which is not drawn."""
        if isinstance(self._dimension, Ordinal):
            codes = np.array([self._dimension.validate(value, self.name) for value in self._dimension.values])
            places = np.argmin(np.abs(codes[None] - np.nan_to_num(x)[:, None]), axis=1).astype(np.float64)
            return np.where(np.isnan(x), np.nan, places)
        return x

    def label(self, axes: Any, which: str) -> None:
        """Name, scale and ticks on the axis `which`, "x" or "y"."""
        axes.set(**{f"{which}label": self.name})
        dimension = self._dimension
        if isinstance(dimension, Categorical | Ordinal):
            labels = [
                str(value) for value in (dimension.choices if isinstance(dimension, Categorical) else dimension.values)
            ]
            axes.set(**{f"{which}ticks": range(len(labels)), f"{which}ticklabels": labels})
            axes.set(**{f"{which}lim": (-0.5, len(labels) - 0.5)})
        elif isinstance(dimension, Real | Integer) and dimension.log:
            axes.set(**{f"{which}scale": "log"})
        elif isinstance(dimension, Integer):
            (axes.xaxis if which == "x" else axes.yaxis).get_major_locator().set_params(integer=True)
