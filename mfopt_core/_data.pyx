"""The rows of data of a Gaussian process: points X, values y and noises, growing at the end.

Memory. X is kept twice, because a kernel row wants either one point against many rows or one row against many points:

    points   x_i contiguous, (n, d)
    soa      coordinates contiguous ("structure of arrays"), in blocks of BLOCK rows that line up with the block rows of
             L (mfopt_core._cholesky): coordinate c of x_i is soa[b][c·BLOCK + i − b·BLOCK] with b = i // BLOCK

Values and noises are plain arrays. The number of rows in use is not known here: it is that of L. Forgetting rows needs
no work, later rows overwrite them.
"""

cimport cython
from libc.string cimport memcpy

from mfopt_core._arrays cimport to_soa
from mfopt_core._cholesky cimport BLOCK, count_blocks
from mfopt_core._memory cimport allocate, release, resize
from mfopt_core._rows cimport mf_check


@cython.final
cdef class Data:
    """Rows (x_i, y_i, noise_i / scale). A C-level object: errors of use are the caller's."""

    def __dealloc__(self):
        cdef Py_ssize_t b
        for b in range(self.blocks):
            release(self.soa[b])
        release(self.soa)
        release(self.points)
        release(self.values)
        release(self.etas)

    cdef int reserve(self, Py_ssize_t n, Py_ssize_t d) except -1:
        """Memory for n rows of d coordinates, always the same d; after a MemoryError all rows are as they were."""
        cdef Py_ssize_t blocks = count_blocks(n), room
        self.d = d
        if blocks * BLOCK > self.room:
            room = BLOCK * max(blocks, self.room // BLOCK + self.room // BLOCK // 2)
            self.soa = <double **>resize(self.soa, room // BLOCK, sizeof(double *))
            self.points = <double *>resize(self.points, room * self.d, sizeof(double))
            self.values = <double *>resize(self.values, room, sizeof(double))
            self.etas = <double *>resize(self.etas, room, sizeof(double))
            self.room = room
        while self.blocks < blocks:
            self.soa[self.blocks] = <double *>allocate(self.d * BLOCK, sizeof(double))
            self.blocks += 1
        return 0

    cdef void write(self, Py_ssize_t i, const double *x, double value, double eta) noexcept nogil:
        """Make (x, value, eta) row i; its memory must be reserved."""
        mf_check(0 <= i and i < self.blocks * BLOCK and i < self.room)
        memcpy(self.points + i * self.d, x, self.d * sizeof(double))
        to_soa(1, self.d, x, self.soa[i // BLOCK] + i % BLOCK, BLOCK)
        self.values[i] = value
        self.etas[i] = eta
