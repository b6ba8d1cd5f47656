cimport cython
cimport numpy as cnp
from libc.stdint cimport uint64_t

from mfopt_core._columns cimport Columns
from mfopt_core._crew cimport mf_task
from mfopt_core._gp cimport GP
from mfopt_core._memory cimport Scratch
from mfopt_core._process cimport Process


cdef struct Desks:  # memory of as many workers as make points current at once
    int workers
    Py_ssize_t chunk  # points of one solve
    Py_ssize_t width  # n + d
    double *v  # blocks · chunk · BLOCK numbers each: columns whose sums alone are wanted
    double **pieces  # of these, by block
    double *column  # n + d: a column, then a point with its tail
    Py_ssize_t *listed  # the points, of all workers


cdef struct Round:  # the listed points, which are to be made current
    void *tracker
    Desks *desks
    Py_ssize_t old  # how many of them have some rows, which stand first
    Py_ssize_t new  # and how many have none


@cython.final
cdef class Tracker:
    cdef GP gp
    cdef Process process  # that of the GP
    cdef Py_ssize_t count  # number of points
    cdef Py_ssize_t capacity  # how many there may be
    cdef Py_ssize_t dims  # coordinates of a point
    cdef double *points  # (capacity, dims)
    cdef double *whole  # one point with the tail behind it, (d,)
    cdef Columns columns  # of V, and their sums
    cdef uint64_t *ids  # ids of the GP's rows when last synchronised
    cdef Py_ssize_t synced  # how many
    cdef double *suffix  # suffix[i] = Σ_{p ≥ i} z_p², i = 0 .. n
    cdef double *buffer  # n + d numbers: a column, then a point with its tail

    # Whoever calls these holds the lock of the GP.
    cdef int open(self, GP gp, Py_ssize_t capacity, Py_ssize_t dims, cnp.ndarray tail) except -1
    cdef int append(self, Py_ssize_t q, const double *x, bint store) except -1
    cdef void put(self, Py_ssize_t j, const double *x) noexcept nogil
    cdef int sync(self) except -1
    cdef int open_desks(self, Desks *desks, Py_ssize_t q, Scratch scratch) except -1
    cdef void refresh(self, Py_ssize_t j) noexcept nogil
    cdef void refresh_at(self, Py_ssize_t j, double *column) noexcept nogil
    cdef void refresh_some(self, Py_ssize_t q, const Py_ssize_t *index, Desks *desks) noexcept nogil
    cdef double upper(self, Py_ssize_t j, double b, double factor, double shift) noexcept nogil
    cdef double lower(self, Py_ssize_t j, double factor, double shift) noexcept nogil
    cdef tuple copy_columns(self)
    cdef int restore(self, tuple columns) except -1

    cdef void _covary(
        self, Py_ssize_t j, Py_ssize_t first, double *column, double **v, Py_ssize_t k
    ) noexcept nogil
    cdef void _share_out(self, Py_ssize_t tasks, mf_task task, Round *these) noexcept nogil
    cdef void solve_new(self, Py_ssize_t q, const Py_ssize_t *index, double *column) noexcept nogil
    cdef void sum_new(
        self, Py_ssize_t q, const Py_ssize_t *index, double *column, double *v, double **pieces
    ) noexcept nogil
    cdef void _solve(self, Py_ssize_t first, bint store, Desks *desks) noexcept nogil
