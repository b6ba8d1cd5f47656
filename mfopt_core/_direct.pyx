"""DIRECT (DIviding RECTangles; Jones, Perttunen and Stuckman 1993), a batch of points at a time.

The unit cube is divided into rectangles, each with a value at its centre. A round picks the rectangles that could hold
the maximum for some rate of change (the upper convex hull of value against size), trisects them along their longest
sides, and wants the values of all new centres at once:

    search = Direct(d)
    while ...: search.tell(f(search.centres()))

Layout. Side c of rectangle j has length 3^−level[j·d + c]; its centre there is (place[j·d + c] + ½)·3^−level. Both are
integers, so a centre is the same number whenever it comes back, in any search. Only longest sides are divided, so the
levels of one rectangle differ by at most 1 and their sum says its shape: rectangles of equal sum have equal size,
exactly. Rectangles of one size form a heap (mfopt_core._heap), best value first and the older first among equals.

Where it differs from the paper: every rectangle of the hull with the same size and the same value is divided, as in the
paper, but at most TIES of them a round; ε is relative to the range of the values seen, so that adding a constant
changes nothing; a rectangle whose side is 3^−DEEPEST is not divided any more.
"""

cimport cython
cimport numpy as cnp
from libc.math cimport INFINITY, pow, sqrt
from libc.stdint cimport int64_t

from mfopt_core._arrays cimport as_integer, as_number, as_reals, data, new_matrix, new_vector
from mfopt_core._heap cimport pop, push
from mfopt_core._memory cimport Scratch, allocate, release, resize

import numpy as np

cnp.import_array()

cdef enum:
    DEEPEST = 18  # 3^−18 is 3e-9: what is left to a local search
    TIES = 8

cdef struct Heap:
    Py_ssize_t *items  # rectangles of one size
    Py_ssize_t size
    Py_ssize_t capacity


cdef double find_coordinate(int64_t place, int level) noexcept nogil:
    """The middle of a side: one correctly rounded division of exact numbers, the same bits at whichever level."""
    return <double>(2 * place + 1) / (2.0 * pow(3.0, level))


cdef int find_shallowest(Py_ssize_t d, const int *level) noexcept nogil:
    """The level of the longest sides of a rectangle with these levels, (d,)."""
    cdef Py_ssize_t c
    cdef int least = level[0]
    for c in range(1, d):
        if level[c] < least:
            least = level[c]
    return least


