cimport cython
from libc.stdlib cimport free

cdef enum:
    MOST_PARTS = 8  # of one Scratch

cdef void *allocate(Py_ssize_t count, size_t size) except NULL
cdef void *resize(void *array, Py_ssize_t count, size_t size) except NULL


cdef inline void release(void *array) noexcept nogil:
    """Give back what `allocate` or `resize` returned; NULL is allowed."""
    free(array)


@cython.final
cdef class Scratch:
    cdef int count  # of parts in use
    cdef void *parts[MOST_PARTS]

    cdef void *part(self, Py_ssize_t count, size_t size) except NULL
    cdef double *numbers(self, Py_ssize_t count) except NULL
    cdef Py_ssize_t *indices(self, Py_ssize_t count) except NULL
    cdef void **pointers(self, Py_ssize_t count) except NULL
