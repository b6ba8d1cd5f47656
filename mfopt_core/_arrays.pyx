"""Arrays at the border between Python and C: what comes in is checked once, here, and never modified.

Accepted: anything that NumPy turns into real numbers (float32, integers, read-only, non-contiguous, lists). Inside,
everything is float64 and C-contiguous; an input that already is one is used in place, without a copy.

An array that is used in place still belongs to the caller: other threads, and Python code that runs while another
argument is converted, may write to it or set its shape. A reference keeps its memory. The rest is a rule for callers:
read the shape at once after the check, before anything that can run Python or wait for a lock, and let nothing but
results depend on the numbers. Where more depends on them (indices, or a factorisation that would not end with NaN),
check the copy and not what was given.
"""

cimport numpy as cnp
from libc.string cimport memcpy

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


cdef cnp.ndarray as_reals(object x, str what):
    """x as an aligned, C-contiguous float64 array in native byte order; x itself when it is one."""
    if cnp.PyArray_CheckExact(x) and cnp.PyArray_TYPE(x) == cnp.NPY_DOUBLE and cnp.PyArray_ISCARRAY_RO(x):
        return x
    given = np.asarray(x)
    if given.dtype.kind not in "fiub":
        raise ValueError(f"{what} must be real numbers, got an array of dtype {given.dtype}")
    return np.require(given, np.float64, "CA")


cdef int _check_finite(cnp.ndarray a, str what) except -1:
    cdef Py_ssize_t i, size = cnp.PyArray_SIZE(a)
    cdef double number
    if mf_all_finite(size, data(a)):
        return 0
    for i in range(size):
        number = data(a)[i]
        if not mf_all_finite(1, &number):
            place = tuple(int(k) for k in np.unravel_index(i, np.shape(a)))
            raise ValueError(f"{what} must be finite, got {number} at index {place}")
    raise ValueError(f"{what} must be finite, got other numbers, overwritten since")


cdef cnp.ndarray as_points(object x, Py_ssize_t d, str what):
    """x as a finite (q, d) array; d = 0 admits any positive number of columns."""
    cdef cnp.ndarray a = as_reals(x, what)
    if cnp.PyArray_NDIM(a) != 2 or cnp.PyArray_DIM(a, 1) < 1 or (d > 0 and cnp.PyArray_DIM(a, 1) != d):
        raise ValueError(
            f"{what} must have shape (q, {d if d else 'd'}): q points, one per row, in {d if d else 'd >= 1'} "
            f"dimensions; got shape {np.shape(x)}"
        )
    _check_finite(a, what)
    return a


cdef cnp.ndarray as_matrix(object x, Py_ssize_t n, Py_ssize_t m, str what):
    """x as a finite (n, m) array."""
    cdef cnp.ndarray a = as_reals(x, what)
    if cnp.PyArray_NDIM(a) != 2 or cnp.PyArray_DIM(a, 0) != n or cnp.PyArray_DIM(a, 1) != m:
        raise ValueError(f"{what} must have shape ({n}, {m}), got shape {np.shape(x)}")
    _check_finite(a, what)
    return a


cdef int _check_vector(cnp.ndarray a, Py_ssize_t n, str what) except -1:
    if cnp.PyArray_NDIM(a) != 1 or (n >= 0 and cnp.PyArray_DIM(a, 0) != n):
        raise ValueError(f"{what} must have shape ({n if n >= 0 else 'n'},), got shape {np.shape(a)}")
    return _check_finite(a, what)


cdef cnp.ndarray as_vector(object x, Py_ssize_t n, str what):
    """x as a finite (n,) array; n = -1 admits any length."""
    cdef cnp.ndarray a = as_reals(x, what)
    _check_vector(a, n, what)
    return a


cdef cnp.ndarray copy_vector(object x, Py_ssize_t n, str what):
    """x as a finite (n,) array that nobody else writes to; n = -1 admits any length."""
    cdef cnp.ndarray a = as_reals(x, what).copy()
    _check_vector(a, n, what)
    return a


cdef cnp.ndarray as_mask(object x, Py_ssize_t n, str what):
    """x as a C-contiguous (n,) array of booleans; x itself when it is one."""
    cdef cnp.ndarray a
    given = np.asarray(x)
    if given.dtype.kind not in "biuf":
        raise ValueError(f"{what} must be booleans, got an array of dtype {given.dtype}")
    a = np.ascontiguousarray(given, dtype=bool)
    if given.ndim != 1 or cnp.PyArray_DIM(a, 0) != n:
        raise ValueError(f"{what} must be a mask of shape ({n},), got shape {given.shape}")
    return a


cdef cnp.ndarray copy_mask(object x, Py_ssize_t n, Py_ssize_t d, str what):
    """x as an (n, d) array of booleans that nobody else writes to."""
    given = np.asarray(x)
    if given.dtype.kind != "b":
        raise ValueError(f"{what} must be booleans, got an array of dtype {given.dtype}")
    a = np.array(given, dtype=bool, order="C")
    if np.shape(a) != (n, d):
        raise ValueError(f"{what} must have shape ({n}, {d}), got shape {np.shape(a)}")
    return a


cdef cnp.ndarray copy_indices(object x, str what):
    """x as a (q,) array of Py_ssize_t that nobody else writes to. Their range is the caller's to check."""
    given = np.asarray(x)
    if given.dtype.kind not in "iu" and given.shape != (0,):  # NumPy takes an empty list for real numbers
        raise ValueError(f"{what} must be integers, got an array of dtype {given.dtype}")
    if given.ndim != 1:
        raise ValueError(f"{what} must have shape (q,), got shape {given.shape}")
    return np.array(given, dtype=np.intp, order="C")  # what is beyond intp becomes negative


cdef cnp.ndarray copy_sizes(object sizes, Py_ssize_t q):
    """The sizes of groups of q rows as such an array."""
    cdef cnp.ndarray groups = copy_indices(sizes, "sizes")
    cdef const Py_ssize_t *size = <const Py_ssize_t *>cnp.PyArray_DATA(groups)
    cdef Py_ssize_t k, left = q
    for k in range(cnp.PyArray_DIM(groups, 0)):
        left = left - size[k] if 0 < size[k] <= left else -1
    if left != 0:
        raise ValueError(f"sizes must be positive and add up to the {q} rows of x, got {groups.tolist()}")
    return groups


cdef object keep_still(object value):
    """What an error is to show of `value`: a copy of an array, which a thread may reshape while it is being printed."""
    return np.array(value) if isinstance(value, np.ndarray) else value


cdef Py_ssize_t as_integer(object value, str what) except? -1:
    """value as an integer; a TypeError when it is none."""
    try:
        return value
    except OverflowError:
        raise ValueError(f"{what} must be an integer of 64 bits, got {value!r}") from None


cdef double as_number(object value, str what) except? -1.0:
    cdef double x
    if type(value) is float:
        x = value
    else:
        given = np.asarray(value)
        if given.ndim != 0 or given.dtype.kind not in "fiu":
            raise ValueError(f"{what} must be one real number, got {keep_still(value)!r}")
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


cdef void copy(Py_ssize_t count, const double *source, cnp.ndarray target) noexcept:
    """Copy so many numbers into an array, from memory that may not be there where there are none."""
    if count > 0:  # memcpy must not see null pointers
        memcpy(data(target), source, count * sizeof(double))
