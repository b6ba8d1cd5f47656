"""The posterior kept current at fixed points: what is kept for them, and how a row of data is added to it.

For point j the column v_j = L⁻¹ r(x_j) is stored, with the sums Σ v_i z_i and Σ v_i² that give μ and σ² (notation:
mfopt_core._process). A row appended to the GP adds one number to v_j: v_n = (r_n − l·v_j)/L_nn, O(n) a point instead of
the O(n²) of a solve. A row forgotten by truncate is dropped from the sums.

The last bits of a column and of its sums depend on its point and on the rows alone, not on when the point was first
looked at, nor on the points that were looked at with it: a copy that remembers nothing goes on to the bit.

Layout. Columns and sums lie in a Columns (mfopt_core._columns). Points are rows (capacity, dims). Coordinates that are
the same for all of them, such as those that tell the fidelity, are kept once: the tail. Ids of rows, copied from the
process, tell which of them are still there.

Threads. Points do not depend on each other: where the process may use several threads they share the points out, in
chunks whose size does not depend on how many there are.

Lazy evaluation. Let a point's sums miss some rows, with residuals z_new. With a = ‖v_new‖ ≤ σ_old/√s,

    μ + bσ = μ_old + √s v_new·z_new + b √(σ_old² − s a²) ≤ μ_old + √(b² + ‖z_new‖²) σ_old

(Cauchy–Schwarz twice), and the same for −μ. So a point whose bound lies below the best exact value needs no work; and
the minimum of such bounds over fidelities bounds φ = min_m φ_m.
"""

cimport cython
cimport numpy as cnp
from libc.math cimport fabs, sqrt
from libc.stdint cimport uint64_t
from libc.string cimport memcpy

from mfopt_core._arrays cimport as_matrix, copy_indices, copy_vector, data, new_matrix, new_vector
from mfopt_core._cholesky cimport BLOCK, count_blocks
from mfopt_core._columns cimport Columns, sum_up
from mfopt_core._crew cimport count_workers, mf_run, mf_task
from mfopt_core._gp cimport GP
from mfopt_core._memory cimport Scratch, allocate, release, resize
from mfopt_core._posterior cimport CHUNK
from mfopt_core._rows cimport mf_all_finite, mf_check

import numpy as np

cnp.import_array()

cdef double SLACK = 1e-10  # relative; keeps rounding from excluding the maximum

cdef enum:
    SOME = 32  # points to which rows are added at a time, by one thread


cdef void refresh_task(void *context, Py_ssize_t k, int worker) noexcept nogil:
    """Some of the listed points: those that have rows one by one, then chunks of new ones."""
    cdef Round *these = <Round *>context
    cdef Desks *desks = these.desks
    cdef Py_ssize_t olds = (these.old + SOME - 1) // SOME, i, first
    cdef double *column = desks.column + worker * desks.width
    if k < olds:
        for i in range(k * SOME, min(these.old, (k + 1) * SOME)):
            (<Tracker>these.tracker).refresh_at(desks.listed[i], column)
    else:
        first = (k - olds) * CHUNK
        (<Tracker>these.tracker).solve_new(
            min(these.new - first, <Py_ssize_t>CHUNK), desks.listed + these.old + first, column
        )


cdef void sum_task(void *context, Py_ssize_t k, int worker) noexcept nogil:
    """The sums of a chunk of the listed points, all of them new."""
    cdef Round *these = <Round *>context
    cdef Desks *desks = these.desks
    cdef Py_ssize_t blocks = count_blocks((<Tracker>these.tracker).process.n())
    (<Tracker>these.tracker).sum_new(
        min(these.new - k * CHUNK, <Py_ssize_t>CHUNK), desks.listed + k * CHUNK, desks.column + worker * desks.width,
        desks.v + worker * blocks * BLOCK * desks.chunk, desks.pieces + worker * blocks
    )


