"""A Gaussian process conditioned on its data: what L, z and α are, and how a row is added to them.

Notation: n rows of data X (n, d), y (n,); prior mean m (a constant), kernel k with k(x, x) = s, noise variances
η_i², of the process or, where rows come with their own, of the row.

Everything inside is normalised by s, so that the scale of y never meets the limits of float64:

    K = R + D + δ I = L Lᵀ,   R_ij = k(x_i, x_j)/s, D_ii = η_i²/s      L: mfopt_core._cholesky; δ: jitter, normally 0
    z = L⁻¹ (y − m)/√s,        α = L⁻ᵀ z
    v = L⁻¹ r(x),              r(x)_i = k(x_i, x)/s

    posterior, eq. (gpPostEqns):   μ(x) = m + √s vᵀz,   σ²(x) = s (1 − vᵀv)

A row of data adds a row to L and a number to z; nothing that is there changes, so truncate only forgets. α changes with
every row and is solved for when somebody asks.

Layout. X, y and D lie in a Data, L in a Factor; here are z, α and the rows' ids, one number per row. V = L⁻¹ r at q
points is a row-major (n, q) array, v[i·q + j], so that a solve runs over all points at once. Points come as arrays of
coordinates: coordinate c of point j is soa[c·ld + j].

Levels. A process over points and fidelities has coordinates that tell the fidelity. Where q points are wanted at M
fidelities, their last coordinates are one of M tails, and V is (n, M·q), v[i·M·q + m·q + j]. The distance between a row
and a point is then computed once for all tails, and what each tail adds to it once for all points.

Jitter. Without noise K can be singular to rounding (duplicates, smooth kernels with close points). When a pivot shows
that, δ becomes 1e-14, then ten times more until the factorisation succeeds: the smallest power that works. It must be
the same for all rows: jitter on the failing row alone leaves earlier rows free to extrapolate without bound, and their
rounding errors grow exponentially. So this, and only this, factorises anew, a few times in the life of a process.
"""

cimport cython
from libc.math cimport fabs, sqrt
from libc.stdint cimport uint64_t
from libc.string cimport memcpy, memset

from mfopt_core._cholesky cimport BLOCK, FEW, Factor, count_blocks, count_in_block
from mfopt_core._correlation cimport Correlation
from mfopt_core._crew cimport MOST_THREADS, count_workers, mf_run
from mfopt_core._data cimport Data
from mfopt_core._memory cimport release, resize
from mfopt_core._rows cimport mf_accumulate, mf_all_finite, mf_check, mf_dot

cdef double PIVOT_NOISE = 1e-15  # a normalised pivot below this is nothing but rounding
cdef double FIRST_JITTER = 1e-14
cdef double LARGEST = 1e152  # of a normalised value: its square must not overflow

cdef struct Filling:  # rows of K that are filled in, block row by block row
    void *process
    Py_ssize_t first
    Py_ssize_t end


cdef void fill_block(void *context, Py_ssize_t k, int worker) noexcept nogil:
    """Those of one block row, the last and longest first."""
    cdef Filling *rows = <Filling *>context
    cdef Py_ssize_t b = count_blocks(rows.end) - 1 - k
    (<Process>rows.process).fill_rows(max(rows.first, b * BLOCK), min(rows.end, (b + 1) * BLOCK))


cdef double find_floor(Py_ssize_t m, const double *etas, double delta) noexcept nogil:
    """The least pivot of m rows with these noises that is no rounding noise, which later rows would amplify.

    In exact arithmetic a pivot is at least the diagonal's addition η_i²/s + δ: half of the least of these, or what is
    of the order of eps where there is none.
    """
    cdef double least = etas[0] if m > 0 else 0.0
    cdef Py_ssize_t i
    for i in range(m):
        if etas[i] < least:
            least = etas[i]
    return 0.5 * (least + delta) + PIVOT_NOISE


