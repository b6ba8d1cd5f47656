"""Several ascents at once on a minimum of smooth pieces, φ(x) = min_m φ_m(x), in the unit cube.

A quasi-Newton ascent on φ stops at the first kink, and the maximum of a minimum often is one. So each step solves

    max_s min_m φ_m + g_mᵀs − ½ sᵀH⁻¹s

whose dual is a small quadratic programme over the simplex, min_λ λᵀφ + ½ ‖Σ_m λ_m g_m‖²_H, with s = H Σ_m λ_m g_m
(Pshenichnyi's linearisation; with one piece it is plain BFGS). H is updated by BFGS from the change of Σ λ_m g_m at
fixed λ. A step that gains too little is tried
again shorter. With several pieces it is judged against the worst of the last MEMORY values, because full steps along a
curved kink may lose a little before they win; an ascent that then gains nothing in PATIENCE steps has ended.

The caller evaluates: `points()` gives the points of all running ascents, `tell` takes every φ_m and its gradient there.
One batch costs hardly more than one point, because the factors of the models are read once for all.
"""

cimport cython
cimport numpy as cnp
from libc.math cimport INFINITY, fabs, sqrt
from libc.string cimport memcpy, memset

from mfopt_core._arrays cimport as_number, as_points, data

import numpy as np

cnp.import_array()

cdef enum:
    MEMORY = 3
    PATIENCE = 4
    PAIRS = 500  # steps of the pairwise solver of the dual; it needs a few per piece

cdef double FIRST_STEP = 0.05, LONGEST_STEP = 0.3, SHORTEST_STEP = 1e-9  # in the cube
cdef double ARMIJO = 1e-4, LEAST_SHRINK = 0.1
cdef double GAIN = 2e-9  # of the spread: a step that promises less ends its ascent
cdef double MERGE = 0.01
cdef Py_ssize_t SETTLED = 4  # steps after which an ascent that cannot become the best any more is given up


