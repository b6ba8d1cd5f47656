"""The posterior kept current at fixed points, and the lazy exact argmax of the upper bound over them.

For point j the column v_j = L⁻¹ r(x_j) is stored, with the sums Σ v_i z_i and Σ v_i² that give μ and σ² (notation:
mfopt_core._process). A row appended to the GP adds one number to v_j: v_n = (r_n − l·v_j)/L_nn, O(n) a point instead of
the O(n²) of a solve. A row forgotten by truncate is dropped from the sums.

Layout. Columns and sums lie in a Columns (mfopt_core._columns). Points are kept twice, as rows (capacity, d) and as d
arrays of coordinates, each `capacity` long. Ids of rows, copied from the process, tell which of them are still there.

Lazy evaluation. Let a point's sums miss some rows, with residuals z_new. With a = ‖v_new‖ ≤ σ_old/√s,

    μ + bσ = μ_old + √s v_new·z_new + b √(σ_old² − s a²) ≤ μ_old + √(b² + ‖z_new‖²) σ_old

(Cauchy–Schwarz twice). So a point whose bound lies below the best exact value needs no work; and the minimum of such
bounds over fidelities bounds φ = min_m φ_m.
"""

cimport cython
cimport numpy as cnp
from libc.math cimport fabs, sqrt
from libc.stdint cimport uint64_t
from libc.string cimport memcpy, memset

from mfopt_core._arrays cimport (
    as_integer, as_matrix, as_number, as_points, copy_indices, copy_vector, data, new_matrix, new_vector, to_soa,
)
from mfopt_core._cholesky cimport BLOCK
from mfopt_core._columns cimport Columns
from mfopt_core._gp cimport GP
from mfopt_core._memory cimport Scratch, allocate, release, resize
from mfopt_core._posterior cimport CHUNK
from mfopt_core._rows cimport mf_accumulate, mf_all_finite

import numpy as np

cnp.import_array()

cdef double SLACK = 1e-10  # relative; keeps rounding from excluding the maximum


