cimport cython
cimport numpy as cnp


@cython.final
cdef class Kernel:
    cdef readonly str name
    cdef readonly double scale
    cdef readonly bint isotropic
    cdef readonly object lengthscale  # ℓ: a float when isotropic, otherwise a read-only array (d,)
    cdef readonly Py_ssize_t d  # 0: isotropic, and no point seen yet
    cdef int kind
    cdef double order  # ν of the general Matérn
    cdef double *w  # 1 / ℓ_c, (d,)

    cdef int bind(self, Py_ssize_t d) except -1
    cdef void row(self, Py_ssize_t n, const double *soa, Py_ssize_t ld, const double *z, double *out) noexcept nogil
    cdef void distances(
        self, Py_ssize_t dims, Py_ssize_t n, const double *soa, Py_ssize_t ld, const double *z, double *out
    ) noexcept nogil
    cdef double distance_beyond(self, Py_ssize_t dims, const double *x, const double *tail) noexcept nogil
    cdef void slope(self, Py_ssize_t n, const double *soa, Py_ssize_t ld, const double *z, double *out) noexcept nogil
    cdef void profile(self, Py_ssize_t n, double *values) noexcept nogil
    cdef cnp.ndarray _blocks(self, x, z, bint slopes)
