"""Grid: a domain with discrete parameters, as a search sees it.

    listed    a parameter with few values, or a category: a search tries all of its values
    rounded   an integer or ordinal with many values: it is searched as a number, then rounded, then moved by steps
    real      a number from a continuum

A parameter may be at rest (inactive) where others have certain values. A search keeps a value for it all the same, so
that it has one when it wakes up. So a point of the search, a row of v, has values for all parameters. `domain.snap(v)`
is the point of X that it stands for.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from mfopt.hooks import SnapsPoints, blocks_of
from mfopt.protocols import Array, Block, BoolArray, Domain

FEW = 16  # an ordered parameter with at most so many values is listed
COMBINATIONS = 64  # of listed values: where there are no more, all of them are tried
_PROBES = 256
_SEED = 0
_KNOWN = 100_000  # points whose membership in X is remembered
_STEPS = 2.0 ** -np.arange(1, 21)  # by which a rounded parameter is moved


class Grid:
    """The blocks of a domain by their kind, and moves on it."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.blocks = blocks_of(domain)
        self._snap = domain.snap if isinstance(domain, SnapsPoints) else np.array
        self._known: dict[bytes, bool] = {}
        rng = np.random.default_rng(_SEED)
        probes = self.place(rng.random((_PROBES, len(self.blocks))))
        snapped = self._snap(probes)
        self.listed = [block for block in self.blocks if _is_listed(block)]
        self.rounded: list[Block] = []
        self.real: list[Block] = []
        for block in self.blocks:
            if not _is_listed(block):
                kept = snapped[:, block.start] == probes[:, block.start]
                # An active number is kept as it is by snap; one that is never kept is rounded.
                is_real = block.levels is None and kept.any()
                (self.real if is_real else self.rounded).append(block)
        resting = [self._rests(probes, block) for block in self.blocks]
        self._conditional = [block for block, rest in zip(self.blocks, resting, strict=True) if rest.any()]
        self.mixed = bool(self.listed or self.rounded)

    @classmethod
    def of(cls, domain: Domain, kept: Grid | None) -> Grid:
        """The grid of a domain: the one kept from the last call, if that was for this domain."""
        return kept if kept is not None and kept.domain is domain else cls(domain)

    def point(self, w: Array) -> Array:
        """The points that rows with one number in [0, 1] per parameter stand for, inside and outside X."""
        return self.snap(self.place(w)) if self.mixed else w

    def snap(self, v: Array) -> Array:
        """The points of the grid that these rows stand for, inside and outside X."""
        return np.ascontiguousarray(self._snap(v))

    def contains(self, u: Array) -> BoolArray:
        """Which rows lie in X; remembered, since constraints on named values are slow and most points come back."""
        if not self.mixed:
            return self.domain.contains(u)
        keys = np.ascontiguousarray(u).view(f"V{8 * u.shape[1]}").ravel().tolist()
        new = [i for i, key in enumerate(keys) if key not in self._known]
        if new:
            if len(self._known) + len(new) > _KNOWN:
                self._known.clear()
                new = list(range(len(keys)))
            self._known.update(zip([keys[i] for i in new], self.domain.contains(u[new]).tolist(), strict=True))
        return np.array([self._known[key] for key in keys], dtype=np.bool_)

    def place(self, w: Array) -> Array:
        """Rows v from one number in [0, 1] per parameter: its place among the values."""
        v = np.empty((len(w), self.domain.dim))
        for k, block in enumerate(self.blocks):
            if block.levels is None:
                v[:, block.coordinates] = w[:, k : k + 1]
            else:
                count = len(block.levels)
                v[:, block.coordinates] = block.levels[np.minimum((w[:, k] * count).astype(np.intp), count - 1)]
        return v

    def fill(self, u: Array, donors: Array) -> Array:
        """Rows v for points u of X: a parameter at rest has its value in the first of the donors where it is not.

        Donors are points of X. Where none has a value it is drawn.
        """
        v = u.copy()
        spare = self.place(np.random.default_rng(_SEED).random((len(u), len(self.blocks))))
        for block in self._conditional:
            at = block.coordinates
            asleep = self._rests(u, block)
            if asleep.any():
                awake = np.flatnonzero(~self._rests(donors, block))
                v[asleep, at] = donors[awake[0], at] if len(awake) else spare[asleep, at]
        return v

    def movable(self, v: Array, relaxed: bool) -> BoolArray:
        """Which coordinates of each row an ascent may move: numbers that are not at rest; `relaxed`: rounded too."""
        mask = np.zeros(v.shape, dtype=np.bool_)
        for block in self.real + (self.rounded if relaxed else []):
            mask[:, block.start] = ~self._rests(v, block) if block in self._conditional else True
        return mask

    @cached_property
    def combinations(self) -> Array | None:
        """All combinations of listed values, as rows v with other parameters at 0; None where they are many."""
        counts = [0 if block.levels is None else len(block.levels) for block in self.listed]
        if not counts or np.prod(counts, dtype=np.float64) > COMBINATIONS:
            return None
        rows = np.zeros((int(np.prod(counts)), self.domain.dim))
        for block, index in zip(self.listed, np.indices(counts).reshape(len(counts), -1), strict=True):
            assert block.levels is not None
            rows[:, block.coordinates] = block.levels[index]
        return rows

    def combine(self, v: Array) -> Array:
        """Every row with every combination of listed values."""
        rows = self.combinations
        assert rows is not None
        moved = np.repeat(v, len(rows), axis=0)
        for block in self.listed:
            moved[:, block.coordinates] = np.tile(rows[:, block.coordinates], (len(v), 1))
        return moved

    def switch(self, v: Array) -> Array:
        """Every row with each discrete parameter changed: to each of its listed values, or by steps up and down."""
        moved = [_change(v, block, values) for block in self.listed + self.rounded for values in self._values(v, block)]
        return np.vstack(moved) if moved else np.empty((0, v.shape[1]))

    def switch_pairs(self, v: Array, most: int, rng: np.random.Generator) -> Array:
        """One row with two discrete parameters changed at once; at most so many, drawn at random."""
        blocks = self.listed + self.rounded
        pairs = [
            _change(_change(v, one, a), other, b)
            for i, one in enumerate(blocks)
            for a in self._values(v, one)
            for other in blocks[i + 1 :]
            for b in self._values(v, other)
        ]
        if len(pairs) > most:
            pairs = [pairs[i] for i in np.sort(rng.choice(len(pairs), most, replace=False))]
        return np.vstack(pairs) if pairs else np.empty((0, v.shape[1]))

    def _values(self, v: Array, block: Block) -> list[Array]:
        """The values, each (1 or q, width), to which a parameter may be changed in all rows."""
        if _is_listed(block) and block.levels is not None:
            return [level[None] for level in block.levels]
        here = v[:, block.coordinates]
        return [np.clip(here + sign * step, 0.0, 1.0) for step in _STEPS for sign in (-1.0, 1.0)]

    def _rests(self, v: Array, block: Block) -> BoolArray:
        """In which rows a parameter is at rest: its first value, which is 0 for a number, does not stay there."""
        probe = v.copy()
        probe[:, block.coordinates] = 0.0 if block.levels is None else block.levels[0]
        changed: BoolArray = (self._snap(probe)[:, block.coordinates] != probe[:, block.coordinates]).any(axis=1)
        return changed


def _change(v: Array, block: Block, values: Array) -> Array:
    moved = v.copy()
    moved[:, block.coordinates] = values
    return moved


def _is_listed(block: Block) -> bool:
    return block.levels is not None and (block.stop - block.start > 1 or len(block.levels) <= FEW)


def keys_of(u: Array, columns: npt.NDArray[np.intp]) -> list[bytes]:
    """One key per row, equal for rows that are equal in these columns."""
    if len(columns) == 0:
        return [b""] * len(u)
    rows: list[bytes] = np.ascontiguousarray(u[:, columns]).view(f"V{8 * len(columns)}").ravel().tolist()
    return rows