@cython.final
cdef class Ascent:
    """Ascents from `starts` (k, d) in [0, 1]^d; `spread` is the range of values of interest: it says what matters."""

    cdef readonly Py_ssize_t k, d
    cdef double spread
    cdef Py_ssize_t pieces  # 0 before the first values
    cdef cnp.ndarray at, target, height, slope, inverse, weight, best, best_value, recent, step, promise, length
    cdef cnp.ndarray running, taken, stale  # 0 or 1; steps taken; those of them since the last gain

    def __cinit__(self, starts, spread):
        self.target = as_points(starts, 0, "starts").copy()
        self.spread = as_number(spread, "spread")
        if not self.spread > 0.0:
            raise ValueError(f"spread must be positive, got {spread!r}")
        self.k, self.d = self.target.shape[0], self.target.shape[1]
        if self.k == 0:
            raise ValueError("starts must hold at least one point, got none")
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
        return self.target[self.running.astype(bool)]

    def result(self):
        """The best point of each ascent (k, d), φ there (k,), and whether no step from its end promised a gain (k,)."""
        return self.best.copy(), self.best_value.copy(), ~(self.promise * self.length > GAIN * self.spread)

    def tell(self, heights, slopes):
        """φ_m (M, q) and its gradients (M, q, d) at `points()`; −inf for all m where the point is not feasible."""
        cdef cnp.ndarray h = np.ascontiguousarray(heights, dtype=np.float64)
        cdef cnp.ndarray g = np.ascontiguousarray(slopes, dtype=np.float64)
        cdef Py_ssize_t q = self.running.sum(), i, j = 0, m, pieces
        if cnp.PyArray_NDIM(h) != 2 or h.shape[1] != q or h.shape[0] < 1 or (self.pieces and h.shape[0] != self.pieces):
            raise ValueError(f"heights must have shape ({self.pieces or 'M'}, {q}), got {np.shape(heights)}")
        if cnp.PyArray_NDIM(g) != 3 or g.shape[0] != h.shape[0] or g.shape[1] != q or g.shape[2] != self.d:
            raise ValueError(f"slopes must have shape ({h.shape[0]}, {q}, {self.d}), got {np.shape(slopes)}")
        if np.isnan(h).any() or (h == INFINITY).any() or not np.isfinite(g[h > -INFINITY]).all():
            raise ValueError("heights must be finite or -inf (infeasible), and slopes finite where heights are")
        if not self.pieces:
            self.pieces = pieces = h.shape[0]
            self.height = np.zeros((self.k, pieces))
            self.slope = np.zeros((self.k, pieces * self.d))
            self.weight = np.zeros((self.k, pieces))
        work = np.empty(self.pieces * (self.d + self.pieces + 2) + 3 * self.d)
        cdef double *new_height = data(work)
        cdef double *new_slope = new_height + self.pieces
        cdef double *scratch = new_slope + self.pieces * self.d
        cdef const double *hp = data(h)
        cdef const double *gp = data(g)
        cdef Py_ssize_t *running = <Py_ssize_t *>cnp.PyArray_DATA(self.running)
        for i in range(self.k):
            if not running[i]:
                continue
            for m in range(self.pieces):
                new_height[m] = hp[m * q + j]
                memcpy(new_slope + m * self.d, gp + (m * q + j) * self.d, self.d * sizeof(double))
            j += 1
            self._take(i, new_height, new_slope, scratch)
        # Given up are those that even several times the promised gain would leave behind the best, and those that
        # have come close to a better one.
        leader = self.best_value.max()
        lost = (self.taken >= SETTLED) & (self.best_value + 5 * self.promise + 0.005 * self.spread < leader)
        self.running[lost] = 0
        self._merge()

    cdef int _merge(self) except -1:
        """End every running ascent that is closer than MERGE to one with a better value."""
        cdef Py_ssize_t *running = <Py_ssize_t *>cnp.PyArray_DATA(self.running)
        cdef const double *at = data(self.at)
        cdef const double *value = data(self.best_value)
        cdef Py_ssize_t i, j, c
        cdef double distance
        for i in range(self.k):
            for j in range(self.k):
                if running[i] and i != j and (value[j] > value[i] or (value[j] == value[i] and j < i)):
                    distance = 0.0
                    for c in range(self.d):
                        distance = max(distance, fabs(at[i * self.d + c] - at[j * self.d + c]))
                    if distance < MERGE:
                        running[i] = 0
        return 0

    cdef int _take(self, Py_ssize_t i, double *height, double *slope, double *scratch) except -1:
        """Judge the point that ascent i tried, move there or stay, and choose the next point to try."""
        cdef Py_ssize_t d = self.d, n = self.pieces, c, m
        cdef double *at = data(self.at) + i * d
        cdef double *target = data(self.target) + i * d
        cdef double *own_height = data(self.height) + i * n
        cdef double *own_slope = data(self.slope) + i * n * d
        cdef double *recent = data(self.recent) + i * MEMORY
        cdef double *length = data(self.length) + i
        cdef double *change = scratch
        cdef double value = INFINITY, worst = INFINITY, promised, shrink
        cdef Py_ssize_t *taken = <Py_ssize_t *>cnp.PyArray_DATA(self.taken) + i
        cdef Py_ssize_t *stale = <Py_ssize_t *>cnp.PyArray_DATA(self.stale) + i
        for m in range(n):
            value = height[m] if height[m] < value else value
        for m in range(MEMORY if n > 1 else 0):
            worst = recent[m] if recent[m] < worst else worst
        if n == 1:
            worst = data(self.best_value)[i]
        if taken[0] == 0:
            if value == -INFINITY:  # a start outside the feasible set
                (<Py_ssize_t *>cnp.PyArray_DATA(self.running))[i] = 0
                data(self.promise)[i] = 0.0
                return 0
            for m in range(MEMORY):
                recent[m] = value
        elif not value >= worst + ARMIJO * length[0] * data(self.promise)[i]:
            # shorter, by where the parabola through value, slope and new value has its top
            promised = length[0] * data(self.promise)[i]
            shrink = 0.5 * promised / (promised - (value - recent[(taken[0] - 1) % MEMORY]))
            length[0] *= LEAST_SHRINK if not shrink > LEAST_SHRINK else (0.5 if shrink > 0.5 else shrink)
            return self._try(i)
        else:
            if taken[0] > 0:
                for c in range(d):  # the change of Σ λ_m g_m, downhill: the curvature along the step
                    change[c] = 0.0
                    for m in range(n):
                        change[c] += data(self.weight)[i * n + m] * (own_slope[m * d + c] - slope[m * d + c])
                    target[c] -= at[c]
                if not update(d, data(self.inverse) + i * d * d, target, change, change + d) and length[0] == 1.0:
                    for c in range(d * d):  # no curvature to be seen, and the whole step was good: a longer one next
                        data(self.inverse)[i * d * d + c] *= 4.0
                for c in range(d):
                    target[c] += at[c]
            recent[taken[0] % MEMORY] = value
        memcpy(at, target, d * sizeof(double))
        memcpy(own_height, height, n * sizeof(double))
        memcpy(own_slope, slope, n * d * sizeof(double))
        taken[0] += 1
        length[0] = 8.0 * length[0] if length[0] < 0.125 else 1.0
        stale[0] = 0 if value > data(self.best_value)[i] + GAIN * self.spread else stale[0] + 1
        if value > data(self.best_value)[i]:
            data(self.best_value)[i] = value
            memcpy(data(self.best) + i * d, at, d * sizeof(double))
        if stale[0] >= PATIENCE:
            (<Py_ssize_t *>cnp.PyArray_DATA(self.running))[i] = 0
            return 0
        self._aim(i, scratch)
        return self._try(i)

    cdef int _direct(self, Py_ssize_t i, double *scratch) except -1:
        """The step s of ascent i at its point, and the gain that it promises.

        A coordinate that the step would take over a bound is set down on the bound, the heights are advanced by what
        that gains or loses, and the others are solved for again, until none crosses.
        """
        cdef Py_ssize_t d = self.d, n = self.pieces, c, e, m, _
        cdef double *at = data(self.at) + i * d
        cdef double *height = data(self.height) + i * n
        cdef double *slope = data(self.slope) + i * n * d
        cdef double *inverse = data(self.inverse) + i * d * d
        cdef double *weight = data(self.weight) + i * n
        cdef double *step = data(self.step) + i * d
        cdef double *gram = scratch
        cdef double *advanced = gram + n * n
        cdef double *uphill = advanced + n
        cdef double *free = uphill + d  # 1 where the coordinate is not set down on a bound
        cdef double *moved = free + d
        cdef double lowest = INFINITY, size = 0.0, longest = 0.0, promise = INFINITY, total
        cdef bint crossed
        for m in range(n):
            advanced[m] = height[m]
            lowest = height[m] if height[m] < lowest else lowest
        if inverse[0] == 0.0:  # the first step: a known length along the gradient of the lowest piece
            for m in range(n):
                if height[m] == lowest:
                    for c in range(d):
                        size = fabs(slope[m * d + c]) if fabs(slope[m * d + c]) > size else size
            for c in range(d):
                inverse[c * d + c] = FIRST_STEP / size if size > 0.0 else 1.0
        for c in range(d):
            free[c] = 1.0
            step[c] = 0.0
        for _ in range(d + 1):
            for m in range(n):
                for c in range(d):
                    moved[c] = self._row(inverse, free, slope + m * d, c) if free[c] != 0.0 else 0.0
                for e in range(n):
                    gram[m * n + e] = 0.0
                    for c in range(d):
                        gram[m * n + e] += slope[e * d + c] * moved[c]
            minimise_on_simplex(n, gram, advanced, weight)
            longest = 0.0
            for c in range(d):
                uphill[c] = 0.0
                for m in range(n):
                    uphill[c] += weight[m] * slope[m * d + c]
            for c in range(d):
                if free[c] != 0.0:
                    step[c] = self._row(inverse, free, uphill, c)
                    longest = fabs(step[c]) if fabs(step[c]) > longest else longest
            crossed = False
            for c in range(d):
                if free[c] != 0.0:
                    if longest > LONGEST_STEP:
                        step[c] *= LONGEST_STEP / longest
                    if at[c] + step[c] < 0.0 or at[c] + step[c] > 1.0:
                        step[c] = (0.0 if step[c] < 0.0 else 1.0) - at[c]
                        free[c] = 0.0
                        crossed = True
                        for m in range(n):
                            advanced[m] += slope[m * d + c] * step[c]
            if not crossed:
                break
        for m in range(n):
            total = height[m] - lowest
            for c in range(d):
                total += slope[m * d + c] * step[c]
            promise = total if total < promise else promise
        data(self.promise)[i] = promise
        return 0

    cdef int _aim(self, Py_ssize_t i, double *scratch) except -1:
        """Choose the step of ascent i; if it promises too little, once more with H forgotten."""
        self._direct(i, scratch)
        if not data(self.promise)[i] > GAIN * self.spread:
            memset(data(self.inverse) + i * self.d * self.d, 0, self.d * self.d * sizeof(double))
            self._direct(i, scratch)
        return 0

    cdef double _row(self, const double *inverse, const double *free, const double *x, Py_ssize_t c) noexcept:
        """Row c of H times x, over the free coordinates."""
        cdef Py_ssize_t e
        cdef double total = 0.0
        for e in range(self.d):
            if free[e] != 0.0:
                total += inverse[c * self.d + e] * x[e]
        return total

    cdef int _try(self, Py_ssize_t i) except -1:
        """The next point to try; or the end of the ascent, when the step is too short or promises too little."""
        cdef Py_ssize_t c, d = self.d
        cdef double *at = data(self.at) + i * d
        cdef double *target = data(self.target) + i * d
        cdef double *step = data(self.step) + i * d
        cdef double longest = 0.0, length = data(self.length)[i]
        for c in range(d):
            target[c] = at[c] + length * step[c]
            target[c] = 0.0 if target[c] < 0.0 else (1.0 if target[c] > 1.0 else target[c])
            longest = fabs(target[c] - at[c]) if fabs(target[c] - at[c]) > longest else longest
        if longest < SHORTEST_STEP or not data(self.promise)[i] * length > GAIN * self.spread:
            (<Py_ssize_t *>cnp.PyArray_DATA(self.running))[i] = 0
        return 0


