"""How a fidelity becomes coordinates: one per step from a fidelity to the next.

Fidelity k of K has the code c(k) ∈ {0, 1}^(K−1) whose first k entries are 1.
"""

from __future__ import annotations

import numpy as np

from mfopt.protocols import Array


def encode(u: Array, k: int, count: int) -> Array:
    """The points (u, c(k)) for fidelity k of `count`."""
    dim = u.shape[1]
    coded = np.zeros((len(u), dim + count - 1))
    coded[:, :dim] = u
    coded[:, dim : dim + k] = 1.0
    return coded
