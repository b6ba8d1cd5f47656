cimport cython
cimport numpy as cnp

from mfopt_core._correlation cimport Correlation

cdef struct Shape:  # g, and the length-scales
    int kind
    double order  # ν of the general Matérn
    Py_ssize_t d
    double *w  # 1 / ℓ_c, (d,)


cdef void shape_row(
    const Shape *shape, Py_ssize_t n, const double *soa, Py_ssize_t ld, const double *z, double *out
) noexcept nogil
cdef void shape_slope(
    const Shape *shape, Py_ssize_t n, const double *soa, Py_ssize_t ld, const double *z, double *out
) noexcept nogil


@cython.final
cdef class Kernel(Correlation):
    cdef readonly str name
    cdef readonly object lengthscale  # ℓ: a float when isotropic, otherwise a read-only array (d,)
    cdef Shape shape

    cdef double distance_beyond(self, Py_ssize_t dims, const double *x, const double *tail) noexcept nogil
    cdef cnp.ndarray _blocks(self, x, z, bint slopes)