cdef bint update(Py_ssize_t d, double *h, const double *s, const double *y, double *hy) noexcept:
    """BFGS: H ← (I − ρ s yᵀ) H (I − ρ y sᵀ) + ρ s sᵀ with ρ = 1/yᵀs; False when the curvature yᵀs is not positive."""
    cdef Py_ssize_t a, b
    cdef double ys = 0.0, ss = 0.0, yy = 0.0, yhy = 0.0
    for a in range(d):
        ys += y[a] * s[a]
        ss += s[a] * s[a]
        yy += y[a] * y[a]
    if not ys > 1e-8 * sqrt(ss * yy):
        return False
    for a in range(d):
        hy[a] = 0.0
        for b in range(d):
            hy[a] += h[a * d + b] * y[b]
    for a in range(d):
        yhy += y[a] * hy[a]
    for a in range(d):
        for b in range(d):
            h[a * d + b] += (1.0 + yhy / ys) * s[a] * s[b] / ys - (hy[a] * s[b] + s[a] * hy[b]) / ys
    return True


cdef void minimise_on_simplex(Py_ssize_t n, const double *q, const double *height, double *weight) noexcept:
    """λ ← argmin ½ λᵀQλ + λᵀheight over the simplex, moving weight between the worst pair at a time."""
    cdef Py_ssize_t m, e, up, down, _, start = 0
    cdef double slope, steepest, flattest, curvature, move, lowest
    for m in range(n):
        weight[m] = 0.0
        start = m if height[m] < height[start] else start
    lowest = height[start]
    weight[start] = 1.0
    if n == 1:
        return
    for _ in range(PAIRS):
        up = down = -1
        steepest, flattest = -INFINITY, INFINITY
        for m in range(n):
            slope = height[m] - lowest
            for e in range(n):
                slope += q[m * n + e] * weight[e]
            if weight[m] > 0.0 and slope > steepest:
                steepest, down = slope, m
            if slope < flattest:
                flattest, up = slope, m
        if not steepest - flattest > 1e-12 * (fabs(steepest) + fabs(flattest)):
            return
        curvature = q[up * n + up] + q[down * n + down] - 2.0 * q[up * n + down]
        move = (steepest - flattest) / curvature if curvature > 0.0 else INFINITY
        if move >= weight[down]:
            move = weight[down]
            weight[down] = 0.0
        else:
            weight[down] -= move
        weight[up] += move
