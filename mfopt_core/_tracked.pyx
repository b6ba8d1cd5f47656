"""The posterior kept current at fixed points, and the lazy exact argmax of the upper bound over them.

For point j the column v_j = L⁻¹ r(x_j) is stored, with the sums Σ v_i z_i and Σ v_i² that give μ and σ² (notation:
mfopt_core._gp). A row appended to the GP adds one number to v_j: v_n = (r_n − l·v_j)/L_nn, O(n) a point instead of the
O(n²) of a solve. A row forgotten by truncate is dropped from the sums.

Memory. V is kept in chunks of BLOCK rows, one allocation each, point by point inside: v[c][j·BLOCK + i]. A point's
column is contiguous in pieces that line up with the block rows of L, growing copies nothing, and memory of points that
were never refreshed is never touched.

Lazy evaluation. Let a point's sums miss some rows, with residuals z_new. With a = ‖v_new‖ ≤ σ_old/√s,

    μ + bσ = μ_old + √s v_new·z_new + b √(σ_old² − s a²) ≤ μ_old + √(b² + ‖z_new‖²) σ_old

(Cauchy–Schwarz twice). So a point whose bound lies below the best exact value needs no work; and the minimum of such
bounds over fidelities bounds φ = min_m φ_m.
"""

cimport cython
cimport numpy as cnp
from libc.math cimport fabs, sqrt
from libc.stdint cimport uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from mfopt_core._arrays cimport as_number, as_points, data, larger, new_matrix, new_vector, to_soa
from mfopt_core._cholesky cimport BLOCK
from mfopt_core._gp cimport CHUNK, GP, workspace
from mfopt_core._rows cimport mf_accumulate, mf_check, mf_dot, mf_forward, mf_rows_dot

import numpy as np

cnp.import_array()

cdef double SLACK = 1e-10  # relative; keeps rounding from excluding the maximum


