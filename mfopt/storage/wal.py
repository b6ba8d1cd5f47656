"""Wal: SQLite's write-ahead log (the -wal file), read to find damage that SQLite itself passes over in silence.

The file is a header and frames, each a page and a checksum that continues the one of the frame before; a frame that
ends a transaction has a commit mark. SQLite takes what stands before the first frame whose checksum is wrong and drops
the rest: after a crash that is the transaction that was being written. But a transaction begins only after the one
before was synced. So where a commit mark is followed by a frame that continues it, all before that mark was on the
disk once; if the checksums end before it, the file was damaged later, and acknowledged transactions are lost.
"""

from __future__ import annotations

import struct
import sys
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

_HEADER, _FRAME = 32, 24  # bytes
_LITTLE, _BIG = 0x377F0682, 0x377F0683  # the order of bytes in which checksums are computed
_AT_ONCE = 4096  # frames
_MASK = 2**32 - 1

_Words = npt.NDArray[np.uint32]


def count_lost(wal: Path, page_size: int) -> int:
    """How many transactions the file holds, at least, that SQLite would drop although they were on the disk once."""
    try:
        data = wal.read_bytes()
    except FileNotFoundError:
        return 0
    count = (len(data) - _HEADER) // (_FRAME + page_size)
    if count < 2:
        return 0
    header = struct.unpack(">8I", data[:_HEADER])
    order = {_LITTLE: "<", _BIG: ">"}.get(header[0], "<" if sys.byteorder == "little" else ">")
    whole = _continue(order, data[: _HEADER - 8], (0, 0)) == header[6:]
    frames = np.frombuffer(data, np.uint8, count * (_FRAME + page_size), _HEADER).reshape(count, -1)
    heads = np.ascontiguousarray(frames[:, :_FRAME]).view(">u4").astype(np.uint32)
    salts, stored = heads[:, 2:4], heads[:, 4:6]
    # The salts tell the frames of this turn from those of earlier ones, which lie behind them until overwritten.
    ours = (salts == (np.array(header[4:6], np.uint32) if whole else salts[0])).all(axis=1)
    before = np.vstack([np.array(header[6:8], np.uint32), stored[:-1]])
    continues = ours & (_checksums(order, frames, before) == stored).all(axis=1)
    continues[0] &= whole
    broken = count if continues.all() else int(np.argmin(continues))
    commits = ours & (heads[:, 1] != 0)
    synced = np.append(commits[:-1] & continues[1:], False)
    synced[:broken] = False
    if not synced.any():
        return 0
    last = int(np.flatnonzero(synced)[-1])
    return int(commits[broken : last + 1].sum())


def _checksums(order: str, frames: npt.NDArray[np.uint8], before: _Words) -> _Words:
    """The checksum of each frame, (n, 2), that continues the one `before`."""
    parts = []
    for start in range(0, len(frames), _AT_ONCE):
        some = frames[start : start + _AT_ONCE]
        summed = np.hstack([some[:, :8], some[:, _FRAME:]]).view(f"{order}u4").astype(np.uint32)
        power, weights = _weights(summed.shape[1] // 2)
        ends = [np.einsum("ij,j->i", summed, weight) for weight in weights]
        parts.append(before[start : start + _AT_ONCE] @ power.T + np.column_stack(ends))
    return np.concatenate(parts)


def _continue(order: str, data: bytes, before: tuple[int, int]) -> tuple[int, int]:
    """SQLite's checksum as it is defined: s0 += a + s1; s1 += b + s0 for each pair of words (a, b)."""
    s0, s1 = before
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for a, b in zip(words[::2], words[1::2], strict=True):
        s0 = (s0 + a + s1) & _MASK
        s1 = (s1 + b + s0) & _MASK
    return s0, s1


@lru_cache(maxsize=4)
def _weights(pairs: int) -> tuple[_Words, _Words]:
    """The same as a linear map modulo 2³², so that NumPy sums all frames at once: s = power·before + weights·words."""
    power = np.eye(2, dtype=np.uint32)
    step = np.array([[1, 1], [1, 2]], np.uint32)
    weights = np.empty((2, 2 * pairs), np.uint32)
    for pair in reversed(range(pairs)):
        weights[:, 2 * pair : 2 * pair + 2] = power @ np.array([[1, 0], [1, 1]], np.uint32)
        power = power @ step
    return power, weights
