"""Pair: two levels of one process at the same points, with the covariance of the two functions there.

With the notation of mfopt_core._process, v_k = L⁻¹ r(x, tail_k) and the factors a_k of the levels:

    cov(f_1(x), f_2(x)) = a_1 a_2 s (r_12 − v_1ᵀv_2),    r_12 = k((x, tail_1), (x, tail_2))/s, the same at every x
    its gradient        = −a_1 a_2 s Σ_i ((L⁻ᵀv_2)_i ∇r_1i + (L⁻ᵀv_1)_i ∇r_2i)

Both columns come from one pass over L.

Layout. Numbers of both levels are (2, q), gradients (2, q, dims).
"""

cimport cython
cimport numpy as cnp
from libc.string cimport memset

from mfopt_core._arrays cimport as_points, data, new_matrix, new_vector
from mfopt_core._cholesky cimport BLOCK, count_blocks, count_in_block
from mfopt_core._correlation cimport Slopes
from mfopt_core._gp cimport GP
from mfopt_core._level cimport Level
from mfopt_core._memory cimport Scratch
from mfopt_core._posterior cimport CHUNK, Pass, Where, find_width, join_tail, open_passes, solve_pass
from mfopt_core._process cimport Process
from mfopt_core._rows cimport MF_FEW

import numpy as np

cnp.import_array()

cdef enum:
    POINTS = CHUNK // 2  # of one pass: each takes two columns


@cython.final
cdef class Pair:
    """The functions of two levels of one GP."""

    cdef readonly Level first, second
    cdef cnp.ndarray tails  # (2, d − dims)

    def __cinit__(self, Level first not None, Level second not None):
        if first.gp is not second.gp or len(first.last) != len(second.last):
            raise ValueError(f"both levels must be of one GP, with tails of one length, got {first!r} and {second!r}")
        self.first, self.second = first, second
        self.tails = np.array([first.last, second.last])

    def __reduce__(self):
        return Pair, (self.first, self.second)

    def __call__(self, u):
        """Means and variances (2, q) and the covariance (q,) at the rows of u (q, dims)."""
        return self._evaluate(u, False)

    def gradient(self, u):
        """Means, variances, the covariance, and their gradients in u: (2, q, dims), (2, q, dims), (q, dims)."""
        return self._evaluate(u, True)

    cdef cnp.ndarray _check(self, object u):
        """u as points of both levels, in an array whose shape no other thread can set."""
        cdef cnp.ndarray points = as_points(u, 0, "u").view()
        self.first.check_dims(points.shape[1])
        return points

    cdef double _prior(self, Process process, const double *x, Py_ssize_t dims, double *whole):
        """r_12, by way of two points that are the same but for their tails; `whole` holds 2 d numbers."""
        cdef Py_ssize_t c, d = process.d()
        cdef double r
        for c in range(d):
            whole[c] = x[c] if c < dims else data(self.tails)[c - dims]
            whole[d + c] = x[c] if c < dims else data(self.tails)[d - dims + c - dims]
        process.kernel.row(1, whole, 1, whole + d, &r)
        return r

    cdef tuple _evaluate(self, object u, bint slopes):
        cdef Scratch scratch = Scratch.__new__(Scratch)
        cdef cnp.ndarray points = self._check(u)
        cdef Py_ssize_t q = cnp.PyArray_DIM(points, 0), dims = cnp.PyArray_DIM(points, 1), first = 0, count, m, j
        cdef GP gp = self.first.gp
        cdef cnp.ndarray mean = new_matrix(2, q), var = new_matrix(2, q), covariance = new_vector(q)
        cdef cnp.ndarray dmean = np.empty((2, q, dims)), dvar = np.empty((2, q, dims)), dcov = new_matrix(q, dims)
        cdef Where where = Where(q, dims, data(points), 2, data(self.tails))
        cdef Py_ssize_t chunk = q if q < POINTS else POINTS
        cdef const double *alpha
        cdef double prior
        cdef Pass *p
        with gp.lock:
            p = open_passes(1, gp.process, chunk, max(find_width(2 * chunk), MF_FEW), scratch)
            prior = self._prior(gp.process, data(points), dims, scratch.numbers(2 * (dims + len(self.first.last)))) \
                if q > 0 else 0.0
            with nogil:
                alpha = gp.process.solve_alpha()
                while first < q:
                    count = q - first if q - first < chunk else chunk
                    solve_pass(p, gp.process, &where, first, count)
                    for j in range(count):
                        for m in range(2):
                            data(mean)[m * q + first + j] = p.mean[m * count + j]
                            data(var)[m * q + first + j] = p.var[m * count + j]
                        data(covariance)[first + j] = prior - multiply(p, gp.process.n(), j, count + j)
                    if slopes:
                        gp.process.factor.backward(p.width, p.v, p.width)
                        for j in range(count):
                            memset(data(dcov) + (first + j) * dims, 0, dims * sizeof(double))
                            for m in range(2):
                                join_tail(p, gp.process, &where, first + j, m)
                                add_gradients(
                                    p, gp.process, dims, alpha, m * count + j, (1 - m) * count + j,
                                    data(dmean) + (m * q + first + j) * dims,
                                    data(dvar) + (m * q + first + j) * dims, data(dcov) + (first + j) * dims
                                )
                    first += count
            self._scale(gp.process, mean, var, covariance)
            if slopes:
                self._scale_slopes(gp.process, dmean, dvar, dcov)
                return mean, var, covariance, dmean, dvar, dcov
        return mean, var, covariance

    cdef int _scale(self, Process process, cnp.ndarray mean, cnp.ndarray var, cnp.ndarray covariance) except -1:
        """From the unit of the process to those of the levels; covariances are still r_12 − v_1ᵀv_2."""
        cdef Level level
        cdef Py_ssize_t m
        for m in range(2):
            level = self.second if m else self.first
            mean[m] *= level.factor
            mean[m] += level.shift
            var[m] *= level.factor * level.factor
        covariance *= self.first.factor * self.second.factor * process.kernel.scale
        return 0

    cdef int _scale_slopes(self, Process process, cnp.ndarray dmean, cnp.ndarray dvar, cnp.ndarray dcov) except -1:
        """The same for gradients, which are still sums over the rows."""
        cdef Level level
        cdef Py_ssize_t m
        for m in range(2):
            level = self.second if m else self.first
            dmean[m] *= process.root * level.factor
            dvar[m] *= -2.0 * process.kernel.scale * level.factor * level.factor
        dcov *= -self.first.factor * self.second.factor * process.kernel.scale
        return 0