@cython.final
cdef class Tracked:
    """Points x (N, d) whose posterior under `gp` is kept current. Made by gp.track(x).

    lazy=True stores nothing for a point until argmax_ucb has to look at it: for large sets of which few points matter.
    With a `capacity`, points can be added later, up to that number in all.
    """

    def __cinit__(self, GP gp not None, x, bint lazy=False, Py_ssize_t capacity=0):
        cdef cnp.ndarray points = as_points(x, gp.kernel.d, "x")
        if cnp.PyArray_DIM(points, 0) == 0 and capacity < 1:
            raise ValueError("x must hold at least one point to track, got none")
        self.capacity = max(capacity, cnp.PyArray_DIM(points, 0))
        self.gp = gp
        gp.bind(cnp.PyArray_DIM(points, 1))
        self.points = new_matrix(self.capacity, gp.kernel.d)
        self.soa = workspace(self.capacity * gp.kernel.d)
        self.sum = workspace(self.capacity)
        self.square = workspace(self.capacity)
        self.stored = <Py_ssize_t *>workspace(self.capacity)
        self.rows = <Py_ssize_t *>workspace(self.capacity)
        self._append(points, not lazy)

    def add(self, x):
        """Track the points x (q, d) too; the index of the first of them. There must be room for all."""
        return self._append(as_points(x, self.gp.kernel.d, "x"), True)

    cdef Py_ssize_t _append(self, cnp.ndarray points, bint store) except -1:
        cdef Py_ssize_t j, first, q = cnp.PyArray_DIM(points, 0), d = self.gp.kernel.d
        cdef double *work
        with self.gp.lock:
            first = self.count
            if first + q > self.capacity:
                raise ValueError(f"all points must find room: capacity {self.capacity}, tracked {first}, got {q} more")
            self.sync()
            work = workspace(self.gp.factor.n * CHUNK)
            memcpy(data(self.points) + first * d, data(points), q * d * sizeof(double))
            to_soa(q, d, data(points), self.soa + first, self.capacity)
            for j in range(first, first + q):
                self.sum[j] = self.square[j] = 0.0
                self.stored[j] = self.rows[j] = 0
            self.count += q
            with nogil:
                self.solve(first, store, work)
            free(work)
        return first

    def __dealloc__(self):
        cdef Py_ssize_t c
        for c in range(self.chunks):
            free(self.v[c])
        free(self.v)
        free(self.soa)
        free(self.sum)
        free(self.square)
        free(self.stored)
        free(self.rows)
        free(self.ids)
        free(self.suffix)
        free(self.buffer)

    def __len__(self):
        return self.count

    @property
    def mean(self):
        """Posterior mean at every point, (N,)."""
        return self._current()[0]

    @property
    def var(self):
        """Posterior variance at every point, (N,)."""
        return self._current()[1]

    def _current(self):
        cdef cnp.ndarray mean, var
        cdef double *mu
        cdef double *sigma2
        cdef double *work
        cdef Py_ssize_t j
        with self.gp.lock:
            mean, var = new_vector(self.count), new_vector(self.count)
            mu, sigma2 = data(mean), data(var)
            self.sync()
            work = workspace(self.gp.factor.n * CHUNK)
            with nogil:
                self.refresh_all(work)
                for j in range(self.count):
                    mu[j] = self.gp.mean + self.gp.root * self.sum[j]
                    sigma2[j] = self.gp.kernel.scale * (1.0 - self.square[j]) if self.square[j] < 1.0 else 0.0
            free(work)
        return mean, var

    @property
    def fresh(self):
        """How many points contain every row of the GP already (the others are lazily stale)."""
        cdef Py_ssize_t j, count = 0
        with self.gp.lock:
            self.sync()
            for j in range(self.count):
                count += self.rows[j] == self.gp.factor.n
        return count

    def bounds(self, indices, beta, zeta):
        """μ + β^½ σ + ζ at the points with these indices, (q,), which alone are made current."""
        cdef cnp.ndarray which = np.ascontiguousarray(indices, dtype=np.intp)
        cdef Py_ssize_t q = which.size, j
        cdef cnp.ndarray out = new_vector(q)
        cdef double *values = data(out)
        cdef Py_ssize_t *index = <Py_ssize_t *>cnp.PyArray_DATA(which)
        cdef double b = as_number(beta, "beta"), shift = as_number(zeta, "zeta")
        if b < 0.0:
            raise ValueError(f"beta must not be negative, got {beta!r}")
        with self.gp.lock:
            if q > 0 and not (0 <= which.min() and which.max() < self.count):
                raise ValueError(f"indices must be from 0 to {self.count - 1}, got {which.min()} to {which.max()}")
            self.sync()
            with nogil:
                for j in range(q):
                    self.refresh(index[j])
                    values[j] = self.upper(index[j], sqrt(b), shift)
        return out

    cdef int sync(self) except -1:
        """Learn which rows the GP has now: drop forgotten ones from the sums, make room for new ones. Lock held."""
        cdef Py_ssize_t n = self.gp.factor.n, kept = 0, j, c, chunks = (n + BLOCK - 1) // BLOCK, size
        while kept < n and kept < self.synced and self.ids[kept] == self.gp.ids[kept]:
            kept += 1
        if kept == self.synced and kept == n and self.suffix != NULL:
            return 0
        size = n if n > self.capacity else self.capacity
        self.ids = <uint64_t *>larger(self.ids, n * sizeof(uint64_t))
        self.suffix = <double *>larger(self.suffix, (n + 1) * sizeof(double))
        self.buffer = <double *>larger(self.buffer, size * sizeof(double))
        if chunks > self.chunks:
            self.v = <double **>larger(self.v, chunks * sizeof(double *))
            for c in range(self.chunks, chunks):
                self.v[c] = workspace(self.capacity * BLOCK)
                self.chunks = c + 1
        with nogil:
            if kept < self.synced:
                for j in range(self.count):
                    if self.stored[j] > kept:
                        self.stored[j] = kept
                    if self.rows[j] > kept:
                        self.rows[j] = self.stored[j]
                        self.resum(j, 0, self.stored[j])
            for j in range(n):
                self.ids[j] = self.gp.ids[j]
            self.suffix[n] = 0.0
            for j in range(n - 1, -1, -1):
                self.suffix[j] = self.suffix[j + 1] + self.gp.z[j] * self.gp.z[j]
        self.synced = n
        return 0

    cdef void resum(self, Py_ssize_t j, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
        """Add rows first .. end − 1 of point j to its sums (which start anew at first = 0), always one by one and in
        order, so that the sums have the same bits whichever way they came about."""
        cdef Py_ssize_t i
        mf_check(0 <= j < self.count and end <= self.chunks * BLOCK and end <= self.gp.factor.n)
        cdef double v, sum = self.sum[j] if first else 0.0, square = self.square[j] if first else 0.0
        for i in range(first, end):
            v = self.v[i // BLOCK][j * BLOCK + i % BLOCK]
            sum += v * self.gp.z[i]
            square += v * v
        self.sum[j] = sum
        self.square[j] = square

    cdef void refresh(self, Py_ssize_t j) noexcept nogil:
        """Make point j current: O(n) a missing row."""
        cdef Py_ssize_t n = self.gp.factor.n, d = self.gp.kernel.d, first = self.stored[j], i, b, c, skip, end
        cdef double *x = data_of(self.points) + j * d
        cdef double *lrow
        cdef double value
        if self.rows[j] == n:
            return
        for b in range(first // BLOCK, (n + BLOCK - 1) // BLOCK):
            skip = first - b * BLOCK if first > b * BLOCK else 0
            end = n - b * BLOCK if n - b * BLOCK < BLOCK else BLOCK
            self.gp.kernel.row(end - skip, self.gp.soa[b] + skip, BLOCK, x, self.buffer + b * BLOCK + skip)
        if first == 0:
            mf_forward(n, BLOCK, self.gp.factor.rows, self.gp.factor.rdiag, self.buffer)
        for i in range(first, n):
            value = self.buffer[i]
            if first > 0:
                lrow = self.gp.factor.row(i)
                for c in range(i // BLOCK):
                    value -= mf_dot(BLOCK, lrow + c * BLOCK, self.v[c] + j * BLOCK)
                c = i // BLOCK
                value -= mf_dot(i - c * BLOCK, lrow + c * BLOCK, self.v[c] + j * BLOCK)
                value *= self.gp.factor.rdiag[i]
            self.v[i // BLOCK][j * BLOCK + i % BLOCK] = value
        self.resum(j, first, n)
        self.stored[j] = self.rows[j] = n

    cdef void refresh_all(self, double *work) noexcept nogil:
        """Make every point current; work holds n · CHUNK numbers."""
        cdef Py_ssize_t n = self.gp.factor.n, least = n, most = 0, stale = 0, j, i
        for j in range(self.count):
            least = self.stored[j] if self.stored[j] < least else least
            most = self.stored[j] if self.stored[j] > most else most
            stale += self.rows[j] != n
        if stale == 0:
            return
        if least == most and n - least <= 8 + n // 16:
            for i in range(least, n):  # streaming V once per row beats a fresh solve only while few rows are missing
                self.add_row_to_all(i)
        elif least == most:
            self.solve(0, True, work)
        else:
            for j in range(self.count):
                self.refresh(j)

    cdef void add_row_to_all(self, Py_ssize_t i) noexcept nogil:
        """Row i of V for all points, which have rows 0 .. i − 1."""
        cdef Py_ssize_t j, c, d = self.gp.kernel.d, last = i // BLOCK
        cdef double *lrow = self.gp.factor.row(i)
        cdef double *value = self.buffer
        self.gp.kernel.row(self.count, self.soa, self.capacity, self.gp.points + i * d, value)
        for c in range(last):
            mf_rows_dot(self.count, BLOCK, self.v[c], BLOCK, lrow + c * BLOCK, value)
        mf_rows_dot(self.count, i - last * BLOCK, self.v[last], BLOCK, lrow + last * BLOCK, value)
        for j in range(self.count):
            self.v[last][j * BLOCK + i % BLOCK] = value[j] * self.gp.factor.rdiag[i]
            self.resum(j, i, i + 1)
            self.stored[j] = self.rows[j] = i + 1

    cdef void solve(self, Py_ssize_t first, bint store, double *work) noexcept nogil:
        """Sums, and with `store` also V, of the points from `first` by batched solves; work holds n · CHUNK numbers."""
        cdef Py_ssize_t n = self.gp.factor.n, j = first, k, i, m
        while j < self.count:
            m = self.count - j if self.count - j < CHUNK else CHUNK
            self.gp.cross(m, self.soa + j, self.capacity, work)
            self.gp.factor.forward(m, work, m)
            if store:
                for k in range(m):
                    for i in range(n):
                        self.v[i // BLOCK][(j + k) * BLOCK + i % BLOCK] = work[i * m + k]
                    self.resum(j + k, 0, n)
                    self.stored[j + k] = n
            else:
                memset(self.sum + j, 0, m * sizeof(double))
                memset(self.square + j, 0, m * sizeof(double))
                for i in range(n):
                    mf_accumulate(m, self.gp.z[i], work + i * m, self.sum + j, self.square + j)
            for k in range(m):
                self.rows[j + k] = n
            j += m

    cdef double upper(self, Py_ssize_t j, double b, double zeta) noexcept nogil:
        """φ_m = μ + bσ + ζ at point j: exact when its sums are current, otherwise a bound from above."""
        cdef double missing = self.suffix[self.rows[j]]
        cdef double sigma = sqrt(1.0 - self.square[j]) if self.square[j] < 1.0 else 0.0
        cdef double width = b * sigma
        if self.rows[j] < self.synced:
            width = sqrt(b * b + missing) * sigma
            width += SLACK * (fabs(self.sum[j]) + width + sqrt(missing))
        return self.gp.mean + self.gp.root * (self.sum[j] + width) + zeta


cdef inline double *data_of(cnp.ndarray a) noexcept nogil:
    return <double *>cnp.PyArray_DATA(a)
