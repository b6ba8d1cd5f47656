cimport cython
cimport numpy as cnp

from mfopt_core._level cimport Level


@cython.final
cdef class Bound:
    cdef readonly tuple levels
    cdef readonly double beta
    cdef double b  # β^½
    cdef cnp.ndarray shifts  # shift_m + ζ_m, (M,)
    cdef cnp.ndarray factors  # (M,)

    # For searches; x is C-contiguous and was checked.
    cdef int recall(self, cnp.ndarray x, double *phi) except -1
    cdef int measure(self, cnp.ndarray x, double *heights, double *slopes) except -1

    cdef cnp.ndarray _check(self, object x)
    cdef int _measure_levels(
        self, Py_ssize_t first, Py_ssize_t count, Py_ssize_t q, Py_ssize_t dims, const double *x, double *heights,
        double *slopes
    ) except -1
    cdef int _recall_level(self, Py_ssize_t m, Py_ssize_t q, Py_ssize_t dims, const double *x, double *phi) except -1
