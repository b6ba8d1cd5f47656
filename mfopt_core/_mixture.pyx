"""Mixture: levels that are sums of the same independent functions, each with weights of its own.

    f_k = Σ_j w_kj δ_j,   var δ_j = 1,  Σ_j w_kj² = 1,    r((x, k), (z, l)) = Σ_j w_kj w_lj g_j(x, z)

with g_j the correlation of δ_j. So every level has variance 1, and what lies between it and a function of another size
is the factor of a Level. An autoregression over fidelities is of this kind (Kennedy and O'Hagan, 2000).

The last coordinate of a point is its level: the nearest number from 0 to the last one, whatever it is given as.

Layout. w is (levels, parts). Points are taken in tiles of BLOCK, so that what a part adds stays on the stack.
"""

cimport cython
cimport numpy as cnp
from libc.string cimport memset

from mfopt_core._arrays cimport as_reals, data
from mfopt_core._cholesky cimport BLOCK
from mfopt_core._correlation cimport Correlation, Slopes
from mfopt_core._kernels cimport Kernel, Shape, shape_row, shape_slope
from mfopt_core._memory cimport allocate, release
from mfopt_core._rows cimport mf_weighted_diff

import numpy as np

cnp.import_array()


@cython.final
cdef class Mixture(Correlation):
    """Levels over `kernels`, one per independent function, all of as many dimensions; their scales do not matter.

    weights  (levels, kernels): w up to a factor for each level. No level may have only zeros.
    """

    def __cinit__(self, kernels, weights):
        cdef cnp.ndarray mix
        cdef Py_ssize_t j
        self.kernels = tuple(kernels)
        if not self.kernels or not all(type(kernel) is Kernel for kernel in self.kernels):
            raise ValueError(f"one Kernel per function is needed, at least one, got {self.kernels!r}")
        dims = {kernel.d for kernel in self.kernels}
        if len(dims) > 1 or 0 in dims:
            raise ValueError(f"kernels must have a length-scale for each of as many dimensions, got {sorted(dims)}")
        mix = np.array(as_reals(weights, "weights"), dtype=np.float64, order="C")
        if mix.ndim != 2 or mix.shape[0] == 0 or mix.shape[1] != len(self.kernels):
            raise ValueError(f"weights must be (levels, {len(self.kernels)}), got shape {np.shape(weights)}")
        sizes = np.abs(mix).max(axis=1, keepdims=True)
        if not (np.isfinite(sizes).all() and (sizes > 0.0).all()):
            raise ValueError(f"weights must be finite, and not all 0 at a level, got {mix!r}")
        self.given = mix.copy()
        mix /= sizes
        mix /= np.sqrt(np.square(mix).sum(axis=1, keepdims=True))
        self.mix = mix
        self.w = data(mix)
        self.levels, self.parts = mix.shape[0], mix.shape[1]
        self.shapes = <Shape *>allocate(self.parts, sizeof(Shape))
        for j in range(self.parts):
            self.shapes[j] = (<Kernel>self.kernels[j]).shape
        self.scale = 1.0
        self.isotropic = False
        self.d = dims.pop() + 1

    def __dealloc__(self):
        release(self.shapes)

    @property
    def weights(self):
        """w, (levels, kernels), as a copy."""
        return self.mix.copy()

    def __reduce__(self):
        return Mixture, (self.kernels, self.given.copy())  # w itself would be brought to length 1 once more

    def __repr__(self):
        return f"Mixture({self.kernels!r}, {self.mix!r})"

    cdef int bind(self, Py_ssize_t d) except -1:
        """Check the number of dimensions."""
        if self.d != d:
            raise ValueError(f"points must have {self.d} dimensions, the last for the level, got {d}")
        return 0

    cdef Py_ssize_t level_of(self, double coordinate) noexcept nogil:
        """The level nearest to this coordinate; NaN, which another thread may have written, is level 0."""
        if not coordinate > 0.0:
            return 0
        return <Py_ssize_t>(coordinate + 0.5) if coordinate < self.levels - 1 else self.levels - 1

    cdef bint weigh(
        self, Py_ssize_t part, Py_ssize_t level, Py_ssize_t n, const double *levels, double *weights
    ) noexcept nogil:
        """weights[i] = w_kj w_lj for this part j, this level k and these coordinates of l; whether one is not 0."""
        cdef Py_ssize_t i
        cdef double own = self.w[level * self.parts + part]
        cdef bint some = False
        if own == 0.0:
            return False
        for i in range(n):
            weights[i] = own * self.w[self.level_of(levels[i]) * self.parts + part]
            some |= weights[i] != 0.0
        return some

    cdef void row(self, Py_ssize_t n, const double *soa, Py_ssize_t ld, const double *z, double *out) noexcept nogil:
        """out[i] = r(point i, z)."""
        cdef Py_ssize_t first = 0, count, i, j, level = self.level_of(z[self.d - 1])
        cdef double weights[BLOCK]
        cdef double values[BLOCK]
        while first < n:
            count = n - first if n - first < BLOCK else BLOCK
            memset(out + first, 0, count * sizeof(double))
            for j in range(self.parts):
                if self.weigh(j, level, count, soa + (self.d - 1) * ld + first, weights):
                    shape_row(&self.shapes[j], count, soa + first, ld, z, values)
                    for i in range(count):
                        out[first + i] += weights[i] * values[i]
            first += count

    cdef void row_at_levels(
        self, Py_ssize_t dims, Py_ssize_t q, const double *soa, Py_ssize_t ld, Py_ssize_t levels, const double *tails,
        const double *x, double *out
    ) noexcept nogil:
        """out[m·q + i] = r((point i, tail m), x): each g_j once for all levels."""
        cdef Py_ssize_t first = 0, count, i, j, m, level = self.level_of(x[self.d - 1])
        cdef double own, weight
        cdef double values[BLOCK]
        if dims == self.d:
            self.row(q, soa, ld, x, out)
            return
        while first < q:
            count = q - first if q - first < BLOCK else BLOCK
            for m in range(levels):
                memset(out + m * q + first, 0, count * sizeof(double))
            for j in range(self.parts):
                own = self.w[level * self.parts + j]
                if own == 0.0:
                    continue
                shape_row(&self.shapes[j], count, soa + first, ld, x, values)
                for m in range(levels):
                    weight = own * self.w[self.level_of(tails[m]) * self.parts + j]
                    if weight != 0.0:
                        for i in range(count):
                            out[m * q + first + i] += weight * values[i]
            first += count

    cdef void add_slopes(
        self, Py_ssize_t dims, Py_ssize_t n, const double *soa, Py_ssize_t ld, const double *z, const Slopes *slopes
    ) noexcept nogil:
        """Add the weighted sums of gradients; r has none in the level."""
        cdef Py_ssize_t i, j, k, level = self.level_of(z[self.d - 1]), numbers = dims if dims < self.d else self.d - 1
        cdef double weights[BLOCK]
        cdef double slope[BLOCK]
        cdef double weighted[BLOCK]
        for j in range(self.parts):
            if not self.weigh(j, level, n, soa + (self.d - 1) * ld, weights):
                continue
            shape_slope(&self.shapes[j], n, soa, ld, z, slope)
            for k in range(slopes.count):
                for i in range(n):
                    weighted[i] = weights[i] * slope[i] * slopes.weights[k][i * slopes.strides[k]]
                mf_weighted_diff(numbers, n, soa, ld, z, self.shapes[j].w, weighted, slopes.out[k])
