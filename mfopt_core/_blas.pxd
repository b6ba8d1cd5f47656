# Row-major faces of the BLAS and LAPACK routines that mfopt_core calls, each with its formula.
#
# A row-major (m, n) array with row length ld is, to Fortran, the transposed matrix with leading dimension ld.

from scipy.linalg.cython_blas cimport dgemm, dgemv, dsyrk, dtrsm
from scipy.linalg.cython_lapack cimport dpotri


cdef inline void gemm_nn(
    Py_ssize_t m, Py_ssize_t n, Py_ssize_t k, double *a, Py_ssize_t lda, double *b, Py_ssize_t ldb,
    double *c, Py_ssize_t ldc,
) noexcept nogil:
    """C -= A B, with A (m, k), B (k, n), C (m, n)."""
    cdef int im = <int>m, in_ = <int>n, ik = <int>k, ia = <int>lda, ib = <int>ldb, ic = <int>ldc
    cdef double minus = -1.0, one = 1.0
    if m > 0 and n > 0 and k > 0:
        dgemm(b"N", b"N", &in_, &im, &ik, &minus, b, &ib, a, &ia, &one, c, &ic)


cdef inline void gemm_nt(
    Py_ssize_t m, Py_ssize_t n, Py_ssize_t k, double *a, Py_ssize_t lda, double *b, Py_ssize_t ldb,
    double *c, Py_ssize_t ldc,
) noexcept nogil:
    """C -= A B', with A (m, k), B (n, k), C (m, n)."""
    cdef int im = <int>m, in_ = <int>n, ik = <int>k, ia = <int>lda, ib = <int>ldb, ic = <int>ldc
    cdef double minus = -1.0, one = 1.0
    if m > 0 and n > 0 and k > 0:
        dgemm(b"T", b"N", &in_, &im, &ik, &minus, b, &ib, a, &ia, &one, c, &ic)


cdef inline void gemm_tn(
    Py_ssize_t m, Py_ssize_t n, Py_ssize_t k, double *a, Py_ssize_t lda, double *b, Py_ssize_t ldb,
    double *c, Py_ssize_t ldc,
) noexcept nogil:
    """C -= A' B, with A (k, m), B (k, n), C (m, n)."""
    cdef int im = <int>m, in_ = <int>n, ik = <int>k, ia = <int>lda, ib = <int>ldb, ic = <int>ldc
    cdef double minus = -1.0, one = 1.0
    if m > 0 and n > 0 and k > 0:
        dgemm(b"N", b"T", &in_, &im, &ik, &minus, b, &ib, a, &ia, &one, c, &ic)


cdef inline void gemv_t(
    Py_ssize_t m, Py_ssize_t n, double *a, Py_ssize_t lda, double *x, double *y,
) noexcept nogil:
    """y += A' x, with A (m, n), x (m,), y (n,)."""
    cdef int im = <int>m, in_ = <int>n, ia = <int>lda, inc = 1
    cdef double one = 1.0
    if m > 0 and n > 0:
        dgemv(b"N", &in_, &im, &one, a, &ia, x, &inc, &one, y, &inc)


cdef inline void trsm_lower(
    Py_ssize_t m, Py_ssize_t n, double *l, Py_ssize_t ldl, double *b, Py_ssize_t ldb,
) noexcept nogil:
    """B <- L^-1 B, with L (m, m) lower triangular, B (m, n)."""
    cdef int im = <int>m, in_ = <int>n, il = <int>ldl, ib = <int>ldb
    cdef double one = 1.0
    if m > 0 and n > 0:
        dtrsm(b"R", b"U", b"N", b"N", &in_, &im, &one, l, &il, b, &ib)


cdef inline void trsm_lower_transposed(
    Py_ssize_t m, Py_ssize_t n, double *l, Py_ssize_t ldl, double *b, Py_ssize_t ldb,
) noexcept nogil:
    """B <- L^-T B, with L (m, m) lower triangular, B (m, n)."""
    cdef int im = <int>m, in_ = <int>n, il = <int>ldl, ib = <int>ldb
    cdef double one = 1.0
    if m > 0 and n > 0:
        dtrsm(b"R", b"U", b"T", b"N", &in_, &im, &one, l, &il, b, &ib)


cdef inline void trsm_right(
    Py_ssize_t m, Py_ssize_t n, double *l, Py_ssize_t ldl, double *b, Py_ssize_t ldb,
) noexcept nogil:
    """B <- B L^-T, with L (n, n) lower triangular, B (m, n)."""
    cdef int im = <int>m, in_ = <int>n, il = <int>ldl, ib = <int>ldb
    cdef double one = 1.0
    if m > 0 and n > 0:
        dtrsm(b"L", b"U", b"T", b"N", &in_, &im, &one, l, &il, b, &ib)


cdef inline void syrk_tn(
    Py_ssize_t n, Py_ssize_t k, double *a, Py_ssize_t lda, double *c, Py_ssize_t ldc,
) noexcept nogil:
    """Lower triangle of C -= A' A, with A (k, n), C (n, n)."""
    cdef int in_ = <int>n, ik = <int>k, ia = <int>lda, ic = <int>ldc
    cdef double minus = -1.0, one = 1.0
    if n > 0 and k > 0:
        dsyrk(b"U", b"N", &in_, &ik, &minus, a, &ia, &one, c, &ic)


cdef inline int potri(Py_ssize_t n, double *a, Py_ssize_t lda) noexcept nogil:
    """Lower triangle of A: from L, A <- (L L')^-1. Returns LAPACK's info."""
    cdef int in_ = <int>n, ia = <int>lda, info = 0
    if n > 0:
        dpotri(b"U", &in_, a, &ia, &info)
    return info
