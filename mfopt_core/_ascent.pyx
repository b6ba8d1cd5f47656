"""Several ascents at once on a minimum of smooth pieces, φ(x) = min_m φ_m(x), in the unit cube.

Each ascent goes from point to point by the steps of mfopt_core._step. A step that gains too little is tried again
shorter. With several pieces it is judged against the worst of the last MEMORY values, because full steps along a
curved kink may lose a little before they win; an ascent that then gains nothing in PATIENCE steps has ended.

The caller evaluates: `points()` gives the points of all running ascents, `tell` takes every φ_m and its gradient there.
One batch costs hardly more than one point, because the factors of the models are read once for all.

Layout. The state of k ascents lies in arrays with one row per ascent; a Climb points to the rows of one of them.
"""

cimport cython
cimport numpy as cnp
from libc.math cimport INFINITY, fabs
from libc.string cimport memcpy, memset

from mfopt_core._arrays cimport as_number, as_points, as_reals, copy_mask, data, keep_still
from mfopt_core._memory cimport Scratch
from mfopt_core._rows cimport mf_all_finite
from mfopt_core._step cimport Model, Workspace, open_workspace, solve_step, update_inverse

import numpy as np

cnp.import_array()

cdef enum:
    MEMORY = 3
    PATIENCE = 4
    SETTLED = 4  # steps after which an ascent that cannot become the best any more is given up

cdef double SHORTEST_STEP = 1e-9  # in the cube
cdef double ARMIJO = 1e-4, LEAST_SHRINK = 0.1
cdef double GAIN = 2e-9  # of the spread: a step that promises less ends its ascent
cdef double MERGE = 0.01
cdef double HOPE_BY_PROMISE = 5.0, HOPE_BY_SPREAD = 0.005  # may still be gained, of the promise and the spread


