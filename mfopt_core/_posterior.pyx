"""The posterior of a Gaussian process at given points: mean and variance, their gradients, covariances, draws.

With the notation of mfopt_core._process:

    posterior, eq. (gpPostEqns):   μ(x) = m + √s vᵀz,   σ²(x) = s (1 − vᵀv),   v = L⁻¹ r(x)
    its gradient:                  ∇μ = √s Σ_i α_i ∇r_i,   ∇σ² = −2 s Σ_i (L⁻ᵀv)_i ∇r_i
    covariance of two points:      s (k(x, x′)/s − vᵀv′)

Points are taken in passes of up to CHUNK columns, so that memory stays bounded and L is read once per pass. Passes do
not depend on each other: where the process may use several threads they share them out (mfopt_core._crew). A pass turns
the coordinates of its points into columns of r, at every level, solves for V in place and sums it up; gradients then
turn V into L⁻ᵀV in the same memory. The caller has checked the points, bound the number of dimensions, and holds the
lock of the GP.
"""

from libc.string cimport memcpy, memset

from mfopt_core._arrays cimport to_soa
from mfopt_core._blas cimport syrk_tn
from mfopt_core._cholesky cimport BLOCK, Factor, count_blocks, count_in_block
from mfopt_core._correlation cimport Slopes
from mfopt_core._crew cimport count_workers, mf_run
from mfopt_core._memory cimport Scratch
from mfopt_core._process cimport Points, Process
from mfopt_core._rows cimport MF_FEW, mf_dot

cdef double FIRST_JITTER = 1e-14  # of a covariance that is drawn from, normalised by s
cdef double MOST_JITTER = 1e300  # where no sum with NaN has come to an end


# -- passes --------------------------------------------------------------------------------------------------

cdef Pass *open_passes(
    int workers, Process process, Py_ssize_t points, Py_ssize_t width, Scratch scratch
) except NULL:
    """Memory for passes of up to this many points and `width` ≤ CHUNK columns, `workers` of them at a time."""
    cdef Pass *passes = <Pass *>scratch.part(workers, sizeof(Pass))
    cdef double *v = scratch.numbers(workers * process.n() * width)
    cdef double *soa = scratch.numbers(workers * process.d() * (points + 1))
    cdef int k
    for k in range(workers):
        passes[k].v = v + k * process.n() * width
        passes[k].soa = soa + k * process.d() * (points + 1)
        passes[k].whole = passes[k].soa + process.d() * points
    return passes


cdef Py_ssize_t choose_chunk(Py_ssize_t q, Py_ssize_t levels) noexcept nogil:
    """How many of q points are taken in one pass: few columns at a time avoid BLAS's start-up, which pays for many."""
    cdef Py_ssize_t most = MF_FEW if q * levels <= 3 * MF_FEW else CHUNK
    if q <= 1 or most <= levels:
        return 1
    return q if q < most // levels else most // levels


cdef Py_ssize_t find_width(Py_ssize_t columns) noexcept nogil:
    """The number of columns, or MF_FEW where that is quicker."""
    return MF_FEW if 1 < columns < MF_FEW else columns


cdef void solve_pass(Pass *p, Process process, const Where *where, Py_ssize_t first, Py_ssize_t count) noexcept nogil:
    """V, μ and σ² at points first .. first + count − 1; zeros fill the columns that are left of the width."""
    cdef Py_ssize_t columns = count * where.levels, i, k
    p.width = find_width(columns)
    if columns == 1:
        join_tail(p, process, where, first, 0)
        p.points = process.plain(1, p.whole, 1)
    else:
        to_soa(count, where.dims, where.x + first * where.dims, p.soa, count)
        p.points = Points(count, where.dims, p.soa, count, where.levels, where.tails)
    process.covary(&p.points, p.v, p.width)
    for i in range(process.n() if p.width > columns else 0):
        for k in range(columns, p.width):
            p.v[i * p.width + k] = 0.0
    process.factor.forward(p.width, p.v, p.width)
    process.moments(p.width, p.v, p.mean, p.var)


cdef void join_tail(Pass *p, Process process, const Where *where, Py_ssize_t j, Py_ssize_t m) noexcept nogil:
    """Point j with tail m, (d,), into the memory of the pass."""
    cdef Py_ssize_t width = process.d() - where.dims
    memcpy(p.whole, where.x + j * where.dims, where.dims * sizeof(double))
    if width > 0:
        memcpy(p.whole + where.dims, where.tails + m * width, width * sizeof(double))


cdef struct Batch:  # what the passes of one posterior have in common
    void *process
    const Where *where
    Moments *moments
    const double *alpha
    Py_ssize_t chunk  # points of a pass
    Pass *passes  # one per worker


