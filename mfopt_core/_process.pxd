cimport cython
from libc.stdint cimport uint64_t

from mfopt_core._cholesky cimport Factor
from mfopt_core._correlation cimport Correlation
from mfopt_core._data cimport Data

cdef struct Points:  # q points at each of M levels: (x_j, tail_m)
    Py_ssize_t count  # q
    Py_ssize_t dims  # coordinates of x_j
    const double *soa  # coordinate c of x_j is soa[c·ld + j]
    Py_ssize_t ld
    Py_ssize_t levels  # M
    const double *tails  # the coordinates from `dims` on, (M, d − dims)


@cython.final
cdef class Process:
    cdef Correlation kernel  # a Kernel or a Mixture
    cdef Data data
    cdef Factor factor  # L: solves with it are part of the interface below
    cdef int threads  # that may compute at once
    cdef double noise  # variance, of rows that come without a noise of their own
    cdef double mean  # m
    cdef double root  # √s
    cdef double delta  # δ = jitter / s
    cdef Py_ssize_t room  # rows that fit into the arrays below
    cdef double *z  # L⁻¹ (y − m)/√s
    cdef double *alpha  # L⁻ᵀ z, current when alpha_rows == n
    cdef Py_ssize_t alpha_rows
    cdef uint64_t *ids  # a number of its own for every row ever factorised: tells trackers what was forgotten
    cdef uint64_t next_id

    # Rows in and out.
    cdef int check_noise(self, double noise) except -1
    cdef int check_value(self, double y) except -1
    cdef int extend(
        self, Py_ssize_t q, const double *x, const double *y, const double *noises, Py_ssize_t groups=*,
        const Py_ssize_t *sizes=*
    ) except -1
    cdef int reserve(self, Py_ssize_t n) except -1
    cdef void factorise_groups(self, Py_ssize_t first, Py_ssize_t groups, const Py_ssize_t *sizes) noexcept nogil
    cdef void raise_jitter(self, Py_ssize_t end) noexcept nogil
    cdef int factorise(self, Py_ssize_t first, Py_ssize_t end, bint singly=*) noexcept nogil
    cdef void fill_rows(self, Py_ssize_t first, Py_ssize_t end) noexcept nogil
    cdef void truncate(self, Py_ssize_t n) noexcept nogil
    cdef int restore(self, Py_ssize_t n, const double *rows, const double *z) except -1

    # The interface of what computes with the rows (posterior, trackers, bounds). The caller holds the lock of the GP.
    cdef void covary_point(self, const double *x, Py_ssize_t first, Py_ssize_t end, double *r) noexcept nogil
    cdef void covary_row(self, Py_ssize_t i, const Points *points, double *r) noexcept nogil
    cdef void covary(self, const Points *points, double *r, Py_ssize_t ld) noexcept nogil
    cdef void solve(self, const Points *points, double *v) noexcept nogil
    cdef void moments(self, Py_ssize_t q, const double *v, double *mean, double *var) noexcept nogil
    cdef const double *solve_alpha(self) noexcept nogil
    cdef Py_ssize_t count_kept(self, Py_ssize_t count, const uint64_t *ids) noexcept nogil
    cdef void copy_ids(self, uint64_t *ids) noexcept nogil

    cdef inline Points plain(self, Py_ssize_t q, const double *soa, Py_ssize_t ld) noexcept nogil:
        """q points with all their coordinates in soa."""
        return Points(q, self.kernel.d, soa, ld, 1, NULL)

    cdef inline Py_ssize_t n(self) noexcept nogil:
        """Number of rows."""
        return self.factor.n

    cdef inline Py_ssize_t d(self) noexcept nogil:
        """Number of dimensions; 0 while an isotropic process has seen no point."""
        return self.kernel.d

    cdef inline const double *residuals(self) noexcept nogil:
        """z, (n,)."""
        return self.z

    cdef inline double mean_of(self, double dot) noexcept nogil:
        """μ = m + √s vᵀz, from vᵀz."""
        return self.mean + self.root * dot

    cdef inline double variance_of(self, double square) noexcept nogil:
        """σ² = s (1 − vᵀv), from vᵀv; rounding does not take it below 0."""
        return self.kernel.scale * (1.0 - square) if square < 1.0 else 0.0