@cython.final
cdef class Tracked:
    """Points x (N, d) whose posterior under `gp` is kept current. Made by gp.track(x).

    lazy=True stores nothing for a point until argmax_ucb has to look at it: for large sets of which few points matter.
    With a `capacity`, points can be added later, up to that number in all.
    """

    def __cinit__(self, GP gp not None, x, bint lazy=False, capacity=0):
        cdef Py_ssize_t room = as_integer(capacity, "capacity")
        cdef cnp.ndarray points = as_points(x, gp.process.d(), "x")
        cdef Py_ssize_t q = cnp.PyArray_DIM(points, 0), d = cnp.PyArray_DIM(points, 1)
        if room < 0:
            raise ValueError(f"capacity must not be negative, got {room}")
        if q == 0 and room == 0:
            raise ValueError("x must hold at least one point to track, got none")
        self.capacity = max(room, q)
        self.gp = gp
        self.process = gp.process
        self.points = new_matrix(self.capacity, d)
        self.soa = <double *>allocate(self.capacity * d, sizeof(double))
        self.columns = Columns(self.capacity)
        gp.bind(d)
        self._append(q, data(points), not lazy)

    def __dealloc__(self):
        release(self.soa)
        release(self.ids)
        release(self.suffix)
        release(self.buffer)

    def __len__(self):
        return self.count

    # -- points in, bounds out -------------------------------------------------------------------------------

    def add(self, x):
        """Track the points x (q, d) too; the index of the first of them. There must be room for all."""
        cdef cnp.ndarray points = as_points(x, self.process.d(), "x")
        return self._append(cnp.PyArray_DIM(points, 0), data(points), True)

    cdef Py_ssize_t _append(self, Py_ssize_t q, const double *x, bint store) except -1:
        """Track q more points, (q, d), which are checked once more as copied: another thread may write to x."""
        cdef Scratch scratch = Scratch.__new__(Scratch)
        cdef Py_ssize_t first, d = self.process.d()
        cdef double *work
        cdef double *added
        with self.gp.lock:
            first = self.count
            if first + q > self.capacity:
                raise ValueError(f"all points must find room: capacity {self.capacity}, tracked {first}, got {q} more")
            self.sync()
            work = scratch.numbers(self.process.n() * CHUNK)
            added = data(self.points) + first * d
            memcpy(added, x, q * d * sizeof(double))
            if not mf_all_finite(q * d, added):
                raise ValueError("x must stay as it is while it is added, got numbers that are no longer finite")
            to_soa(q, d, added, self.soa + first, self.capacity)
            self.columns.clear(first, first + q)
            self.count += q
            with nogil:
                self._solve(first, store, work)
        return first

    @property
    def mean(self):
        """Posterior mean at every point, (N,)."""
        return self._compute()[0]

    @property
    def var(self):
        """Posterior variance at every point, (N,)."""
        return self._compute()[1]

    def _compute(self):
        """Mean and variance at every point, after making all of them current."""
        cdef Scratch scratch = Scratch.__new__(Scratch)
        cdef cnp.ndarray mean, var
        cdef double *mu
        cdef double *sigma2
        cdef double *work
        cdef Py_ssize_t j
        with self.gp.lock:
            mean, var = new_vector(self.count), new_vector(self.count)
            mu, sigma2 = data(mean), data(var)
            self.sync()
            work = scratch.numbers(self.process.n() * CHUNK)
            with nogil:
                self._refresh_all(work)
                for j in range(self.count):
                    mu[j] = self.process.mean_of(self.columns.dot[j])
                    sigma2[j] = self.process.variance_of(self.columns.square[j])
        return mean, var

    @property
    def fresh(self):
        """How many points contain every row of the GP already (the others are lazily stale)."""
        cdef Py_ssize_t j, count = 0
        with self.gp.lock:
            self.sync()
            for j in range(self.count):
                count += self.columns.summed[j] == self.process.n()
        return count

    def bounds(self, indices, beta, zeta):
        """μ + β^½ σ + ζ at the points with these indices, (q,), which alone are made current."""
        cdef cnp.ndarray which = copy_indices(indices, "indices")
        cdef Py_ssize_t q = cnp.PyArray_DIM(which, 0), j
        cdef cnp.ndarray out = new_vector(q)
        cdef double *values = data(out)
        cdef Py_ssize_t *index = <Py_ssize_t *>cnp.PyArray_DATA(which)
        cdef double b = as_number(beta, "beta"), shift = as_number(zeta, "zeta")
        if b < 0.0:
            raise ValueError(f"beta must not be negative, got {beta!r}")
        with self.gp.lock:
            for j in range(q):
                if not 0 <= index[j] < self.count:
                    raise ValueError(f"indices must be from 0 to {self.count - 1}, got {index[j]} at position {j}")
            self.sync()
            with nogil:
                for j in range(q):
                    self.refresh(index[j])
                    values[j] = self.upper(index[j], sqrt(b), shift)
        return out

    # -- pickling --------------------------------------------------------------------------------------------

    def __reduce__(self):
        return _retracked, (self.gp, self.capacity, *self._copy_columns())

    cdef tuple _copy_columns(self):
        """Points, rows stored and summed for each, their sums, and V (rows, count), all at one moment.

        V is not solved for again: its last bits depend on how its rows came about.
        """
        cdef cnp.ndarray stored, summed, dot, square, v
        cdef Py_ssize_t i, j, rows = 0
        with self.gp.lock:
            self.sync()
            stored, summed = np.zeros(self.count, dtype=np.intp), np.zeros(self.count, dtype=np.intp)
            dot, square = new_vector(self.count), new_vector(self.count)
            for j in range(self.count):
                (<Py_ssize_t *>cnp.PyArray_DATA(stored))[j] = self.columns.stored[j]
                (<Py_ssize_t *>cnp.PyArray_DATA(summed))[j] = self.columns.summed[j]
                data(dot)[j], data(square)[j] = self.columns.dot[j], self.columns.square[j]
                rows = max(rows, self.columns.stored[j])
            v = np.zeros((rows, self.count))
            for j in range(self.count):
                for i in range(self.columns.stored[j]):
                    data(v)[i * self.count + j] = self.columns.v[i // BLOCK][j * BLOCK + i % BLOCK]
            return self.points[:self.count].copy(), stored, summed, dot, square, v

    cdef int _restore(
        self, cnp.ndarray stored, cnp.ndarray summed, cnp.ndarray dot, cnp.ndarray square, cnp.ndarray v
    ) except -1:
        """Take over the columns of another Tracked, which have been checked but for their numbers of rows."""
        cdef Py_ssize_t i, j, n, rows = cnp.PyArray_DIM(v, 0)
        cdef Py_ssize_t *kept = <Py_ssize_t *>cnp.PyArray_DATA(stored)
        cdef Py_ssize_t *summands = <Py_ssize_t *>cnp.PyArray_DATA(summed)
        with self.gp.lock:
            self.sync()
            n = self.process.n()
            for j in range(self.count):
                if not (0 <= kept[j] <= min(rows, n) and kept[j] <= summands[j] <= n):
                    raise ValueError(f"columns must have from 0 to {n} rows, got {kept[j]} and {summands[j]} in sums")
            for j in range(self.count):
                for i in range(kept[j]):
                    self.columns.put(i, j, data(v)[i * self.count + j])
                self.columns.stored[j], self.columns.summed[j] = kept[j], summands[j]
                self.columns.dot[j], self.columns.square[j] = data(dot)[j], data(square)[j]
        return 0

    cdef bint is_parallel(self, Tracked other) except -1:
        """Whether both can stand for fidelities of one search: over the same points, or over as many of one GP."""
        return self.count == other.count and (
            self.gp is other.gp or np.array_equal(self.points[:self.count], other.points[:other.count])
        )

    cdef double upper(self, Py_ssize_t j, double b, double zeta) noexcept nogil:
        """φ_m = μ + bσ + ζ at point j: exact when its sums are current, otherwise a bound from above."""
        cdef Py_ssize_t rows = self.columns.summed[j]
        cdef double dot = self.columns.dot[j], square = self.columns.square[j], missing = self.suffix[rows]
        cdef double sigma = sqrt(1.0 - square) if square < 1.0 else 0.0
        cdef double width = b * sigma
        if rows < self.synced:
            width = sqrt(b * b + missing) * sigma
            width += SLACK * (fabs(dot) + width + sqrt(missing))
        return self.process.mean_of(dot + width) + zeta

    # -- keeping current -------------------------------------------------------------------------------------

    cdef int sync(self) except -1:
        """Learn which rows the GP has now: drop forgotten ones from the sums, make room for new ones. Lock held."""
        cdef Py_ssize_t n = self.process.n(), kept = self.process.count_kept(self.synced, self.ids), i
        cdef const double *z = self.process.residuals()
        if kept == self.synced and kept == n and self.suffix != NULL:
            return 0
        self.columns.reserve(n)
        self.suffix = <double *>resize(self.suffix, n + 1, sizeof(double))
        self.buffer = <double *>resize(self.buffer, max(n, self.capacity), sizeof(double))
        self.ids = <uint64_t *>resize(self.ids, n, sizeof(uint64_t))  # last: until then `synced` of them are needed
        with nogil:
            if kept < self.synced:
                self.columns.forget(self.count, kept, z)
            self.process.copy_ids(self.ids)
            self.suffix[n] = 0.0
            for i in range(n - 1, -1, -1):
                self.suffix[i] = self.suffix[i + 1] + z[i] * z[i]
        self.synced = n
        return 0

    cdef void refresh(self, Py_ssize_t j) noexcept nogil:
        """Make point j current: O(n) a missing row."""
        cdef Py_ssize_t n = self.process.n(), first = self.columns.stored[j], i
        cdef double *column = self.buffer
        if self.columns.summed[j] == n:
            return
        self.process.covary_point(data(self.points) + j * self.process.d(), first, n, column)
        if first == 0:
            self.process.factor.forward(1, column, 1)
        for i in range(first, n):
            if first > 0:
                column[i] = self.process.factor.substitute(i, column[i], self.columns.v, j)
            self.columns.put(i, j, column[i])
        self.columns.add_rows(j, first, n, self.process.residuals())

    cdef void _refresh_all(self, double *work) noexcept nogil:
        """Make every point current; work holds n · CHUNK numbers."""
        cdef Py_ssize_t n = self.process.n(), least = n, most = 0, stale = 0, j, i
        for j in range(self.count):
            least = min(least, self.columns.stored[j])
            most = max(most, self.columns.stored[j])
            stale += self.columns.summed[j] != n
        if stale == 0:
            return
        if least == most and n - least <= 8 + n // 16:
            for i in range(least, n):  # streaming V once per row beats a fresh solve only while few rows are missing
                self._add_row(i)
        elif least == most:
            self._solve(0, True, work)
        else:
            for j in range(self.count):
                self.refresh(j)

    cdef void _add_row(self, Py_ssize_t i) noexcept nogil:
        """Row i of V for all points, which have rows 0 .. i − 1."""
        cdef double *values = self.buffer
        self.process.covary_row(i, self.count, self.soa, self.capacity, values)
        self.process.factor.substitute_all(i, self.count, values, self.columns.v)
        self.columns.add_row_to_all(i, self.count, values, self.process.residuals())

    cdef void _solve(self, Py_ssize_t first, bint store, double *work) noexcept nogil:
        """Sums, and with `store` also V, of the points from `first` by batched solves; work holds n · CHUNK numbers."""
        cdef const double *z = self.process.residuals()
        cdef Py_ssize_t n = self.process.n(), j = first, k, i, m
        while j < self.count:
            m = self.count - j if self.count - j < CHUNK else CHUNK
            self.process.solve(m, self.soa + j, self.capacity, work)
            if store:
                for k in range(m):
                    for i in range(n):
                        self.columns.put(i, j + k, work[i * m + k])
                    self.columns.add_rows(j + k, 0, n, z)
            else:
                memset(self.columns.dot + j, 0, m * sizeof(double))
                memset(self.columns.square + j, 0, m * sizeof(double))
                for i in range(n):
                    mf_accumulate(m, z[i], work + i * m, self.columns.dot + j, self.columns.square + j)
                for k in range(m):
                    self.columns.summed[j + k] = n
            j += m


def _retracked(gp, capacity, points, stored, summed, dot, square, v):
    """The Tracked that was pickled, from its GP and its columns."""
    cdef Tracked tracked = Tracked(gp, points, True, capacity)
    cdef Py_ssize_t count = tracked.count
    cdef cnp.ndarray kept = copy_indices(stored, "stored"), summands = copy_indices(summed, "summed")
    if len(kept) != count or len(summands) != count:
        raise ValueError(f"stored and summed must have one number per point, {count}, got {len(kept)}, {len(summands)}")
    tracked._restore(
        kept, summands, copy_vector(dot, count, "dot"), copy_vector(square, count, "square"),
        as_matrix(np.array(v), len(v), count, "v"),
    )
    return tracked
