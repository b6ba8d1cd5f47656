"""Slots: where points are kept that come back, found by their coordinates; the one unused for longest makes way.

The points themselves are the caller's, an array (capacity, dims) with a point per slot.

Layout. A hash of the coordinates chooses a bucket; the slots of one bucket are chained. A second list runs through all
slots in use, from the one unused for longest to the one used last. Slots that were given up are chained, to be used
again.
"""

cimport cython
from libc.stdint cimport uint64_t
from libc.string cimport memcpy

from mfopt_core._memory cimport allocate, release
from mfopt_core._rows cimport mf_check

cdef uint64_t FACTOR = 0x9E3779B97F4A7C15  # odd, so that a multiplication loses nothing


@cython.final
cdef class Slots:
    """Up to `capacity` slots. A C-level object: errors of use are the caller's."""

    def __dealloc__(self):
        release(self.head)
        release(self.chain)
        release(self.older)
        release(self.newer)

    cdef int open(self, Py_ssize_t capacity, Py_ssize_t dims) except -1:
        """Room for points of `dims` coordinates; once, before anything else."""
        cdef Py_ssize_t b
        self.capacity = capacity
        self.dims = dims
        self.buckets = 16
        while self.buckets < 2 * capacity:
            self.buckets *= 2
        self.head = <Py_ssize_t *>allocate(self.buckets, sizeof(Py_ssize_t))
        self.chain = <Py_ssize_t *>allocate(capacity, sizeof(Py_ssize_t))
        self.older = <Py_ssize_t *>allocate(capacity, sizeof(Py_ssize_t))
        self.newer = <Py_ssize_t *>allocate(capacity, sizeof(Py_ssize_t))
        for b in range(self.buckets):
            self.head[b] = -1
        self.oldest = self.newest = self.free = -1
        return 0

    cdef Py_ssize_t find(self, const double *points, const double *x) noexcept nogil:
        """The slot of x (dims,), which is now the one used last; −1 where it has none."""
        cdef Py_ssize_t c, slot = self.head[self._bucket(x)]
        while slot >= 0:
            c = 0
            while c < self.dims and points[slot * self.dims + c] == x[c]:
                c += 1
            if c == self.dims:
                self._unlink(slot)
                self._link(slot)
                return slot
            slot = self.chain[slot]
        return -1

    cdef Py_ssize_t choose(self, const double *points, Py_ssize_t room) noexcept nogil:
        """A slot for a new point, so that at most `room` ≥ 1 are in use; those unused for longest give up theirs."""
        cdef Py_ssize_t slot
        mf_check(0 < room and room <= self.capacity)
        while self.live >= room:
            self.leave(self.oldest, points + self.oldest * self.dims)
        if self.free >= 0:
            slot = self.free
            self.free = self.chain[slot]
            return slot
        self.opened += 1
        return self.opened - 1

    cdef void enter(self, Py_ssize_t slot, const double *x) noexcept nogil:
        """Let x be found in this slot, the one used last."""
        cdef Py_ssize_t b = self._bucket(x)
        self.chain[slot] = self.head[b]
        self.head[b] = slot
        self._link(slot)
        self.live += 1

    cdef void leave(self, Py_ssize_t slot, const double *x) noexcept nogil:
        """Give up the slot of x."""
        cdef Py_ssize_t *at = self.head + self._bucket(x)
        while at[0] != slot:
            at = self.chain + at[0]
        at[0] = self.chain[slot]
        self._unlink(slot)
        self.chain[slot] = self.free
        self.free = slot
        self.live -= 1

    cdef Py_ssize_t _bucket(self, const double *x) noexcept nogil:
        """The bucket of x by a hash of its bits, in which −0.0 is 0.0."""
        cdef uint64_t mixed = 0, bits
        cdef double number
        cdef Py_ssize_t c
        for c in range(self.dims):
            number = x[c] + 0.0
            memcpy(&bits, &number, sizeof(bits))
            mixed = (mixed ^ bits) * FACTOR
            mixed ^= mixed >> 32
        return <Py_ssize_t>(mixed & <uint64_t>(self.buckets - 1))

    cdef void _link(self, Py_ssize_t slot) noexcept nogil:
        """Put the slot at the end of the list by use."""
        self.older[slot] = self.newest
        self.newer[slot] = -1
        if self.newest >= 0:
            self.newer[self.newest] = slot
        else:
            self.oldest = slot
        self.newest = slot

    cdef void _unlink(self, Py_ssize_t slot) noexcept nogil:
        """Take the slot out of the list by use."""
        cdef Py_ssize_t before = self.older[slot], after = self.newer[slot]
        if before >= 0:
            self.newer[before] = after
        else:
            self.oldest = after
        if after >= 0:
            self.older[after] = before
        else:
            self.newest = before
