"""A Gaussian process on its data, as Python sees it: observations in, posterior, samples and marginal likelihood out.

A GP checks what comes in, makes the arrays that go out, and takes its lock. What is computed, and where:

    mfopt_core._process      notation; kernel, data and factor L; adding and forgetting rows; jitter
    mfopt_core._posterior    mean and variance, their gradients, covariances, draws
    mfopt_core._likelihood   log marginal likelihood and its gradient

Layout. Arrays come and go as C-contiguous float64: points (q, d), one per row, and numbers per point (q,).

One lock per GP: calls on one GP from several threads are safe and take turns, calls on different GPs run in parallel.
"""

cimport cython
cimport numpy as cnp

from mfopt_core._arrays cimport (
    as_integer, as_matrix, as_number, as_points, as_vector, copy, copy_sizes, copy_vector, data, new_matrix, new_vector,
)
from mfopt_core._kernels cimport Kernel
from mfopt_core._mixture cimport Mixture
from mfopt_core._likelihood cimport compute_likelihood, compute_likelihood_gradient
from mfopt_core._posterior cimport Moments, Where, compute_covariance, compute_posterior, draw
from mfopt_core._process cimport Process

import numpy as np

cnp.import_array()


@cython.final
cdef class GP:
    """A Gaussian process with a constant prior mean.

    kernel       "se", "matern12", "matern32", "matern52", or "matern" with nu > 0
    lengthscale  one number, or one per dimension
    scale        k(x, x), a variance
    noise        variance of the observations' noise, >= 0
    mean         the prior mean
    threads      how many may compute at once; results do not depend on it
    """

    def __cinit__(self, str kernel, lengthscale, scale, noise, mean=0.0, nu=None, threads=1):
        self.process = Process(
            Kernel(kernel, lengthscale, scale, nu), as_number(noise, "noise"), as_number(mean, "mean"),
            as_integer(threads, "threads")
        )

    @staticmethod
    def mixed(Mixture mixture not None, threads=1):
        """A GP whose points are (x, level), with this mixture, no noise of its own and mean 0."""
        cdef GP gp = GP("se", 1.0, 1.0, 0.0)
        gp.process = Process(mixture, 0.0, 0.0, as_integer(threads, "threads"))
        return gp

    # -- data in ---------------------------------------------------------------------------------------------

    def append(self, x, y):
        """Add one observation y at x (d,): O(n²)."""
        cdef cnp.ndarray point = as_vector(x, self.process.d() if self.process.d() else -1, "x")
        cdef Py_ssize_t d = cnp.PyArray_DIM(point, 0)
        cdef double value = as_number(y, "y")
        if d == 0:
            raise ValueError("x must have at least one coordinate, got shape (0,)")
        self.process.check_value(value)
        self.bind(d)
        with self.lock:
            self.process.extend(1, data(point), &value, NULL)

    def extend(self, x, y, noise=None, sizes=None):
        """Add observations y (q,) at x (q, d), in this order: O(n²) each, by blocks.

        `noise` holds the variance of each one's noise, (q,), where that is not the GP's. With `sizes` the result is, to
        the bit, that of one call for each group of so many of them; it comes sooner.
        """
        cdef cnp.ndarray points = as_points(x, self.process.d(), "x")
        cdef Py_ssize_t q = cnp.PyArray_DIM(points, 0), d = cnp.PyArray_DIM(points, 1), i
        cdef cnp.ndarray values = copy_vector(y, q, "y"), noises = None
        cdef cnp.ndarray groups = None if sizes is None else copy_sizes(sizes, q)
        for i in range(q):
            self.process.check_value(data(values)[i])
        if noise is not None:
            noises = copy_vector(noise, q, "noise")
            for i in range(q):
                self.process.check_noise(data(noises)[i])
        self.bind(d)
        with self.lock:
            self.process.extend(
                q, data(points), data(values), NULL if noises is None else data(noises),
                0 if groups is None else len(groups), NULL if groups is None else <Py_ssize_t *>cnp.PyArray_DATA(groups)
            )

    def truncate(self, n):
        """Keep the first n observations and forget the rest, at no cost."""
        cdef Py_ssize_t kept = as_integer(n, "n")
        with self.lock:
            if not 0 <= kept <= self.process.n():
                raise ValueError(f"n must be between 0 and the {self.process.n()} rows there are, got {kept}")
            self.process.truncate(kept)

    cdef int bind(self, Py_ssize_t d) except -1:
        """Fix the number of dimensions, once."""
        if self.process.d() != d:
            with self.lock:
                self.process.kernel.bind(d)
        return 0

    # -- posterior -------------------------------------------------------------------------------------------

    def posterior(self, x):
        """Posterior mean and variance of the function (not of a noisy observation) at x (q, d)."""
        cdef cnp.ndarray points = as_points(x, self.process.d(), "x")
        cdef Py_ssize_t q = cnp.PyArray_DIM(points, 0), d = cnp.PyArray_DIM(points, 1)
        cdef cnp.ndarray mean = new_vector(q), var = new_vector(q)
        cdef Where where = Where(q, d, data(points), 1, NULL)
        cdef Moments moments = Moments(data(mean), data(var), NULL, NULL)
        self.bind(d)
        with self.lock:
            compute_posterior(self.process, &where, &moments)
        return mean, var

    def posterior_gradient(self, x):
        """Mean, variance, and their gradients in x: (q,), (q,), (q, d), (q, d)."""
        cdef cnp.ndarray points = as_points(x, self.process.d(), "x")
        cdef Py_ssize_t q = cnp.PyArray_DIM(points, 0), d = cnp.PyArray_DIM(points, 1)
        cdef cnp.ndarray mean = new_vector(q), var = new_vector(q), dmean = new_matrix(q, d), dvar = new_matrix(q, d)
        cdef Where where = Where(q, d, data(points), 1, NULL)
        cdef Moments moments = Moments(data(mean), data(var), data(dmean), data(dvar))
        self.bind(d)
        with self.lock:
            compute_posterior(self.process, &where, &moments)
        return mean, var, dmean, dvar

    def covariance(self, x):
        """Posterior covariance of the function between the rows of x, (q, q)."""
        cdef cnp.ndarray points = as_points(x, self.process.d(), "x")
        cdef Py_ssize_t q = cnp.PyArray_DIM(points, 0)
        cdef cnp.ndarray covariance = new_matrix(q, q)
        self.bind(cnp.PyArray_DIM(points, 1))
        with self.lock:
            compute_covariance(self.process, q, data(points), data(covariance))
        return covariance

    def sample(self, x, size, rng):
        """`size` draws of the function from the posterior at the rows of x, (size, q), with a numpy Generator."""
        cdef Py_ssize_t count = as_integer(size, "size")
        cdef cnp.ndarray points = as_points(x, self.process.d(), "x")
        cdef Py_ssize_t q = cnp.PyArray_DIM(points, 0), d = cnp.PyArray_DIM(points, 1)
        cdef cnp.ndarray mean = new_vector(q), var = new_vector(q), covariance = new_matrix(q, q), normals, draws
        cdef Where where = Where(q, d, data(points), 1, NULL)
        cdef Moments moments = Moments(data(mean), data(var), NULL, NULL)
        if count < 0:
            raise ValueError(f"size must not be negative, got {count}")
        if not hasattr(rng, "standard_normal"):
            raise TypeError(f"rng must be a numpy Generator, got {rng!r}")
        self.bind(d)
        with self.lock:
            compute_covariance(self.process, q, data(points), data(covariance))
            compute_posterior(self.process, &where, &moments)
        normals = as_matrix(rng.standard_normal((count, q)), count, q, "what rng.standard_normal returns")
        draws = new_matrix(count, q)
        draw(self.process, q, data(mean), data(covariance), count, data(normals), data(draws))
        return draws

    def track(self, x, bint lazy=False):
        """Points x (N, d) whose posterior is kept current through append and truncate: mfopt_core.Tracked."""
        from mfopt_core._tracked import Tracked  # which needs this module first

        return Tracked(self, x, lazy)

    # -- marginal likelihood ---------------------------------------------------------------------------------

    def log_marginal_likelihood(self, bint grad=False, bint rows=False):
        """log p(y | X); with grad=True also its gradient, and with rows=True its slope in each row's noise after that.

        The gradient is taken in (log ℓ_1, .., log ℓ_d, log scale, log noise, mean), with one log ℓ when the kernel is
        isotropic. Noises of rows are taken to grow with log noise; the slopes (n,), in the logarithm of each, add up to
        that entry. O(n³) with the gradient, O(n) without.
        """
        cdef cnp.ndarray gradient, slopes
        cdef Py_ssize_t d
        cdef double value
        if grad and type(self.process.kernel) is not Kernel:
            raise ValueError("the gradient must be that of one kernel, got a mixture: see mfopt_core.LevelLikelihood")
        with self.lock:
            value = compute_likelihood(self.process)
            if not grad:
                return value
            d = self.process.d()
            gradient, slopes = new_vector(d + 3), new_vector(self.process.n())
            compute_likelihood_gradient(self.process, data(gradient), data(slopes))
        if self.process.kernel.isotropic:
            gradient = np.concatenate([[gradient[:d].sum()], gradient[d:]])
        return (value, gradient, slopes) if rows else (value, gradient)

    # -- what is inside --------------------------------------------------------------------------------------

    @property
    def kernel(self):
        """The kernel, with its length-scales and scale."""
        return self.process.kernel

    @property
    def noise(self):
        """The noise variance of observations that come without one of their own."""
        return self.process.noise

    @property
    def mean(self):
        """The prior mean."""
        return self.process.mean

    @property
    def n(self):
        """Number of observations."""
        return self.process.n()

    @property
    def d(self):
        """Number of dimensions; 0 while an isotropic GP has seen no point."""
        return self.process.d()

    @property
    def threads(self):
        """How many threads may compute at once."""
        return self.process.threads

    @property
    def jitter(self):
        """The variance that had to be added to the noise for K to be positive definite in float64; 0.0 normally."""
        return self.process.kernel.scale * self.process.delta

    @property
    def x(self):
        """The points of the observations, (n, d), as a copy."""
        return self._copy_rows()[0]

    @property
    def y(self):
        """The values of the observations, (n,), as a copy."""
        return self._copy_rows()[1]

    @property
    def noises(self):
        """The noise variances of the observations, (n,), as a copy."""
        return self._copy_rows()[2]

    @property
    def weights(self):
        """(k(X, X) + the noises on the diagonal)⁻¹ (y − mean), (n,): minus the gradient of log p(y | X) in y."""
        cdef cnp.ndarray weights
        with self.lock:
            weights = new_vector(self.process.n())
            copy(self.process.n(), self.process.solve_alpha(), weights)
        weights /= self.process.root
        return weights

    cdef tuple _copy_rows(self):
        """Points (n, d), values (n,) and noise variances (n,) of the observations at one moment."""
        cdef cnp.ndarray x, y, noises
        cdef Py_ssize_t n, d
        with self.lock:
            n, d = self.process.n(), self.process.d()
            x, y, noises = new_matrix(n, d), new_vector(n), new_vector(n)
            copy(n * d, self.process.data.points, x)
            copy(n, self.process.data.values, y)
            copy(n, self.process.data.etas, noises)
        noises *= self.process.kernel.scale
        return x, y, noises

    def cholesky(self):
        """L with L Lᵀ = k(X, X) + the noises on the diagonal, as a dense (n, n) array."""
        cdef cnp.ndarray out
        with self.lock:
            out = new_matrix(self.process.n(), self.process.n())
            self.process.factor.copy_to(data(out), self.process.n())
        out *= self.process.root
        return out

    def __reduce__(self):
        kernel = self.kernel
        given = (kernel, None, None, None) if type(kernel) is Mixture else kernel.__reduce__()[1]
        return _rebuilt, (*given[:3], self.noise, self.mean, given[3], self.threads, *self._copy_state())

    cdef tuple _copy_state(self):
        """All that the rows have become, at one moment: x, y, noises/scale, L, z and δ.

        L is not computed again from the rows: its last bits depend on how many were added at once.
        """
        cdef cnp.ndarray x, y, etas, rows, z
        cdef Py_ssize_t n, d
        with self.lock:
            n, d = self.process.n(), self.process.d()
            x, y, etas, rows, z = new_matrix(n, d), new_vector(n), new_vector(n), new_matrix(n, n), new_vector(n)
            copy(n * d, self.process.data.points, x)
            copy(n, self.process.data.values, y)
            copy(n, self.process.data.etas, etas)
            copy(n, self.process.z, z)
            self.process.factor.copy_to(data(rows), n)
            return x, y, etas, rows, z, self.process.delta

    cdef int _restore(
        self, cnp.ndarray x, cnp.ndarray y, cnp.ndarray etas, cnp.ndarray rows, cnp.ndarray z
    ) except -1:
        """Take over the rows of another GP, which have been checked and are the caller's own."""
        cdef Py_ssize_t i, n = cnp.PyArray_DIM(x, 0), d = cnp.PyArray_DIM(x, 1)
        with self.lock:
            self.process.reserve(n)
            for i in range(n):
                self.process.data.write(i, data(x) + i * d, data(y)[i], data(etas)[i])
            self.process.restore(n, data(rows), data(z))
        return 0

    def __repr__(self):
        kernel = self.kernel
        if type(kernel) is Mixture:
            return f"GP.mixed({kernel!r}) with {self.n} observations"
        nu = f", nu={kernel.nu}" if kernel.name == "matern" else ""
        return (
            f"GP({kernel.name!r}, {kernel.lengthscale!r}, {kernel.scale!r}, {self.noise!r}, {self.mean!r}{nu}) "
            f"with {self.n} observations"
        )


