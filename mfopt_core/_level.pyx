"""Level: one fidelity of a process over points and fidelities, and what is remembered about points that come back.

The function of this level at x is factor · f(x, tail) + shift, with f the function of the GP: the last coordinates of
its points tell the fidelity. A GP of one fidelity is its own only level, without a tail.

Two kinds of points come back: those of a finite set, and the centres of DIRECT's rectangles, which lie on a fixed
lattice. For both the posterior is kept current (mfopt_core._tracker), O(n) a point for a new row instead of O(n²).
"""

cimport cython
cimport numpy as cnp
from libc.math cimport fabs
from libc.string cimport memcmp

from mfopt_core._arrays cimport as_number, as_points, copy_indices, copy_vector, data, keep_still
from mfopt_core._gp cimport GP
from mfopt_core._mixture cimport Mixture
from mfopt_core._slots cimport Slots
from mfopt_core._tracker cimport Tracker

import numpy as np

cnp.import_array()

cdef enum:
    CAPACITY = 8192  # points that come back and are remembered, at most
    BYTES = 40 << 20  # what they may take: 8 n for each with n rows


@cython.final
cdef class Level:
    """The function factor · f(x, tail) + shift with f that of `gp`; factor ≠ 0."""

    def __cinit__(self, GP gp not None, tail=(), factor=1.0, shift=0.0):
        self.gp = gp
        self.last = copy_vector(tail, -1, "tail")
        self.factor = as_number(factor, "factor")
        self.shift = as_number(shift, "shift")
        if self.factor == 0.0 or not fabs(self.factor) < 1e150 or not fabs(self.factor) > 1e-150:
            given = keep_still(factor)
            raise ValueError(f"factor must be a number other than 0, its size from 1e-150 to 1e150, got {given!r}")
        if 0 < gp.process.d() <= cnp.PyArray_DIM(self.last, 0):
            raise ValueError(f"tail must leave at least one of {gp.process.d()} coordinates, got {len(self.last)}")
        if type(gp.process.kernel) is Mixture and cnp.PyArray_DIM(self.last, 0) > 1:
            raise ValueError(f"the tail of a mixture must be the level alone, got {len(self.last)} coordinates")

    @property
    def tail(self):
        """The coordinates of the GP that tell the fidelity, as a copy."""
        return self.last.copy()

    @property
    def remembered(self):
        """How many points that come back are remembered."""
        with self.gp.lock:
            return self.slots.live if self.kept is not None else 0

    cdef int check_dims(self, Py_ssize_t dims) except -1:
        """Points of this level must have `dims` coordinates, to which the tail is added."""
        cdef Py_ssize_t width = cnp.PyArray_DIM(self.last, 0)
        if self.gp.process.d() > 0 and self.gp.process.d() != dims + width:
            raise ValueError(f"points must have {self.gp.process.d() - width} coordinates, got {dims}")
        self.gp.bind(dims + width)
        return 0

    # -- points that come back -------------------------------------------------------------------------------

    cdef bint has_room(self, Py_ssize_t q) noexcept:
        """Whether q points at once can be remembered."""
        return q <= CAPACITY and q <= BYTES // (8 * self.gp.process.n() + 8)

    cdef int keep(self, Py_ssize_t q, Py_ssize_t dims, const double *x, Py_ssize_t *index) except -1:
        """The numbers of these points, (q, dims), among those that are remembered; there is room for all."""
        cdef Py_ssize_t j, slot, room = min(<Py_ssize_t>CAPACITY, BYTES // (8 * self.gp.process.n() + 8))
        self._open(dims)
        self.kept.sync()
        with nogil:
            for j in range(q):
                slot = self.slots.find(self.kept.points, x + j * dims)
                if slot < 0:
                    slot = self.slots.choose(self.kept.points, room)
                    self.kept.put(slot, x + j * dims)
                    self.slots.enter(slot, self.kept.points + slot * dims)  # as copied: x may be written to
                index[j] = slot
        return 0

    cdef int _open(self, Py_ssize_t dims) except -1:
        """Begin to remember, if nothing is yet."""
        cdef Tracker kept
        cdef Slots slots
        if self.kept is None:
            kept, slots = Tracker.__new__(Tracker), Slots.__new__(Slots)
            kept.open(self.gp, CAPACITY, dims, self.last)
            slots.open(CAPACITY, dims)
            self.kept, self.slots = kept, slots
        return 0

    # -- points of a finite set ------------------------------------------------------------------------------

    cdef int list_points(self, Py_ssize_t q, Py_ssize_t dims, const double *x) except -1:
        """Track the points of a finite set, the rows of x (q, dims); those of the last call are known again."""
        cdef Tracker listed = self.listed
        if listed is None or listed.count != q or memcmp(listed.points, x, q * dims * sizeof(double)) != 0:
            listed = Tracker.__new__(Tracker)
            listed.open(self.gp, q, dims, self.last)
            listed.append(q, x, False)
            self.listed = listed
        self.listed.sync()
        return 0

    # -- pickling --------------------------------------------------------------------------------------------

    def __reduce__(self):
        with self.gp.lock:
            listed = None if self.listed is None else self.listed.copy_columns()
            return _relevelled, (
                self.gp, np.array(self.last), self.factor, self.shift, self._copy_kept(), listed
            )

    cdef tuple _copy_kept(self):
        """The slots from the one unused for longest to the one used last, and the columns of all; None: nothing yet."""
        cdef Py_ssize_t slot
        if self.kept is None:
            return None
        order, slot = [], self.slots.oldest
        while slot >= 0:
            order.append(slot)
            slot = self.slots.newer[slot]
        return np.array(order, dtype=np.intp), self.kept.copy_columns()

    cdef int _restore(self, order, columns) except -1:
        """Take over what another Level remembered."""
        cdef cnp.ndarray x = as_points(np.array(columns[0]), 0, "points")
        cdef cnp.ndarray slots = copy_indices(order, "order")
        cdef Py_ssize_t q = cnp.PyArray_DIM(x, 0), dims = cnp.PyArray_DIM(x, 1), j, slot
        cdef set used = set(slots.tolist())
        if q > CAPACITY or len(used) != len(slots) or not used <= set(range(q)):
            raise ValueError(f"order must hold different slots from 0 to {q - 1}, {CAPACITY} at most, got {slots!r}")
        self.check_dims(dims)
        with self.gp.lock:
            self._open(dims)
            self.kept.sync()
            for j in range(q):
                self.kept.put(j, data(x) + j * dims)
            self.kept.restore(tuple(columns[1:]))
            self.slots.opened = q
            for j in range(q):
                if j not in used:
                    self.slots.chain[j] = self.slots.free
                    self.slots.free = j
            for slot in slots:
                self.slots.enter(slot, self.kept.points + slot * dims)
        return 0


def _relevelled(gp, tail, factor, shift, kept, listed):
    """The Level that was pickled, from its parameters and what it remembered."""
    cdef Level level = Level(gp, tail, factor, shift)
    cdef cnp.ndarray x
    if kept is not None:
        order, columns = kept
        level._restore(order, columns)
    if listed is not None:
        x = as_points(np.array(listed[0]), 0, "points")
        level.check_dims(cnp.PyArray_DIM(x, 1))
        with level.gp.lock:
            level.list_points(cnp.PyArray_DIM(x, 0), cnp.PyArray_DIM(x, 1), data(x))
            level.listed.restore(tuple(listed[1:]))
    return level
