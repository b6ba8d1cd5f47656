"""The memory that the compiled core takes outside NumPy arrays: the only file that calls malloc, realloc and free.

There are two kinds of it:

    arrays of an object   allocate, resize as it grows, release in __dealloc__
    arrays of one call    a Scratch hands them out one by one, each under a name of its own, and releases all of them
                          when the call ends, whether it returns or raises

Contents are undefined at first. When there is no memory a MemoryError says how much was wanted, and a resized array is
still there as it was. All of it needs the GIL, but for `release`: a call takes its memory first, then lets the GIL go.
"""

cimport cython
from libc.stdint cimport PTRDIFF_MAX
from libc.stdlib cimport malloc, realloc


cdef size_t count_bytes(Py_ssize_t count, size_t size) except 0:
    """The bytes of `count` items of `size` bytes each; at least 1, so that NULL always means failure."""
    if count < 0 or <size_t>count > <size_t>PTRDIFF_MAX // size:
        raise MemoryError(f"no memory for {count} items of {size} bytes")
    return count * size if count > 0 else 1


cdef void *allocate(Py_ssize_t count, size_t size) except NULL:
    """A new array of `count` items of `size` bytes."""
    cdef void *array = malloc(count_bytes(count, size))
    if array == NULL:
        raise MemoryError(f"no memory for {count} items of {size} bytes")
    return array


cdef void *resize(void *array, Py_ssize_t count, size_t size) except NULL:
    """The array with room for `count` items of `size` bytes, perhaps elsewhere; NULL becomes a new array."""
    cdef void *moved = realloc(array, count_bytes(count, size))
    if moved == NULL:
        raise MemoryError(f"no memory for {count} items of {size} bytes")
    return moved


@cython.final
@cython.freelist(8)
cdef class Scratch:
    """Arrays for the length of one call; make one with Scratch.__new__(Scratch) and keep it in a local variable."""

    def __dealloc__(self):
        cdef int k
        for k in range(self.count):
            release(self.parts[k])

    cdef void *part(self, Py_ssize_t count, size_t size) except NULL:
        """One more array of `count` items of `size` bytes."""
        if self.count == MOST_PARTS:
            raise SystemError(f"a Scratch must have at most {MOST_PARTS} parts, got one more")
        self.parts[self.count] = allocate(count, size)
        self.count += 1
        return self.parts[self.count - 1]

    cdef double *numbers(self, Py_ssize_t count) except NULL:
        return <double *>self.part(count, sizeof(double))

    cdef Py_ssize_t *indices(self, Py_ssize_t count) except NULL:
        return <Py_ssize_t *>self.part(count, sizeof(Py_ssize_t))

    cdef void **pointers(self, Py_ssize_t count) except NULL:
        return <void **>self.part(count, sizeof(void *))
