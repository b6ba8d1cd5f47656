# Arrays at the border between Python and C.

cimport numpy as cnp

cdef cnp.ndarray as_reals(object x, str what)
cdef cnp.ndarray as_points(object x, Py_ssize_t d, str what)
cdef cnp.ndarray as_matrix(object x, Py_ssize_t n, Py_ssize_t m, str what)
cdef cnp.ndarray as_vector(object x, Py_ssize_t n, str what)
cdef cnp.ndarray as_mask(object x, Py_ssize_t n, str what)
cdef cnp.ndarray copy_mask(object x, Py_ssize_t n, Py_ssize_t d, str what)
cdef cnp.ndarray copy_vector(object x, Py_ssize_t n, str what)
cdef cnp.ndarray copy_indices(object x, str what)
cdef cnp.ndarray copy_sizes(object sizes, Py_ssize_t q)
cdef object keep_still(object value)
cdef Py_ssize_t as_integer(object value, str what) except? -1
cdef double as_number(object value, str what) except? -1.0
cdef void copy(Py_ssize_t count, const double *source, cnp.ndarray target) noexcept
cdef cnp.ndarray new_vector(Py_ssize_t n)
cdef cnp.ndarray new_matrix(Py_ssize_t n, Py_ssize_t m)
cdef void to_soa(Py_ssize_t n, Py_ssize_t d, const double *x, double *soa, Py_ssize_t ld) noexcept nogil


cdef inline double *data(cnp.ndarray a) noexcept nogil:
    """The numbers of a C-contiguous float64 array."""
    return <double *>cnp.PyArray_DATA(a)
