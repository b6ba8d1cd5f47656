"""The maximum of an acquisition over a domain with discrete parameters, from candidates that a maximiser found.

    1. The best candidates that are apart are ascended from, with all discrete parameters at their values, except that
       integers with many values move with the numbers and are rounded at the end.
    2. The parameters of the best points are changed one at a time, discrete ones to all of their values (where all
       values have few combinations, to every combination), numbers to the tops of the line through the point, which
       is looked at more closely for the best point; and two parameters of the best point at once. Of what was
       not visited, what is below the best by less than ascents have gained so far is ascended from as in step 1; and
       so on until nothing improves.
    3. Where X has constraints, the ascents so far were short. The best points are ascended from to the end, and moved
       along the boundary (boundary.py).
    4. The best point settles among its neighbours: integers with many values are changed to the next ones and the
       numbers ascend once more; where X has constraints, every discrete parameter is changed while the numbers move to
       the boundary. So until nothing improves.

Step 2 costs an evaluation per value, the ascents a few evaluations with gradients each: those that cannot become the
best end after a few steps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

import mfopt_core
from mfopt.hooks import FullAcquisition, row_keys
from mfopt.protocols import Array, BoolArray
from mfopt_plugins.maximisers.boundary import find_normal, move_to_boundary, slide
from mfopt_plugins.maximisers.grid import Grid
from mfopt_plugins.maximisers.moves import Columns
from mfopt_plugins.maximisers.polish import CLOSER, ROUNDS, Function, as_function, mask_outside, polish

_ROUNDS = 12  # of step 2, at most
_SAME = 0.01  # in every number: ascents that end so near each other have ended at the same place
_STRETCH = 1e6  # of discrete coordinates: different values are never the same place
_FAR = 0.5  # in some coordinate: between starts that are far apart
_LINE = np.linspace(0.0, 1.0, 7)  # places of a number that are looked at
_ENDS = np.array([0.003, 0.012])  # two tops next to an end may be close together
_FINE_LINE = np.sort(np.concatenate([np.linspace(0.0, 1.0, 33), _ENDS, 1.0 - _ENDS]))
_SLIDES = 2  # points that are moved along the boundary of X
_NEAR = 600  # candidates from which starts are chosen that need not be far apart
_BEST = 1000  # candidates that are looked at: to start from, and to lend values to parameters at rest
_HOPE, _LEAST_HOPE = 0.3, 0.01  # of the spread: what an ascent from a changed point may gain, before any was made
_ROUGH = 12  # evaluations of an ascent in steps 1 and 2 where X has constraints: at a boundary they take long
_AT_ONCE = 100  # rows whose constraints are looked at
_SETTLES = 6  # rounds of step 4, at most
_WORTH = 0.003  # of the spread: a neighbour that is worse by more is not moved along the boundary
_GAIN = 1e-6  # of the spread: what is better by less is not worth an ascent


class _Breadth(NamedTuple):
    """How much a search looks at. Constraints end ascents early, so that more of them are needed."""

    starts: int  # of step 1, twice so many times the number of ascents
    climbs: int  # of step 2 at once, so many times that number
    expanded: int  # points whose parameters are changed in a round
    lines: int  # of these, whose numbers are changed too
    pairs: int  # changes of two parameters at once


_OPEN, _CONSTRAINED = _Breadth(1, 1, 12, 6, 400), _Breadth(4, 2, 24, 24, 1200)


class MixedSearch:
    """The search on one acquisition; `climbs` is the number of ascents at once."""

    def __init__(self, acquisition: FullAcquisition, grid: Grid, climbs: int, spread: float) -> None:
        self._acquisition = acquisition
        self._grid = grid
        self._breadth = _CONSTRAINED if grid.constrained else _OPEN
        self._starts, self._climbs = self._breadth.starts * climbs, self._breadth.climbs * climbs
        self._spread = spread
        self._visited: dict[bytes, float] = {}  # the best value known in each cell of the grid

    def run(self, candidates: Array, values: Array) -> Array:
        """A point of X at least as good as the best of the candidates, which lie in X and have these values."""
        grid = self._grid
        order = np.argsort(-values, kind="stable")
        best = candidates[order[:_BEST]]
        # Starts near each other find the best place among good ones, starts far apart find the good ones.
        near = best[mfopt_core.choose_apart(best[:_NEAR], values[order[:_NEAR]], self._starts, CLOSER)]
        far = best[mfopt_core.choose_apart(best, values[order[:_BEST]], self._starts, _FAR)]
        starts = np.vstack([near, far])
        v = grid.fill(starts[mfopt_core.find_distinct(starts)], best)
        v, heights = self.ascend(v, relaxed=bool(grid.rounded))
        if not heights.max() >= values[order[0]]:  # rounding may lose
            v = np.vstack([v, grid.fill(best[:1], best)])
            heights = np.append(heights, values[order[0]])
        v, heights = self._exchange(v, heights)
        if grid.constrained:
            v, heights = self._slide(v, heights)
        if grid.rounded or grid.constrained:
            v, heights = self._settle(v, heights)
        return np.array(grid.point(v[int(np.argmax(heights))][None])[0])

    def _exchange(self, v: Array, heights: Array) -> tuple[Array, Array]:
        """Step 2."""
        expanded, paired = v[:0], -1
        gained = -np.inf  # the most that an ascent from a changed point has gained
        hope = _HOPE * self._spread
        for turn in range(_ROUNDS):
            best = int(np.argmax(heights))
            worth = np.flatnonzero(heights >= heights[best] - 0.5 * hope)
            places = _stretch(v[worth], self._grid.discrete)
            chosen = mfopt_core.choose_apart(places, heights[worth], self._breadth.expanded, _SAME)
            known = np.abs(places[chosen, None] - expanded).max(axis=2) <= _SAME
            chosen = chosen[~known.any(axis=1)]
            order = worth[chosen]
            better = paired < 0 or heights[best] > heights[paired] + _GAIN * self._spread
            if not (len(order) or better):
                break
            expanded = np.vstack([expanded, places[chosen]])
            moved, tops = [self._change(v[order], heights[order])] if len(order) else [], v[:0]
            if better:
                paired, one = best, slice(best, best + 1)
                tops = self._find_tops(v[one], heights[one], _FINE_LINE)
                moved.append(self._grid.switch_pairs(v[one], self._breadth.pairs, turn))
            first = 0 if self._grid.constrained else len(tops)  # tops outside X would crowd out all others
            fresh, before = self._choose(np.vstack([tops, *moved]), first, heights[best] - hope)
            if len(fresh):
                more, values = self._climb(v[best], fresh, before)
                v, heights = np.vstack([v, more]), np.concatenate([heights, values])
                gained = max(gained, float((values - before).max()))
                hope = min(hope, max(gained, _LEAST_HOPE * self._spread))
        return v, heights

    def _change(self, v: Array, heights: Array) -> Array:
        """These rows, which have these values, with one parameter changed."""
        lines = self._breadth.lines
        return np.vstack([self._grid.switch(v), self._find_tops(v[:lines], heights[:lines], _LINE)])

    def _climb(self, best: Array, fresh: Array, before: Array) -> tuple[Array, Array]:
        """Where ascents from the rows `fresh`, whose values are `before`, end, and the values there.

        The best row is a rival of the others, so that ascents which cannot reach it are given up.
        """
        rounded = bool(self._grid.rounded)
        more, values = self.ascend(np.vstack([best, fresh]), relaxed=rounded, ended=True)
        more, values = more[1:], values[1:]
        lost = values < before  # by rounding
        more[lost], values[lost] = fresh[lost], before[lost]
        if rounded and self._grid.constrained:  # rounding leaves the boundary
            more, values = self.ascend(np.vstack([best, more]), relaxed=False, ended=True)
            more, values = more[1:], values[1:]
        return more, values

    def _settle(self, v: Array, heights: Array) -> tuple[Array, Array]:
        """Step 4: the best row, (1, dim), and its value, (1,)."""
        if not self._grid.constrained:  # since they were rounded, the best need not be at a maximum
            order = np.argsort(-heights, kind="stable")[: self._climbs]
            order = order[heights[order] >= heights[order[0]] - _LEAST_HOPE * self._spread]
            v, heights = self.ascend(v[order], relaxed=False)
        best = int(np.argmax(heights))
        v, height = v[best : best + 1], heights[best : best + 1]
        for _ in range(_SETTLES):
            near = self._find_near(v)
            if len(near) == 0:
                break
            ends, values = self.ascend(np.vstack([v, near]), relaxed=False, ended=self._grid.constrained)
            if self._grid.constrained:
                worth = np.flatnonzero(values[1:] > height - _WORTH * self._spread) + 1
                if len(worth) == 0:
                    break
                ends, values = self._slide(ends[worth], values[worth])
            top = int(np.argmax(values))
            gain = values[top] - height[0]
            if gain > 0.0:
                v, height = ends[top : top + 1], values[top : top + 1]
            if not gain > _GAIN * self._spread:
                break
        return v, height

    def _find_near(self, v: Array) -> Array:
        """The best neighbours of a row (1, dim)."""
        grid = self._grid
        near = grid.neighbours(v)
        if grid.constrained:
            near = np.vstack([near, grid.switch(v)])
            near = near[(near != v).any(axis=1)]
            near = self._bring_back(v, near[mfopt_core.find_distinct(grid.point(near))])
        values = self._acquisition(grid.point(near)) if len(near) else np.empty(0)
        return near[np.argsort(-values, kind="stable")[: self._climbs]]

    def _bring_back(self, v: Array, near: Array) -> Array:
        """These rows with their numbers at the boundary of X, on the way across it at the row v (1, dim); those that
        are in X, where there is no such way.
        """
        grid = self._grid
        u, free = grid.point(v)[0], grid.movable(v, relaxed=False)[0]
        heights, slopes = self._acquisition.pieces(u[None])
        slope = np.where(free, slopes[int(np.argmin(heights[:, 0])), 0], 0.0)
        way = find_normal(self._contains, u, slope, free)
        if way is None and slope.any():
            way = slope / np.linalg.norm(slope)
        if way is None:
            return near[self._contains(grid.point(near))]
        return move_to_boundary(lambda rows: self._contains(grid.point(rows)), near, way)

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
        # The row itself is one of the places, between the last that is not beyond it and the next: its own hill is not
        # a new one.
        left, right = np.full_like(values, -np.inf), np.full_like(values, -np.inf)
        left[..., 1:], right[..., :-1] = values[..., :-1], values[..., 1:]
        after = np.searchsorted(line, v[:, [block.start for block in blocks]], side="right")
        q, k = np.nonzero(after < len(line))
        left[q, k, after[q, k]] = heights[q]
        q, k = np.nonzero(after > 0)
        right[q, k, after[q, k] - 1] = heights[q]
        return flat[((values > left) & (values >= right)).ravel()]

    def _slide(self, v: Array, heights: Array) -> tuple[Array, Array]:
        """Step 3."""
        order = np.argsort(-heights, kind="stable")[:_SLIDES]
        v, heights = self.ascend(v[order], relaxed=False, rounds=ROUNDS)
        u, movable = self._grid.point(v), self._grid.movable(v, relaxed=False)
        pieces = mask_outside(self._acquisition, self._contains)
        for i in range(len(v)):
            end, heights[i] = slide(pieces, self._contains, u[i], movable[i], self._spread)
            v[i] = np.where(movable[i], end, v[i])
        return v, heights

    def _choose(self, moved: Array, tops: int, least: float) -> tuple[Array, Array]:
        """The best rows in X that are at least this good, and their values: the first rows, so many, are tops; of the
        others at most one per cell, and better than what is known of the cell.
        """
        if len(moved) == 0:
            return moved, np.empty(0)
        u = self._grid.point(moved)
        first = mfopt_core.find_distinct(u)
        u, moved, tops = u[first], moved[first], int(np.searchsorted(first, tops))
        values = self._acquisition(u)
        good = np.flatnonzero(values >= least)
        order = good[np.argsort(-values[good], kind="stable")]
        chosen: list[int] = []
        at_once = _AT_ONCE if self._grid.constrained else max(1, len(order))
        for start in range(0, len(order), at_once):  # constraints are slow: mostly the first are enough
            some = order[start : start + at_once]
            if self._grid.constrained:
                some = some[self._contains(u[some])]
            coarse = self._grid.coarsen(u[some])
            worth = some < tops
            worth[mfopt_core.find_distinct(coarse)] = True  # others in the cell are no better
            for i, cell in zip(some[worth].tolist(), row_keys(coarse[worth]), strict=True):
                known = self._visited.get(cell, -np.inf)
                if i < tops or values[i] > known + _GAIN * self._spread:
                    self._visited[cell] = max(known, float(values[i]))
                    chosen.append(i)
                    if len(chosen) == self._climbs:
                        return moved[chosen], values[chosen]
        return moved[chosen], values[chosen]

    def ascend(self, v: Array, relaxed: bool, ended: bool = False, rounds: int | None = None) -> tuple[Array, Array]:
        """Where ascents from these rows end, and the values of the points that they stand for.

        `ended`: the first row is at a maximum already. It stays there as a rival of the others.
        """
        grid = self._grid
        rounds = rounds or (_ROUGH if grid.constrained else ROUNDS)
        u, movable, values = grid.point(v), grid.movable(v, relaxed), None
        if ended:
            movable[0] = False
        if movable.any():
            ends, values = mfopt_core.ascend(
                self._function(relaxed), u, self._spread, movable, rounds, rounds == ROUNDS
            )
            v = np.where(movable, ends, v)
            if relaxed:
                v = grid.round(v)
            u = grid.point(v)
        if values is None or relaxed:
            values = self._evaluate(u)
        for cell, value in zip(row_keys(grid.coarsen(u)), values.tolist(), strict=True):
            self._visited[cell] = max(value, self._visited.get(cell, -np.inf))
        return v, values

    def _function(self, relaxed: bool) -> Function:
        """What is ascended: `relaxed`, a point belongs to X if it does so with its rounded parameters rounded."""
        grid, acquisition = self._grid, self._acquisition
        if not grid.constrained:
            return as_function(acquisition)
        if not relaxed:
            return mask_outside(acquisition, self._contains)
        return mask_outside(acquisition, lambda points: self._contains(grid.point(grid.round(points))))

    def _evaluate(self, u: Array) -> Array:
        """Values of points of the grid, −∞ outside X."""
        if not self._grid.constrained:
            return self._acquisition(u)
        inside = self._contains(u)
        values = np.full(len(u), -np.inf)
        values[inside] = self._acquisition(u[inside])
        return values

    def _contains(self, u: Array) -> BoolArray:
        """Which points of the grid lie in X."""
        return self._grid.domain.contains(u) if self._grid.constrained else np.ones(len(u), dtype=np.bool_)


def _stretch(v: Array, discrete: Columns) -> Array:
    """The same rows in coordinates in which different values of these columns are far apart."""
    stretched = v.copy()
    stretched[:, discrete] *= _STRETCH
    return stretched


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
