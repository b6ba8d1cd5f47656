"""Counting: T⁽ᵐ⁾_n(A), the queries at fidelity m inside a set A within the first n steps."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from mfopt.errors import InputError
from mfopt.protocols import BoolArray
from mfopt.theory.goodsets import Labels

Counts = npt.NDArray[np.int64]


class Queries(Protocol):
    """The column of a history that counting needs, in the order told."""

    @property
    def fidelity(self) -> npt.NDArray[np.int64]:
        """The fidelity of each query, 0-based."""


def queries_inside(history: Queries, inside: BoolArray, fidelities: int) -> Counts:
    """T⁽ᵐ⁾_n(A) for n = 0..N (rows) and m = 0..M−1 (columns); `inside` says of each query whether it is in A."""
    fidelity = _fidelity(history, len(inside), fidelities)
    steps = np.zeros((len(fidelity) + 1, fidelities), dtype=np.int64)
    steps[np.flatnonzero(inside) + 1, fidelity[np.asarray(inside, dtype=np.bool_)]] = 1
    return np.cumsum(steps, axis=0, dtype=np.int64)


def queries_by_set(history: Queries, labels: Labels, fidelities: int) -> Counts:
    """T⁽ᵐ⁾_N(H⁽ˡ⁾), one row per set l, one column per fidelity m; `labels` says of each query which set it is in."""
    fidelity = _fidelity(history, len(labels), fidelities)
    table = np.zeros((fidelities, fidelities), dtype=np.int64)
    np.add.at(table, (labels, fidelity), 1)
    return table


def _fidelity(history: Queries, given: int, fidelities: int) -> npt.NDArray[np.int64]:
    fidelity = np.asarray(history.fidelity, dtype=np.int64)
    if len(fidelity) != given:
        raise InputError(f"there must be one entry per query, {len(fidelity)}, got {given}")
    if fidelity.size and int(fidelity.max()) >= fidelities:
        raise InputError(f"fidelities must be more than the highest queried, {int(fidelity.max())}, got {fidelities}")
    return fidelity
