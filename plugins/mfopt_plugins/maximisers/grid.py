"""Grid: a domain with discrete parameters, as a search sees it.

    listed    a parameter with few values, or a category: a search tries all of its values
    rounded   an integer or ordinal with many values: it is searched as a number, then rounded, then moved by steps
    real      a number from a continuum

A parameter may be at rest (inactive) where others have certain values. A search keeps a value for it all the same, so
that it has one when it wakes up. So a point of the search, a row of v, has values for all parameters, each of them one
that the parameter can have; `point(v)` is the point of the domain that it stands for.

Domains answer slowly, for each parameter by itself, so what is at rest is remembered for all combinations seen.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from mfopt.hooks import SnapsPoints, blocks_of, place, row_keys
from mfopt.protocols import Array, Block, BoolArray, Domain
from mfopt_plugins.maximisers.moves import Changes, Columns, Pairs, find_wakes, step

FEW = 16  # an ordered parameter with at most so many values is listed
COMBINATIONS = 64  # of listed values: where there are no more, all of them are tried
PAIRS = 400  # changes of two parameters at once, at most
_PROBES = 256
_SAMPLES, _CORNERS = 2000, 256
_FINE = 2**15
_CELLS = 3  # of an interval
_SCAN = np.linspace(0.0, 1.0, 6)  # values of a number that are tried together with a change of another parameter
_SEED = 0
_KNOWN = 100_000  # points, or combinations of discrete values, that are remembered
_STEPS = 2.0 ** -np.arange(1, 21)  # by which a rounded parameter is moved that has no list of values


class Grid:
    """The parameters of a domain by their kind, and moves of points."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.blocks = self._given = blocks_of(domain)
        self._inside: dict[bytes, bool] = {}
        self._resting: dict[bytes, BoolArray] = {}
        self._conditional: list[Block] = []
        self.listed = [block for block in self.blocks if _is_listed(block)]
        self.rounded: list[Block] = []
        self.real: list[Block] = []
        rng = np.random.default_rng(_SEED)
        probes = place(domain, rng.random((_PROBES, len(self.blocks))))
        snapped = self._snap(probes)
        for block in self.blocks:
            if not _is_listed(block):
                # An active number is kept as it is by snap; one that is never kept is rounded.
                kept = snapped[:, block.start] == probes[:, block.start]
                if block.levels is None and kept.any():
                    self.real.append(block)
                else:
                    self.rounded.append(self._tabulate(block, probes, snapped))
        self.mixed = bool(self.listed or self.rounded)
        self._numbers: Columns = np.array([block.start for block in self.real], dtype=np.intp)
        self._ordered: Columns = np.array([block.start for block in self.real + self.rounded], dtype=np.intp)
        self.discrete: Columns = np.setdiff1d(np.arange(domain.dim), self._numbers)
        self.blocks = tuple(sorted([*self.listed, *self.rounded, *self.real], key=lambda block: block.start))
        resting = self._probe(probes, self.blocks)
        # What is at rest is remembered by the values that decide it: mostly those of listed parameters alone.
        shuffled = probes.copy()
        for block in self.rounded:
            shuffled[:, block.start] = rng.permutation(probes[:, block.start])
        alone = np.array_equal(resting, self._probe(shuffled, self.blocks))
        rounded = [block.start for block in self.rounded] if alone else []
        self._deciding: Columns = np.setdiff1d(self.discrete, rounded)
        self._conditional = [block for k, block in enumerate(self.blocks) if resting[:, k].any()]
        # Whether some points of the grid are outside X. Rare ones may be missed here: a search looks at its result.
        self.constrained = not domain.contains(self.point(self.round(probes))).all()

    @classmethod
    def of(cls, domain: Domain, kept: Grid | None) -> Grid:
        """The grid of a domain: the one kept from the last call, if that was for this domain."""
        return kept if kept is not None and kept.domain is domain else cls(domain)

    # ------------------------------------------------------------------------------------------------ points

    def place(self, w: Array) -> Array:
        """Points of the domain, in X or not, from one number in [0, 1] per parameter: its place among the values."""
        return self.point(self.round(place(self.domain, w, self._given))) if self.mixed else w

    def point(self, v: Array) -> Array:
        """The points of the domain, in X or not, that these rows stand for: with parameters at rest."""
        if not self._conditional:
            return v
        u, resting = v.copy(), self.rests(v)
        for k, block in enumerate(self._conditional):
            u[resting[:, k], block.coordinates] = 0.5 if block.stop - block.start == 1 else 0.0
        return u

    def round(self, v: Array) -> Array:
        """The same rows with rounded parameters at the nearest of their values."""
        v = v.copy() if self.rounded else v
        for block in self.rounded:
            v[:, block.start] = self._nearest(v, block)
        return v

    def fill(self, u: Array, donors: Array) -> Array:
        """Rows v for points u of X: a parameter at rest has its value in the first of the donors where it is not.

        Donors are points of X. Where none has a value it is drawn.
        """
        if not self._conditional:
            return u.copy()
        v, asleep, elsewhere = u.copy(), self.rests(u), self.rests(donors)
        spare = self.round(place(self.domain, np.random.default_rng(_SEED).random((len(u), len(self.blocks)))))
        for k, block in enumerate(self._conditional):
            rows, awake = asleep[:, k], np.flatnonzero(~elsewhere[:, k])
            at = block.coordinates
            v[rows, at] = donors[awake[0], at] if len(awake) else spare[rows, at]
        return v

    def contains(self, u: Array) -> BoolArray:
        """Which rows lie in X; remembered, since constraints on named values are slow and most points come back."""
        if not self.mixed:
            return self.domain.contains(u)
        if not self.constrained:
            return np.ones(len(u), dtype=np.bool_)
        keys = row_keys(u)
        new = {key: i for i, key in enumerate(keys) if key not in self._inside}
        if len(self._inside) + len(new) > _KNOWN:
            self._inside.clear()
            new = {key: i for i, key in enumerate(keys)}
        if new:
            inside = self.domain.contains(u[list(new.values())])
            self._inside.update(zip(new, inside.tolist(), strict=True))
        return np.array([self._inside[key] for key in keys], dtype=np.bool_)

    def rests(self, v: Array) -> BoolArray:
        """Which of the parameters that have conditions are at rest, (q, number of them)."""
        keys = row_keys(v, self._deciding)
        new = {key: i for i, key in enumerate(keys) if key not in self._resting}
        if len(self._resting) + len(new) > _KNOWN:
            self._resting.clear()
            new = {key: i for i, key in enumerate(keys)}
        if new:
            self._resting.update(zip(new, self._probe(v[list(new.values())], self._conditional), strict=True))
        return np.array([self._resting[key] for key in keys])

    def coarsen(self, u: Array) -> Array:
        """The cell of the domain in which each point lies: its listed values, and a third of each interval."""
        coarse = u.copy()
        # With constraints one rounded value may lie in X and the next one not: each counts by itself.
        columns = self._numbers if self.constrained else self._ordered
        coarse[:, columns] = np.minimum(np.floor(_CELLS * u[:, columns]), _CELLS - 1)
        return coarse

    @cached_property
    def scattered(self) -> Array:
        """Random points of X, and points with numbers at their ends, half of them with all ordered parameters there; in
        random order.
        """
        rng = np.random.default_rng(_SEED)
        samples = self.domain.sample(_SAMPLES, rng)
        w = rng.random((_CORNERS, len(self.blocks)))
        starts = [block.start for block in self.real + self.rounded]
        ends = [k for k, block in enumerate(self.blocks) if block.start in starts]
        w[:, ends] = np.rint(w[:, ends])
        ordered = [k for k, block in enumerate(self.blocks) if block.stop - block.start == 1]
        w[::2, ordered] = np.rint(w[::2, ordered])
        corners = self.place(w)
        return rng.permutation(np.vstack([samples, corners[self.domain.contains(corners)]]))

    def movable(self, v: Array, relaxed: bool) -> BoolArray:
        """Which coordinates of each row an ascent may move: numbers that are not at rest; `relaxed`: rounded too."""
        mask = np.zeros(v.shape, dtype=np.bool_)
        mask[:, self._ordered if relaxed else self._numbers] = True
        if self._conditional:
            resting = self.rests(v)
            for k, block in enumerate(self._conditional):
                mask[resting[:, k], block.coordinates] = False
        return mask

    # ------------------------------------------------------------------------------------------------- moves

    def switch(self, v: Array) -> Array:
        """Every row with each discrete parameter changed: to each of its listed values; by steps up and down and to its
        ends.

        Where the listed values have few combinations, every row with each of them.
        """
        changes = self._switches
        given = zip(changes.parts[len(changes.parts) - len(self.rounded) :], self.rounded, strict=True)
        steps = [(part, block.start, self._steps(v, block)) for part, block in given]
        return changes.apply(v, steps).reshape(-1, v.shape[1])

    def lines(self, v: Array, places: Array, blocks: list[Block]) -> Array:
        """Every row with each of these ordered parameters at each of the places, (q, parameters, places, dim)."""
        rows = np.empty((len(v), len(blocks), len(places), v.shape[1]))
        rows[:] = v[:, None, None, :]
        for j, block in enumerate(blocks):
            rows[:, j, :, block.start] = places if block.levels is None else _find_nearest(places, block.levels[:, 0])
        untabulated = any(block.levels is None for block in self.rounded)
        return self.round(rows.reshape(-1, v.shape[1])).reshape(rows.shape) if untabulated else rows

    def neighbours(self, v: Array) -> Array:
        """One row (1, dim) with one or two rounded parameters changed to the values next to theirs."""
        columns = [block.start for block in self.rounded]
        return step(v, columns, [self._steps(v, block)[0] for block in self.rounded])

    def switch_pairs(self, v: Array, most: int, turn: int) -> Array:
        """One row (1, dim) with two parameters changed at once; at most so many, and others in another turn."""
        changes, pairs = self._pairs
        given = []
        for part, block in zip(changes.parts[len(self.listed) :], self.rounded + self.real, strict=True):
            if block in self.real:  # the last change is to the other side
                given.append((slice(part.stop - 1, part.stop), block.start, 1.0 - v[:, block.start, None]))
            else:
                given.append((part, block.start, self._steps(v, block)))
        return pairs.combine(changes.apply(v, given)[0], most, turn)

    @cached_property
    def _switches(self) -> Changes:
        """The changes of `switch`; the last ones are steps of rounded parameters."""
        return Changes([*_list_moves(self.listed), *self._open_steps()], self.domain.dim)

    @cached_property
    def _pairs(self) -> tuple[Changes, Pairs]:
        """The changes of `switch_pairs`: of listed, rounded and real parameters."""
        blocks = self.listed + self.rounded + self.real
        listed = [(_columns(block), _levels(block)) for block in self.listed]
        real = [(_columns(block), np.append(_SCAN, 0.0)[:, None]) for block in self.real]
        changes = Changes([*listed, *self._open_steps(), *real], self.domain.dim)
        wakes = find_wakes(blocks, self._conditional, self.scattered[:_PROBES], self.rests)
        return changes, Pairs(changes, wakes)

    def _open_steps(self) -> list[tuple[Columns, Array]]:
        """Changes of rounded parameters by steps, which depend on the point."""
        here = np.full((1, self.domain.dim), 0.5)
        return [(_columns(block), np.zeros((self._steps(here, block).shape[1], 1))) for block in self.rounded]

    def _steps(self, v: Array, block: Block) -> Array:
        """The values to which a rounded parameter is changed in each row, (q, number): by steps, and its ends."""
        if block.levels is None:
            steps = np.concatenate([-_STEPS, _STEPS])
            rows = np.repeat(v, len(steps), axis=0)
            rows[:, block.start] = np.clip(rows[:, block.start] + np.tile(steps, len(v)), 0.0, 1.0)
            return self._nearest(rows, block).reshape(len(v), -1)
        return _find_steps(v[:, block.start], block.levels[:, 0])

    # ---------------------------------------------------------------------------------------------- the domain

    def _snap(self, v: Array) -> Array:
        return self.domain.snap(v) if isinstance(self.domain, SnapsPoints) else v

    def _tabulate(self, block: Block, probes: Array, snapped: Array) -> Block:
        """The same rounded parameter with its values listed, if a fine grid meets all of them: that saves time."""
        at = block.start
        moved = np.flatnonzero((snapped[:, at] != 0.5) | (np.abs(probes[:, at] - 0.5) < 0.01))
        if block.levels is not None or len(moved) == 0:
            return block
        rows = np.repeat(probes[moved[:1]], _FINE + 1, axis=0)  # where the parameter is not at rest
        rows[:, at] = np.linspace(0.0, 1.0, _FINE + 1)
        values = np.unique(self._snap(rows)[:, at])
        if len(values) < 2 or np.diff(values).min() < 2.0 / _FINE:
            return block
        return Block(block.start, block.stop, values[:, None])

    def _nearest(self, v: Array, block: Block) -> Array:
        """The nearest value of a rounded parameter in each row, (q,)."""
        if block.levels is not None:
            return _find_nearest(v[:, block.start], block.levels[:, 0])
        snapped = self._snap(v)[:, block.start]
        if block in self._conditional:  # one at rest keeps its number until it wakes up and is rounded
            snapped = np.where(self.rests(v)[:, self._conditional.index(block)], v[:, block.start], snapped)
        return np.asarray(snapped)

    def _probe(self, v: Array, blocks: list[Block] | tuple[Block, ...]) -> BoolArray:
        """Which parameters are at rest, (q, number of them): the first value, 0 for a number, does not stay."""
        rows = np.tile(v, (len(blocks), 1))
        for k, block in enumerate(blocks):
            rows[k * len(v) : (k + 1) * len(v), block.coordinates] = 0.0 if block.levels is None else block.levels[0]
        moved = (self._snap(rows) != rows).reshape(len(blocks), len(v), -1)
        columns = [moved[k, :, block.coordinates].any(axis=1) for k, block in enumerate(blocks)]
        return np.column_stack(columns) if columns else np.zeros((len(v), 0), dtype=np.bool_)