cdef double multiply(const Pass *p, Py_ssize_t n, Py_ssize_t j, Py_ssize_t k) noexcept nogil:
    """vᵀv′ of two columns of a pass."""
    cdef Py_ssize_t i
    cdef double total = 0.0
    for i in range(n):
        total += p.v[i * p.width + j] * p.v[i * p.width + k]
    return total


cdef void add_gradients(
    Pass *p, Process process, Py_ssize_t dims, const double *alpha, Py_ssize_t own, Py_ssize_t other, double *dmean,
    double *dvar, double *dcov
) noexcept nogil:
    """The sums of ∇r over the rows at the point `p.whole`, weighted by α and both columns of L⁻ᵀV; dcov is added to."""
    cdef Py_ssize_t b, n = process.n()
    cdef Slopes slopes
    slopes.count = 3
    slopes.strides[0], slopes.strides[1], slopes.strides[2] = 1, p.width, p.width
    slopes.out[0], slopes.out[1], slopes.out[2] = dmean, dvar, dcov
    memset(dmean, 0, dims * sizeof(double))
    memset(dvar, 0, dims * sizeof(double))
    for b in range(count_blocks(n)):
        slopes.weights[0] = alpha + b * BLOCK
        slopes.weights[1] = p.v + b * BLOCK * p.width + own
        slopes.weights[2] = p.v + b * BLOCK * p.width + other
        process.kernel.add_slopes(dims, count_in_block(b, n), process.data.soa[b], BLOCK, p.whole, &slopes)
