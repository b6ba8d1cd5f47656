"""RowIndex: finds rows of a float64 matrix by exact value, with two integers of memory per row."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from mfopt.protocols import Array

Integers = npt.NDArray[np.intp]

_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd, so that a multiplication loses nothing
_SHIFT = np.uint64(32)


class RowIndex:
    """Sorted 64-bit hashes of the rows; rows of equal hash are compared value by value. −0.0 equals 0.0."""

    def __init__(self, rows: Array) -> None:
        self._rows = rows
        hashes = _hash(rows)
        self._order = np.argsort(hashes, kind="stable")  # equal rows stay in their order
        self._hashes = hashes[self._order]

    def first(self) -> Integers:
        """Indices of the rows that no earlier row equals, in increasing order."""
        order, hashes = self._order, self._hashes
        repeat = np.zeros(len(order), dtype=np.bool_)
        repeat[1:] = hashes[1:] == hashes[:-1]
        head = np.maximum.accumulate(np.where(repeat, 0, np.arange(len(order))))
        again = np.flatnonzero(repeat)
        same = self._rows[order[again]] == self._rows[order[head[again]]]
        for position in again[~np.logical_and.reduce(same, axis=1)]:
            # Rows that differ and share a hash, about one pair in 2^64: compare with all that came before.
            earlier = self._rows[order[head[position] : position]]
            repeat[position] = bool((earlier == self._rows[order[position]]).all(axis=1).any())
        return np.sort(order[~repeat])

    def find(self, rows: Array) -> Integers:
        """For each of `rows` the first index that holds it, or −1."""
        hashes = _hash(rows)
        found = np.full(len(rows), -1, dtype=np.intp)
        position = np.searchsorted(self._hashes, hashes, side="left")
        waiting = np.arange(len(rows))
        while True:
            inside = position[waiting] < len(self._order)
            waiting = waiting[inside]
            waiting = waiting[self._hashes[position[waiting]] == hashes[waiting]]
            if not len(waiting):
                return found
            candidate = self._order[position[waiting]]
            equal = np.logical_and.reduce(self._rows[candidate] == rows[waiting], axis=1)
            found[waiting[equal]] = candidate[equal]
            waiting = waiting[~equal]
            position[waiting] += 1


def _hash(rows: Array) -> npt.NDArray[np.uint64]:
    mixed = np.zeros(len(rows), dtype=np.uint64)
    for column in rows.T:
        mixed ^= (column + 0.0).view(np.uint64)  # adding zero turns −0.0 into 0.0
        mixed *= _FACTOR
        mixed ^= mixed >> _SHIFT
    return mixed