@cython.final
cdef class Process:
    """Kernel, data and factor of a GP, which adds checks of what comes in and a lock. A C-level object."""

    def __cinit__(self, Correlation kernel not None, double noise, double mean, Py_ssize_t threads=1):
        if not 1 <= threads <= MOST_THREADS:
            raise ValueError(f"threads must be from 1 to {MOST_THREADS}, got {threads}")
        self.kernel = kernel
        self.threads = <int>threads
        self.check_noise(noise)
        self.noise = noise
        self.mean = mean
        self.root = sqrt(kernel.scale)
        self.data = Data.__new__(Data)
        self.factor = Factor.__new__(Factor)

    def __dealloc__(self):
        release(self.z)
        release(self.alpha)
        release(self.ids)

    # -- rows in and out -------------------------------------------------------------------------------------

    cdef int check_noise(self, double noise) except -1:
        if noise < 0.0 or noise / self.kernel.scale > 1e150:
            raise ValueError(
                f"noise is a variance between 0 and 1e150 times the scale, got noise={noise} "
                f"with scale={self.kernel.scale}"
            )
        return 0

    cdef int check_value(self, double y) except -1:
        if not fabs((y - self.mean) / self.root) < LARGEST:
            raise ValueError(f"y must be within {LARGEST} times √scale of the prior mean, got {y}")
        return 0

    cdef int extend(
        self, Py_ssize_t q, const double *x, const double *y, const double *noises, Py_ssize_t groups=0,
        const Py_ssize_t *sizes=NULL
    ) except -1:
        """Add q rows with these noises, or with the process's where that is NULL; the kernel knows d.

        The last bits are those of rows that come in groups of these sizes, (groups,); all at once where that is NULL.

        Values and noises must be checked and the caller's own. Points are checked here once more, as copied, because
        another thread may write to x: with NaN in K no jitter would ever be enough.
        """
        cdef Py_ssize_t i, first = self.factor.n
        cdef double noise
        cdef bint finite
        self.reserve(first + q)
        with nogil:
            for i in range(q):
                noise = self.noise if noises == NULL else noises[i]
                self.data.write(first + i, x + i * self.kernel.d, y[i], noise / self.kernel.scale)
            finite = mf_all_finite(q * self.kernel.d, self.data.point(first))
            if finite and sizes != NULL:
                self.factorise_groups(first, groups, sizes)
            elif finite and q > 0:
                self.factorise_groups(first, 1, &q)
        if not finite:
            raise ValueError("x must stay as it is while it is added, got numbers that are no longer finite")
        return 0

    cdef int reserve(self, Py_ssize_t n) except -1:
        """Memory for n rows; after a MemoryError all rows are as they were."""
        self.data.reserve(n, self.kernel.d)
        self.factor.reserve(n)
        if self.room < n:
            self.z = <double *>resize(self.z, self.data.room, sizeof(double))
            self.alpha = <double *>resize(self.alpha, self.data.room, sizeof(double))
            self.ids = <uint64_t *>resize(self.ids, self.data.room, sizeof(uint64_t))
            self.room = self.data.room
        return 0

    cdef void factorise_groups(self, Py_ssize_t first, Py_ssize_t groups, const Py_ssize_t *sizes) noexcept nogil:
        """Rows of L and z from the data, from the first on, one group after the other.

        Rows of small groups are solved for one by one, so these are taken together; until z is known, it holds their
        floors. Where one fails, all rows up to its group's end are factorised anew with more jitter, as one group.
        """
        cdef Py_ssize_t k = 0, end, last, i
        cdef double floor
        while k < groups:
            end, last = first + sizes[k], k + 1
            if sizes[k] <= FEW:
                end, last = first, k
                while last < groups and sizes[last] <= FEW:
                    floor = find_floor(sizes[last], self.data.etas + end, self.delta)
                    for i in range(end, end + sizes[last]):
                        self.z[i] = floor
                    end += sizes[last]
                    last += 1
            if self.factorise(first, end, sizes[k] <= FEW):
                end = first + sizes[k]
                while end <= self.factor.n:
                    k += 1
                    end += sizes[k]
                last = k + 1
                self.raise_jitter(end)
            first, k = end, last

    cdef void raise_jitter(self, Py_ssize_t end) noexcept nogil:
        """Factorise rows 0 .. end − 1 with the smallest jitter above the present one that works."""
        self.alpha_rows = 0
        while True:
            self.delta = 10.0 * self.delta if self.delta > 0.0 else FIRST_JITTER
            self.factor.n = 0
            if self.factorise(0, end) == 0:
                return

    cdef int factorise(self, Py_ssize_t first, Py_ssize_t end, bint singly=False) noexcept nogil:
        """Rows first .. end − 1 of L and z from the data; −1 when K is not positive definite to rounding.

        `singly`: row by row, with the floors that z holds.
        """
        cdef Py_ssize_t i, failed
        cdef Filling filling = Filling(<void *>self, first, end)
        cdef Py_ssize_t blocks = count_blocks(end) - first // BLOCK
        mf_check(end <= self.room)
        mf_run(count_workers(self.threads, blocks, <double>(end - first) * end), blocks, fill_block, &filling)
        if singly:
            failed = self.factor.complete_singly(end - first, self.z + first)
        else:
            failed = self.factor.complete(
                end - first, find_floor(end - first, self.data.etas + first, self.delta), self.threads
            )
        if failed:
            return -1
        for i in range(first, end):
            self.z[i] = (
                (self.data.values[i] - self.mean) / self.root - mf_dot(i, self.factor.row(i), self.z)
            ) * self.factor.rdiag[i]
            self.ids[i] = self.next_id
            self.next_id += 1
        return 0

    cdef void fill_rows(self, Py_ssize_t first, Py_ssize_t end) noexcept nogil:
        """Rows first .. end − 1 of K, up to the diagonal, where those of L are to be."""
        cdef Py_ssize_t i
        cdef double *row
        for i in range(first, end):
            row = self.factor.row(i)
            self.covary_point(self.data.point(i), 0, i, row)
            row[i] = 1.0 + self.data.etas[i] + self.delta

    cdef void truncate(self, Py_ssize_t n) noexcept nogil:
        """Keep the first n rows."""
        self.factor.truncate(n)
        if self.alpha_rows > n:
            self.alpha_rows = 0
        if n == 0:
            self.delta = 0.0

    cdef int restore(self, Py_ssize_t n, const double *rows, const double *z) except -1:
        """Take over n rows of L, dense (n, n), and of z, whose data are written, in a process without rows."""
        cdef Py_ssize_t i
        for i in range(n):
            memcpy(self.factor.row(i), rows + i * n, (i + 1) * sizeof(double))
            self.factor.rdiag[i] = 1.0 / rows[i * n + i]
            self.z[i] = z[i]
            self.ids[i] = self.next_id
            self.next_id += 1
        self.factor.n = n
        return 0

    # -- computing with the rows -----------------------------------------------------------------------------

    cdef void covary_point(self, const double *x, Py_ssize_t first, Py_ssize_t end, double *r) noexcept nogil:
        """r[i] = k(x_i, x)/s for the rows i = first .. end − 1."""
        cdef Py_ssize_t b, skip
        for b in range(first // BLOCK, count_blocks(end)):
            skip = first - b * BLOCK if first > b * BLOCK else 0
            self.kernel.row(count_in_block(b, end) - skip, self.data.soa[b] + skip, BLOCK, x, r + b * BLOCK + skip)

    cdef void covary_row(self, Py_ssize_t i, const Points *points, double *r) noexcept nogil:
        """r[m·q + j] = k(x_i, (point j, tail m))/s."""
        self.kernel.row_at_levels(
            points.dims, points.count, points.soa, points.ld, points.levels, points.tails, self.data.point(i), r
        )

    cdef void covary(self, const Points *points, double *r, Py_ssize_t ld) noexcept nogil:
        """r[i·ld + m·q + j] = k(x_i, (point j, tail m))/s for all rows."""
        cdef Py_ssize_t i
        if points.count == 1 and points.dims == self.kernel.d and points.ld == 1 and ld == 1:
            # The coordinates of one point lie like a point: run along the rows, which are many.
            self.covary_point(points.soa, 0, self.factor.n, r)
            return
        for i in range(self.factor.n):
            self.covary_row(i, points, r + i * ld)

    cdef void solve(self, const Points *points, double *v) noexcept nogil:
        """V = L⁻¹ r, (n, M·q)."""
        cdef Py_ssize_t width = points.levels * points.count
        self.covary(points, v, width)
        self.factor.forward(width, v, width)

    cdef void moments(self, Py_ssize_t q, const double *v, double *mean, double *var) noexcept nogil:
        """μ and σ² from the columns of V, (n, q)."""
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
            mean[j] = self.mean_of(mean[j])
            var[j] = self.variance_of(var[j])

    cdef const double *solve_alpha(self) noexcept nogil:
        """α = L⁻ᵀ z, (n,), solved for when the rows have changed."""
        if self.alpha_rows != self.factor.n:
            memcpy(self.alpha, self.z, self.factor.n * sizeof(double))
            self.factor.backward(1, self.alpha, 1)
            self.alpha_rows = self.factor.n
        return self.alpha

    # -- which rows these are --------------------------------------------------------------------------------

    cdef Py_ssize_t count_kept(self, Py_ssize_t count, const uint64_t *ids) noexcept nogil:
        """How many leading rows are still those that had these ids."""
        cdef Py_ssize_t i = 0
        while i < count and i < self.factor.n and ids[i] == self.ids[i]:
            i += 1
        return i

    cdef void copy_ids(self, uint64_t *ids) noexcept nogil:
        """The ids of all rows, (n,): equal ids mean the same row, of L and z too."""
        if self.factor.n > 0:  # memcpy must not see the null pointers of an empty process
            memcpy(ids, self.ids, self.factor.n * sizeof(uint64_t))
