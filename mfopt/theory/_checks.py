"""What the functions of this package require of their arguments."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from mfopt.checks import real_array, show
from mfopt.errors import InputError
from mfopt.protocols import Array


def require_positive(**values: float | Array) -> None:
    """Each value, or each entry of an array, is above 0."""
    for name, value in values.items():
        if not np.all(np.asarray(value) > 0):
            raise InputError(f"{name} must be positive, got {value}")


def require_probability(**values: float) -> None:
    """Each value lies strictly between 0 and 1."""
    for name, value in values.items():
        if not 0 < value < 1:
            raise InputError(f"{name} must lie strictly between 0 and 1, got {value}")


def require_nonnegative(**values: Sequence[float]) -> None:
    """No entry of any sequence is below 0."""
    for name, sequence in values.items():
        if not all(value >= 0 for value in sequence):
            raise InputError(f"{name} must not be negative, got {list(sequence)}")


def require_increasing(costs: Sequence[float]) -> None:
    """0 < λ_1 < ... < λ_M."""
    if not all(low < high for low, high in pairwise(costs)) or not all(c > 0 for c in costs):
        raise InputError(f"costs must be positive and strictly increasing, got {list(costs)}")


def as_points(points: object) -> Array:
    """(q, d), finite, with at least one row."""
    array = real_array(points, "points")
    if array.ndim != 2 or 0 in array.shape or not np.isfinite(array).all():
        raise InputError(f"points must be a finite array (q, d) with at least one row, got {show(points)}")
    return array


def one_below_target(name: str, values: Sequence[float], fidelities: int) -> Array:
    """M − 1 values, one per fidelity below the target; a trailing value for the target is dropped."""
    if len(values) not in (fidelities - 1, fidelities):
        raise InputError(f"{name} must hold M or M - 1 values for M = {fidelities}, got {list(values)}")
    return np.array(values[: fidelities - 1], dtype=np.float64)