def _is_listed(block: Block) -> bool:
    return block.levels is not None and (block.stop - block.start > 1 or len(block.levels) <= FEW)


def _levels(block: Block) -> Array:
    return np.empty((0, 1)) if block.levels is None else block.levels


def _columns(block: Block) -> Columns:
    return np.arange(block.start, block.stop)


def _list_moves(listed: list[Block]) -> list[tuple[Columns, Array]]:
    """Each parameter to each of its values; where there are few combinations, all parameters to each of these."""
    counts = [len(_levels(block)) for block in listed]
    if not counts or np.prod(counts, dtype=np.float64) > COMBINATIONS:
        return [(_columns(block), _levels(block)) for block in listed]
    index = np.indices(counts).reshape(len(counts), -1)
    values = [_levels(block)[i] for block, i in zip(listed, index, strict=True)]
    return [(np.concatenate([_columns(block) for block in listed]), np.hstack(values))]


def _find_steps(places: Array, levels: Array) -> Array:
    """The levels, which ascend, 1, 2, 4, ... below and above each of these, and the ends, (q, number)."""
    count = len(levels)
    jumps = 2 ** np.arange(int(np.log2(count)) + 1)
    index = np.searchsorted(levels, places)[:, None] + np.concatenate([-jumps, jumps, [-count, count]])
    return np.asarray(levels[np.minimum(np.maximum(index, 0), count - 1)])


def _find_nearest(places: Array, levels: Array) -> Array:
    """The nearest of these levels, which ascend, to each of the places; the lower one of two."""
    above = np.minimum(np.maximum(np.searchsorted(levels, places), 1), len(levels) - 1)
    return np.asarray(levels[above - (places - levels[above - 1] <= levels[above] - places)])