@cython.final
cdef class Tracker:
    """Up to `capacity` points of a GP, numbered from 0. A C-level object: errors of use are the caller's."""

    def __dealloc__(self):
        release(self.points)
        release(self.whole)
        release(self.ids)
        release(self.suffix)
        release(self.buffer)

    cdef int open(self, GP gp, Py_ssize_t capacity, Py_ssize_t dims, cnp.ndarray tail) except -1:
        """Room for points of `dims` coordinates, which have this tail (d − dims,); once, before anything else."""
        cdef Py_ssize_t width = cnp.PyArray_DIM(tail, 0)
        self.gp = gp
        self.process = gp.process
        self.capacity = capacity
        self.dims = dims
        self.points = <double *>allocate(capacity * dims, sizeof(double))
        self.whole = <double *>allocate(dims + width, sizeof(double))
        memcpy(self.whole + dims, data(tail), width * sizeof(double))
        self.columns = Columns(capacity)
        return 0

    # -- points in -------------------------------------------------------------------------------------------

    cdef int append(self, Py_ssize_t q, const double *x, bint store) except -1:
        """Track q more points, (q, dims), which are checked once more as copied: another thread may write to x."""
        cdef Scratch scratch = Scratch.__new__(Scratch)
        cdef Py_ssize_t first = self.count
        cdef double *added = self.points + first * self.dims
        cdef Desks desks
        mf_check(first + q <= self.capacity)
        self.sync()
        self.open_desks(&desks, q, scratch)
        memcpy(added, x, q * self.dims * sizeof(double))
        if not mf_all_finite(q * self.dims, added):
            raise ValueError("x must stay as it is while it is added, got numbers that are no longer finite")
        self.columns.clear(first, first + q)
        self.count += q
        with nogil:
            self._solve(first, store, &desks)
        return 0

    cdef void put(self, Py_ssize_t j, const double *x) noexcept nogil:
        """Let x (dims,) be point j, of those that are there or the next; nothing is known of it yet."""
        mf_check(0 <= j and j <= self.count and j < self.capacity)
        memcpy(self.points + j * self.dims, x, self.dims * sizeof(double))
        self.columns.clear(j, j + 1)
        if j == self.count:
            self.count += 1

    # -- bounds out ------------------------------------------------------------------------------------------

    cdef double upper(self, Py_ssize_t j, double b, double factor, double shift) noexcept nogil:
        """factor · μ + b |factor| σ + shift at point j: exact when its sums are current, otherwise from above."""
        cdef Py_ssize_t rows = self.columns.summed[j]
        cdef double dot = self.columns.dot[j], square = self.columns.square[j], missing = self.suffix[rows]
        cdef double sigma = sqrt(1.0 - square) if square < 1.0 else 0.0
        cdef double width = b * sigma
        if rows < self.synced:
            width = sqrt(b * b + missing) * sigma
            width += SLACK * (fabs(dot) + width + sqrt(missing))
        return factor * self.process.mean_of(dot) + fabs(factor) * self.process.root * width + shift

    cdef double lower(self, Py_ssize_t j, double factor, double shift) noexcept nogil:
        """A bound from below of factor · μ + shift at point j, whose sums may miss rows."""
        cdef double dot = self.columns.dot[j], square = self.columns.square[j]
        cdef double missing = sqrt(self.suffix[self.columns.summed[j]])
        cdef double reach = missing * sqrt(1.0 - square) if square < 1.0 else 0.0
        reach += SLACK * (fabs(dot) + reach + missing)
        return factor * self.process.mean_of(dot) - fabs(factor) * self.process.root * reach + shift

    # -- keeping current -------------------------------------------------------------------------------------

    cdef int sync(self) except -1:
        """Learn which rows the GP has now: drop forgotten ones from the sums, make room for new ones."""
        cdef Py_ssize_t n = self.process.n(), kept = self.process.count_kept(self.synced, self.ids), i
        cdef const double *z = self.process.residuals()
        if kept == self.synced and kept == n and self.suffix != NULL:
            return 0
        self.columns.reserve(n)
        self.suffix = <double *>resize(self.suffix, n + 1, sizeof(double))
        self.buffer = <double *>resize(self.buffer, n + self.process.d(), sizeof(double))
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

    cdef int open_desks(self, Desks *desks, Py_ssize_t q, Scratch scratch) except -1:
        """Memory to make q points current."""
        cdef Py_ssize_t n = self.process.n(), blocks = count_blocks(n)
        desks.workers = count_workers(self.process.threads, (q + SOME - 1) // SOME, <double>q * n * n)
        desks.chunk = q if q < CHUNK else CHUNK
        desks.width = n + self.process.d()
        desks.v = scratch.numbers(desks.workers * blocks * BLOCK * desks.chunk)
        desks.pieces = <double **>scratch.pointers(desks.workers * blocks)
        desks.column = scratch.numbers(desks.workers * desks.width)
        desks.listed = scratch.indices(q)
        return 0

    cdef void refresh(self, Py_ssize_t j) noexcept nogil:
        """Make point j current: O(n) a missing row."""
        cdef Py_ssize_t width = self.process.d() - self.dims
        memcpy(self.buffer + self.process.n() + self.dims, self.whole + self.dims, width * sizeof(double))
        self.refresh_at(j, self.buffer)

    cdef void refresh_at(self, Py_ssize_t j, double *column) noexcept nogil:
        """The same with room for a column and for a point, (n + d,), the tail of which is there."""
        cdef Py_ssize_t n = self.process.n(), first = self.columns.stored[j]
        if self.columns.summed[j] == n:
            return
        self._covary(j, first, column, self.columns.v, j)
        self.process.factor.substitute(first, 1, &j, self.columns.v)
        self.columns.add_rows(j, first, n, self.process.residuals())

    cdef void _covary(
        self, Py_ssize_t j, Py_ssize_t first, double *column, double **v, Py_ssize_t k
    ) noexcept nogil:
        """r of point j, from row `first` on, into column k of v; always of one point at a time, for the same bits."""
        cdef Py_ssize_t n = self.process.n(), i
        memcpy(column + n, self.points + j * self.dims, self.dims * sizeof(double))
        self.process.covary_point(column + n, first, n, column)
        for i in range(first, n):
            v[i // BLOCK][k * BLOCK + i % BLOCK] = column[i]

    cdef void refresh_some(self, Py_ssize_t q, const Py_ssize_t *index, Desks *desks) noexcept nogil:
        """Make these q points current, the first q where index is NULL; the desks were opened for as many."""
        cdef Py_ssize_t k, j, tasks
        cdef Round these = Round(<void *>self, desks, 0, 0)
        for k in range(q):
            j = index[k] if index != NULL else k
            if self.columns.stored[j] > 0 and 0 <= self.columns.summed[j] < self.process.n():
                self.columns.summed[j] = -1  # until it is current: a point that comes twice is listed once
                desks.listed[these.old] = j
                these.old += 1
        for k in range(q):
            j = index[k] if index != NULL else k
            if self.columns.stored[j] == 0 and 0 <= self.columns.summed[j] < self.process.n():
                self.columns.summed[j] = -1
                desks.listed[these.old + these.new] = j
                these.new += 1
        tasks = (these.old + SOME - 1) // SOME + (these.new + CHUNK - 1) // CHUNK
        self._share_out(tasks, refresh_task, &these)

    cdef void _share_out(self, Py_ssize_t tasks, mf_task task, Round *these) noexcept nogil:
        """Let the workers do these tasks, each with the tail at its desk."""
        cdef Py_ssize_t width = self.process.d() - self.dims
        cdef int worker
        for worker in range(these.desks.workers):
            memcpy(
                these.desks.column + (worker + 1) * these.desks.width - width, self.whole + self.dims,
                width * sizeof(double)
            )
        mf_run(these.desks.workers, tasks, task, these)

    cdef void solve_new(self, Py_ssize_t q, const Py_ssize_t *index, double *column) noexcept nogil:
        """Columns and sums of up to CHUNK points of which nothing is stored."""
        cdef Py_ssize_t k
        for k in range(q):
            self._covary(index[k], 0, column, self.columns.v, index[k])
        self.process.factor.substitute(0, q, index, self.columns.v)
        for k in range(q):
            self.columns.add_rows(index[k], 0, self.process.n(), self.process.residuals())

    cdef void sum_new(
        self, Py_ssize_t q, const Py_ssize_t *index, double *column, double *v, double **pieces
    ) noexcept nogil:
        """Their sums alone; the columns are forgotten with v, (blocks, q, BLOCK)."""
        cdef Py_ssize_t n = self.process.n(), b, k
        cdef Py_ssize_t places[CHUNK]
        for b in range(count_blocks(n)):
            pieces[b] = v + b * q * BLOCK
        for k in range(q):
            places[k] = k
            self._covary(index[k], 0, column, pieces, k)
        self.process.factor.substitute(0, q, places, pieces)
        for k in range(q):
            self.columns.clear(index[k], index[k] + 1)
            sum_up(
                0, n, pieces, k, self.process.residuals(), self.columns.dot + index[k], self.columns.square + index[k]
            )
            self.columns.summed[index[k]] = n

    cdef void _solve(self, Py_ssize_t first, bint store, Desks *desks) noexcept nogil:
        """Sums, and with `store` also V, of the points from `first` by batched solves."""
        cdef Py_ssize_t j, count = self.count - first
        cdef Round these = Round(<void *>self, desks, 0, count)
        for j in range(count):
            desks.listed[j] = first + j
        self._share_out((count + CHUNK - 1) // CHUNK, refresh_task if store else sum_task, &these)

    # -- pickling --------------------------------------------------------------------------------------------

    cdef tuple copy_columns(self):
        """Points, rows stored and summed for each, their sums, and V (rows, count).

        V is not solved for again: that would take O(n²) a point.
        """
        cdef cnp.ndarray points, stored, summed, dot, square, v
        cdef Py_ssize_t i, j, rows = 0
        self.sync()
        points = new_matrix(self.count, self.dims)
        memcpy(data(points), self.points, self.count * self.dims * sizeof(double))
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
        return points, stored, summed, dot, square, v

    cdef int restore(self, tuple columns) except -1:
        """Take over the columns of another Tracker, what it copied but for the points, which are there already."""
        stored, summed, dot, square, v = columns
        cdef cnp.ndarray kept = copy_indices(stored, "stored"), summands = copy_indices(summed, "summed")
        cdef cnp.ndarray dots = copy_vector(dot, self.count, "dot"), squares = copy_vector(square, self.count, "square")
        cdef cnp.ndarray entries = as_matrix(np.array(v), len(v), self.count, "v")
        cdef Py_ssize_t i, j, n, rows = cnp.PyArray_DIM(entries, 0)
        cdef Py_ssize_t *low = <Py_ssize_t *>cnp.PyArray_DATA(kept)
        cdef Py_ssize_t *high = <Py_ssize_t *>cnp.PyArray_DATA(summands)
        if len(kept) != self.count or len(summands) != self.count:
            raise ValueError(
                f"stored and summed must have one number per point, {self.count}, got {len(kept)}, {len(summands)}"
            )
        self.sync()
        n = self.process.n()
        for j in range(self.count):
            if not (0 <= low[j] <= min(rows, n) and low[j] <= high[j] <= n):
                raise ValueError(f"columns must have from 0 to {n} rows, got {low[j]} and {high[j]} in sums")
        for j in range(self.count):
            for i in range(low[j]):
                self.columns.put(i, j, data(entries)[i * self.count + j])
            self.columns.stored[j], self.columns.summed[j] = low[j], high[j]
            self.columns.dot[j], self.columns.square[j] = data(dots)[j], data(squares)[j]
        return 0
