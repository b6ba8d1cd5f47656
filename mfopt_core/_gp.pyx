"""A Gaussian process on its data: posterior, gradients, marginal likelihood, samples.

Notation: n rows of data X (n, d), y (n,); prior mean m (a constant), kernel k with k(x, x) = s, noise variances
η_i², of the GP or, where rows come with their own, of the row.

Everything inside is normalised by s, so that the scale of y never meets the limits of float64:

    K = R + D + δ I = L Lᵀ,   R_ij = k(x_i, x_j)/s, D_ii = η_i²/s      L: mfopt_core._cholesky; δ: jitter, normally 0
    z = L⁻¹ (y − m)/√s,        α = L⁻ᵀ z
    v = L⁻¹ r(x),              r(x)_i = k(x_i, x)/s

    posterior, eq. (gpPostEqns):   μ(x) = m + √s vᵀz,   σ²(x) = s (1 − vᵀv)
    its gradient:                  ∇μ = √s Σ_i α_i ∇r_i,   ∇σ² = −2 s Σ_i (L⁻ᵀv)_i ∇r_i
    log marginal likelihood:       −½ zᵀz − Σ_i log L_ii − ½ n log(2πs)

A row of data adds a row to L and a number to z; nothing that is there changes, so truncate only forgets.

Jitter. Without noise K can be singular to rounding (duplicates, smooth kernels with close points). When a pivot shows
that, δ becomes 1e-14, then ten times more until the factorisation succeeds: the smallest power that works. It must be
the same for all rows: jitter on the failing row alone leaves earlier rows free to extrapolate without bound, and their
rounding errors grow exponentially. So this, and only this, factorises anew, a few times in the life of a GP.

One lock per GP: calls on one GP from several threads are safe and take turns, calls on different GPs run in parallel.
"""

cimport cython
cimport numpy as cnp
from libc.math cimport fabs, log, sqrt
from libc.stdint cimport uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy, memset

from mfopt_core._arrays cimport as_number, as_points, as_vector, data, new_matrix, new_vector, to_soa
from mfopt_core._blas cimport potri, syrk_tn
from mfopt_core._cholesky cimport BLOCK, Factor
from mfopt_core._kernels cimport Kernel
from mfopt_core._rows cimport MF_FEW, mf_accumulate, mf_check, mf_dot, mf_weighted_diff, mf_weighted_sq

import numpy as np

cnp.import_array()

cdef double LOG_2PI = 1.8378770664093453
cdef double PIVOT_NOISE = 1e-15  # a normalised pivot below this is nothing but rounding
cdef double FIRST_JITTER = 1e-14
cdef double LARGEST = 1e152  # of a normalised value: its square must not overflow


cdef double *workspace(Py_ssize_t count) except NULL:
    cdef double *memory = <double *>malloc(count * sizeof(double) if count > 0 else 1)
    if memory == NULL:
        raise MemoryError(f"no memory for {count} numbers")
    return memory


cdef Py_ssize_t pass_width(Py_ssize_t q) noexcept nogil:
    """How many of q points are taken in one pass: few at a time avoid BLAS's start-up, which pays for many only."""
    if q <= 1:
        return 1
    return MF_FEW if q <= 3 * MF_FEW else (q if q < CHUNK else CHUNK)


cdef void take_points(
    Py_ssize_t count, Py_ssize_t width, Py_ssize_t d, const double *x, double *soa
) noexcept nogil:
    """The coordinates of `count` rows of x, as d arrays of `width`; the first point fills what is left."""
    cdef Py_ssize_t c, j
    to_soa(count, d, x, soa, width)
    for c in range(d):
        for j in range(count, width):
            soa[c * width + j] = soa[c * width]


cdef int grow(void **array, size_t size) noexcept nogil:
    """Reallocate; 1 when there is no memory, with the old array still in place."""
    cdef void *larger = realloc(array[0], size)
    if larger == NULL:
        return 1
    array[0] = larger
    return 0


cdef inline void copy(Py_ssize_t n, const double *source, double *target) noexcept nogil:
    if n > 0:  # memcpy must not see the null pointers of an empty GP
        memcpy(target, source, n * sizeof(double))


cdef inline Py_ssize_t rows_of(Py_ssize_t b, Py_ssize_t n) noexcept nogil:
    """How many of the first n rows lie in block b (the last block that holds any, or one before it)."""
    return n - b * BLOCK if n - b * BLOCK < BLOCK else BLOCK


