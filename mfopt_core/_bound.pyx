"""Bound: the multi-fidelity upper confidence bound of the paper, eq. (mfgpucbDefn), over levels, as searches want it:

    φ_m(x) = factor_m μ_m(x) + shift_m + β^½ |factor_m| σ_m(x) + ζ_m,    φ(x) = min_m φ_m(x)

with μ_m and σ_m the posterior of level m's GP at (x, tail_m); factor = 1 and shift = 0 make it the paper's.
Neighbouring levels of one GP are computed together: one pass over L for all of them (mfopt_core._posterior).

Layout. φ_m at q points is (M, q), its gradients are (M, q, dims).
"""

cimport cython
cimport numpy as cnp
from libc.math cimport INFINITY, fabs, sqrt

from mfopt_core._argmax cimport find_argmax
from mfopt_core._arrays cimport as_mask, as_number, as_points, as_vector, data, keep_still, new_matrix, new_vector
from mfopt_core._gp cimport GP
from mfopt_core._level cimport Level
from mfopt_core._locks cimport lock_all, unlock_all
from mfopt_core._memory cimport Scratch
from mfopt_core._posterior cimport Moments, Where, compute_posterior
from mfopt_core._tracker cimport Desks

import numpy as np

cnp.import_array()


@cython.final
cdef class Bound:
    """φ over these levels, at least one, with one ζ each; `beta` is β, whose square root multiplies σ."""

    def __cinit__(self, levels, beta, zetas):
        self.levels = tuple(levels)
        if not self.levels or not all(type(level) is Level for level in self.levels):
            raise ValueError(f"one Level per fidelity is needed, at least one, got {self.levels!r}")
        self.beta = as_number(beta, "beta")
        if self.beta < 0.0:
            raise ValueError(f"beta must not be negative, got {keep_still(beta)!r}")
        self.b = sqrt(self.beta)
        self.factors = np.array([level.factor for level in self.levels])
        self.shifts = as_vector(zetas, len(self.levels), "zetas") + np.array([level.shift for level in self.levels])

    @property
    def rows(self):
        """Rows of the largest GP: what an evaluation costs."""
        return max(level.gp.n for level in self.levels)

    # -- values and gradients --------------------------------------------------------------------------------

    def __call__(self, u):
        """φ at the rows of u, (q,)."""
        cdef cnp.ndarray points = self._check(u)
        cdef cnp.ndarray heights = new_matrix(len(self.levels), points.shape[0])
        self.measure(points, data(heights), NULL)
        return heights.min(axis=0)

    def gradient(self, u):
        """φ, (q,), and its gradient, (q, dims), at the rows of u; at a kink that of the lowest m."""
        values, slopes = self.pieces(u)
        lowest, rows = np.argmin(values, axis=0), np.arange(values.shape[1])
        return values[lowest, rows], slopes[lowest, rows]

    def pieces(self, u):
        """Every φ_m at the rows of u, (M, q), and their gradients, (M, q, dims)."""
        cdef cnp.ndarray points = self._check(u)
        cdef cnp.ndarray heights = new_matrix(len(self.levels), points.shape[0])
        cdef cnp.ndarray slopes = np.empty((len(self.levels), points.shape[0], points.shape[1]))
        self.measure(points, data(heights), data(slopes))
        return heights, slopes

    cdef cnp.ndarray _check(self, object x):
        """x as points of every level, in an array whose shape no other thread can set."""
        cdef cnp.ndarray points = as_points(x, 0, "u").view()
        for level in self.levels:
            (<Level>level).check_dims(points.shape[1])
        return points

    cdef int measure(self, cnp.ndarray x, double *heights, double *slopes) except -1:
        """φ_m at the rows of x, (M, q), and unless `slopes` is NULL its gradients, (M, q, dims)."""
        cdef Py_ssize_t q = cnp.PyArray_DIM(x, 0), dims = cnp.PyArray_DIM(x, 1), first = 0, end
        while first < len(self.levels):
            end = first + 1
            while end < len(self.levels) and self.levels[end].gp is self.levels[first].gp:
                end += 1
            self._measure_levels(
                first, end - first, q, dims, data(x), heights + first * q,
                NULL if slopes == NULL else slopes + first * q * dims,
            )
            first = end
        return 0

    cdef int _measure_levels(
        self, Py_ssize_t first, Py_ssize_t count, Py_ssize_t q, Py_ssize_t dims, const double *x, double *heights,
        double *slopes
    ) except -1:
        """The same for `count` levels of one GP from the `first` on; their places in the results are given."""
        cdef Scratch scratch = Scratch.__new__(Scratch)
        cdef GP gp = self.levels[first].gp
        cdef cnp.ndarray tails = np.concatenate([(<Level>level).last for level in self.levels[first:first + count]])
        cdef Where where = Where(q, dims, x, count, data(tails))
        cdef double *var = scratch.numbers(count * q)
        cdef double *dvar = scratch.numbers(count * q * dims) if slopes != NULL else NULL
        cdef Moments moments = Moments(heights, var, slopes, dvar)
        cdef Py_ssize_t m, j, c, at
        cdef double sigma, factor, half
        with gp.lock:
            compute_posterior(gp.process, &where, &moments)
        for m in range(count):
            factor = data(self.factors)[first + m]
            for j in range(q):
                at = m * q + j
                sigma = sqrt(var[at])
                heights[at] = factor * heights[at] + fabs(factor) * self.b * sigma + data(self.shifts)[first + m]
                if slopes != NULL:  # σ has no gradient where it is 0: the mean's alone is used there
                    half = 0.5 * self.b * fabs(factor) / sigma if sigma > 0.0 else 0.0
                    for c in range(at * dims, (at + 1) * dims):
                        slopes[c] = factor * slopes[c] + half * dvar[c]
        return 0

    # -- points that come back -------------------------------------------------------------------------------

    def recurring(self, u):
        """φ at the rows of u, (q,), points that will come back: what is found out about them is kept."""
        cdef cnp.ndarray points = self._check(u)
        cdef cnp.ndarray phi = new_vector(points.shape[0])
        self.recall(points, data(phi))
        return phi

    cdef int recall(self, cnp.ndarray x, double *phi) except -1:
        """φ at the rows of x, (q,), which are kept."""
        cdef Py_ssize_t q = cnp.PyArray_DIM(x, 0), m, j
        for j in range(q):
            phi[j] = INFINITY
        for m in range(len(self.levels)):
            self._recall_level(m, q, cnp.PyArray_DIM(x, 1), data(x), phi)
        return 0

    cdef int _recall_level(self, Py_ssize_t m, Py_ssize_t q, Py_ssize_t dims, const double *x, double *phi) except -1:
        """phi ← min(phi, φ_m); points where φ_m cannot be below phi are not made current."""
        cdef Scratch scratch = Scratch.__new__(Scratch)
        cdef Level level = self.levels[m]
        cdef double factor = level.factor, shift = data(self.shifts)[m], value
        cdef Py_ssize_t j, slot, count = 0
        cdef Py_ssize_t *slots = scratch.indices(q)
        cdef Py_ssize_t *stale = scratch.indices(q)
        cdef double *work
        cdef Desks desks
        with level.gp.lock:
            if level.has_room(q):
                level.keep(q, dims, x, slots)
                level.kept.open_desks(&desks, q, scratch)
                with nogil:
                    for j in range(q):
                        if not level.kept.lower(slots[j], factor, shift) > phi[j]:
                            stale[count] = slots[j]
                            count += 1
                    level.kept.refresh_some(count, stale, &desks)
                    for j in range(q):
                        slot = slots[j]
                        if level.kept.columns.summed[slot] == level.gp.process.n():
                            value = level.kept.upper(slot, self.b, factor, shift)
                            phi[j] = value if value < phi[j] else phi[j]
                return 0
        work = scratch.numbers(q)
        self._measure_levels(m, 1, q, dims, x, work, NULL)
        for j in range(q):
            phi[j] = work[j] if work[j] < phi[j] else phi[j]
        return 0

    # -- finite sets -----------------------------------------------------------------------------------------

    def argmax(self, points, avoid=None):
        """The row of `points` (N, dims) with the largest φ, the first among equals, without those that `avoid` marks.

        Only rows that could be it are computed; the same points are known again at the next call.
        """
        cdef cnp.ndarray x = self._check(points), mask = None
        cdef Py_ssize_t q = cnp.PyArray_DIM(x, 0)
        cdef list ordered
        if q == 0:
            raise ValueError("there must be a point to choose, got none")
        if avoid is not None:
            mask = as_mask(avoid, q, "avoid")
        ordered = lock_all([level.gp for level in self.levels])
        try:
            for level in self.levels:
                (<Level>level).list_points(q, cnp.PyArray_DIM(x, 1), data(x))
            best, _ = find_argmax(
                [(<Level>level).listed for level in self.levels], self.b, data(self.factors), data(self.shifts), mask
            )
        finally:
            unlock_all(ordered)
        if best < 0:
            raise ValueError(f"avoid must leave at least one point, got a mask that covers all {q}")
        return best
