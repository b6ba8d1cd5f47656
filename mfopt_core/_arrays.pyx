"""Arrays at the border between Python and C: what comes in is checked once, here, and never modified.

Accepted: anything that NumPy turns into real numbers (float32, integers, read-only, non-contiguous, lists). Inside,
everything is float64 and C-contiguous; an input that already is one is used in place, without a copy.
"""

cimport numpy as cnp

from mfopt_core._rows cimport mf_all_finite

import numpy as np

cnp.import_array()


cdef cnp.ndarray new_vector(Py_ssize_t n):
    cdef cnp.npy_intp shape = n
    return cnp.PyArray_EMPTY(1, &shape, cnp.NPY_DOUBLE, 0)


cdef cnp.ndarray new_matrix(Py_ssize_t n, Py_ssize_t m):
    cdef cnp.npy_intp[2] shape
    shape[0] = n
    shape[1] = m
    return cnp.PyArray_EMPTY(2, shape, cnp.NPY_DOUBLE, 0)


cdef cnp.ndarray _as_double(object x, str what):
    """x as an aligned, C-contiguous float64 array in native byte order; x itself when it is one."""
    if cnp.PyArray_CheckExact(x) and cnp.PyArray_TYPE(x) == cnp.NPY_DOUBLE and cnp.PyArray_ISCARRAY_RO(x):
        return x
    given = np.asarray(x)
    if given.dtype.kind not in "fiub":
        raise ValueError(f"{what} must be real numbers, got an array of dtype {given.dtype}")
    return np.require(given, np.float64, "CA")


cdef int _check_finite(cnp.ndarray a, str what) except -1:
    if not mf_all_finite(cnp.PyArray_SIZE(a), data(a)):
        bad = tuple(int(i) for i in np.argwhere(~np.isfinite(a))[0])
        raise ValueError(f"{what} must be finite, got {a[bad]} at index {bad}")
    return 0


cdef cnp.ndarray as_points(object x, Py_ssize_t d, str what):
    """x as a finite (q, d) array; d = 0 admits any positive number of columns."""
    cdef cnp.ndarray a = _as_double(x, what)
    if cnp.PyArray_NDIM(a) != 2 or cnp.PyArray_DIM(a, 1) < 1 or (d > 0 and cnp.PyArray_DIM(a, 1) != d):
        raise ValueError(
            f"{what} must have shape (q, {d if d else 'd'}): q points, one per row, in {d if d else 'd >= 1'} "
            f"dimensions; got shape {np.shape(x)}"
        )
    _check_finite(a, what)
    return a


cdef cnp.ndarray as_vector(object x, Py_ssize_t n, str what):
    """x as a finite (n,) array; n = -1 admits any length."""
    cdef cnp.ndarray a = _as_double(x, what)
    if cnp.PyArray_NDIM(a) != 1 or (n >= 0 and cnp.PyArray_DIM(a, 0) != n):
        raise ValueError(f"{what} must have shape ({n if n >= 0 else 'n'},), got shape {np.shape(x)}")
    _check_finite(a, what)
    return a


cdef double as_number(object value, str what) except? -1.0:
    cdef double x
    if type(value) is float:
        x = value
    else:
        given = np.asarray(value)
        if given.ndim != 0 or given.dtype.kind not in "fiu":
            raise ValueError(f"{what} must be one real number, got {value!r}")
        x = float(given)
    if not mf_all_finite(1, &x):
        raise ValueError(f"{what} must be finite, got {x}")
    return x


cdef void to_soa(Py_ssize_t n, Py_ssize_t d, const double *x, double *soa, Py_ssize_t ld) noexcept nogil:
    """Rows of points (n, d) to one contiguous array per coordinate: soa[c * ld + j] = x[j, c]."""
    cdef Py_ssize_t j, c
    for j in range(n):
        for c in range(d):
            soa[c * ld + j] = x[j * d + c]