cdef double measure_size(Py_ssize_t s, Py_ssize_t d) noexcept nogil:
    """Half the diagonal of a rectangle with total s: s mod d of its sides are one level deeper than the others."""
    cdef double side = pow(9.0, -(s // d))
    return 0.5 * sqrt(side * (d - s % d) + side / 9.0 * (s % d))


@cython.final
cdef class Direct:
    """A search over [0, 1]^d for the maximum of a function; `epsilon` is Jones's ε, relative to the range of values."""

    cdef readonly Py_ssize_t d
    cdef readonly double epsilon
    cdef cython.pymutex lock
    cdef bint torn  # a round was broken off: there was no memory to end it
    cdef Py_ssize_t count, capacity  # rectangles
    cdef int *level
    cdef int64_t *place
    cdef double *value
    cdef Py_ssize_t classes  # number of sizes
    cdef Heap *heaps  # heaps[s]: the rectangles whose levels add up to s
    cdef list divided  # rectangles of this round, in order
    cdef Py_ssize_t first  # of this round's new rectangles
    cdef double best, worst

    def __cinit__(self, d, epsilon=1e-4):
        cdef Py_ssize_t s
        self.d = as_integer(d, "d")
        if not 1 <= self.d <= 10_000:
            raise ValueError(f"d must be at least 1 and at most 10000, got {self.d}")
        self.epsilon = as_number(epsilon, "epsilon")
        if not 0.0 <= self.epsilon < 1.0:
            raise ValueError(f"epsilon must be at least 0 and below 1, got {self.epsilon}")
        self.best = -INFINITY
        self.classes = self.d * DEEPEST + 1
        self.heaps = <Heap *>allocate(self.classes, sizeof(Heap))
        for s in range(self.classes):
            self.heaps[s] = Heap(NULL, 0, 0)
        self.divided = []
        self._new_rectangle(-1, 0, 1)

    def __dealloc__(self):
        cdef Py_ssize_t s
        if self.heaps != NULL:
            for s in range(self.classes):
                release(self.heaps[s].items)
        release(self.heaps)
        release(self.level)
        release(self.place)
        release(self.value)

    def __len__(self):
        """Number of centres so far, those waiting for their values included."""
        return self.count

    def centres(self):
        """The centres whose values are wanted, (q, d); none when no rectangle can be divided any more."""
        with self.lock:
            return self._copy_centres(self.first, self.count)

    def seen(self):
        """All centres with known values, (n, d) and (n,)."""
        cdef cnp.ndarray values
        cdef Py_ssize_t j
        with self.lock:
            values = new_vector(self.first)
            for j in range(self.first):
                data(values)[j] = self.value[j]
            return self._copy_centres(0, self.first), values

    cdef cnp.ndarray _copy_centres(self, Py_ssize_t start, Py_ssize_t end):
        """The centres of rectangles start .. end − 1."""
        cdef cnp.ndarray out = new_matrix(end - start, self.d)
        cdef Py_ssize_t i, skipped = start * self.d
        for i in range((end - start) * self.d):
            data(out)[i] = find_coordinate(self.place[skipped + i], self.level[skipped + i])
        return out

    def tell(self, values):
        """The values at `centres()`; −inf marks a centre outside the feasible set. Prepares the next round."""
        cdef cnp.ndarray y = as_reals(values, "values")
        cdef Py_ssize_t q, j
        with self.lock:
            if self.torn:
                raise MemoryError("a search that ran out of memory cannot go on; start it anew")
            q = self.count - self.first
            if cnp.PyArray_NDIM(y) != 1 or cnp.PyArray_DIM(y, 0) != q:
                raise ValueError(f"values must have shape ({q},), one per centre, got shape {np.shape(y)}")
            self._take(q, data(y))
            self.torn = True
            j = self.first
            if j == 0:
                self._push(0)
            for rectangle in self.divided:
                j = self._divide(rectangle, j)
            self.first = self.count
            self._select()
            self.torn = False

    cdef int _take(self, Py_ssize_t q, const double *y) except -1:
        """Copy the values of this round and check the copy; then the best and the worst value that were seen."""
        cdef bint known = self.best > -INFINITY
        cdef double *value = self.value + self.first
        cdef Py_ssize_t j
        for j in range(q):
            value[j] = y[j]
            if not value[j] < INFINITY:
                raise ValueError(f"values must be finite, or -inf for infeasible centres, got {value[j]} at index {j}")
        for j in range(q):
            if value[j] > self.best:
                self.best = value[j]
            if value[j] > -INFINITY and (value[j] < self.worst or not known):
                self.worst = value[j]
                known = True
        if self.best == -INFINITY:
            self.worst = 0.0  # nothing feasible yet: sizes alone decide
        return 0

    cdef int _new_rectangle(self, Py_ssize_t parent, Py_ssize_t axis, int step) except -1:
        """A rectangle like `parent`, but one level deeper along `axis` and there in its lower (step −1) or upper (1)
        third. Its other levels are final only when the parent has been divided."""
        cdef Py_ssize_t c, d = self.d, j = self.count, capacity
        if j == self.capacity:
            capacity = 2 * self.capacity + 64
            self.level = <int *>resize(self.level, capacity * d, sizeof(int))
            self.place = <int64_t *>resize(self.place, capacity * d, sizeof(int64_t))
            self.value = <double *>resize(self.value, capacity, sizeof(double))
            self.capacity = capacity
        for c in range(d):
            self.level[j * d + c] = self.level[parent * d + c] if parent >= 0 else 0
            self.place[j * d + c] = self.place[parent * d + c] if parent >= 0 else 0
        if parent >= 0:
            self.level[j * d + axis] += 1
            self.place[j * d + axis] = 3 * self.place[j * d + axis] + 1 + step
        self.count += 1
        return 0

    cdef int _push(self, Py_ssize_t j) except -1:
        """Put rectangle j into the heap of its size."""
        cdef Py_ssize_t s = 0, c, capacity
        cdef Heap *heap
        for c in range(self.d):
            s += self.level[j * self.d + c]
        heap = self.heaps + s
        if heap.size == heap.capacity:
            capacity = 2 * heap.capacity + 8
            heap.items = <Py_ssize_t *>resize(heap.items, capacity, sizeof(Py_ssize_t))
            heap.capacity = capacity
        push(heap.items, heap.size, self.value, j)
        heap.size += 1
        return 0

    cdef Py_ssize_t _pop(self, Py_ssize_t s) noexcept:
        """Take the best rectangle of size s."""
        cdef Heap *heap = self.heaps + s
        cdef Py_ssize_t best = pop(heap.items, heap.size, self.value)
        heap.size -= 1
        return best

    cdef int _select(self) except -1:
        """Take the rectangles to be divided out of their heaps, and make their new centres."""
        cdef Py_ssize_t s, k, n = 0, start = -1, _, j
        cdef double f, size, top = -INFINITY, rate, least
        cdef Scratch scratch = Scratch.__new__(Scratch)
        cdef Py_ssize_t *hull = scratch.indices(self.classes)
        for s in range(self.classes - self.d):  # the deepest are not divided
            if self.heaps[s].size > 0 and self._top(s) > top:
                start, top = s, self._top(s)
        # The upper hull from the best value to the largest size, which is the smallest s.
        for s in range(start, -1, -1):
            if self.heaps[s].size == 0:
                continue
            while n > 1 and self._below(hull[n - 2], hull[n - 1], s):
                n -= 1
            hull[n] = s
            n += 1
        least = top + self.epsilon * (top - self.worst)
        self.divided = []
        for k in range(n):
            f, size = self._top(hull[k]), measure_size(hull[k], self.d)
            if k + 1 < n:  # the largest rate of change for which this size is still the best choice
                rate = (f - self._top(hull[k + 1])) / (measure_size(hull[k + 1], self.d) - size)
                if f + rate * size < least:
                    continue
            for _ in range(TIES):
                if self.heaps[hull[k]].size == 0 or self._top(hull[k]) < f:
                    break
                self.divided.append(self._pop(hull[k]))
        for j in self.divided:
            self._make_centres(j)
        return 0

    cdef double _top(self, Py_ssize_t s) noexcept:
        """The best value of size s; an infeasible centre counts as the worst value seen."""
        cdef double f = self.value[self.heaps[s].items[0]]
        return f if f > -INFINITY else self.worst

    cdef bint _below(self, Py_ssize_t a, Py_ssize_t b, Py_ssize_t c) noexcept:
        """Whether size b lies below the line from a to c in the plane of size and value."""
        cdef double x = measure_size(a, self.d), y = self._top(a)
        cdef double to_b = measure_size(b, self.d) - x, to_c = measure_size(c, self.d) - x
        return (self._top(b) - y) * to_c < (self._top(c) - y) * to_b

    cdef int _make_centres(self, Py_ssize_t j) except -1:
        """Two new rectangles along each longest side of rectangle j."""
        cdef Py_ssize_t c
        cdef int level = find_shallowest(self.d, self.level + j * self.d)
        for c in range(self.d):
            if self.level[j * self.d + c] == level:
                self._new_rectangle(j, c, -1)
                self._new_rectangle(j, c, 1)
        return 0

    cdef Py_ssize_t _divide(self, Py_ssize_t j, Py_ssize_t child) except -1:
        """Trisect rectangle j, whose new centres start at `child`, and return where the next rectangle's start.

        The side whose new values are best is divided first, so that these get the largest rectangles: the children
        along the k-th side are deeper also along the sides divided before it.
        """
        cdef Py_ssize_t c, d = self.d, k, pair
        cdef int level = find_shallowest(self.d, self.level + j * self.d)
        order = []
        for c in range(d):
            if self.level[j * d + c] == level:
                pair = child + 2 * len(order)
                order.append((-max(self.value[pair], self.value[pair + 1]), c, pair))
        child += 2 * len(order)
        order.sort()
        before = []
        for _, c, pair in order:
            for k in range(pair, pair + 2):
                for other in before:
                    self._deepen(k, other)
                self._push(k)
            before.append(c)
        for c in before:
            self._deepen(j, c)
        self._push(j)
        return child

    cdef void _deepen(self, Py_ssize_t j, Py_ssize_t c) noexcept:
        """Shrink rectangle j to the middle third along axis c."""
        self.level[j * self.d + c] += 1
        self.place[j * self.d + c] = 3 * self.place[j * self.d + c] + 1
