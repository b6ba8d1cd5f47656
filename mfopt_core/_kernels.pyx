"""Stationary kernels k(x, z) = scale · g(r²), r² = Σ_c ((x_c − z_c)/ℓ_c)², with their gradients.

    se          g = exp(−r²/2)
    matern12    g = exp(−r)
    matern32    g = (1 + √3 r) exp(−√3 r)
    matern52    g = (1 + √5 r + 5r²/3) exp(−√5 r)
    matern      g = 2^(1−ν)/Γ(ν) u^ν K_ν(u), u = √(2ν) r     (0 < ν ≤ 100, by SciPy's Bessel function: slower)

All derivatives follow from h = −2 dg/d(r²):

    ∂k/∂x_c = −scale · h · (x_c − z_c)/ℓ_c²,   ∂k/∂log ℓ_c = scale · h · ((x_c − z_c)/ℓ_c)²,   ∂k/∂log scale = k

Layout. Inside, one point z is taken against many, whose coordinates come as d contiguous arrays: coordinate c of point
j is soa[c·ld + j]. Values there are g and h; the scale is the caller's.
"""

cimport cython
cimport numpy as cnp
from libc.math cimport exp, lgamma, log, sqrt

from mfopt_core._arrays cimport as_number, as_points, copy_vector, data, keep_still, new_matrix, to_soa
from mfopt_core._cholesky cimport BLOCK
from mfopt_core._correlation cimport Correlation, Slopes
from mfopt_core._memory cimport Scratch, allocate, release
from mfopt_core._rows cimport (
    MF_MATERN, MF_MATERN12, MF_MATERN32, MF_MATERN52, MF_SE, mf_build, mf_profile, mf_slope, mf_sqdist,
    mf_weighted_diff,
)

import numpy as np

cnp.import_array()

KERNELS = ("se", "matern12", "matern32", "matern52", "matern")
BUILD = mf_build().decode()
ctypedef double (*Function)(double, double) noexcept nogil
cdef Function scaled_bessel = NULL  # e^u K_ν(u), once a general Matérn was made
cdef double TINY = 1e-150  # a length-scale whose reciprocal could overflow when squared
cdef double FAR = 1e8  # squared distance beyond which the general Matérn is 0


cdef int _load_bessel() except -1:
    global scaled_bessel
    if scaled_bessel == NULL:
        from mfopt_core import _bessel

        scaled_bessel = <Function><size_t>_bessel.address()
    return 0


cdef double _matern(double nu, double r2) noexcept nogil:
    """g of the general Matérn, through log(e^u K_ν(u)); 1 where r² is too small for K_ν."""
    cdef double u = sqrt(2.0 * nu * (r2 if r2 < FAR else FAR)), value
    if u < 1e-150:
        return 1.0
    value = exp((1.0 - nu) * log(2.0) - lgamma(nu) + nu * log(u) - u + log(scaled_bessel(nu, u)))
    return value if value <= 1.0 else 1.0  # K_ν overflows, or rounds up, only where g is 1 to rounding


cdef double _matern_slope(double nu, double r2) noexcept nogil:
    """h = 2ν 2^(1−ν)/Γ(ν) u^(ν−1) K_(ν−1)(u); at u = 0 its limit ν/(ν−1), or 0 where it has none (ν ≤ 1)."""
    cdef double u = sqrt(2.0 * nu * (r2 if r2 < FAR else FAR)), limit = nu / (nu - 1.0) if nu > 1.0 else 0.0, value
    if u < 1e-150:
        return limit
    value = (1.0 - nu) * log(2.0) - lgamma(nu) + (nu - 1.0) * log(u) - u + log(scaled_bessel(nu - 1.0, u))
    value = 2.0 * nu * exp(value)
    return value if value - value == 0.0 else limit


# -- a shape: C without an object, so that it can be used from many -----------------------------------------

cdef void apply_profile(const Shape *shape, Py_ssize_t n, double *values) noexcept nogil:
    """values[j] <- g(values[j])."""
    cdef Py_ssize_t j
    if shape.kind == MF_MATERN:
        for j in range(n):
            values[j] = _matern(shape.order, values[j])
    else:
        mf_profile(shape.kind, n, values, values)


