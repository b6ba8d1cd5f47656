"""Tracked: points whose posterior is kept current, as Python sees them. mfopt_core._tracker has what is computed."""

cimport cython
cimport numpy as cnp

from mfopt_core._arrays cimport as_points, data, new_vector
from mfopt_core._gp cimport GP
from mfopt_core._memory cimport Scratch
from mfopt_core._tracker cimport Desks, Tracker

import numpy as np

cnp.import_array()


@cython.final
cdef class Tracked:
    """Points x (N, d) whose posterior under `gp` is kept current. Made by gp.track(x).

    lazy=True stores nothing for a point until argmax_ucb has to look at it: for large sets of which few points matter.
    """

    def __cinit__(self, GP gp not None, x, bint lazy=False):
        cdef cnp.ndarray points = as_points(x, gp.process.d(), "x")
        cdef Py_ssize_t q = cnp.PyArray_DIM(points, 0), d = cnp.PyArray_DIM(points, 1)
        if q == 0:
            raise ValueError("x must hold at least one point to track, got none")
        self.gp = gp
        self.count = q
        self.tracker = Tracker.__new__(Tracker)
        self.tracker.open(gp, q, d, new_vector(0))
        gp.bind(d)
        with gp.lock:
            self.tracker.append(q, data(points), not lazy)

    def __len__(self):
        return self.count

    @property
    def mean(self):
        """Posterior mean at every point, (N,)."""
        return self._compute()[0]

    @property
    def var(self):
        """Posterior variance at every point, (N,)."""
        return self._compute()[1]

    def _compute(self):
        """Mean and variance at every point, after making all of them current."""
        cdef Scratch scratch = Scratch.__new__(Scratch)
        cdef Tracker tracker = self.tracker
        cdef cnp.ndarray mean = new_vector(self.count), var = new_vector(self.count)
        cdef double *mu = data(mean)
        cdef double *sigma2 = data(var)
        cdef Desks desks
        cdef Py_ssize_t j
        with self.gp.lock:
            tracker.sync()
            tracker.open_desks(&desks, tracker.count, scratch)
            with nogil:
                tracker.refresh_some(tracker.count, NULL, &desks)
                for j in range(tracker.count):
                    mu[j] = tracker.process.mean_of(tracker.columns.dot[j])
                    sigma2[j] = tracker.process.variance_of(tracker.columns.square[j])
        return mean, var

    @property
    def fresh(self):
        """How many points contain every row of the GP already (the others are lazily stale)."""
        cdef Py_ssize_t j, count = 0
        with self.gp.lock:
            self.tracker.sync()
            for j in range(self.count):
                count += self.tracker.columns.summed[j] == self.tracker.process.n()
        return count

    cdef bint is_parallel(self, Tracked other) except -1:
        """Whether both can stand for fidelities of one search: over the same points, or over as many of one GP."""
        cdef Tracker own = self.tracker, others = other.tracker
        cdef Py_ssize_t i
        if self.count != other.count or self.gp is other.gp:
            return self.count == other.count
        if own.dims != others.dims:
            return False
        for i in range(self.count * own.dims):
            if own.points[i] != others.points[i]:
                return False
        return True

    def __reduce__(self):
        with self.gp.lock:
            return _retracked, (self.gp, *self.tracker.copy_columns())


def _retracked(gp, points, stored, summed, dot, square, v):
    """The Tracked that was pickled, from its GP and its columns."""
    cdef Tracked tracked = Tracked(gp, np.array(points), True)
    with tracked.gp.lock:
        tracked.tracker.restore((stored, summed, dot, square, v))
    return tracked
