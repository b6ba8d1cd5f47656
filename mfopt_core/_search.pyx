"""Whole searches for the maximum of a function over the unit cube, without a return to Python for every batch.

    divide         DIRECT (mfopt_core._direct) with a budget
    choose_apart   the best of many points that are not close to each other
    find_distinct  many points, each once
    ascend         ascents from there (mfopt_core._ascent)

The function is a Bound (mfopt_core._bound), whose values and gradients are then computed in the core, or any callable
over points (q, d), one per row.
"""

cimport numpy as cnp
from libc.math cimport fabs

from mfopt_core._arrays cimport as_integer, as_number, as_points, as_reals, data, new_matrix, new_vector
from mfopt_core._ascent cimport Ascent
from mfopt_core._bound cimport Bound
from mfopt_core._slots cimport Slots

import numpy as np

from mfopt_core._direct import Direct

cnp.import_array()

cdef enum:
    MOST = 10_000_000  # centres
    AGAIN = 3  # an ascent that is the best but stuck is taken up again, with nothing remembered, at most so often

cdef double SETTLED = 1e-8  # of the spread: and only while that gains more


def divide(function, d, budget):
    """Centres of DIRECT's rectangles (n, d) and the values there (n,): whole rounds of at most `budget` in all.

    The function is a Bound, which remembers the centres, or gives values (q,) of points (q, d): −inf where a point is
    infeasible.
    """
    cdef Py_ssize_t most = as_integer(budget, "budget")
    cdef cnp.ndarray centres, values
    if not 1 <= most <= MOST:
        raise ValueError(f"budget must be at least 1 and at most {MOST}, got {most}")
    search = Direct(d)
    while len(search) <= most:
        centres = search.centres()
        if len(centres) == 0:
            break
        if type(function) is Bound:
            (<Bound>function)._check(centres)
            values = new_vector(centres.shape[0])
            (<Bound>function).recall(centres, data(values))
            search.tell(values)
        else:
            search.tell(function(centres))
    return search.seen()


def choose_apart(points, values, count, closer):
    """Rows of the best of `points` (n, d) by their values (n,), at most `count` ≥ 1, none close to a better one.

    Points are close that differ by at most `closer` in every coordinate.
    """
    cdef cnp.ndarray x = as_points(points, 0, "points")
    cdef Py_ssize_t n = cnp.PyArray_DIM(x, 0), d = cnp.PyArray_DIM(x, 1), most = as_integer(count, "count"), i
    cdef double reach = as_number(closer, "closer")
    cdef cnp.ndarray y = as_reals(values, "values"), order
    cdef list chosen = []
    if most < 1:
        raise ValueError(f"count must be at least 1, got {most}")
    if np.shape(y) != (n,):
        raise ValueError(f"values must have shape ({n},), one per point, got shape {np.shape(y)}")
    order = np.argsort(-y, kind="stable")
    for row in order:
        i = row
        for other in chosen:
            if is_close(d, data(x) + i * d, data(x) + <Py_ssize_t>other * d, reach):
                break
        else:
            chosen.append(i)
            if len(chosen) == most:
                break
    return np.array(chosen, dtype=np.intp)


cdef bint is_close(Py_ssize_t d, const double *a, const double *b, double reach) noexcept nogil:
    """Whether a and b differ by at most `reach` in every coordinate."""
    cdef Py_ssize_t c
    for c in range(d):
        if fabs(a[c] - b[c]) > reach:
            return False
    return True


def find_distinct(points):
    """Rows of `points` (n, d), in their order: each that is not equal to an earlier one."""
    cdef cnp.ndarray x = as_points(points, 0, "points")
    cdef Py_ssize_t n = cnp.PyArray_DIM(x, 0), d = cnp.PyArray_DIM(x, 1), i, count = 0
    cdef cnp.ndarray rows = np.empty(n, dtype=np.intp)
    cdef Slots slots = Slots.__new__(Slots)
    slots.open(n, d)
    for i in range(n):
        if slots.find(data(x), data(x) + i * d) < 0:
            slots.enter(i, data(x) + i * d)
            (<Py_ssize_t *>cnp.PyArray_DATA(rows))[count] = i
            count += 1
    return rows[:count]


def ascend(function, starts, spread, free=None, rounds=40, bint again=True):
    """Where ascents from `starts` (k, d) end, (k, d), and the values there, (k,).

    The function is a Bound, or gives the values (M, q) and gradients (M, q, d) of its pieces at points (q, d): −inf
    where a point is infeasible. `free` (k, d) marks the coordinates that each ascent may move; None: all. A start that
    may not move at all is a rival of the others. A coordinate in which all slopes are 0 stays as it is. There are at
    most `rounds` evaluations. Ascents that cannot be expected to become the best are given up. `again`: if the best has
    not settled, it is taken up from there.
    """
    cdef Py_ssize_t most = as_integer(rounds, "rounds"), best, _
    cdef double least = SETTLED * as_number(spread, "spread")
    if most < 1:
        raise ValueError(f"rounds must be at least 1, got {most}")
    if free is not None:  # looked at twice
        free = np.array(free)
    ends, heights, settled = climb(function, starts, spread, free, most)
    best = np.argmax(heights)
    for _ in range(AGAIN if again else 0):
        if settled[best]:
            break
        end, height, still = climb(
            function, ends[best:best + 1], spread, None if free is None else free[best:best + 1], most
        )
        if height[0] - heights[best] <= least:
            break
        ends[best], heights[best], settled[best] = end[0], height[0], still[0]
    return ends, heights


cdef tuple climb(object function, object starts, object spread, object free, Py_ssize_t rounds):
    """Where the ascents from `starts` end, the values there, and whether no step from there promised a gain."""
    cdef Ascent ascent = Ascent(starts, spread, free)
    cdef cnp.ndarray points, h, g
    cdef Py_ssize_t _, levels
    for _ in range(rounds):
        points = ascent.points()
        if len(points) == 0:
            break
        if type(function) is Bound:
            levels = len((<Bound>function).levels)
            (<Bound>function)._check(points)
            h = heights = new_matrix(levels, points.shape[0])
            g = slopes = np.empty((levels, points.shape[0], points.shape[1]))
            (<Bound>function).measure(points, data(h), data(g))
        else:
            heights, slopes = function(points)
        ascent.tell(heights, slopes)
    return ascent.result()
