cimport cython


@cython.final
cdef class Slots:
    cdef Py_ssize_t capacity, dims
    cdef Py_ssize_t buckets  # a power of 2
    cdef Py_ssize_t live  # slots in use
    cdef Py_ssize_t opened  # slots that were ever in use
    cdef Py_ssize_t oldest, newest, free  # ends of the list by use, and the first free slot; −1: none
    cdef Py_ssize_t *head  # the first slot of each bucket, (buckets,)
    cdef Py_ssize_t *chain  # the next slot of the same bucket, or the next free slot, (capacity,)
    cdef Py_ssize_t *older  # the slot used before this one, (capacity,)
    cdef Py_ssize_t *newer  # the slot used after it, (capacity,)

    cdef int open(self, Py_ssize_t capacity, Py_ssize_t dims) except -1
    cdef Py_ssize_t find(self, const double *points, const double *x) noexcept nogil
    cdef Py_ssize_t choose(self, const double *points, Py_ssize_t room) noexcept nogil
    cdef void enter(self, Py_ssize_t slot, const double *x) noexcept nogil
    cdef void leave(self, Py_ssize_t slot, const double *x) noexcept nogil

    cdef Py_ssize_t _bucket(self, const double *x) noexcept nogil
    cdef void _link(self, Py_ssize_t slot) noexcept nogil
    cdef void _unlink(self, Py_ssize_t slot) noexcept nogil
