"""The Cholesky factor of a growing matrix: L with L Lᵀ = K, one row of L per row of K.

Memory. L is kept as block rows of BLOCK rows each; block row b is one row-major rectangle of BLOCK × (b+1)·BLOCK
doubles:

    rows[0]  ▣             rows b·BLOCK .. (b+1)·BLOCK − 1 of L, columns 0 .. (b+1)·BLOCK − 1;
    rows[1]  □▣            row i starts at rows[b] + (i − b·BLOCK)·(b+1)·BLOCK;
    rows[2]  □□▣           above the diagonal of ▣ the contents are undefined.

A new block row is a new allocation: growing never moves what is there, and n(n+1)/2 numbers take (1 + BLOCK/n) times
their size. Each □…□ is a plain rectangle, so a batched solve is one dgemm and one small dtrsm per block row.

Rows are added in two steps: the caller writes rows of K into `row(i)`, then `complete(m)` turns the m new rows into
rows of L in place, O(n²) each; rows that are already there are never touched. Forgetting rows is a change of n.
"""

cimport cython
from libc.math cimport sqrt
from libc.string cimport memcpy, memset

from mfopt_core._blas cimport gemm_nn, gemm_nt, gemm_tn, trsm_lower, trsm_lower_transposed, trsm_right
from mfopt_core._crew cimport count_workers, mf_run
from mfopt_core._memory cimport allocate, release, resize
from mfopt_core._rows cimport (
    MF_FEW, MF_GROUP, mf_backward, mf_backward_few, mf_check, mf_dot, mf_forward, mf_forward_few, mf_forward_rows,
    mf_substitute,
)

cdef struct Column:  # X_c of the block rows from `below` on, of rows up to `end`
    void *factor
    Py_ssize_t c
    Py_ssize_t below
    Py_ssize_t end


cdef void complete_below(void *context, Py_ssize_t k, int worker) noexcept nogil:
    """That of one block row."""
    cdef Column *column = <Column *>context
    cdef Py_ssize_t b = column.below + k
    (<Factor>column.factor)._complete_left(b, 0, count_in_block(b, column.end), column.c)


