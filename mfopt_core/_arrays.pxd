# Arrays at the border between Python and C.

cimport numpy as cnp

cdef cnp.ndarray as_points(object x, Py_ssize_t d, str what)
cdef cnp.ndarray as_vector(object x, Py_ssize_t n, str what)
cdef double as_number(object value, str what) except? -1.0
cdef cnp.ndarray new_vector(Py_ssize_t n)
cdef cnp.ndarray new_matrix(Py_ssize_t n, Py_ssize_t m)
cdef double *data(cnp.ndarray a) noexcept
cdef void to_soa(Py_ssize_t n, Py_ssize_t d, const double *x, double *soa, Py_ssize_t ld) noexcept nogil
cdef void *larger(void *array, size_t size) except NULL
