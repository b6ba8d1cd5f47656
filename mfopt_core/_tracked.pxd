cimport cython

from mfopt_core._gp cimport GP
from mfopt_core._tracker cimport Tracker


@cython.final
cdef class Tracked:
    cdef readonly GP gp
    cdef Tracker tracker
    cdef Py_ssize_t count  # number of points; it does not change

    cdef bint is_parallel(self, Tracked other) except -1
