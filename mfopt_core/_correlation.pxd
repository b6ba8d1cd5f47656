cdef struct Slopes:  # weighted sums of gradients: out_k[c] += Σ_i weight_k[i · stride_k] ∂r(x_i, z)/∂z_c
    Py_ssize_t count  # how many, at most 3
    const double *weights[3]
    Py_ssize_t strides[3]
    double *out[3]


cdef class Correlation:
    cdef readonly double scale
    cdef readonly bint isotropic
    cdef readonly Py_ssize_t d  # 0: isotropic, and no point seen yet

    cdef int bind(self, Py_ssize_t d) except -1
    cdef void row(self, Py_ssize_t n, const double *soa, Py_ssize_t ld, const double *z, double *out) noexcept nogil
    cdef void row_at_levels(
        self, Py_ssize_t dims, Py_ssize_t q, const double *soa, Py_ssize_t ld, Py_ssize_t levels, const double *tails,
        const double *x, double *out
    ) noexcept nogil
    cdef void add_slopes(
        self, Py_ssize_t dims, Py_ssize_t n, const double *soa, Py_ssize_t ld, const double *z, const Slopes *slopes
    ) noexcept nogil
