"""Along the boundary of X: ascents that a constraint has stopped go on along it.

A constraint is known by its answers alone. Near a point x where it stops an ascent with slope g, its boundary is taken
for a plane t = t_0 + Σ_j s_j h_j over the directions e_j orthogonal to g, t being measured along g; t at h = 0 and at a
step along each e_j is found by bisection. Its normal is n ∝ g/‖g‖ − Σ_j s_j e_j. An ascent whose slopes have no part
along n stays in the plane; a coordinate at the end of its interval that would leave it is fixed, and n is taken among
the others. Where the boundary is curved that is repeated.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import mfopt_core
from mfopt.protocols import Array, BoolArray
from mfopt_plugins.maximisers.polish import Pieces

_TIMES = 12
_STEP = 5e-4  # of a probe, in the cube
_REACH = 8.0  # steps within which the boundary is looked for
_PROBE_CUTS = 6
_FAR = 0.975  # of the reach: a boundary that is not met before is not met
_DEPTHS = (1e-2, 1e-3, 1e-4, 1e-5)  # how far inside X an ascent along the boundary starts: it may be curved
_END = 1e-5  # a coordinate so near the end of its interval is held there
_PARTS = np.arange(1, 9) / 8  # into which an interval is cut at once
_CUTS = 8
_HALVES = 10
_GAIN = 2e-7  # of the spread: less ends it
_FLAT = 5e-4  # of the spread, per unit of the cube: a slope along the boundary that promises less than that


def slide(
    pieces: Pieces, contains: Callable[[Array], BoolArray], start: Array, movable: BoolArray, spread: float
) -> tuple[Array, float]:
    """The point (dim,) to which an ascent along the boundary leads from `start`, and the value there."""
    heights, slopes = pieces(start[None])
    best, height = start, float(heights.min())
    for _ in range(_TIMES):
        slope = slopes[int(np.argmin(heights[:, 0])), 0]
        free = movable & (slope != 0.0)
        normal = find_normal(contains, best, slope, free)
        if normal is None:
            break
        normal, kept = _hold(best, slope, normal, free)
        free, held = kept, free & ~kept
        if not np.linalg.norm(np.where(free, slope - (slope @ normal) * normal, 0.0)) > _FLAT * spread:
            break
        for depth in _DEPTHS:
            inside = np.where(held, np.rint(best), np.clip(best - depth * normal, 0.0, 1.0))
            along, _ = mfopt_core.ascend(_without(pieces, normal, free), inside[None], spread)
            # Where the boundary is curved the whole way may go too far: half of it is tried too.
            ways = np.array([along[0], 0.5 * (inside + along[0])])
            ends = _push(contains, ways, normal, 2.0 * depth)
            values, slants = pieces(ends)
            top = int(np.argmax(values.min(axis=0)))
            if values[:, top].min() - height > _GAIN * spread:
                best, height = ends[top], float(values[:, top].min())
                heights, slopes = values[:, top : top + 1], slants[:, top : top + 1]
                break
        else:
            break
    return best, height


def _hold(x: Array, slope: Array, normal: Array, free: BoolArray) -> tuple[Array, BoolArray]:
    """The normal among the coordinates that do not leave their intervals on the way along the boundary, and these."""
    while True:
        along = slope - (slope @ normal) * normal
        kept = free & ~((x <= _END) & (along < 0.0)) & ~((x >= 1.0 - _END) & (along > 0.0))
        size = float(np.linalg.norm(normal[kept]))
        if np.array_equal(kept, free) or not size > 0.0:
            return normal, kept
        normal, free = np.where(kept, normal / size, 0.0), kept


def _push(contains: Callable[[Array], BoolArray], x: Array, normal: Array, reach: float) -> Array:
    """The points of X next to its boundary on the way from each row of x along the normal, at most so far."""
    low = _leave(contains, x, normal, np.zeros(len(x)), reach, _CUTS)
    return np.clip(x + low[:, None] * normal, 0.0, 1.0)


def move_to_boundary(contains: Callable[[Array], BoolArray], x: Array, way: Array) -> Array:
    """The rows of x moved along the way to the boundary of X: forwards those in X, backwards the others, at most by 1.

    Rows from which X is not met are left out.
    """
    inside = contains(x)
    low, high = np.where(inside, 0.0, -1.0), np.where(inside, 1.0, 0.0)
    met = contains(_go(x, low, way))
    x, low, high = x[met], low[met], high[met]
    for _ in range(_HALVES if len(x) else 0):
        middle = 0.5 * (low + high)
        inside = contains(_go(x, middle, way))
        low, high = np.where(inside, middle, low), np.where(inside, high, middle)
    return _go(x, low, way)


def _go(x: Array, t: Array, way: Array) -> Array:
    """x + t·way, one t per row, in the cube."""
    return np.asarray(np.clip(x + t[:, None] * way, 0.0, 1.0))


def _leave(contains: Callable[[Array], BoolArray], x: Array, way: Array, low: Array, width: float, cuts: int) -> Array:
    """The largest t in low + [0, width] up to which x + t·way (one t per row of x) lies in X; width/8^cuts too small.

    Every cut is one call: constraints are slow to ask, whether of one point or of many.
    """
    for _ in range(cuts):
        t = low[:, None] + width * _PARTS
        rows = np.clip(x[:, None] + t[:, :, None] * way, 0.0, 1.0)
        inside = contains(rows.reshape(-1, x.shape[1])).reshape(t.shape)
        width /= len(_PARTS)
        # The first part that leaves X: everything below it is inside.
        low = low + width * np.argmin(np.hstack([inside, np.zeros((len(x), 1), dtype=np.bool_)]), axis=1)
    return low


def _without(pieces: Pieces, normal: Array, free: BoolArray) -> Pieces:
    """The same pieces, their slopes without the part along `normal`, and only in coordinates that are free."""

    def projected(points: Array) -> tuple[Array, Array]:
        heights, slopes = pieces(points)
        return heights, np.where(free, slopes - (slopes @ normal)[:, :, None] * normal, 0.0)

    return projected


def find_normal(contains: Callable[[Array], BoolArray], x: Array, slope: Array, movable: BoolArray) -> Array | None:
    """The unit normal of the boundary near x, outwards; None where no boundary is met along the slope.

    Lines along the slope lie among coordinates that are away from the ends of their intervals, so that these are not
    taken for the constraint's boundary; the others are only stepped along, inwards.
    """
    free = movable & (slope != 0.0)
    columns = np.flatnonzero(free)
    lead = free & (np.minimum(x, 1.0 - x) > _REACH * _STEP)
    if not lead.any():
        lead = free & ~((x <= 0.0) & (slope < 0.0)) & ~((x >= 1.0) & (slope > 0.0))
    uphill = np.where(lead, slope, 0.0)
    size = float(np.linalg.norm(uphill))
    if len(columns) < 2 or not size > 0.0:
        return None
    uphill /= size
    columns = columns[np.argsort(-np.abs(uphill[columns]), kind="stable")]
    basis = np.zeros((len(columns), len(x)))  # the first row along the slope, the others orthogonal to it
    square = np.eye(len(columns))
    square[0] = uphill[columns]
    basis[:, columns] = np.linalg.qr(square.T)[0].T
    towards = np.where((0.5 - x) @ basis[1:].T < 0.0, -1.0, 1.0)
    probes = np.vstack([x, x + _STEP * towards[:, None] * basis[1:]])
    reach = _REACH * _STEP
    low = _leave(contains, probes, uphill, np.full(len(probes), -reach), 2.0 * reach, _PROBE_CUTS)
    if low[0] > _FAR * reach:
        return None
    tilt = (low[1:] - low[0]) / _STEP * towards
    normal = uphill - tilt @ basis[1:]
    return np.asarray(normal / np.linalg.norm(normal))
