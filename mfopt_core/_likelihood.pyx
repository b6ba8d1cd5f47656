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
from libc.string cimport memset

from mfopt_core._blas cimport potri
from mfopt_core._cholesky cimport BLOCK, count_blocks, count_in_block
from mfopt_core._kernels cimport Kernel, Shape, shape_row, shape_slope
from mfopt_core._memory cimport Scratch
from mfopt_core._mixture cimport Mixture
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
    cdef double *inverse = scratch.numbers(process.n() * process.n())
    with nogil:
        invert(process, inverse)
        sum_gradient(process, &(<Kernel>process.kernel).shape, inverse, gradient, slopes)
    return 0


cdef int compute_mixture_gradient(
    Process process, double *by_lengthscale, double *by_weight, double *slopes
) except -1:
    """The gradient of a mixture's: in log ℓ, (parts, d − 1), in w, (levels, parts), and the rows' slopes, (n,).

    The slopes in w are those of K_ij = Σ_p w_kp w_lp g_p(x_i, x_j) for any w: its diagonal is not held at 1.
    """
    cdef Scratch scratch = Scratch.__new__(Scratch)
    cdef double *inverse = scratch.numbers(process.n() * process.n())
    with nogil:
        invert(process, inverse)
        sum_mixture_gradient(process, <Mixture>process.kernel, inverse, by_lengthscale, by_weight, slopes)
    return 0


cdef void invert(Process process, double *inverse) noexcept nogil:
    """The lower triangle of K⁻¹."""
    process.factor.copy_to(inverse, process.n())
    potri(process.n(), inverse, process.n())


cdef void sum_gradient(
    Process process, const Shape *shape, const double *inverse, double *gradient, double *slopes
) noexcept nogil:
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
        add_pairs(process, shape, i, alpha, inverse + i * n, unit, by_lengthscale)
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
    Process process, const Shape *shape, Py_ssize_t i, const double *alpha, const double *inverse_row, double unit,
    double *by_lengthscale
) noexcept nogil:
    """Add what row i and the rows before it give to the gradient in log ℓ_1 .. log ℓ_d, over unit²."""
    cdef Py_ssize_t b, j, count, d = process.d()
    cdef const double *x = process.data.point(i)
    cdef double weight = alpha[i] / unit
    cdef double weighted[BLOCK]
    for b in range(count_blocks(i)):
        count = count_in_block(b, i)
        shape_slope(shape, count, process.data.soa[b], BLOCK, x, weighted)
        for j in range(count):
            weighted[j] *= weight * (alpha[b * BLOCK + j] / unit) - inverse_row[b * BLOCK + j] / unit / unit
        mf_weighted_sq(d, count, process.data.soa[b], BLOCK, x, shape.w, weighted, by_lengthscale)


cdef void sum_mixture_gradient(
    Process process, Mixture mixture, const double *inverse, double *by_lengthscale, double *by_weight, double *slopes
) noexcept nogil:
    """The same for a mixture, with ½ (ααᵀ − K⁻¹) as the weight of a pair, and both halves of the pairs below."""
    cdef Py_ssize_t n = process.n(), i, j, p, count, dims = mixture.d - 1, parts = mixture.parts, b, level, other
    cdef const double *alpha = process.solve_alpha()
    cdef const double *x
    cdef const double *w = mixture.w
    cdef double pair[BLOCK]
    cdef double weights[BLOCK]
    cdef double values[BLOCK]
    memset(by_lengthscale, 0, parts * dims * sizeof(double))
    memset(by_weight, 0, mixture.levels * parts * sizeof(double))
    for i in range(n):
        x = process.data.point(i)
        level = mixture.level_of(x[dims])
        pair[0] = alpha[i] * alpha[i] - inverse[i * n + i]
        slopes[i] = 0.5 * process.data.etas[i] * pair[0]
        for p in range(parts):
            by_weight[level * parts + p] += pair[0] * w[level * parts + p]
        for b in range(count_blocks(i)):
            count = count_in_block(b, i)
            for j in range(count):
                pair[j] = alpha[i] * alpha[b * BLOCK + j] - inverse[i * n + b * BLOCK + j]
            for p in range(parts):
                # A part that only one of the two levels has still moves K when the other one's weight does.
                shape_row(&mixture.shapes[p], count, process.data.soa[b], BLOCK, x, values)
                for j in range(count):
                    other = mixture.level_of(process.data.soa[b][dims * BLOCK + j])
                    by_weight[level * parts + p] += pair[j] * values[j] * w[other * parts + p]
                    by_weight[other * parts + p] += pair[j] * values[j] * w[level * parts + p]
                if mixture.weigh(p, level, count, process.data.soa[b] + dims * BLOCK, weights):
                    shape_slope(&mixture.shapes[p], count, process.data.soa[b], BLOCK, x, values)
                    for j in range(count):
                        values[j] *= pair[j] * weights[j]
                    mf_weighted_sq(
                        dims, count, process.data.soa[b], BLOCK, x, mixture.shapes[p].w, values,
                        by_lengthscale + p * dims
                    )