cdef int compute_posterior(Process process, const Where *where, Moments *moments) except -1:
    """μ and σ² at every level of every point, and their gradients where there is memory for them."""
    cdef Scratch scratch = Scratch.__new__(Scratch)
    cdef Py_ssize_t q = where.count, chunk = choose_chunk(q, where.levels), count = (q + chunk - 1) // chunk
    cdef int workers = count_workers(process.threads, count, <double>q * where.levels * process.n() * process.n())
    cdef Batch batch = Batch(<void *>process, where, moments, NULL, chunk, NULL)
    if where.levels > CHUNK:
        raise ValueError(f"there must be at most {CHUNK} levels, got {where.levels}")
    batch.passes = open_passes(workers, process, chunk, max(find_width(chunk * where.levels), MF_FEW), scratch)
    with nogil:
        if moments.dmean != NULL:
            batch.alpha = process.solve_alpha()
        mf_run(workers, count, run_pass, &batch)
    return 0


cdef void run_pass(void *context, Py_ssize_t k, int worker) noexcept nogil:
    """Pass k of a Batch."""
    cdef Batch *batch = <Batch *>context
    compute_pass(&batch.passes[worker], <Process>batch.process, batch, k * batch.chunk)


cdef void compute_pass(Pass *p, Process process, const Batch *batch, Py_ssize_t first) noexcept nogil:
    """What is wanted at the points of one pass, from the `first` on."""
    cdef const Where *where = batch.where
    cdef Moments *moments = batch.moments
    cdef Py_ssize_t q = where.count, m, j, at, count = q - first if q - first < batch.chunk else batch.chunk
    solve_pass(p, process, where, first, count)
    for m in range(where.levels):
        memcpy(moments.mean + m * q + first, p.mean + m * count, count * sizeof(double))
        memcpy(moments.var + m * q + first, p.var + m * count, count * sizeof(double))
    if moments.dmean != NULL:
        process.factor.backward(p.width, p.v, p.width)
        for m in range(where.levels):
            for j in range(count):
                join_tail(p, process, where, first + j, m)
                at = (m * q + first + j) * where.dims
                compute_gradient(p, process, m * count + j, where.dims, batch.alpha, moments.dmean + at,
                                 moments.dvar + at)


cdef void compute_gradient(
    Pass *p, Process process, Py_ssize_t column, Py_ssize_t dims, const double *alpha, double *dmean, double *dvar
) noexcept nogil:
    """∇μ and ∇σ², (dims,), at the point `p.whole`, which is this column of a pass whose V has become L⁻ᵀV."""
    cdef Py_ssize_t n = process.n(), b, c
    cdef Slopes slopes
    slopes.count = 2
    slopes.strides[0], slopes.strides[1] = 1, p.width
    slopes.out[0], slopes.out[1] = dmean, dvar
    memset(dmean, 0, dims * sizeof(double))
    memset(dvar, 0, dims * sizeof(double))
    for b in range(count_blocks(n)):
        slopes.weights[0], slopes.weights[1] = alpha + b * BLOCK, p.v + b * BLOCK * p.width + column
        process.kernel.add_slopes(dims, count_in_block(b, n), process.data.soa[b], BLOCK, p.whole, &slopes)
    for c in range(dims):
        dmean[c] *= process.root
        dvar[c] *= -2.0 * process.kernel.scale


# -- joint distribution --------------------------------------------------------------------------------------

cdef int compute_covariance(Process process, Py_ssize_t q, const double *x, double *covariance) except -1:
    """The covariance of the function between the rows of x, (q, q)."""
    cdef Scratch scratch = Scratch.__new__(Scratch)
    cdef Py_ssize_t d = process.d(), i, j
    cdef double *v = scratch.numbers(process.n() * q)
    cdef double *soa = scratch.numbers(d * q)
    cdef Points points = process.plain(q, soa, q)
    with nogil:
        to_soa(q, d, x, soa, q)
        for i in range(q):
            process.kernel.row(i + 1, soa, q, x + i * d, covariance + i * q)
        process.solve(&points, v)
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
        # normalised like K; where the function is known the variance is 0, so jitter is the rule here
        while delta < MOST_JITTER:
            for i in range(q):
                for j in range(i):
                    factor.row(i)[j] = covariance[i * q + j] / scale
                factor.row(i)[i] = covariance[i * q + i] / scale + delta
            if factor.complete(q, 0.5 * delta, 1) == 0:
                break
            factor.n = 0
            delta *= 10.0
        for j in range(size if q > 0 and delta < MOST_JITTER else 0):  # of no points there may be any number of draws
            for i in range(q):
                draws[j * q + i] = mean[i] + process.root * mf_dot(i + 1, factor.row(i), normals + j * q)
    if not delta < MOST_JITTER:
        raise ValueError("draws must have a covariance of finite numbers, got others")
    return 0