def _rebuilt(kernel, lengthscale, scale, noise, mean, nu, threads, x, y, etas, rows, z, delta):
    """The GP that was pickled, from its parameters and all that its rows had become."""
    cdef GP gp
    if type(kernel) is Mixture:
        gp = GP.mixed(kernel, threads)
    else:
        gp = GP(kernel, lengthscale, scale, noise, mean, nu, threads)
    cdef Py_ssize_t n = len(y)
    cdef double jitter = as_number(delta, "delta")
    cdef cnp.ndarray points, values, noises, factor, residuals
    if not jitter >= 0.0:
        raise ValueError(f"delta must not be negative, got {jitter}")
    if n:
        points = as_points(np.array(x), gp.process.d(), "x")
        values, noises, residuals = copy_vector(y, n, "y"), copy_vector(etas, n, "etas"), copy_vector(z, n, "z")
        factor = as_matrix(np.array(rows), n, n, "rows")
        if cnp.PyArray_DIM(points, 0) != n:
            raise ValueError(f"x must have {n} rows, as many as y, got {cnp.PyArray_DIM(points, 0)}")
        if not (noises >= 0.0).all() or not (np.diagonal(factor) > 0.0).all():
            raise ValueError("noises must not be negative and the diagonal of L must be positive, got others")
        gp.bind(cnp.PyArray_DIM(points, 1))
        gp._restore(points, values, noises, factor, residuals)
    gp.process.delta = jitter
    return gp
