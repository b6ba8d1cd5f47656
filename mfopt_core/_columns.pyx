"""Columns of V = L⁻¹ r at fixed points, with the sums vᵀz and vᵀv that give the posterior there.

With the notation of mfopt_core._process; column j belongs to point j of those that a Tracked keeps.

Memory. V is kept in chunks of BLOCK rows, one allocation each, point by point inside: v[c][j·BLOCK + i]. A point's
column is contiguous in pieces that line up with the block rows of L, growing copies nothing, and memory of points that
were never looked at is never touched.
"""

cimport cython

from mfopt_core._cholesky cimport BLOCK, count_blocks
from mfopt_core._memory cimport allocate, release, resize
from mfopt_core._rows cimport mf_check


cdef void sum_up(
    Py_ssize_t first, Py_ssize_t end, double **v, Py_ssize_t j, const double *z, double *dot, double *square
) noexcept nogil:
    """Add rows first .. end − 1 of column j of v to its sums.

    Always one by one and in order, so that the sums have the same bits whichever way they came about.
    """
    cdef double entry
    cdef Py_ssize_t i
    for i in range(first, end):
        entry = v[i // BLOCK][j * BLOCK + i % BLOCK]
        dot[0] += entry * z[i]
        square[0] += entry * entry


@cython.final
cdef class Columns:
    """Up to `capacity` columns. A C-level object: errors of use are the caller's."""

    def __cinit__(self, Py_ssize_t capacity):
        self.capacity = capacity
        self.stored = <Py_ssize_t *>allocate(capacity, sizeof(Py_ssize_t))
        self.summed = <Py_ssize_t *>allocate(capacity, sizeof(Py_ssize_t))
        self.dot = <double *>allocate(capacity, sizeof(double))
        self.square = <double *>allocate(capacity, sizeof(double))

    def __dealloc__(self):
        cdef Py_ssize_t c
        for c in range(self.chunks):
            release(self.v[c])
        release(self.v)
        release(self.stored)
        release(self.summed)
        release(self.dot)
        release(self.square)

    cdef int reserve(self, Py_ssize_t n) except -1:
        """Memory for n rows; after a MemoryError all columns are as they were."""
        cdef Py_ssize_t chunks = count_blocks(n)
        if chunks > self.chunks:
            self.v = <double **>resize(self.v, chunks, sizeof(double *))
        while self.chunks < chunks:
            self.v[self.chunks] = <double *>allocate(self.capacity * BLOCK, sizeof(double))
            self.chunks += 1
        return 0

    cdef void clear(self, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
        """Let columns first .. end − 1 have no rows."""
        cdef Py_ssize_t j
        mf_check(0 <= first and end <= self.capacity)
        for j in range(first, end):
            self.stored[j] = self.summed[j] = 0
            self.dot[j] = self.square[j] = 0.0

    cdef void add_rows(self, Py_ssize_t j, Py_ssize_t first, Py_ssize_t end, const double *z) noexcept nogil:
        """Add rows first .. end − 1 of column j, stored up to there, to its sums, which start anew at first = 0."""
        cdef double dot = self.dot[j] if first else 0.0, square = self.square[j] if first else 0.0
        mf_check(0 <= j and j < self.capacity and end <= self.chunks * BLOCK)
        sum_up(first, end, self.v, j, z, &dot, &square)
        self.dot[j] = dot
        self.square[j] = square
        self.stored[j] = self.summed[j] = end

    cdef void forget(self, Py_ssize_t count, Py_ssize_t kept, const double *z) noexcept nogil:
        """Drop all rows but the first `kept` of columns 0 .. count − 1."""
        cdef Py_ssize_t j
        for j in range(count):
            if self.stored[j] > kept:
                self.stored[j] = kept
            if self.summed[j] > kept:
                self.add_rows(j, 0, self.stored[j], z)
