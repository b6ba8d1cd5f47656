cimport cython

cdef enum:
    BLOCK = 128  # rows per block row: large enough for full-speed BLAS, small enough to waste little memory
    FEW = 3  # up to this many new rows are solved for one by one: less than BLAS's start-up


cdef inline Py_ssize_t count_blocks(Py_ssize_t n) noexcept nogil:
    """How many blocks hold n rows."""
    return (n + BLOCK - 1) // BLOCK


cdef inline Py_ssize_t count_in_block(Py_ssize_t b, Py_ssize_t n) noexcept nogil:
    """How many of the first n rows lie in block b (the last block that holds any, or one before it)."""
    return n - b * BLOCK if n - b * BLOCK < BLOCK else BLOCK


@cython.final
cdef class Factor:
    cdef Py_ssize_t n  # rows of L
    cdef Py_ssize_t allocated  # block rows that own memory
    cdef Py_ssize_t table  # capacity of `rows`, in block rows, and of `rdiag`, in blocks of numbers
    cdef double **rows  # rows[b]: block row b
    cdef double *rdiag  # 1 / L_ii

    cdef int reserve(self, Py_ssize_t n) except -1
    cdef double *row(self, Py_ssize_t i) noexcept nogil
    cdef int complete(self, Py_ssize_t m, double floor, int threads) noexcept nogil
    cdef int complete_singly(self, Py_ssize_t m, const double *floors) noexcept nogil
    cdef int _complete_one(self, Py_ssize_t done, double floor) noexcept nogil
    cdef int _complete_block(self, Py_ssize_t b, Py_ssize_t first, Py_ssize_t m, double floor) noexcept nogil
    cdef int _complete_blocks(
        self, Py_ssize_t first, Py_ssize_t last, Py_ssize_t end, double floor, int threads
    ) noexcept nogil
    cdef void _keep_diagonal(self, Py_ssize_t b, Py_ssize_t first, Py_ssize_t m) noexcept nogil
    cdef void _complete_left(self, Py_ssize_t b, Py_ssize_t first, Py_ssize_t m, Py_ssize_t c) noexcept nogil
    cdef int _complete_diagonal(self, Py_ssize_t b, Py_ssize_t first, Py_ssize_t m, double floor) noexcept nogil
    cdef int _pivot(self, double *lrow, double diagonal, double floor) noexcept nogil
    cdef void truncate(self, Py_ssize_t n) noexcept nogil
    cdef void forward(self, Py_ssize_t q, double *v, Py_ssize_t ld) noexcept nogil
    cdef void backward(self, Py_ssize_t q, double *v, Py_ssize_t ld) noexcept nogil
    cdef void substitute(
        self, Py_ssize_t first, Py_ssize_t q, const Py_ssize_t *index, double **pieces
    ) noexcept nogil
    cdef void copy_to(self, double *dense, Py_ssize_t ld) noexcept nogil