cdef void shape_row(
    const Shape *shape, Py_ssize_t n, const double *soa, Py_ssize_t ld, const double *z, double *out
) noexcept nogil:
    """out[j] = g at the distance of z to point j."""
    mf_sqdist(shape.d, n, soa, ld, z, shape.w, out)
    apply_profile(shape, n, out)


cdef void shape_slope(
    const Shape *shape, Py_ssize_t n, const double *soa, Py_ssize_t ld, const double *z, double *out
) noexcept nogil:
    """out[j] = h at the distance of z to point j."""
    cdef Py_ssize_t j
    mf_sqdist(shape.d, n, soa, ld, z, shape.w, out)
    if shape.kind == MF_MATERN:
        for j in range(n):
            out[j] = _matern_slope(shape.order, out[j])
    else:
        mf_slope(shape.kind, n, out, out)


@cython.final
cdef class Kernel(Correlation):
    """k(x, z): `lengthscale` is a number (isotropic) or one number per dimension, `scale` = k(x, x)."""

    def __cinit__(self, str name, lengthscale, scale=1.0, nu=None):
        cdef cnp.ndarray ell
        if name not in KERNELS:
            raise ValueError(f"kernel must be one of {', '.join(KERNELS)}, got {name!r}")
        if (name == "matern") != (nu is not None):
            given = keep_still(nu)
            raise ValueError(f'nu is given with kernel "matern" and only then, got kernel {name!r} and nu={given!r}')
        self.name = name
        self.shape.kind = [MF_SE, MF_MATERN12, MF_MATERN32, MF_MATERN52, MF_MATERN][KERNELS.index(name)]
        self.shape.order = _positive(nu, "nu") if nu is not None else 0.0
        if self.shape.order > 100.0:
            given = keep_still(nu)
            raise ValueError(f"nu must be at most 100 (beyond, the kernel is se for all purposes), got {given!r}")
        if self.shape.kind == MF_MATERN:
            _load_bessel()
        self.scale = _positive(scale, "scale")
        self.isotropic = np.ndim(lengthscale) == 0
        if self.isotropic:
            self.lengthscale = _positive(lengthscale, "lengthscale")
            if self.lengthscale <= TINY:
                raise ValueError(f"lengthscale must be above {TINY}, got {self.lengthscale}")
            return
        ell = copy_vector(lengthscale, -1, "lengthscale")
        if len(ell) == 0 or not np.all(ell > TINY):
            raise ValueError(f"lengthscale must be positive, one number or one per dimension, got {ell!r}")
        ell.setflags(write=False)
        self.lengthscale = ell
        self.bind(len(ell))

    def __dealloc__(self):
        release(self.shape.w)

    @property
    def nu(self):
        """ν of a Matérn kernel, None for se."""
        return {"se": None, "matern12": 0.5, "matern32": 1.5, "matern52": 2.5, "matern": self.shape.order}[self.name]

    cdef int bind(self, Py_ssize_t d) except -1:
        """Fix the number of dimensions, once: the first points decide it for an isotropic kernel."""
        cdef Py_ssize_t c
        if self.d:
            if self.d != d:
                raise ValueError(f"points must have {self.d} dimensions like those before, got {d}")
            return 0
        self.shape.w = <double *>allocate(d, sizeof(double))
        for c in range(d):
            self.shape.w[c] = 1.0 / (self.lengthscale if self.isotropic else self.lengthscale[c])
        self.d = self.shape.d = d
        return 0

    cdef double distance_beyond(self, Py_ssize_t dims, const double *x, const double *tail) noexcept nogil:
        """r² between x (d,) and a point whose coordinates from `dims` on are `tail`, in these coordinates."""
        cdef Py_ssize_t c
        cdef double away, total = 0.0
        for c in range(dims, self.d):
            away = (x[c] - tail[c - dims]) * self.shape.w[c]
            total += away * away
        return total

    cdef void row(
        self, Py_ssize_t n, const double *soa, Py_ssize_t ld, const double *z, double *out
    ) noexcept nogil:
        """out[j] = g at the distance of z to point j."""
        shape_row(&self.shape, n, soa, ld, z, out)

    cdef void row_at_levels(
        self, Py_ssize_t dims, Py_ssize_t q, const double *soa, Py_ssize_t ld, Py_ssize_t levels, const double *tails,
        const double *x, double *out
    ) noexcept nogil:
        """out[m·q + j] = g at the distance of x to (point j, tail m): the distance to the point once for all tails."""
        cdef Py_ssize_t m, j, width = self.d - dims
        cdef double beyond
        mf_sqdist(dims, q, soa, ld, x, self.shape.w, out)
        for m in range(levels - 1, -1, -1):  # the first last: the others start from it
            beyond = self.distance_beyond(dims, x, tails + m * width) if width > 0 else 0.0
            for j in range(q):
                out[m * q + j] = out[j] + beyond
        apply_profile(&self.shape, levels * q, out)

    cdef void add_slopes(
        self, Py_ssize_t dims, Py_ssize_t n, const double *soa, Py_ssize_t ld, const double *z, const Slopes *slopes
    ) noexcept nogil:
        """Add the weighted sums of gradients."""
        cdef Py_ssize_t i, k
        cdef double slope[BLOCK]
        cdef double weighted[BLOCK]
        shape_slope(&self.shape, n, soa, ld, z, slope)
        for k in range(slopes.count):
            for i in range(n):
                weighted[i] = slope[i] * slopes.weights[k][i * slopes.strides[k]]
            mf_weighted_diff(dims, n, soa, ld, z, self.shape.w, weighted, slopes.out[k])

    def __call__(self, x, z):
        """The block K with K_ij = k(x_i, z_j), (p, q)."""
        return self._blocks(x, z, False)

    def gradient(self, x, z):
        """∂k(x_i, z_j)/∂x_i, (p, q, d)."""
        cdef cnp.ndarray a = as_points(x, self.d, "x").view(), b = as_points(z, a.shape[1], "z").view()
        cdef cnp.ndarray slope = self._blocks(a, b, True)
        difference = a[:, None, :] - b[None, :, :]
        return -slope[:, :, None] * difference / np.square(self.lengthscale)

    def hyper_gradient(self, x, z):
        """∂k(x_i, z_j)/∂(log ℓ_1, .., log ℓ_d, log scale), (p, q, d + 1); (p, q, 2) when isotropic."""
        cdef cnp.ndarray a = as_points(x, self.d, "x").view(), b = as_points(z, a.shape[1], "z").view()
        cdef cnp.ndarray slope = self._blocks(a, b, True)
        difference = a[:, None, :] - b[None, :, :]
        by_ell = slope[:, :, None] * np.square(difference / self.lengthscale)
        if self.isotropic:
            by_ell = by_ell.sum(axis=2, keepdims=True)
        return np.concatenate([by_ell, self._blocks(a, b, False)[:, :, None]], axis=2)

    cdef cnp.ndarray _blocks(self, x, z, bint slopes):
        """scale · g, or scale · h, for all pairs of rows."""
        cdef Scratch scratch = Scratch.__new__(Scratch)
        cdef cnp.ndarray a = as_points(x, self.d, "x")
        cdef Py_ssize_t p = cnp.PyArray_DIM(a, 0), d = cnp.PyArray_DIM(a, 1), i, j
        cdef cnp.ndarray b = as_points(z, d, "z")
        cdef Py_ssize_t q = cnp.PyArray_DIM(b, 0)
        cdef cnp.ndarray block = new_matrix(p, q)
        cdef double *rows = data(a)
        cdef double *columns = data(b)
        cdef double *out = data(block)
        cdef double *soa
        self.bind(d)
        soa = scratch.numbers(q * d)
        with nogil:
            to_soa(q, d, columns, soa, q)
            for i in range(p):
                if slopes:
                    shape_slope(&self.shape, q, soa, q, rows + i * d, out + i * q)
                else:
                    shape_row(&self.shape, q, soa, q, rows + i * d, out + i * q)
                if self.scale != 1.0:
                    for j in range(q):
                        out[i * q + j] *= self.scale
        return block

    def __reduce__(self):
        return Kernel, (self.name, self.lengthscale, self.scale, self.shape.order if self.name == "matern" else None)


cdef double _positive(object value, str what) except -1.0:
    cdef double x = as_number(value, what)
    if x <= 0.0:
        raise ValueError(f"{what} must be positive, got {keep_still(value)!r}")
    return x