@cython.final
cdef class Factor:
    """L of K = L Lᵀ, growing by rows. A C-level object: errors of use are the caller's."""

    def __dealloc__(self):
        cdef Py_ssize_t b
        for b in range(self.allocated):
            release(self.rows[b])
        release(self.rows)
        release(self.rdiag)

    cdef int reserve(self, Py_ssize_t n) except -1:
        """Memory for n rows; after a MemoryError all rows are as they were."""
        cdef Py_ssize_t blocks = count_blocks(n), table
        if blocks > self.table:
            table = max(blocks, 2 * self.table)
            self.rows = <double **>resize(self.rows, table, sizeof(double *))
            self.rdiag = <double *>resize(self.rdiag, table * BLOCK, sizeof(double))
            self.table = table
        while self.allocated < blocks:
            self.rows[self.allocated] = <double *>allocate(BLOCK * (self.allocated + 1) * BLOCK, sizeof(double))
            self.allocated += 1
        return 0

    cdef double *row(self, Py_ssize_t i) noexcept nogil:
        """Where row i starts; its memory must be reserved."""
        cdef Py_ssize_t b = i // BLOCK
        mf_check(0 <= i and b < self.allocated)
        return self.rows[b] + (i - b * BLOCK) * (b + 1) * BLOCK

    cdef void truncate(self, Py_ssize_t n) noexcept nogil:
        """Keep the first n rows. One spare block row stays allocated, for rows that come and go."""
        cdef Py_ssize_t keep = count_blocks(n) + 1
        self.n = n
        while self.allocated > keep:
            self.allocated -= 1
            release(self.rows[self.allocated])

    cdef int complete(self, Py_ssize_t m, double floor, int threads) noexcept nogil:
        """Turn rows n .. n + m − 1, where the caller wrote K_ij for j ≤ i, into rows of L.

        0, or −1 when a pivot is below `floor`; then the rows before that one are rows of L, and K must be written anew.
        """
        cdef Py_ssize_t b, count, k, end = self.n + m
        cdef double floors[FEW]
        for k in range(FEW):
            floors[k] = floor
        while self.n < end:
            b = self.n // BLOCK
            count = (b + 1) * BLOCK - self.n
            if count > end - self.n:
                count = end - self.n
            if count == BLOCK and end - self.n > BLOCK + FEW:
                if self._complete_blocks(b, count_blocks(end - FEW), end, floor, threads):
                    return -1
            elif count <= FEW:
                if self.complete_singly(count, floors):
                    return -1
            elif self._complete_block(b, self.n - b * BLOCK, count, floor):
                return -1
        return 0

    cdef int complete_singly(self, Py_ssize_t m, const double *floors) noexcept nogil:
        """The same as if each row came alone, to the bit, with a floor of its own, (m,).

        L is read once for all rows of a block row.
        """
        cdef Py_ssize_t b, count, done, _, first = self.n, end = self.n + m
        while self.n < end:
            b = self.n // BLOCK
            count = min(end, (b + 1) * BLOCK) - self.n
            done = self.n - self.n % MF_GROUP
            mf_forward_rows(done, BLOCK, self.rows, self.rdiag, count, self.row(self.n), (b + 1) * BLOCK)
            for _ in range(count):
                if self._complete_one(done, floors[self.n - first]):
                    return -1
        return 0

    cdef int _complete_one(self, Py_ssize_t done, double floor) noexcept nogil:
        """l = L⁻¹ k, of which the first `done` entries are there, and the pivot."""
        cdef double *lrow = self.row(self.n)
        mf_forward(done, self.n, BLOCK, self.rows, self.rdiag, lrow)
        return self._pivot(lrow, lrow[self.n], floor)

    cdef int _pivot(self, double *lrow, double diagonal, double floor) noexcept nogil:
        """Close row n, complete but for L_nn = √(K_nn − Σ l_j²), with K_nn = diagonal."""
        cdef double pivot = diagonal - mf_dot(self.n, lrow, lrow)
        if not pivot >= floor:
            return -1
        lrow[self.n] = sqrt(pivot)
        self.rdiag[self.n] = 1.0 / lrow[self.n]
        self.n += 1
        return 0

    cdef int _complete_block(self, Py_ssize_t b, Py_ssize_t first, Py_ssize_t m, double floor) noexcept nogil:
        """The same for m rows of block row b, the first of which is row `first` of the block, by BLAS.

        X = the new rows left of the diagonal block: X_c ← (K_c − Σ_{p<c} X_p L_cpᵀ) L_cc⁻ᵀ for c = 0 .. b − 1; then
        the diagonal block minus X times the rows of the block, and there row by row.
        """
        cdef Py_ssize_t c
        self._keep_diagonal(b, first, m)
        for c in range(b):
            self._complete_left(b, first, m, c)
        return self._complete_diagonal(b, first, m, floor)

    cdef int _complete_blocks(
        self, Py_ssize_t first, Py_ssize_t last, Py_ssize_t end, double floor, int threads
    ) noexcept nogil:
        """The same for all rows up to `end` of block rows first .. last − 1, of which nothing is there.

        By columns of blocks: X_c of all block rows below c is computed at once, each as it would be alone.
        """
        cdef Py_ssize_t b, c, below
        cdef Column column = Column(<void *>self, 0, 0, end)
        for b in range(first, last):
            self._keep_diagonal(b, 0, count_in_block(b, end))
        for c in range(last):
            if c >= first and self._complete_diagonal(c, 0, count_in_block(c, end), floor):
                return -1
            below = max(first, c + 1)
            column.c, column.below = c, below
            mf_run(
                count_workers(threads, last - below, <double>(last - below) * BLOCK * BLOCK * BLOCK * c), last - below,
                complete_below, &column
            )
        return 0

    cdef void _keep_diagonal(self, Py_ssize_t b, Py_ssize_t first, Py_ssize_t m) noexcept nogil:
        """K_ii waits among the inverse pivots until its row is closed."""
        cdef Py_ssize_t i
        for i in range(m):
            self.rdiag[b * BLOCK + first + i] = self.rows[b][(first + i) * (b + 1) * BLOCK + b * BLOCK + first + i]

    cdef void _complete_left(self, Py_ssize_t b, Py_ssize_t first, Py_ssize_t m, Py_ssize_t c) noexcept nogil:
        """X_c of these rows, which have those before it."""
        cdef Py_ssize_t ld = (b + 1) * BLOCK
        cdef double *x = self.rows[b] + first * ld
        gemm_nt(m, BLOCK, c * BLOCK, x, ld, self.rows[c], (c + 1) * BLOCK, x + c * BLOCK, ld)
        trsm_right(m, BLOCK, self.rows[c] + c * BLOCK, (c + 1) * BLOCK, x + c * BLOCK, ld)

    cdef int _complete_diagonal(self, Py_ssize_t b, Py_ssize_t first, Py_ssize_t m, double floor) noexcept nogil:
        """The diagonal block of these rows, which have all of X."""
        cdef Py_ssize_t ld = (b + 1) * BLOCK, i, j, offset = b * BLOCK
        cdef double *block = self.rows[b]
        cdef double *x = block + first * ld
        cdef double *lrow
        gemm_nt(m, first + m, offset, x, ld, block, ld, x + offset, ld)
        for i in range(m):
            lrow = x + i * ld + offset
            for j in range(first + i):
                lrow[j] = (lrow[j] - mf_dot(j, lrow, block + j * ld + offset)) * self.rdiag[offset + j]
            if self._pivot(x + i * ld, self.rdiag[offset + first + i], floor):
                return -1
        return 0

    cdef void forward(self, Py_ssize_t q, double *v, Py_ssize_t ld) noexcept nogil:
        """V ← L⁻¹ V for V (n, q), row-major with row length ld; 1 and MF_FEW are the quick lengths, q up to that."""
        cdef Py_ssize_t b, m, blocks = count_blocks(self.n)
        cdef double *block
        mf_check(q <= ld and blocks <= self.allocated)
        if ld == 1:
            mf_forward(0, self.n, BLOCK, self.rows, self.rdiag, v)
            return
        if ld == MF_FEW:
            mf_forward_few(self.n, BLOCK, self.rows, self.rdiag, v)
            return
        for b in range(blocks):
            block = self.rows[b]
            m = count_in_block(b, self.n)
            gemm_nn(m, q, b * BLOCK, block, (b + 1) * BLOCK, v, ld, v + b * BLOCK * ld, ld)
            trsm_lower(m, q, block + b * BLOCK, (b + 1) * BLOCK, v + b * BLOCK * ld, ld)

    cdef void backward(self, Py_ssize_t q, double *v, Py_ssize_t ld) noexcept nogil:
        """V ← L⁻ᵀ V for V (n, q), row-major with row length ld."""
        cdef Py_ssize_t b, m, blocks = count_blocks(self.n)
        cdef double *block
        mf_check(q <= ld and blocks <= self.allocated)
        if ld == 1:
            mf_backward(self.n, BLOCK, self.rows, self.rdiag, v)
            return
        if ld == MF_FEW:
            mf_backward_few(self.n, BLOCK, self.rows, self.rdiag, v)
            return
        for b in range(blocks - 1, -1, -1):
            block = self.rows[b]
            m = count_in_block(b, self.n)
            trsm_lower_transposed(m, q, block + b * BLOCK, (b + 1) * BLOCK, v + b * BLOCK * ld, ld)
            gemm_tn(b * BLOCK, q, m, block, (b + 1) * BLOCK, v + b * BLOCK * ld, ld, v, ld)

    cdef void substitute(
        self, Py_ssize_t first, Py_ssize_t q, const Py_ssize_t *index, double **pieces
    ) noexcept nogil:
        """Entries `first` .. n − 1 of V ← L⁻¹ V, from those before, for the q columns of these numbers.

        They lie in pieces of BLOCK entries, side by side: entry p of column j is pieces[p // BLOCK][j·BLOCK + p %
        BLOCK]. A column that grows by rows is to the bit one that is solved for at once, alone or with others.
        """
        mf_substitute(first, self.n, BLOCK, self.rows, self.rdiag, q, index, pieces)

    cdef void copy_to(self, double *dense, Py_ssize_t ld) noexcept nogil:
        """L as a row-major (n, n) array; zeros above the diagonal."""
        cdef Py_ssize_t i
        for i in range(self.n):
            memcpy(dense + i * ld, self.row(i), (i + 1) * sizeof(double))
            memset(dense + i * ld + i + 1, 0, (self.n - i - 1) * sizeof(double))
