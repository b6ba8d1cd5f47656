"""Correlation: what a process asks of its kernel, r(x, z) = k(x, z)/s with k(x, x) = s the same everywhere.

Two classes are correlations: a Kernel (mfopt_core._kernels) and a Mixture of several (mfopt_core._mixture). One point z
is taken against many, whose coordinates come as d contiguous arrays: coordinate c of point j is soa[c·ld + j].
"""


cdef class Correlation:
    """The base of both; it has no values of its own, so that there is none without one of the two."""

    def __cinit__(self, *args, **kwargs):
        if type(self) is Correlation:
            raise TypeError("a Correlation must be a Kernel or a Mixture, got neither")

    def __reduce__(self):
        raise TypeError("a Correlation must be a Kernel or a Mixture to be copied")

    cdef int bind(self, Py_ssize_t d) except -1:
        """Fix the number of dimensions, once."""
        raise NotImplementedError

    cdef void row(self, Py_ssize_t n, const double *soa, Py_ssize_t ld, const double *z, double *out) noexcept nogil:
        """out[j] = r(point j, z)."""

    cdef void row_at_levels(
        self, Py_ssize_t dims, Py_ssize_t q, const double *soa, Py_ssize_t ld, Py_ssize_t levels, const double *tails,
        const double *x, double *out
    ) noexcept nogil:
        """out[m·q + j] = r((point j, tail m), x); points have `dims` coordinates, tails (levels, d − dims)."""

    cdef void add_slopes(
        self, Py_ssize_t dims, Py_ssize_t n, const double *soa, Py_ssize_t ld, const double *z, const Slopes *slopes
    ) noexcept nogil:
        """Add the weighted sums over at most BLOCK points of the gradients of r in the first `dims` coordinates."""
