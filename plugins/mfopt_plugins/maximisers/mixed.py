"""The maximum of an acquisition over a domain with discrete parameters, from candidates that a maximiser found.

    1. The best candidates that are apart are ascended from, with all discrete parameters at their values, except that
       integers with many values move with the numbers and are rounded at the end.
    2. The parameters of the best points are changed one at a time, discrete ones to all of their values (where all
       values have few combinations, to every combination), numbers to the tops of the line through the point, which
       is looked at more closely for the best point; and two parameters of the best point at once. Of what was
       not visited, what is below the best by less than ascents have gained so far is ascended from as in step 1, then
       once more with all discrete parameters at their values; and so on until nothing improves.
    3. Where X has constraints, the ascents so far were short. The best points are ascended from to the end, and moved
       along the boundary (boundary.py).

Step 2 costs an evaluation per value, the ascents a few evaluations with gradients each: those that cannot become the
best end after a few steps.
"""

from __future__ import annotations

import numpy as np

import mfopt_core
from mfopt.hooks import FullAcquisition, row_keys
from mfopt.protocols import Array, BoolArray
from mfopt_plugins.maximisers.boundary import slide
from mfopt_plugins.maximisers.grid import Grid
from mfopt_plugins.maximisers.polish import CLOSER, ROUNDS, Pieces, mask_outside, polish

_ROUNDS = 12  # of step 2, at most
_EXPANDED = 16  # points whose parameters are changed in a round
_FAR = 0.5  # in some coordinate: between starts that are far apart
_LINE, _FINE_LINE = np.linspace(0.0, 1.0, 7), np.linspace(0.0, 1.0, 33)  # places of a number that are looked at
_SLIDES = 2  # points that are moved along the boundary of X
_NEAR = 600  # candidates from which starts are chosen that need not be far apart
_BEST = 1000  # candidates that are looked at: to start from, and to lend values to parameters at rest
_PAIRS = 600  # changes of two parameters at once, at most
_HOPE, _LEAST_HOPE = 0.3, 0.01  # of the spread: what an ascent from a changed point may gain, before any was made
_ROUGH = 12  # evaluations of an ascent in steps 1 and 2 where X has constraints: at a boundary they take long
_AT_ONCE = 100  # rows whose constraints are looked at
_SEED = 0
_GAIN = 1e-6  # of the spread: what is better by less is not worth an ascent