@cython.final
cdef class GP:
    """A Gaussian process with a constant prior mean.

    kernel       "se", "matern12", "matern32", "matern52", or "matern" with nu > 0
    lengthscale  one number, or one per dimension
    scale        k(x, x), a variance
    noise        variance of the observations' noise, >= 0
    mean         the prior mean
    """

    def __cinit__(self, str kernel, lengthscale, scale, noise, mean=0.0, nu=None):
        self.kernel = Kernel(kernel, lengthscale, scale, nu)
        self.noise = as_number(noise, "noise")
        self.mean = as_number(mean, "mean")
        self.eta = self.noise / self.kernel.scale
        self.check_noise(self.noise)
        self.root = sqrt(self.kernel.scale)
        self.factor = Factor.__new__(Factor)

    def __dealloc__(self):
        cdef Py_ssize_t b
        for b in range(self.capacity):
            free(self.soa[b])
        free(self.soa)
        free(self.points)
        free(self.values)
        free(self.etas)
        free(self.z)
        free(self.alpha)
        free(self.ids)

    # -- data in ---------------------------------------------------------------------------------------------

    def append(self, x, y):
        """Add one observation y at x (d,): O(n²)."""
        cdef cnp.ndarray point = as_vector(x, self.kernel.d if self.kernel.d else -1, "x")
        cdef double value = as_number(y, "y")
        if cnp.PyArray_DIM(point, 0) == 0:
            raise ValueError("x must have at least one coordinate, got shape (0,)")
        self.bind(cnp.PyArray_DIM(point, 0))
        self.extend_checked(1, data(point), &value, NULL)

    def extend(self, x, y, noise=None):
        """Add observations y (q,) at x (q, d), in this order: O(n²) each, by blocks.

        `noise` holds the variance of each one's noise, (q,), where that is not the GP's.
        """
        cdef cnp.ndarray points = as_points(x, self.kernel.d, "x")
        cdef cnp.ndarray values = as_vector(y, cnp.PyArray_DIM(points, 0), "y")
        cdef cnp.ndarray noises
        cdef Py_ssize_t i
        if noise is None:
            self.bind(cnp.PyArray_DIM(points, 1))
            self.extend_checked(cnp.PyArray_DIM(points, 0), data(points), data(values), NULL)
            return
        noises = as_vector(noise, cnp.PyArray_DIM(points, 0), "noise")
        for i in range(cnp.PyArray_DIM(noises, 0)):
            self.check_noise(data(noises)[i])
        self.bind(cnp.PyArray_DIM(points, 1))
        self.extend_checked(cnp.PyArray_DIM(points, 0), data(points), data(values), data(noises))

    cdef int check_noise(self, double noise) except -1:
        if noise < 0.0 or noise / self.kernel.scale > 1e150:
            raise ValueError(
                f"noise is a variance between 0 and 1e150 times the scale, got noise={noise} "
                f"with scale={self.kernel.scale}"
            )
        return 0

    def truncate(self, Py_ssize_t n):
        """Keep the first n observations and forget the rest, at no cost."""
        with self.lock:
            if not 0 <= n <= self.factor.n:
                raise ValueError(f"n must be between 0 and the {self.factor.n} rows there are, got {n}")
            self.factor.truncate(n)
            if self.alpha_rows > n:
                self.alpha_rows = 0
            if n == 0:
                self.delta = 0.0

    cdef int bind(self, Py_ssize_t d) except -1:
        """Fix the number of dimensions, once."""
        with self.lock:
            self.kernel.bind(d)
        return 0

    cdef int reserve(self, Py_ssize_t n) except -1:
        """Memory for n rows, or a MemoryError."""
        cdef Py_ssize_t blocks = (n + BLOCK - 1) // BLOCK, capacity, rows, b
        if blocks > self.capacity:
            capacity = max(blocks, self.capacity + self.capacity // 2)
            rows = capacity * BLOCK
            if (
                grow(<void **>&self.soa, capacity * sizeof(double *))
                or grow(<void **>&self.points, rows * self.kernel.d * sizeof(double))
                or grow(<void **>&self.values, rows * sizeof(double))
                or grow(<void **>&self.etas, rows * sizeof(double))
                or grow(<void **>&self.z, rows * sizeof(double))
                or grow(<void **>&self.alpha, rows * sizeof(double))
                or grow(<void **>&self.ids, rows * sizeof(uint64_t))
            ):
                raise MemoryError(f"no memory for {n} rows")
            for b in range(self.capacity, capacity):
                self.soa[b] = NULL
            self.capacity = capacity
        for b in range(blocks):
            if self.soa[b] == NULL:
                self.soa[b] = workspace(self.kernel.d * BLOCK)
        if self.factor.reserve(n):
            raise MemoryError(f"no memory for a factor of {n} rows")
        return 0

    cdef int extend_checked(self, Py_ssize_t q, const double *x, const double *y, const double *noises) except -1:
        """Add q valid rows with these noises, or with the GP's where that is NULL; d is bound."""
        cdef Py_ssize_t i, first, d = self.kernel.d
        for i in range(q):
            if not fabs((y[i] - self.mean) / self.root) < LARGEST:
                raise ValueError(f"y must be within {LARGEST} times √scale of the prior mean, got {y[i]}")
        with self.lock:
            first = self.factor.n
            self.reserve(first + q)
            with nogil:
                copy(q * d, x, self.points + first * d)
                copy(q, y, self.values + first)
                for i in range(first, first + q):
                    self.etas[i] = self.eta if noises == NULL else noises[i - first] / self.kernel.scale
                    to_soa(1, d, self.points + i * d, self.soa[i // BLOCK] + i % BLOCK, BLOCK)
                while self.factorise(first, first + q):
                    self.delta = 10.0 * self.delta if self.delta > 0.0 else FIRST_JITTER
                    self.alpha_rows = 0
                    self.factor.n = 0
                    q += first
                    first = 0
        return 0

    cdef int factorise(self, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
        """Rows first .. end − 1 of L and z from the data; −1 when K is not positive definite to rounding.

        In exact arithmetic a pivot is at least the diagonal's addition η_i²/s + δ. One below half of the least of
        these, or of the order of eps where there is none, is rounding noise that later rows would amplify.
        """
        cdef Py_ssize_t i, b, d = self.kernel.d
        cdef double *row
        cdef double least = self.etas[first] if first < end else 0.0
        mf_check(end <= self.capacity * BLOCK)
        for i in range(first, end):
            row = self.factor.row(i)
            for b in range(i // BLOCK + 1):
                self.kernel.row(rows_of(b, i), self.soa[b], BLOCK, self.points + i * d, row + b * BLOCK)
            row[i] = 1.0 + self.etas[i] + self.delta
            if self.etas[i] < least:
                least = self.etas[i]
        if self.factor.complete(end - first, 0.5 * (least + self.delta) + PIVOT_NOISE):
            return -1
        for i in range(first, end):
            self.z[i] = (
                (self.values[i] - self.mean) / self.root - mf_dot(i, self.factor.row(i), self.z)
            ) * self.factor.rdiag[i]
            self.ids[i] = self.next_id
            self.next_id += 1
        return 0

    # -- posterior -------------------------------------------------------------------------------------------

    def posterior(self, x):
        """Posterior mean and variance of the function (not of a noisy observation) at x (q, d)."""
        cdef cnp.ndarray points = as_points(x, self.kernel.d, "x")
        cdef Py_ssize_t q = cnp.PyArray_DIM(points, 0), d = cnp.PyArray_DIM(points, 1), n, j, count, chunk, width
        cdef cnp.ndarray mean = new_vector(q), var = new_vector(q)
        cdef double *rows = data(points)
        cdef double *mu = data(mean)
        cdef double *sigma2 = data(var)
        cdef double *v
        self.bind(d)
        with self.lock:
            n = self.factor.n
            chunk = pass_width(q)
            v = workspace((n + d + 2) * chunk)
            with nogil:
                j = 0
                while j < q:
                    count = q - j if q - j < chunk else chunk
                    width = chunk if chunk == MF_FEW else count
                    self.solve(count, width, rows + j * d, v, mu + j, sigma2 + j)
                    j += chunk
            free(v)
        return mean, var

    cdef void solve(
        self, Py_ssize_t count, Py_ssize_t width, const double *x, double *v, double *mean, double *var
    ) noexcept nogil:
        """V = L⁻¹ r, (n, width), mean and variance at `count` rows of x; v has room for n + d + 2 rows of `width`."""
        cdef Py_ssize_t n = self.factor.n, d = self.kernel.d
        cdef double *soa = v + n * width
        cdef double *moments = soa + d * width
        take_points(count, width, d, x, soa)
        self.cross(width, soa, width, v)
        self.factor.forward(width, v, width)
        self.moments(width, v, moments, moments + width)
        copy(count, moments, mean)
        copy(count, moments + width, var)

    cdef void cross(self, Py_ssize_t q, const double *soa, Py_ssize_t ld, double *v) noexcept nogil:
        """v[i * q + j] = r_i at point j of the q points with coordinates soa[c * ld + j]."""
        cdef Py_ssize_t i, b, n = self.factor.n, d = self.kernel.d
        if q == 1 and ld == 1:  # one point against rows of data is contiguous in the data
            for b in range((n + BLOCK - 1) // BLOCK):
                self.kernel.row(rows_of(b, n), self.soa[b], BLOCK, soa, v + b * BLOCK)
            return
        for i in range(n):
            self.kernel.row(q, soa, ld, self.points + i * d, v + i * q)

    cdef void moments(self, Py_ssize_t q, const double *v, double *mean, double *var) noexcept nogil:
        """Mean and variance from the columns of V = L⁻¹ r, (n, q)."""
        cdef Py_ssize_t i, j, n = self.factor.n
        if q == 1:
            mean[0] = mf_dot(n, v, self.z)
            var[0] = mf_dot(n, v, v)
        else:
            memset(mean, 0, q * sizeof(double))
            memset(var, 0, q * sizeof(double))
            for i in range(n):
                mf_accumulate(q, self.z[i], v + i * q, mean, var)
        for j in range(q):
            mean[j] = self.mean + self.root * mean[j]
            var[j] = self.kernel.scale * (1.0 - var[j]) if var[j] < 1.0 else 0.0

    cdef void refresh_alpha(self) noexcept nogil:
        """Make α = L⁻ᵀ z current."""
        if self.alpha_rows != self.factor.n:
            copy(self.factor.n, self.z, self.alpha)
            self.factor.backward(1, self.alpha, 1)
            self.alpha_rows = self.factor.n

    def posterior_gradient(self, x):
        """Mean, variance, and their gradients in x: (q,), (q,), (q, d), (q, d)."""
        cdef cnp.ndarray points = as_points(x, self.kernel.d, "x")
        cdef Py_ssize_t q = cnp.PyArray_DIM(points, 0), d = cnp.PyArray_DIM(points, 1), n, i, j, count, chunk
        cdef Py_ssize_t width
        cdef cnp.ndarray mean = new_vector(q), var = new_vector(q), dmean = new_matrix(q, d), dvar = new_matrix(q, d)
        cdef double *rows = data(points)
        cdef double *mu = data(mean)
        cdef double *sigma2 = data(var)
        cdef double *dmu = data(dmean)
        cdef double *dsigma2 = data(dvar)
        cdef double *v
        self.bind(d)
        with self.lock:
            n = self.factor.n
            chunk = pass_width(q)
            v = workspace((n + d + 2) * chunk + BLOCK)
            with nogil:
                self.refresh_alpha()
                j = 0
                while j < q:
                    count = q - j if q - j < chunk else chunk
                    width = chunk if chunk == MF_FEW else count
                    self.solve(count, width, rows + j * d, v, mu + j, sigma2 + j)
                    self.factor.backward(width, v, width)
                    for i in range(count):
                        self.gradient_at(
                            rows + (j + i) * d, v + i, width, v + (n + d + 2) * chunk, dmu + (j + i) * d,
                            dsigma2 + (j + i) * d,
                        )
                    j += chunk
            free(v)
        return mean, var, dmean, dvar

    cdef void gradient_at(
        self, const double *x, const double *w, Py_ssize_t ldw, double *buffer, double *dmean, double *dvar
    ) noexcept nogil:
        """∇μ and ∇σ² at one point, given w = L⁻ᵀ v there with stride ldw; α is current; buffer holds BLOCK numbers."""
        cdef Py_ssize_t b, i, c, count, n = self.factor.n, d = self.kernel.d
        memset(dmean, 0, d * sizeof(double))
        memset(dvar, 0, d * sizeof(double))
        for b in range((n + BLOCK - 1) // BLOCK):
            count = rows_of(b, n)
            self.kernel.slope(count, self.soa[b], BLOCK, x, buffer)
            for i in range(count):
                buffer[i] *= self.alpha[b * BLOCK + i]
            mf_weighted_diff(d, count, self.soa[b], BLOCK, x, self.kernel.w, buffer, dmean)
            self.kernel.slope(count, self.soa[b], BLOCK, x, buffer)
            for i in range(count):
                buffer[i] *= w[(b * BLOCK + i) * ldw]
            mf_weighted_diff(d, count, self.soa[b], BLOCK, x, self.kernel.w, buffer, dvar)
        for c in range(d):
            dmean[c] *= self.root
            dvar[c] *= -2.0 * self.kernel.scale

    def covariance(self, x):
        """Posterior covariance of the function between the rows of x, (q, q)."""
        cdef cnp.ndarray points = as_points(x, self.kernel.d, "x")
        cdef Py_ssize_t q = cnp.PyArray_DIM(points, 0), d = cnp.PyArray_DIM(points, 1), n, i, j
        cdef cnp.ndarray covariance = new_matrix(q, q)
        cdef double *rows = data(points)
        cdef double *c = data(covariance)
        cdef double *v
        self.bind(d)
        with self.lock:
            n = self.factor.n
            v = workspace((n + d) * q)
            with nogil:
                to_soa(q, d, rows, v + n * q, q)
                for i in range(q):
                    self.kernel.row(i + 1, v + n * q, q, rows + i * d, c + i * q)
                self.cross(q, v + n * q, q, v)
                self.factor.forward(q, v, q)
                syrk_tn(q, n, v, q, c, q)
                for i in range(q):
                    for j in range(i + 1):
                        c[i * q + j] *= self.kernel.scale
                        c[j * q + i] = c[i * q + j]
                    if c[i * q + i] < 0.0:
                        c[i * q + i] = 0.0
            free(v)
        return covariance

    def sample(self, x, Py_ssize_t size, rng):
        """`size` draws of the function from the posterior at the rows of x, (size, q), with a numpy Generator."""
        cdef cnp.ndarray covariance = self.covariance(x), mean = self.posterior(x)[0]
        cdef cnp.ndarray draws = np.ascontiguousarray(rng.standard_normal((size, len(mean))))
        cdef Py_ssize_t q = len(mean), i, j
        cdef double *c = data(covariance)
        cdef double *mu = data(mean)
        cdef double *out = data(draws)
        cdef Factor factor = Factor.__new__(Factor)
        cdef double scale = self.kernel.scale, delta = FIRST_JITTER
        if factor.reserve(q):
            raise MemoryError(f"no memory for a factor of {q} rows")
        with nogil:
            while True:  # normalised like K; where the function is known the variance is 0, so jitter is the rule here
                for i in range(q):
                    for j in range(i):
                        factor.row(i)[j] = c[i * q + j] / scale
                    factor.row(i)[i] = c[i * q + i] / scale + delta
                if factor.complete(q, 0.5 * delta) == 0:
                    break
                factor.n = 0
                delta *= 10.0
            for j in range(size):
                for i in range(q - 1, -1, -1):  # L ξ in place, from the end: row i needs ξ_0 .. ξ_i only
                    out[j * q + i] = mu[i] + self.root * mf_dot(i + 1, factor.row(i), out + j * q)
        return draws

    # -- marginal likelihood ---------------------------------------------------------------------------------

    def log_marginal_likelihood(self, bint grad=False, bint rows=False):
        """log p(y | X); with grad=True also its gradient, and with rows=True its slope in each row's noise after that.

        The gradient is taken in (log ℓ_1, .., log ℓ_d, log scale, log noise, mean), with one log ℓ when the kernel is
        isotropic: for θ among them ½ tr((ααᵀ − K⁻¹) ∂K/∂θ), and Σα for the mean (Rasmussen & Williams, eq. 5.9). Noises
        of rows are taken to grow with log noise; the slopes (n,), in the logarithm of each, add up to that entry.
        O(n³) with the gradient, O(n) without.
        """
        cdef Py_ssize_t n, i, d
        cdef double value, square
        cdef double *inverse
        cdef double *out
        cdef double *by_row
        cdef cnp.ndarray gradient, slopes
        with self.lock:
            n = self.factor.n
            d = self.kernel.d
            square = mf_dot(n, self.z, self.z)
            value = -0.5 * square - 0.5 * n * (LOG_2PI + log(self.kernel.scale))
            for i in range(n):
                value += log(self.factor.rdiag[i])
            if not grad:
                return value
            gradient, slopes = np.zeros(d + 3), new_vector(n)
            out = data(gradient)
            by_row = data(slopes)
            inverse = workspace(n * n + BLOCK)
            with nogil:
                self.refresh_alpha()
                self.factor.copy_to(inverse, n)
                potri(n, inverse, n)
                self.likelihood_gradient(inverse, inverse + n * n, out, by_row)
            free(inverse)
        if self.kernel.isotropic:
            gradient = np.concatenate([[gradient[:d].sum()], gradient[d:]])
        return (value, gradient, slopes) if rows else (value, gradient)

    cdef void likelihood_gradient(
        self, const double *inverse, double *buffer, double *out, double *slopes
    ) noexcept nogil:
        """The gradient, (d + 3,), and the rows' slopes, from the lower triangle of K⁻¹; buffer holds BLOCK numbers.

        Products of α may overflow where y is far outside the prior's scale; `unit` keeps them in range until the end.
        """
        cdef Py_ssize_t b, i, j, c, count, n = self.factor.n, d = self.kernel.d
        cdef double unit = 1.0, weight, alphas = 0.0, residual = 0.0
        for i in range(n):
            if fabs(self.z[i]) > unit:
                unit = fabs(self.z[i])
        for i in range(n):
            weight = self.alpha[i] / unit
            for b in range(i // BLOCK + 1):
                count = rows_of(b, i)
                self.kernel.slope(count, self.soa[b], BLOCK, self.points + i * d, buffer)
                for j in range(count):
                    buffer[j] *= (
                        weight * (self.alpha[b * BLOCK + j] / unit) - inverse[i * n + b * BLOCK + j] / unit / unit
                    )
                mf_weighted_sq(d, count, self.soa[b], BLOCK, self.points + i * d, self.kernel.w, buffer, out)
            slopes[i] = 0.5 * self.etas[i] * unit * unit * (weight * weight - inverse[i * n + i] / unit / unit)
            out[d + 1] += slopes[i]
            alphas += weight
            residual += (self.z[i] / unit) * (self.z[i] / unit)
        for c in range(d):
            out[c] *= unit * unit
        # ∂K/∂log s = K − D (jitter grows with s), and tr((ααᵀ − K⁻¹) K) = zᵀz − n
        out[d] = 0.5 * unit * unit * (residual - n / unit / unit) - out[d + 1]
        out[d + 2] = alphas * unit / self.root

    def track(self, x, bint lazy=False, Py_ssize_t capacity=0):
        """Points x (N, d) whose posterior is kept current through append and truncate: mfopt_core.Tracked."""
        from mfopt_core._tracked import Tracked  # which needs this module first

        return Tracked(self, x, lazy, capacity)

    # -- what is inside --------------------------------------------------------------------------------------

    @property
    def n(self):
        """Number of observations."""
        return self.factor.n

    @property
    def d(self):
        """Number of dimensions; 0 while an isotropic GP has seen no point."""
        return self.kernel.d

    @property
    def jitter(self):
        """The variance that had to be added to the noise for K to be positive definite in float64; 0.0 normally."""
        return self.kernel.scale * self.delta

    @property
    def x(self):
        """The points of the observations, (n, d), as a copy."""
        cdef cnp.ndarray out
        with self.lock:
            out = new_matrix(self.factor.n, self.kernel.d)
            copy(self.factor.n * self.kernel.d, self.points, data(out))
        return out

    @property
    def y(self):
        """The values of the observations, (n,), as a copy."""
        cdef cnp.ndarray out
        with self.lock:
            out = new_vector(self.factor.n)
            copy(self.factor.n, self.values, data(out))
        return out

    @property
    def noises(self):
        """The noise variances of the observations, (n,), as a copy."""
        cdef cnp.ndarray out
        with self.lock:
            out = new_vector(self.factor.n)
            copy(self.factor.n, self.etas, data(out))
        out *= self.kernel.scale
        return out

    def cholesky(self):
        """L with L Lᵀ = k(X, X) + the noises on the diagonal, as a dense (n, n) array."""
        cdef cnp.ndarray out
        with self.lock:
            out = new_matrix(self.factor.n, self.factor.n)
            self.factor.copy_to(data(out), self.factor.n)
        out *= self.root
        return out

    def __reduce__(self):
        kernel = self.kernel
        return _rebuilt, (
            kernel.name, kernel.lengthscale, kernel.scale, self.noise, self.mean,
            kernel.nu if kernel.name == "matern" else None, self.x, self.y, self.noises,
        )

    def __repr__(self):
        kernel = self.kernel
        nu = f", nu={kernel.nu}" if kernel.name == "matern" else ""
        return (
            f"GP({kernel.name!r}, {kernel.lengthscale!r}, {kernel.scale!r}, {self.noise!r}, {self.mean!r}{nu}) "
            f"with {self.factor.n} observations"
        )


def _rebuilt(kernel, lengthscale, scale, noise, mean, nu, x, y, noises):
    gp = GP(kernel, lengthscale, scale, noise, mean, nu)
    if len(y):
        gp.extend(x, y, noises)
    return gp
