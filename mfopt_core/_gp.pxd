cimport cython
from libc.stdint cimport uint64_t

from mfopt_core._cholesky cimport Factor
from mfopt_core._kernels cimport Kernel

cdef enum:
    CHUNK = 256  # points per pass of a batched posterior: bounds the workspace at n · CHUNK numbers

cdef Py_ssize_t pass_width(Py_ssize_t q) noexcept nogil
cdef double *workspace(Py_ssize_t count) except NULL


@cython.final
cdef class GP:
    cdef readonly Kernel kernel
    cdef readonly double noise
    cdef readonly double mean
    cdef Factor factor
    cdef double eta  # noise / scale, of rows that come without a noise of their own
    cdef double delta  # jitter / scale: the diagonal of the normalised K is 1 + etas + delta
    cdef double root  # √scale
    cdef Py_ssize_t capacity  # of the arrays below, in blocks of BLOCK rows
    cdef double *points  # X, (n, d)
    cdef double **soa  # soa[b]: rows b·BLOCK .. of X again, as d arrays of BLOCK
    cdef double *values  # y, (n,)
    cdef double *etas  # noise / scale, (n,)
    cdef double *z  # L⁻¹ (y − mean)/√scale
    cdef double *alpha  # L⁻ᵀ z, current when alpha_rows == n
    cdef Py_ssize_t alpha_rows
    cdef uint64_t *ids  # a number of its own for every row ever appended: tells trackers what was forgotten
    cdef uint64_t next_id
    cdef cython.pymutex lock

    cdef int bind(self, Py_ssize_t d) except -1
    cdef int check_noise(self, double noise) except -1
    cdef int reserve(self, Py_ssize_t n) except -1
    cdef int factorise(self, Py_ssize_t first, Py_ssize_t end) noexcept nogil
    cdef int extend_checked(self, Py_ssize_t q, const double *x, const double *y, const double *noises) except -1
    cdef void solve(
        self, Py_ssize_t count, Py_ssize_t width, const double *x, double *v, double *mean, double *var
    ) noexcept nogil
    cdef void cross(self, Py_ssize_t q, const double *soa, Py_ssize_t ld, double *v) noexcept nogil
    cdef void moments(self, Py_ssize_t q, const double *v, double *mean, double *var) noexcept nogil
    cdef void refresh_alpha(self) noexcept nogil
    cdef void gradient_at(
        self, const double *x, const double *w, Py_ssize_t ldw, double *buffer, double *dmean, double *dvar
    ) noexcept nogil
    cdef void likelihood_gradient(
        self, const double *inverse, double *buffer, double *out, double *slopes
    ) noexcept nogil
