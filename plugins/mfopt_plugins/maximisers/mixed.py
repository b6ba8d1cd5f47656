"""The maximum of an acquisition over a domain with discrete parameters, from candidates that a maximiser found.

    1. The best candidates that are apart are ascended from, with all discrete parameters at their values, except that
       integers with many values move with the numbers and are rounded at the end.
    2. The discrete parameters of the best points are changed one at a time, each to all of its values; where all
       values have few combinations, to every combination. The best of what was not visited is ascended from, and so
       on until nothing improves.
    3. Two parameters of the best point are changed at once. If that improves it, 2. starts again.

Step 2 costs an evaluation per value, the ascents a few evaluations with gradients each: those that cannot become the
best end after a few steps.
"""

from __future__ import annotations

import numpy as np

from mfopt.hooks import FullAcquisition
from mfopt.protocols import Array, BoolArray
from mfopt_plugins.maximisers.grid import Grid, keys_of
from mfopt_plugins.maximisers.polish import Pieces, ascend, choose_apart, polish

_ROUNDS = 12  # of step 2, at most
_EXPANDED = 3  # points whose parameters are changed in a round
_PAIRS = 400  # changes of two parameters at once, at most
_SEED = 0
_GAIN = 1e-9  # of the spread: what improves less does not count


class MixedSearch:
    """The search on one acquisition; `climbs` is the number of ascents at once."""

    def __init__(self, acquisition: FullAcquisition, grid: Grid, climbs: int) -> None:
        self._acquisition = acquisition
        self._grid = grid
        self._climbs = climbs
        numbers, rounded = [block.start for block in grid.real], [block.start for block in grid.rounded]
        self._fixed = np.setdiff1d(np.arange(grid.domain.dim), numbers)
        self._listed = np.setdiff1d(self._fixed, rounded)
        self._visited: set[bytes] = set()

    def run(self, candidates: Array, values: Array) -> Array:
        """A point of X at least as good as the best of the candidates, which lie in X and have these values."""
        grid = self._grid
        order = np.argsort(-values, kind="stable")
        top, self._spread = int(order[0]), float(np.ptp(values))
        if not self._spread > 0.0:
            return np.array(candidates[top])
        starts = choose_apart(candidates, values, self._climbs)
        v, heights = self._ascend(grid.fill(starts, candidates[order[:256]]), relaxed=bool(grid.rounded))
        best = int(np.argmax(heights))
        if not heights[best] >= values[top]:  # rounding may lose
            v = np.vstack([v, grid.fill(candidates[top : top + 1], candidates[order[:256]])])
            heights = np.append(heights, values[top])
        v, heights = self._exchange(v, heights)
        return np.array(grid.snap(v[int(np.argmax(heights))][None])[0])

    def _exchange(self, v: Array, heights: Array) -> tuple[Array, Array]:
        """Steps 2 and 3."""
        grid, expanded = self._grid, set[int]()
        rng = np.random.default_rng(_SEED)
        paired = -1
        for _ in range(_ROUNDS):
            best = int(np.argmax(heights))
            order = [int(i) for i in np.argsort(-heights, kind="stable")[:_EXPANDED] if int(i) not in expanded]
            if order:
                expanded.update(order)
                rows = v[order]
                moved = grid.switch(rows) if grid.combinations is None else grid.combine(rows)
                if grid.combinations is not None and grid.rounded:
                    moved = np.vstack([moved, grid.switch(rows)])
            elif best != paired and len(grid.listed) + len(grid.rounded) > 1:
                paired = best
                moved = grid.switch_pairs(v[best : best + 1], _PAIRS, rng)
            else:
                break
            fresh = self._choose(moved)
            if len(fresh):
                # The best point is ascended from again, so that ascents which cannot reach it are given up.
                more, values = self._ascend(np.vstack([v[best], fresh]), relaxed=False)
                v[best], heights[best] = more[0], values[0]
                v, heights = np.vstack([v, more[1:]]), np.concatenate([heights, values[1:]])
        return v, heights

    def _choose(self, moved: Array) -> Array:
        """The best of these rows that lie in X and whose discrete values were not visited, one for each of those."""
        u = self._grid.snap(moved)
        keys = keys_of(u, self._fixed)
        new = np.array([key not in self._visited for key in keys], dtype=np.bool_)
        new[new] = self._grid.contains(u[new])
        if not new.any():
            return moved[:0]
        moved, u, keys = moved[new], u[new], [key for key, fresh in zip(keys, new.tolist(), strict=True) if fresh]
        values = self._acquisition(u)
        chosen: list[int] = []
        for i in np.argsort(-values, kind="stable").tolist():
            if keys[i] not in self._visited:
                self._visited.add(keys[i])
                chosen.append(i)
            if len(chosen) == self._climbs:
                break
        return moved[chosen]

    def _ascend(self, v: Array, relaxed: bool) -> tuple[Array, Array]:
        """Where ascents from these rows end, and the values of the points that they stand for."""
        grid = self._grid
        u = grid.snap(v)
        movable = grid.movable(v, relaxed)
        values = None
        if movable.any():
            ends, values = ascend(self._pieces(u, movable, relaxed), u, self._spread)
            v = np.where(movable, ends, v)
        if values is None or relaxed:
            u = grid.snap(v)
            inside = grid.contains(u)
            values = np.full(len(u), -np.inf)
            values[inside] = self._acquisition(u[inside])
        self._visited.update(keys_of(u, self._fixed))
        return v, values

    def _pieces(self, u: Array, movable: BoolArray, relaxed: bool) -> Pieces:
        """The acquisition with slopes of 0 where ascents from the points u may not move."""
        grid = self._grid
        columns = self._listed if relaxed else self._fixed
        masks: dict[bytes, BoolArray] = {}  # by the values of discrete parameters, which decide what is at rest
        for key, mask in zip(keys_of(u, columns), movable, strict=True):
            masks[key] = mask & masks.get(key, mask)

        def pieces(points: Array) -> tuple[Array, Array]:
            heights, slopes = self._acquisition.pieces(points)
            inside = grid.domain.contains(grid.snap(points) if relaxed else points)
            if not inside.all():
                heights[:, ~inside] = -np.inf
            mask = np.array([masks[key] for key in keys_of(points, columns)])
            return heights, np.where(mask, slopes, 0.0)

        return pieces


def refine(acquisition: FullAcquisition, grid: Grid, candidates: Array, values: Array, climbs: int) -> Array:
    """A point of X at least as good as the best of `candidates` (q, dim), which lie in X and have these values."""
    if grid.mixed:
        return MixedSearch(acquisition, grid, climbs).run(candidates, values)
    return polish(acquisition, grid.domain, candidates, values, climbs)
