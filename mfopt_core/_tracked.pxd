cimport cython
cimport numpy as cnp
from libc.stdint cimport uint64_t

from mfopt_core._columns cimport Columns
from mfopt_core._gp cimport GP
from mfopt_core._process cimport Process


@cython.final
cdef class Tracked:
    cdef readonly GP gp
    cdef Process process  # that of the GP
    cdef Py_ssize_t count  # number of points
    cdef readonly Py_ssize_t capacity  # how many there may be
    cdef cnp.ndarray points  # (capacity, d)
    cdef double *soa  # the points again, as d arrays of `capacity`
    cdef Columns columns  # of V, and their sums
    cdef uint64_t *ids  # ids of the GP's rows when last synchronised
    cdef Py_ssize_t synced  # how many
    cdef double *suffix  # suffix[i] = Σ_{p ≥ i} z_p², i = 0 .. n
    cdef double *buffer  # max(n, capacity) numbers

    # For argmax_ucb, which holds the locks of all GPs but for the first of these.
    cdef bint is_parallel(self, Tracked other) except -1
    cdef int sync(self) except -1
    cdef void refresh(self, Py_ssize_t j) noexcept nogil
    cdef double upper(self, Py_ssize_t j, double b, double zeta) noexcept nogil

    cdef Py_ssize_t _append(self, Py_ssize_t q, const double *x, bint store) except -1
    cdef void _refresh_all(self, double *work) noexcept nogil
    cdef tuple _copy_columns(self)
    cdef int _restore(
        self, cnp.ndarray stored, cnp.ndarray summed, cnp.ndarray dot, cnp.ndarray square, cnp.ndarray v
    ) except -1
    cdef void _add_row(self, Py_ssize_t i) noexcept nogil
    cdef void _solve(self, Py_ssize_t first, bint store, double *work) noexcept nogil
