"""The posterior of a Gaussian process at given points: mean and variance, their gradients, covariances, draws.

With the notation of mfopt_core._process:

    posterior, eq. (gpPostEqns):   μ(x) = m + √s vᵀz,   σ²(x) = s (1 − vᵀv),   v = L⁻¹ r(x)
    its gradient:                  ∇μ = √s Σ_i α_i ∇r_i,   ∇σ² = −2 s Σ_i (L⁻ᵀv)_i ∇r_i
    covariance of two points:      s (k(x, x′)/s − vᵀv′)

Points are taken in passes of up to CHUNK, so that memory stays bounded and L is read once per pass. A pass turns their
coordinates into columns of r, solves for V in place and sums it up; gradients then turn V into L⁻ᵀV in the same memory.
The caller has checked the points, bound the number of dimensions, and holds the lock of the GP.
"""

from libc.string cimport memcpy, memset

from mfopt_core._arrays cimport to_soa
from mfopt_core._blas cimport syrk_tn
from mfopt_core._cholesky cimport BLOCK, Factor, count_blocks, count_in_block
from mfopt_core._memory cimport Scratch
from mfopt_core._process cimport Process
from mfopt_core._rows cimport MF_FEW, mf_dot, mf_weighted_diff

cdef double FIRST_JITTER = 1e-14  # of a covariance that is drawn from, normalised by s


# -- passes --------------------------------------------------------------------------------------------------

cdef int open_pass(Pass *p, Process process, Py_ssize_t chunk, Scratch scratch) except -1:
    """Memory for passes of up to `chunk` ≤ CHUNK points."""
    p.v = scratch.numbers(process.n() * chunk)
    p.soa = scratch.numbers(process.d() * chunk)
    return 0


cdef Py_ssize_t choose_chunk(Py_ssize_t q) noexcept nogil:
    """How many of q points are taken in one pass: few at a time avoid BLAS's start-up, which pays for many only."""
    if q <= 1:
        return 1
    return MF_FEW if q <= 3 * MF_FEW else (q if q < CHUNK else CHUNK)


cdef void solve_pass(Pass *p, Process process, Py_ssize_t count, Py_ssize_t width, const double *x) noexcept nogil:
    """V, μ and σ² at `count` rows of x; the first of them fills the columns that are left of `width`."""
    cdef Py_ssize_t c, j
    p.width = width
    to_soa(count, process.d(), x, p.soa, width)
    for c in range(process.d()):
        for j in range(count, width):
            p.soa[c * width + j] = p.soa[c * width]
    process.solve(width, p.soa, width, p.v)
    process.moments(width, p.v, p.mean, p.var)


cdef int compute_posterior(
    Process process, Py_ssize_t q, const double *x, double *mean, double *var, double *dmean, double *dvar
) except -1:
    """μ and σ², (q,), at the rows of x (q, d); and their gradients, (q, d), unless dmean and dvar are NULL."""
    cdef Scratch scratch = Scratch.__new__(Scratch)
    cdef Py_ssize_t chunk = choose_chunk(q), d = process.d(), first = 0, count, j
    cdef const double *alpha = NULL
    cdef Pass p
    open_pass(&p, process, chunk, scratch)
    with nogil:
        if dmean != NULL:
            alpha = process.solve_alpha()
        while first < q:
            count = q - first if q - first < chunk else chunk
            solve_pass(&p, process, count, chunk if chunk == MF_FEW else count, x + first * d)
            memcpy(mean + first, p.mean, count * sizeof(double))
            memcpy(var + first, p.var, count * sizeof(double))
            if dmean != NULL:
                process.factor.backward(p.width, p.v, p.width)
                for j in range(count):
                    compute_gradient(&p, process, j, alpha, x + (first + j) * d, dmean + (first + j) * d,
                                     dvar + (first + j) * d)
            first += count
    return 0


cdef void compute_gradient(
    Pass *p, Process process, Py_ssize_t j, const double *alpha, const double *x, double *dmean, double *dvar
) noexcept nogil:
    """∇μ and ∇σ² at x, point j of a pass whose V has become L⁻ᵀV."""
    cdef Py_ssize_t n = process.n(), d = process.d(), b, i, c, count
    cdef const double *soa
    cdef const double *w
    cdef double slope[BLOCK]
    cdef double weighted[BLOCK]
    memset(dmean, 0, d * sizeof(double))
    memset(dvar, 0, d * sizeof(double))
    for b in range(count_blocks(n)):
        count = count_in_block(b, n)
        soa = process.data.soa[b]
        process.kernel.slope(count, soa, BLOCK, x, slope)
        for i in range(count):
            weighted[i] = slope[i] * alpha[b * BLOCK + i]
        mf_weighted_diff(d, count, soa, BLOCK, x, process.kernel.w, weighted, dmean)
        w = p.v + b * BLOCK * p.width + j
        for i in range(count):
            weighted[i] = slope[i] * w[i * p.width]
        mf_weighted_diff(d, count, soa, BLOCK, x, process.kernel.w, weighted, dvar)
    for c in range(d):
        dmean[c] *= process.root
        dvar[c] *= -2.0 * process.kernel.scale


# -- joint distribution --------------------------------------------------------------------------------------

cdef int compute_covariance(Process process, Py_ssize_t q, const double *x, double *covariance) except -1:
    """The covariance of the function between the rows of x, (q, q)."""
    cdef Scratch scratch = Scratch.__new__(Scratch)
    cdef Py_ssize_t d = process.d(), i, j
    cdef double *v = scratch.numbers(process.n() * q)
    cdef double *soa = scratch.numbers(d * q)
    with nogil:
        to_soa(q, d, x, soa, q)
        for i in range(q):
            process.kernel.row(i + 1, soa, q, x + i * d, covariance + i * q)
        process.solve(q, soa, q, v)
        syrk_tn(q, process.n(), v, q, covariance, q)
        for i in range(q):
            for j in range(i + 1):
                covariance[i * q + j] *= process.kernel.scale
                covariance[j * q + i] = covariance[i * q + j]
            if covariance[i * q + i] < 0.0:
                covariance[i * q + i] = 0.0
    return 0


cdef int draw(
    Process process, Py_ssize_t q, const double *mean, const double *covariance, Py_ssize_t size,
    const double *normals, double *draws
) except -1:
    """Draws of the function with this mean and covariance, (size, q), from standard normal ones ξ, (size, q): L ξ."""
    cdef Factor factor = Factor.__new__(Factor)
    cdef double scale = process.kernel.scale, delta = FIRST_JITTER
    cdef Py_ssize_t i, j
    factor.reserve(q)
    with nogil:
        while True:  # normalised like K; where the function is known the variance is 0, so jitter is the rule here
            for i in range(q):
                for j in range(i):
                    factor.row(i)[j] = covariance[i * q + j] / scale
                factor.row(i)[i] = covariance[i * q + i] / scale + delta
            if factor.complete(q, 0.5 * delta) == 0:
                break
            factor.n = 0
            delta *= 10.0
        for j in range(size if q > 0 else 0):  # of no points there may be any number of draws
            for i in range(q):
                draws[j * q + i] = mean[i] + process.root * mf_dot(i + 1, factor.row(i), normals + j * q)
    return 0