@cython.final
cdef class Ascent:
    """Ascents from `starts` (k, d) in [0, 1]^d; `spread` is the range of values of interest: it says what matters.

    `free` (k, d) marks the coordinates that each ascent may move; None: all.
    """

    def __cinit__(self, starts, spread, free=None):
        self.target = as_points(starts, 0, "starts").copy()
        self.spread = as_number(spread, "spread")
        if not self.spread > 0.0:
            raise ValueError(f"spread must be positive, got {keep_still(spread)!r}")
        self.k, self.d = self.target.shape[0], self.target.shape[1]
        if self.k == 0:
            raise ValueError("starts must hold at least one point, got none")
        if free is not None:
            self.free = copy_mask(free, self.k, self.d, "free")
        self.at = self.target.copy()
        self.best = self.target.copy()
        self.best_value = np.full(self.k, -INFINITY)
        self.recent = np.full((self.k, MEMORY), -INFINITY)
        self.inverse = np.zeros((self.k, self.d * self.d))
        self.step = np.zeros((self.k, self.d))
        self.promise = np.full(self.k, INFINITY)
        self.length = np.ones(self.k)
        self.running = np.ones(self.k, dtype=np.intp)
        self.taken = np.zeros(self.k, dtype=np.intp)
        self.stale = np.zeros(self.k, dtype=np.intp)

    def points(self):
        """Where values are wanted, (q, d), one point per running ascent; none when all have ended."""
        with self.lock:
            return self.target[self.running.astype(bool)]

    def result(self):
        """The best point of each ascent (k, d), φ there (k,), and whether no step from its end promised a gain (k,)."""
        with self.lock:
            return self.best.copy(), self.best_value.copy(), ~(self.promise * self.length > GAIN * self.spread)

    def tell(self, heights, slopes):
        """φ_m (M, q) and its gradients (M, q, d) at `points()`; −inf for all m where the point is not feasible."""
        cdef cnp.ndarray h = as_reals(heights, "heights"), g = as_reals(slopes, "slopes")
        cdef Py_ssize_t *running = <Py_ssize_t *>cnp.PyArray_DATA(self.running)
        cdef Py_ssize_t q = 0, pieces, i
        with self.lock:
            for i in range(self.k):
                q += running[i]
            pieces = self._check(q, h, g)
            if self.pieces == 0:
                self.height = np.zeros((self.k, pieces))
                self.slope = np.zeros((self.k, pieces * self.d))
                self.weight = np.zeros((self.k, pieces))
                self.pieces = pieces
            self._take_all(q, data(h), data(g))
            self._give_up()
            self._merge()

    cdef Py_ssize_t _check(self, Py_ssize_t q, cnp.ndarray h, cnp.ndarray g) except -1:
        """The number of pieces of these heights and slopes, which must be those of q points."""
        cdef Py_ssize_t i, pieces
        cdef double value
        if (
            cnp.PyArray_NDIM(h) != 2 or h.shape[1] != q or h.shape[0] < 1
            or (self.pieces > 0 and h.shape[0] != self.pieces)
        ):
            raise ValueError(f"heights must have shape ({self.pieces or 'M'}, {q}), got {np.shape(h)}")
        pieces = h.shape[0]
        if cnp.PyArray_NDIM(g) != 3 or g.shape[0] != pieces or g.shape[1] != q or g.shape[2] != self.d:
            raise ValueError(f"slopes must have shape ({pieces}, {q}, {self.d}), got {np.shape(g)}")
        for i in range(pieces * q):
            value = data(h)[i]
            if not value < INFINITY or (value > -INFINITY and not mf_all_finite(self.d, data(g) + i * self.d)):
                raise ValueError("heights must be finite or -inf (infeasible), and slopes finite where heights are")
        return pieces

    cdef void _give_up(self) noexcept:
        """End every ascent that cannot be expected to reach the best."""
        cdef Py_ssize_t *running = <Py_ssize_t *>cnp.PyArray_DATA(self.running)
        cdef const Py_ssize_t *taken = <const Py_ssize_t *>cnp.PyArray_DATA(self.taken)
        cdef const double *value = data(self.best_value)
        cdef double leader = -INFINITY, hope
        cdef Py_ssize_t i
        for i in range(self.k):
            leader = value[i] if value[i] > leader else leader
        for i in range(self.k):
            hope = HOPE_BY_PROMISE * data(self.promise)[i] + HOPE_BY_SPREAD * self.spread
            if taken[i] >= SETTLED and value[i] + hope < leader:
                running[i] = 0

    cdef void _merge(self) noexcept:
        """End every running ascent that is closer than MERGE to one with a better value, and could get there."""
        cdef Py_ssize_t *running = <Py_ssize_t *>cnp.PyArray_DATA(self.running)
        cdef const double *at = data(self.at)
        cdef const double *value = data(self.best_value)
        cdef const cnp.npy_bool *free = NULL
        cdef Py_ssize_t i, j, c
        cdef double distance, part
        if self.free is not None:
            free = <const cnp.npy_bool *>cnp.PyArray_DATA(self.free)
        for i in range(self.k):
            for j in range(self.k):
                if running[i] and i != j and (value[j] > value[i] or (value[j] == value[i] and j < i)):
                    distance = 0.0
                    for c in range(self.d):
                        part = fabs(at[i * self.d + c] - at[j * self.d + c])
                        if part > 0.0 and free != NULL and not free[i * self.d + c]:
                            part = INFINITY
                        distance = part if part > distance else distance
                    if distance < MERGE:
                        running[i] = 0

    cdef int _take_all(self, Py_ssize_t q, const double *heights, const double *slopes) except -1:
        """Give each running ascent its values, heights (M, q) and slopes (M, q, d)."""
        cdef Scratch scratch = Scratch.__new__(Scratch)
        cdef double *height = scratch.numbers(self.pieces)
        cdef double *slope = scratch.numbers(self.pieces * self.d)
        cdef double *change = scratch.numbers(self.d)
        cdef Py_ssize_t i, j = 0, m
        cdef Workspace work
        cdef Climb climb
        open_workspace(&work, self.d, self.pieces, scratch)
        for i in range(self.k):
            climb = self._climb(i)
            if not climb.running[0]:
                continue
            for m in range(self.pieces):
                height[m] = heights[m * q + j]
                memcpy(slope + m * self.d, slopes + (m * q + j) * self.d, self.d * sizeof(double))
            if self.free is not None:
                hold(self.pieces, self.d, <const cnp.npy_bool *>cnp.PyArray_DATA(self.free) + i * self.d, slope)
            j += 1
            self._take(&climb, height, slope, change, &work)
        return 0

    cdef Climb _climb(self, Py_ssize_t i) noexcept:
        """Where the numbers of ascent i lie."""
        cdef Py_ssize_t d = self.d, n = self.pieces
        cdef Climb climb
        climb.at = data(self.at) + i * d
        climb.target = data(self.target) + i * d
        climb.height = data(self.height) + i * n
        climb.slope = data(self.slope) + i * n * d
        climb.recent = data(self.recent) + i * MEMORY
        climb.best = data(self.best) + i * d
        climb.best_value = data(self.best_value) + i
        climb.promise = data(self.promise) + i
        climb.length = data(self.length) + i
        climb.running = <Py_ssize_t *>cnp.PyArray_DATA(self.running) + i
        climb.taken = <Py_ssize_t *>cnp.PyArray_DATA(self.taken) + i
        climb.stale = <Py_ssize_t *>cnp.PyArray_DATA(self.stale) + i
        climb.model = Model(
            d, n, climb.at, climb.height, climb.slope, data(self.inverse) + i * d * d, data(self.weight) + i * n,
            data(self.step) + i * d,
        )
        return climb

    cdef void _take(
        self, Climb *climb, const double *height, const double *slope, double *change, Workspace *work
    ) noexcept:
        """Judge the point that was tried by its φ_m and their gradients, move there or stay, and choose the next."""
        cdef double value = INFINITY
        cdef Py_ssize_t m
        for m in range(self.pieces):
            value = height[m] if height[m] < value else value
        if climb.taken[0] == 0:
            if value == -INFINITY:  # a start outside the feasible set
                climb.running[0] = 0
                climb.promise[0] = 0.0
                return
            for m in range(MEMORY):
                climb.recent[m] = value
        elif not value >= self._reference(climb) + ARMIJO * climb.length[0] * climb.promise[0]:
            shorten(climb, value)
            self._try(climb)
            return
        else:
            learn_curvature(climb, slope, change, work)
            climb.recent[climb.taken[0] % MEMORY] = value
        self._move(climb, value, height, slope)
        if climb.stale[0] >= PATIENCE:
            climb.running[0] = 0
            return
        self._aim(climb, work)
        self._try(climb)

    cdef double _reference(self, Climb *climb) noexcept:
        """The value that a step must improve on."""
        cdef double worst = INFINITY
        cdef Py_ssize_t m
        if self.pieces == 1:
            return climb.best_value[0]
        for m in range(MEMORY):
            worst = climb.recent[m] if climb.recent[m] < worst else worst
        return worst

    cdef void _move(self, Climb *climb, double value, const double *height, const double *slope) noexcept:
        """Go to the point that was tried."""
        memcpy(climb.at, climb.target, self.d * sizeof(double))
        memcpy(climb.height, height, self.pieces * sizeof(double))
        memcpy(climb.slope, slope, self.pieces * self.d * sizeof(double))
        climb.taken[0] += 1
        climb.length[0] = 8.0 * climb.length[0] if climb.length[0] < 0.125 else 1.0
        climb.stale[0] = 0 if value > climb.best_value[0] + GAIN * self.spread else climb.stale[0] + 1
        if value > climb.best_value[0]:
            climb.best_value[0] = value
            memcpy(climb.best, climb.at, self.d * sizeof(double))

    cdef void _aim(self, Climb *climb, Workspace *work) noexcept:
        """Choose the step; if it promises too little, once more with H forgotten."""
        climb.promise[0] = solve_step(&climb.model, work)
        if not climb.promise[0] > GAIN * self.spread:
            memset(climb.model.inverse, 0, self.d * self.d * sizeof(double))
            climb.promise[0] = solve_step(&climb.model, work)

    cdef void _try(self, Climb *climb) noexcept:
        """The next point to try; or the end of the ascent, when the step is too short or promises too little."""
        cdef double *at = climb.at
        cdef double *target = climb.target
        cdef double longest = 0.0, length = climb.length[0]
        cdef Py_ssize_t c
        for c in range(self.d):
            target[c] = at[c] + length * climb.model.step[c]
            target[c] = 0.0 if target[c] < 0.0 else (1.0 if target[c] > 1.0 else target[c])
            longest = fabs(target[c] - at[c]) if fabs(target[c] - at[c]) > longest else longest
        if longest < SHORTEST_STEP or not climb.promise[0] * length > GAIN * self.spread:
            climb.running[0] = 0


