cimport cython


@cython.final
cdef class Data:
    cdef Py_ssize_t d  # number of coordinates, from the first reserve on
    cdef Py_ssize_t room  # rows that fit into the arrays below, a multiple of BLOCK
    cdef Py_ssize_t blocks  # blocks of `soa` that own memory
    cdef double *points  # X, (n, d)
    cdef double **soa  # soa[b]: rows b·BLOCK .. of X again, as d arrays of BLOCK
    cdef double *values  # y, (n,)
    cdef double *etas  # the rows' noise / scale, (n,)

    cdef int reserve(self, Py_ssize_t n, Py_ssize_t d) except -1
    cdef void write(self, Py_ssize_t i, const double *x, double value, double eta) noexcept nogil

    cdef inline const double *point(self, Py_ssize_t i) noexcept nogil:
        """x_i, (d,)."""
        return self.points + i * self.d