class MixedSearch:
    """The search on one acquisition; `climbs` is the number of ascents at once."""

    def __init__(self, acquisition: FullAcquisition, grid: Grid, climbs: int, spread: float) -> None:
        self._acquisition = acquisition
        self._grid = grid
        self._climbs = climbs
        self._spread = spread
        self._visited: dict[bytes, float] = {}  # the best value known in each cell of the grid

    def run(self, candidates: Array, values: Array) -> Array:
        """A point of X at least as good as the best of the candidates, which lie in X and have these values."""
        grid = self._grid
        order = np.argsort(-values, kind="stable")
        best = candidates[order[:_BEST]]
        # Starts near each other find the best place among good ones, starts far apart find the good ones.
        near = best[mfopt_core.choose_apart(best[:_NEAR], values[order[:_NEAR]], self._climbs, CLOSER)]
        far = best[mfopt_core.choose_apart(best, values[order[:_BEST]], self._climbs, _FAR)]
        v = grid.fill(_distinct(np.vstack([near, far])), best)
        v, heights = self.ascend(v, relaxed=bool(grid.rounded))
        if not heights.max() >= values[order[0]]:  # rounding may lose
            v = np.vstack([v, grid.fill(best[:1], best)])
            heights = np.append(heights, values[order[0]])
        v, heights = self._exchange(v, heights)
        if grid.constrained:
            v, heights = self._slide(v, heights)
        return np.array(grid.point(v[int(np.argmax(heights))][None])[0])

    def _exchange(self, v: Array, heights: Array) -> tuple[Array, Array]:
        """Step 2."""
        grid, expanded, paired = self._grid, set[int](), -1
        rough = set(range(len(v))) if grid.rounded else set()  # since they were rounded, these may not be at a maximum
        rng = np.random.default_rng(_SEED)
        gained = -np.inf  # the most that an ascent from a changed point has gained
        hope = _HOPE * self._spread
        for _ in range(_ROUNDS):
            best = int(np.argmax(heights))
            worth = np.flatnonzero(heights >= heights[best] - 0.5 * hope)
            top = worth[np.argsort(-heights[worth], kind="stable")[:_EXPANDED]].tolist()
            order = [i for i in top if i not in expanded]
            if not order and best == paired:
                break
            expanded.update(order)
            moved = [grid.switch(v[order]), self._find_tops(v[order], heights[order], _LINE)] if order else [v[:0]]
            if best != paired:
                one = slice(best, best + 1)
                moved.append(self._find_tops(v[one], heights[one], _FINE_LINE))
                if len(grid.blocks) > 1:
                    moved.append(grid.switch_pairs(v[one], _PAIRS, rng))
            paired = best
            fresh, before = self._choose(np.vstack(moved), heights[best] - hope)
            if len(fresh):
                # The best point is a rival of the others, so that ascents which cannot reach it are given up.
                starts = np.vstack([v[best], self._relax(fresh, before) if grid.rounded else fresh])
                more, values = self.ascend(starts, relaxed=False, ended=best not in rough)
                rough.discard(best)
                v[best], heights[best] = more[0], values[0]
                v, heights = np.vstack([v, more[1:]]), np.concatenate([heights, values[1:]])
                gained = max(gained, float((values[1:] - before).max()))
                hope = min(hope, max(gained, _LEAST_HOPE * self._spread))
        return v, heights

    def _find_tops(self, v: Array, heights: Array, line: Array) -> Array:
        """The rows with one number changed to where φ is higher than at the places of the line next to it.

        On a fine line integers are looked at as numbers are. Constraints may hide a top: where there are any, all
        places of a coarse line are taken.
        """
        grid = self._grid
        blocks = grid.real + (grid.rounded if line is _FINE_LINE else [])
        if not blocks:
            return v[:0]
        rows = grid.lines(v, line, blocks)
        flat = rows.reshape(-1, v.shape[1])
        if grid.constrained and line is _LINE:
            return flat
        values = self._acquisition(grid.point(flat)).reshape(rows.shape[:3])
        # The row itself is one of the places: its own hill is not a new one.
        columns = [block.start for block in blocks]
        at = np.concatenate([np.broadcast_to(line, values.shape), v[:, columns, None]], axis=2)
        own = np.broadcast_to(heights[:, None, None], (*values.shape[:2], 1))
        order = np.argsort(at, axis=2, kind="stable")
        along = np.take_along_axis(np.concatenate([values, own], axis=2), order, axis=2)
        padded = np.pad(along, ((0, 0), (0, 0), (1, 1)), constant_values=-np.inf)
        top = np.empty(along.shape, dtype=np.bool_)
        np.put_along_axis(top, order, (along > padded[:, :, :-2]) & (along >= padded[:, :, 2:]), axis=2)
        return flat[top[:, :, :-1].ravel()]

    def _relax(self, v: Array, values: Array) -> Array:
        """Rows that ascents lead to which move rounded parameters too; those with these values that lose stay."""
        ends, heights = self.ascend(v, relaxed=True)
        return np.where((heights > values)[:, None], ends, v)

    def _slide(self, v: Array, heights: Array) -> tuple[Array, Array]:
        """Step 3."""
        order = np.argsort(-heights, kind="stable")[:_SLIDES]
        v, heights = self.ascend(v[order], relaxed=False, rounds=ROUNDS)
        u, movable = self._grid.point(v), self._grid.movable(v, relaxed=False)
        for i in range(len(v)):
            pieces = self._pieces(u[i : i + 1], movable[i : i + 1], relaxed=False)
            end, heights[i] = slide(pieces, self._contains, u[i], movable[i], self._spread)
            v[i] = np.where(movable[i], end, v[i])
        return v, heights

    def _choose(self, moved: Array, least: float) -> tuple[Array, Array]:
        """The best rows in X, at most one per cell: at least this good, and better than what is known of the cell;
        and their values.
        """
        u = self._grid.point(moved)
        first = _first_rows(u)
        u, moved = u[first], moved[first]
        if len(u) == 0:
            return moved, np.empty(0)
        values = self._acquisition(u)
        order = [i for i in np.argsort(-values, kind="stable").tolist() if values[i] >= least]
        chosen: list[int] = []
        for start in range(0, len(order), _AT_ONCE):  # constraints are slow: mostly the first are enough
            some = order[start : start + _AT_ONCE]
            for i, cell, inside in zip(some, self._grid.cells(u[some]), self._contains(u[some]).tolist(), strict=True):
                if inside and values[i] > self._visited.get(cell, -np.inf) + _GAIN * self._spread:
                    self._visited[cell] = float(values[i])
                    chosen.append(i)
                    if len(chosen) == self._climbs:
                        return moved[chosen], values[chosen]
        return moved[chosen], values[chosen]

    def ascend(self, v: Array, relaxed: bool, ended: bool = False, rounds: int | None = None) -> tuple[Array, Array]:
        """Where ascents from these rows end, and the values of the points that they stand for; `ended` as in polish."""
        grid = self._grid
        rounds = rounds or (_ROUGH if grid.constrained else ROUNDS)
        u, movable, values = grid.point(v), grid.movable(v, relaxed), None
        if movable.any():
            pieces, again = self._pieces(u, movable, relaxed), rounds == ROUNDS
            ends, values = mfopt_core.ascend(pieces, u, self._spread, ended, rounds, again)
            v = grid.round(np.where(movable, ends, v))
            u = grid.point(v)
        if values is None or relaxed:
            inside = self._contains(u)
            values = np.full(len(u), -np.inf)
            values[inside] = self._acquisition(u[inside])
        for cell, value in zip(grid.cells(u), values.tolist(), strict=True):
            self._visited[cell] = max(value, self._visited.get(cell, -np.inf))
        return v, values

    def _pieces(self, u: Array, movable: BoolArray, relaxed: bool) -> Pieces:
        """The acquisition with slopes of 0 where ascents from the points u may not move."""
        grid = self._grid
        rounded = [block.start for block in grid.rounded] if relaxed else []
        columns = np.setdiff1d(grid.discrete, rounded)
        alike = bool((movable == movable[0]).all())
        masks: dict[bytes, BoolArray] = {}  # by the values of discrete parameters, which decide what is at rest
        if not alike:
            for key, mask in zip(row_keys(u, columns), movable, strict=True):
                masks[key] = mask & masks.get(key, mask)

        def pieces(points: Array) -> tuple[Array, Array]:
            heights, slopes = self._acquisition.pieces(points)
            if grid.constrained:
                inside = self._contains(grid.point(grid.round(points)) if relaxed else points)
                if not inside.all():
                    heights[:, ~inside] = -np.inf
            mask = movable[0] if alike else np.array([masks[key] for key in row_keys(points, columns)])
            return heights, np.where(mask, slopes, 0.0)

        return pieces

    def _contains(self, u: Array) -> BoolArray:
        """Which points of the grid lie in X."""
        return self._grid.domain.contains(u) if self._grid.constrained else np.ones(len(u), dtype=np.bool_)