cdef void hold(Py_ssize_t pieces, Py_ssize_t d, const cnp.npy_bool *free, double *slope) noexcept nogil:
    """Slopes (pieces, d) of 0 in coordinates that are not free (d,): no step moves these."""
    cdef Py_ssize_t m, c
    for m in range(pieces):
        for c in range(d):
            if not free[c]:
                slope[m * d + c] = 0.0


cdef void shorten(Climb *climb, double value) noexcept nogil:
    """Try less of the step: up to where the parabola through value, slope and new value has its top."""
    cdef double promised = climb.length[0] * climb.promise[0]
    cdef double before = climb.recent[(climb.taken[0] - 1) % MEMORY]
    cdef double shrink = 0.5 * promised / (promised - (value - before))
    climb.length[0] *= LEAST_SHRINK if not shrink > LEAST_SHRINK else (0.5 if shrink > 0.5 else shrink)


cdef void learn_curvature(Climb *climb, const double *slope, double *change, Workspace *work) noexcept nogil:
    """Update H from the step to the point that was tried, where the gradients are `slope`."""
    cdef Py_ssize_t d = climb.model.d, c, m
    cdef double *step = climb.target  # for as long as H is updated: the step from `at` that was tried
    for c in range(d):  # the change of Σ λ_m g_m, downhill: the curvature along the step
        change[c] = 0.0
        for m in range(climb.model.pieces):
            change[c] += climb.model.weight[m] * (climb.slope[m * d + c] - slope[m * d + c])
        step[c] -= climb.at[c]
    if not update_inverse(&climb.model, step, change, work) and climb.length[0] == 1.0:
        for c in range(d * d):  # no curvature to be seen, and the whole step was good: a longer one next
            climb.model.inverse[c] *= 4.0
    for c in range(d):
        step[c] += climb.at[c]
