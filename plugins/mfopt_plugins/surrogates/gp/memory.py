"""What is kept about points that come back, for one Gaussian process.

Two kinds come back from ask to ask: the candidates of a finite set, and the centres of DIRECT's rectangles, which lie
on a fixed lattice. For both the posterior is kept current by mfopt_core.Tracked, O(n) a point for a new row instead of
O(n²). A memory belongs to one process; other hyper-parameters mean another process and so a new memory.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import mfopt_core
from mfopt.protocols import Array

CAPACITY = 8192  # lattice points remembered, at most
BYTES = 40 << 20  # what they may take: 8 n for each with n rows


class Memory:
    """The posterior of `gp` at points that come back."""

    def __init__(self, gp: mfopt_core.GP) -> None:
        self.gp = gp
        self._known: dict[bytes, int] = {}
        self._lattice: mfopt_core.Tracked | None = None
        self._points: Array | None = None
        self._finite: mfopt_core.Tracked | None = None

    def bounds(self, u: Array, keys: Sequence[bytes], beta: float, zeta: float) -> Array:
        """μ + β½σ + ζ at the rows of u; a row whose key was seen before is the same point as then."""
        room = min(CAPACITY, BYTES // (8 * self.gp.n + 8))
        if len(keys) > room:  # too many at once to remember any
            mean, var = self.gp.posterior(u)
            return np.asarray(mean + np.sqrt(beta * var) + zeta)
        new = {key: i for i, key in enumerate(keys) if key not in self._known}  # a key may come twice
        if self._lattice is None or len(self._known) + len(new) > room:
            self._lattice = self.gp.track(np.empty((0, u.shape[1])), capacity=CAPACITY)
            self._known.clear()
            new = {key: i for i, key in enumerate(keys)}
        if new:
            first = self._lattice.add(u[list(new.values())])
            self._known.update({key: first + k for k, key in enumerate(new)})
        return self._lattice.bounds([self._known[key] for key in keys], beta, zeta)

    def track(self, points: Array) -> mfopt_core.Tracked:
        """Track the points of a finite set, which is known by its array: the same one at every call."""
        if self._finite is None or self._points is not points:
            self._finite = self.gp.track(points, lazy=True)
            self._points = points
        return self._finite


def keys_of(u: Array) -> list[bytes]:
    """One key per row, equal for equal rows."""
    rows: list[bytes] = np.ascontiguousarray(u).view(f"V{8 * u.shape[1]}").ravel().tolist()
    return rows
