"""The log marginal likelihood of a Gaussian process, log p(y | X), and its gradient.

With the notation of mfopt_core._process (Rasmussen & Williams, eqs. 5.8 and 5.9):

    log p(y | X)    = −½ zᵀz − Σ_i log L_ii − ½ n log(2πs)
    ∂/∂θ            = ½ tr((ααᵀ − K⁻¹) ∂K/∂θ)      θ: log ℓ_1 .. log ℓ_d, log s, log noise
    ∂/∂m            = Σ_i α_i / √s

The gradient lies in this order, (d + 3,): a length-scale per dimension, then scale, noise and mean. Noises of rows are
taken to grow with log noise: its entry is the sum of the rows' slopes, (n,), each in the logarithm of its own noise.

Layout. K⁻¹ is a dense (n, n) array of which only the lower triangle is computed and read. The sum over pairs of rows
runs over the blocks of Data, below the diagonal: both halves of the symmetric ∂K/∂θ are the ½ in front, doubled.
"""

from libc.math cimport fabs, log

from mfopt_core._blas cimport potri
from mfopt_core._cholesky cimport BLOCK, count_blocks, count_in_block
from mfopt_core._memory cimport Scratch
from mfopt_core._process cimport Process
from mfopt_core._rows cimport mf_dot, mf_weighted_sq

cdef double LOG_2PI = 1.8378770664093453


cdef double compute_likelihood(Process process) noexcept nogil:
    """log p(y | X), O(n)."""
    cdef Py_ssize_t i, n = process.n()
    cdef const double *z = process.residuals()
    cdef double value = -0.5 * mf_dot(n, z, z) - 0.5 * n * (LOG_2PI + log(process.kernel.scale))
    for i in range(n):
        value += log(process.factor.rdiag[i])
    return value


cdef int compute_likelihood_gradient(Process process, double *gradient, double *slopes) except -1:
    """The gradient, (d + 3,), and the rows' slopes, (n,): O(n³)."""
    cdef Scratch scratch = Scratch.__new__(Scratch)
    cdef Py_ssize_t n = process.n()
    cdef double *inverse = scratch.numbers(n * n)
    with nogil:
        process.factor.copy_to(inverse, n)
        potri(n, inverse, n)
        sum_gradient(process, inverse, gradient, slopes)
    return 0


cdef void sum_gradient(Process process, const double *inverse, double *gradient, double *slopes) noexcept nogil:
    """The gradient and the rows' slopes from the lower triangle of K⁻¹.

    Products of α may overflow where y is far outside the prior's scale; `unit` keeps them in range until the end.
    """
    cdef Py_ssize_t i, c, n = process.n(), d = process.d()
    cdef const double *alpha = process.solve_alpha()
    cdef const double *z = process.residuals()
    cdef double *by_lengthscale = gradient
    cdef double *by_scale = gradient + d
    cdef double *by_noise = gradient + d + 1
    cdef double *by_mean = gradient + d + 2
    cdef double unit = 1.0, weight, alphas = 0.0, residual = 0.0
    for i in range(n):
        if fabs(z[i]) > unit:
            unit = fabs(z[i])
    for c in range(d):
        by_lengthscale[c] = 0.0
    by_noise[0] = 0.0
    for i in range(n):
        add_pairs(process, i, alpha, inverse + i * n, unit, by_lengthscale)
        weight = alpha[i] / unit
        slopes[i] = 0.5 * process.data.etas[i] * unit * unit * (weight * weight - inverse[i * n + i] / unit / unit)
        by_noise[0] += slopes[i]
        alphas += weight
        residual += (z[i] / unit) * (z[i] / unit)
    for c in range(d):
        by_lengthscale[c] *= unit * unit
    # ∂K/∂log s = K − D (jitter grows with s), and tr((ααᵀ − K⁻¹) K) = zᵀz − n
    by_scale[0] = 0.5 * unit * unit * (residual - n / unit / unit) - by_noise[0]
    by_mean[0] = alphas * unit / process.root


cdef void add_pairs(
    Process process, Py_ssize_t i, const double *alpha, const double *inverse_row, double unit, double *by_lengthscale
) noexcept nogil:
    """Add what row i and the rows before it give to the gradient in log ℓ_1 .. log ℓ_d, over unit²."""
    cdef Py_ssize_t b, j, count, d = process.d()
    cdef const double *x = process.data.point(i)
    cdef double weight = alpha[i] / unit
    cdef double weighted[BLOCK]
    for b in range(count_blocks(i)):
        count = count_in_block(b, i)
        process.kernel.slope(count, process.data.soa[b], BLOCK, x, weighted)
        for j in range(count):
            weighted[j] *= weight * (alpha[b * BLOCK + j] / unit) - inverse_row[b * BLOCK + j] / unit / unit
        mf_weighted_sq(d, count, process.data.soa[b], BLOCK, x, process.kernel.w, weighted, by_lengthscale)
