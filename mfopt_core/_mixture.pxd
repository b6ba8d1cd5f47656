cimport cython
cimport numpy as cnp

from mfopt_core._correlation cimport Correlation
from mfopt_core._kernels cimport Shape


@cython.final
cdef class Mixture(Correlation):
    cdef readonly tuple kernels
    cdef cnp.ndarray given  # the weights that it was made with
    cdef cnp.ndarray mix  # w, (levels, parts); nobody else has it
    cdef readonly Py_ssize_t levels
    cdef Py_ssize_t parts
    cdef Shape *shapes  # of the kernels, which own what these point to
    cdef double *w  # (levels, parts)

    cdef Py_ssize_t level_of(self, double coordinate) noexcept nogil
    cdef bint weigh(
        self, Py_ssize_t part, Py_ssize_t level, Py_ssize_t n, const double *levels, double *weights
    ) noexcept nogil
