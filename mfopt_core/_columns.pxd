cimport cython

from mfopt_core._cholesky cimport BLOCK


cdef void sum_up(
    Py_ssize_t first, Py_ssize_t end, double **v, Py_ssize_t j, const double *z, double *dot, double *square
) noexcept nogil


@cython.final
cdef class Columns:
    cdef Py_ssize_t capacity  # columns that there may be
    cdef Py_ssize_t chunks  # chunks of V that own memory
    cdef double **v  # v[c][j·BLOCK + i]: row c·BLOCK + i of column j
    cdef Py_ssize_t *stored  # rows of V that are stored for column j
    cdef Py_ssize_t *summed  # rows that the sums of column j contain; more than stored where only sums were wanted
    cdef double *dot  # Σ v_i z_i
    cdef double *square  # Σ v_i²

    cdef int reserve(self, Py_ssize_t n) except -1
    cdef void clear(self, Py_ssize_t first, Py_ssize_t end) noexcept nogil
    cdef void add_rows(self, Py_ssize_t j, Py_ssize_t first, Py_ssize_t end, const double *z) noexcept nogil
    cdef void forget(self, Py_ssize_t count, Py_ssize_t kept, const double *z) noexcept nogil

    cdef inline void put(self, Py_ssize_t i, Py_ssize_t j, double value) noexcept nogil:
        """Make `value` row i of column j."""
        self.v[i // BLOCK][j * BLOCK + i % BLOCK] = value
