cimport cython
cimport numpy as cnp

from mfopt_core._gp cimport GP
from mfopt_core._slots cimport Slots
from mfopt_core._tracker cimport Tracker


@cython.final
cdef class Level:
    cdef readonly GP gp
    cdef readonly double factor, shift
    cdef cnp.ndarray last  # the tail; nobody else has it
    cdef Slots slots  # of `kept`
    cdef Tracker kept  # points that come back; None before the first
    cdef Tracker listed  # points of a finite set; None before the first

    # Whoever calls these holds the lock of the GP, but for the first.
    cdef int check_dims(self, Py_ssize_t dims) except -1
    cdef bint has_room(self, Py_ssize_t q) noexcept
    cdef int keep(self, Py_ssize_t q, Py_ssize_t dims, const double *x, Py_ssize_t *index) except -1
    cdef int list_points(self, Py_ssize_t q, Py_ssize_t dims, const double *x) except -1

    cdef int _open(self, Py_ssize_t dims) except -1
    cdef tuple _copy_kept(self)
    cdef int _restore(self, order, columns) except -1
