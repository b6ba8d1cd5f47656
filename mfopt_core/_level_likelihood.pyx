"""LevelLikelihood: the log marginal likelihood of values of several levels, and its gradient, in one call.

Values of level k are y = a_k f + b_k plus noise of variance η_k², with f the function of a process over coded points,
whose kernel is a Kernel, or a Mixture of unit variance with mean 0. With z = (y − b_k)/a_k, of noise η_k²/a_k²,

    log p(y)            = log p(z) − Σ_k n_k log |a_k|
    ∂/∂b_k              = Σ_i ω_i/a_k,                     ω = (k(X, X) + noises)⁻¹ (z − m) over the rows i of level k
    ∂/∂log |a_k|        = Σ_i (ω_i z_i − 2 ν_i) − n_k,     ν_i the slope of log p(z) in the log noise of row i
    ∂/∂log η_k²         = Σ_i ν_i

The rows are kept; what changes from call to call are the parameters. Nothing of a call is kept.
"""

cimport cython
cimport numpy as cnp
from libc.math cimport fabs, log

from mfopt_core._arrays cimport as_integer, as_number, as_points, copy_indices, copy_vector, data, new_vector
from mfopt_core._correlation cimport Correlation
from mfopt_core._kernels cimport Kernel
from mfopt_core._likelihood cimport compute_likelihood, compute_likelihood_gradient, compute_mixture_gradient
from mfopt_core._memory cimport Scratch
from mfopt_core._mixture cimport Mixture
from mfopt_core._process cimport Process

import numpy as np

cnp.import_array()


@cython.final
cdef class LevelLikelihood:
    """That of values y (n,) at coded points x (n, d), row i of level level[i], one of `levels`."""

    cdef readonly Py_ssize_t levels
    cdef cnp.ndarray x, y, level

    def __cinit__(self, x, level, y, levels):
        cdef cnp.ndarray points = np.array(as_points(x, 0, "x"))
        self.x = as_points(points, 0, "x")
        self.y = copy_vector(y, self.x.shape[0], "y")
        self.levels = as_integer(levels, "levels")
        self.level = copy_indices(level, "level")
        if self.level.ndim != 1 or self.level.shape[0] != self.x.shape[0]:
            raise ValueError(f"level must have {self.x.shape[0]} entries, one per row, got {self.level.shape[0]}")
        if self.levels < 1 or (len(self.level) and not (0 <= self.level.min() and self.level.max() < self.levels)):
            raise ValueError(f"level must be from 0 to {self.levels - 1}, at least one level, got {self.level!r}")

    def __call__(self, Correlation kernel not None, mean, noises, factors, shifts):
        """log p(y), then its gradient in the kernel, in the log noises, the log |factors| and the shifts of the levels.

        The part of a Kernel is in (log ℓ_1, .., log ℓ_d, log scale, mean). That of a Mixture is in the log ℓ of all its
        kernels, one after the other, then in its weights w (levels, kernels), row by row: there w may be anything, not
        only rows of length 1.
        """
        cdef Scratch scratch = Scratch.__new__(Scratch)
        cdef Py_ssize_t n = self.y.shape[0], d = self.x.shape[1], k, i, count = self.levels
        cdef Py_ssize_t *level = <Py_ssize_t *>cnp.PyArray_DATA(self.level)
        cdef cnp.ndarray eta = copy_vector(noises, count, "noises"), a = copy_vector(factors, count, "factors")
        cdef cnp.ndarray b = copy_vector(shifts, count, "shifts"), own
        cdef cnp.ndarray by_noise = np.zeros(count), by_factor = np.zeros(count), by_shift = np.zeros(count)
        cdef Process process = Process(kernel, 0.0, as_number(mean, "mean"))
        cdef double *z = scratch.numbers(n)
        cdef double *rows = scratch.numbers(n)
        cdef double *slopes = scratch.numbers(n)
        cdef const double *alpha
        cdef Py_ssize_t *rows_of = scratch.indices(count)
        cdef double value, weight, factor, logs = 0.0
        if kernel.isotropic or not (type(kernel) is Kernel or type(kernel) is Mixture):
            raise ValueError(f"kernel must be a Mixture, or a Kernel with a length-scale per dimension, got {kernel!r}")
        kernel.bind(d)
        for k in range(count):
            rows_of[k] = 0
            if not (data(a)[k] != 0.0 and 1e-150 < fabs(data(a)[k]) < 1e150):
                raise ValueError(f"factors must be numbers other than 0, from 1e-150 to 1e150, got {data(a)[k]}")
        for i in range(n):
            k = level[i]
            factor = data(a)[k]
            z[i] = (data(self.y)[i] - data(b)[k]) / factor
            rows[i] = data(eta)[k] / (factor * factor)
            process.check_value(z[i])
            process.check_noise(rows[i])
        process.extend(n, data(self.x), z, rows)
        value = compute_likelihood(process)
        if type(kernel) is Kernel:
            own = new_vector(d + 3)
            compute_likelihood_gradient(process, data(own), slopes)
            own = np.delete(own, d + 1)  # the process has no noise of its own
        else:
            own = self._mixture_gradient(process, <Mixture>kernel, slopes)
        alpha = process.solve_alpha()
        for i in range(n):
            k = level[i]
            weight = alpha[i] / process.root
            data(by_noise)[k] += slopes[i]
            data(by_shift)[k] += weight / data(a)[k]
            data(by_factor)[k] += weight * z[i] - 2.0 * slopes[i]
            rows_of[k] += 1
        for k in range(count):
            data(by_factor)[k] -= rows_of[k]
            logs += rows_of[k] * log(fabs(data(a)[k]))
        return value - logs, own, by_noise, by_factor, by_shift

    cdef cnp.ndarray _mixture_gradient(self, Process process, Mixture mixture, double *slopes):
        """The part of a mixture, in one array."""
        cdef Py_ssize_t scales = mixture.parts * (mixture.d - 1)
        cdef cnp.ndarray own = new_vector(scales + mixture.levels * mixture.parts)
        compute_mixture_gradient(process, data(own), data(own) + scales, slopes)
        return own