def _first_rows(u: Array) -> list[int]:
    """The number of the first of each set of equal rows."""
    keys = row_keys(u)
    return sorted(dict(zip(reversed(keys), range(len(keys) - 1, -1, -1), strict=True)).values())


def _distinct(u: Array) -> Array:
    """The same rows, each once."""
    return u[_first_rows(u)]


def refine(
    acquisition: FullAcquisition, grid: Grid, candidates: Array, values: Array, climbs: int, rounds: int = ROUNDS
) -> Array:
    """A point of X at least as good as the best of `candidates` (q, dim), which lie in X and have these values.

    Where all parameters are numbers an ascent has at most so many rounds.
    """
    found = _search(acquisition, grid, candidates, values, climbs, rounds)
    if not (grid.constrained or grid.domain.contains(found[None])[0]):
        grid.constrained = True  # points outside X are so rare that none had been seen
        inside = grid.contains(candidates)
        found = _search(acquisition, grid, candidates[inside], values[inside], climbs, rounds)
    return found


def _search(
    acquisition: FullAcquisition, grid: Grid, candidates: Array, values: Array, climbs: int, rounds: int
) -> Array:
    """The same; a point outside X where the grid is wrongly taken for unconstrained."""
    spread = float(np.ptp(values))
    if not spread > 0.0:
        return np.array(candidates[int(np.argmax(values))])
    if grid.mixed:
        return MixedSearch(acquisition, grid, climbs, spread).run(candidates, values)
    if not grid.constrained:
        return polish(acquisition, None, candidates, values, climbs, rounds)
    contains, free = grid.domain.contains, np.ones(grid.domain.dim, dtype=np.bool_)
    found = polish(acquisition, contains, candidates, values, climbs, rounds)
    return slide(mask_outside(acquisition, contains), contains, found, free, spread)[0]
