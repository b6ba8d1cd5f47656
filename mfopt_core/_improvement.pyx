"""Improvement: the augmented expected improvement of Huang et al. (2006) over the levels of one process.

With the notation of mfopt_core._process, level k has μ_k and σ_k², the last level is the target, and

    v_k(x) = log EI(x)/unit + log |corr(f_k(x), f(x))| + log(1 − η_k/√(σ_k²(x) + η_k²)) + offset_k

with EI the expected improvement of the target over `best`, and η_k² the noise of a value of level k. A search wants the
largest, max_k v_k(x), and what it would be worth at each level comes from one pass over L for all of them. Far below it
is drawn in (`tail`): v ≥ −tail stays, below that it becomes −tail (1 + log(−v/tail)), which leaves the order as it is.

Its gradient is a sum over the rows with two weights each, for the level that is the best and for the target:

    ∇v = Σ_i (a α_i + b (L⁻ᵀv)_i + c (L⁻ᵀv_k)_i) ∇r_i + (d (L⁻ᵀv_k)_i + c (L⁻ᵀv)_i) ∇r_ki
"""

cimport cython
cimport numpy as cnp
from libc.math cimport INFINITY, log
from libc.string cimport memcpy, memset

from mfopt_core._arrays cimport as_number, as_points, copy_vector, data, new_matrix, new_vector
from mfopt_core._augmented cimport Terms, assess, correlate
from mfopt_core._cholesky cimport BLOCK, count_blocks, count_in_block
from mfopt_core._correlation cimport Slopes
from mfopt_core._gp cimport GP
from mfopt_core._level cimport Level
from mfopt_core._memory cimport Scratch
from mfopt_core._posterior cimport CHUNK, Pass, Where, choose_chunk, find_width, join_tail, open_passes, solve_pass
from mfopt_core._process cimport Process
from mfopt_core._rows cimport MF_FEW, mf_dot
from mfopt_core._tracker cimport Desks, Tracker

import numpy as np

cnp.import_array()


@cython.final
cdef class Improvement:
    """The best of v_k over these levels, of one GP, the last of them the target; −inf as an offset leaves one out."""

    cdef readonly tuple levels
    cdef readonly double best, unit, tail
    cdef cnp.ndarray columns  # the levels that are looked at, (M,): those that are not left out, and the target
    cdef cnp.ndarray tails  # (M, d − dims)
    cdef cnp.ndarray factors, shifts, noises, offsets  # (M,)

    def __cinit__(self, levels, best, unit, noises, offsets, tail):
        cdef Py_ssize_t count
        self.levels = tuple(levels)
        count = len(self.levels)
        if not self.levels or not all(type(level) is Level for level in self.levels):
            raise ValueError(f"one Level per fidelity is needed, at least one, got {self.levels!r}")
        if any(one.gp is not self.levels[0].gp or len(one.tail) != len(self.levels[0].tail) for one in self.levels):
            raise ValueError(f"levels must be of one GP, with tails of one length, got {self.levels!r}")
        self.best, self.unit, self.tail = as_number(best, "best"), as_number(unit, "unit"), as_number(tail, "tail")
        if not (self.unit > 0.0 and self.tail > 0.0):
            raise ValueError(f"unit and tail must be positive, got {self.unit} and {self.tail}")
        eta, given = copy_vector(noises, count, "noises"), np.array(offsets, dtype=np.float64)
        if not (eta >= 1e-307).all():
            raise ValueError(f"noises must be positive, got {eta!r}")
        if given.shape != (count,) or not (given < INFINITY).all() or not (given > -INFINITY).any():
            raise ValueError(f"offsets must be {count} numbers, -inf for a level that is left out, got {given!r}")
        self.columns = np.append(np.flatnonzero(given[:-1] > -INFINITY), count - 1)
        if len(self.columns) > CHUNK:
            raise ValueError(f"there must be at most {CHUNK} levels, got {len(self.columns)}")
        chosen = [self.levels[k] for k in self.columns]
        self.tails = np.array([(<Level>level).last for level in chosen])
        self.factors = np.array([level.factor for level in chosen])
        self.shifts = np.array([level.shift for level in chosen])
        self.noises, self.offsets = eta[self.columns], given[self.columns]

    def __reduce__(self):
        noises, offsets = np.ones(len(self.levels)), np.full(len(self.levels), -INFINITY)
        noises[self.columns], offsets[self.columns] = self.noises, self.offsets
        return Improvement, (self.levels, self.best, self.unit, noises, offsets, self.tail)

    @property
    def rows(self):
        """Rows of the GP: what an evaluation costs."""
        return self.levels[0].gp.n

    def __call__(self, u):
        """The largest v_k at the rows of u (q, dims), drawn in, (q,)."""
        cdef cnp.ndarray points = self._check(u), heights = new_vector(points.shape[0])
        self._measure(points, data(heights), NULL)
        return self._draw_in(heights, None)

    def gradient(self, u):
        """The same, and its gradient, (q, dims)."""
        cdef cnp.ndarray points = self._check(u), heights = new_vector(points.shape[0])
        cdef cnp.ndarray slopes = new_matrix(points.shape[0], points.shape[1])
        self._measure(points, data(heights), data(slopes))
        return self._draw_in(heights, slopes), slopes

    def recurring(self, u):
        """The same as a call, for points that will come back: what is found out about them is kept."""
        cdef cnp.ndarray points = self._check(u), heights = new_vector(points.shape[0])
        cdef Py_ssize_t q = cnp.PyArray_DIM(points, 0)
        cdef GP gp = (<Level>self.levels[0]).gp
        with gp.lock:
            if (<Level>self.levels[0]).has_room(q):
                self._recall(gp.process, points, data(heights))
                return self._draw_in(heights, None)
        self._measure(points, data(heights), NULL)
        return self._draw_in(heights, None)

    cdef cnp.ndarray _check(self, object u):
        """u as points of the levels, in an array whose shape no other thread can set."""
        cdef cnp.ndarray points = as_points(u, 0, "u").view()
        (<Level>self.levels[0]).check_dims(points.shape[1])
        return points

    cdef cnp.ndarray _draw_in(self, cnp.ndarray heights, cnp.ndarray slopes):
        """The heights (q,), drawn in where they are far below, and with them the slopes (q, dims)."""
        cdef Py_ssize_t j, c, dims = 0 if slopes is None else cnp.PyArray_DIM(slopes, 1)
        cdef double depth
        for j in range(cnp.PyArray_DIM(heights, 0)):
            depth = -data(heights)[j] / self.tail
            if depth > 1.0:
                data(heights)[j] = -self.tail * (1.0 + log(depth))
                for c in range(dims):
                    data(slopes)[j * dims + c] /= depth
        return heights

    # -- one point -------------------------------------------------------------------------------------------

    cdef Py_ssize_t _find_best(
        self, Py_ssize_t ld, const double *mean, const double *var, const double *covariance, Terms *terms
    ) noexcept nogil:
        """The best column at a point, in `terms` what it is worth; numbers of column m stand at m · ld."""
        cdef Py_ssize_t m, top = cnp.PyArray_DIM(self.columns, 0) - 1, best = -1
        cdef double factor = data(self.factors)[top], own
        cdef double target = factor * mean[top * ld] + data(self.shifts)[top], doubt = factor * factor * var[top * ld]
        cdef Terms found
        for m in range(top + 1):
            if data(self.offsets)[m] > -INFINITY:
                factor = data(self.factors)[m]
                own = factor * factor * var[m * ld]
                found = assess(target - self.best, doubt, self.unit, own, data(self.noises)[m])
                found.value += data(self.offsets)[m]
                if m < top:
                    correlate(&found, doubt, own, factor * data(self.factors)[top] * covariance[m * ld])
                if best < 0 or found.value > terms.value:
                    best = m
                    terms[0] = found
        return best

    cdef int _relate(self, Process process, cnp.ndarray points, double *prior, Scratch scratch) except -1:
        """k((x, tail_m), (x, tail))/s of each column with the target, which is the same at every x, (M,)."""
        cdef Py_ssize_t c, m, dims = cnp.PyArray_DIM(points, 1), d = process.d(), width = d - dims
        cdef Py_ssize_t count = cnp.PyArray_DIM(self.columns, 0)
        cdef double *whole = scratch.numbers(2 * d)
        for m in range(count):
            for c in range(d):
                whole[c] = data(points)[c] if c < dims else data(self.tails)[m * width + c - dims]
                whole[d + c] = data(points)[c] if c < dims else data(self.tails)[(count - 1) * width + c - dims]
            process.kernel.row(1, whole, 1, whole + d, prior + m)
        return 0

    # -- anywhere --------------------------------------------------------------------------------------------

    cdef int _measure(self, cnp.ndarray points, double *heights, double *slopes) except -1:
        """The largest v_k, and unless `slopes` is NULL its gradient."""
        cdef Scratch scratch = Scratch.__new__(Scratch)
        cdef GP gp = (<Level>self.levels[0]).gp
        cdef Process process = gp.process
        cdef Py_ssize_t q = cnp.PyArray_DIM(points, 0), dims = cnp.PyArray_DIM(points, 1), first = 0, count, j
        cdef Py_ssize_t levels = cnp.PyArray_DIM(self.columns, 0)
        cdef Py_ssize_t chunk = choose_chunk(q, levels)
        cdef Where where = Where(q, dims, data(points), levels, data(self.tails))
        cdef double *prior = scratch.numbers(levels)
        cdef double *covariance = scratch.numbers(CHUNK)
        cdef Py_ssize_t *winners = scratch.indices(2 * CHUNK)
        cdef Py_ssize_t *places = winners + CHUNK
        cdef Terms *terms = <Terms *>scratch.part(CHUNK, sizeof(Terms))
        cdef const double *alpha = NULL
        cdef Pass *p
        if q == 0:
            return 0
        with gp.lock:
            p = open_passes(1, process, chunk, max(find_width(levels * chunk), MF_FEW), scratch)
            self._relate(process, points, prior, scratch)
            with nogil:
                if slopes != NULL:
                    alpha = process.solve_alpha()
                while first < q:
                    count = q - first if q - first < chunk else chunk
                    solve_pass(p, process, &where, first, count)
                    covary(p, process, levels, count, prior, covariance)
                    for j in range(count):
                        winners[j] = self._find_best(count, p.mean + j, p.var + j, covariance + j, &terms[j])
                        heights[first + j] = terms[j].value
                    if slopes != NULL:
                        gather(p, process.n(), levels, count, winners, places)
                        process.factor.backward(p.width, p.v, p.width)
                        for j in range(count):
                            self._add_up(
                                p, process, &where, first + j, j, winners[j], places[j], alpha, &terms[j],
                                slopes + (first + j) * dims
                            )
                    first += count
        return 0

    cdef void _add_up(
        self, Pass *p, Process process, const Where *where, Py_ssize_t point, Py_ssize_t target_at, Py_ssize_t m,
        Py_ssize_t own_at, const double *alpha, const Terms *terms, double *slope
    ) noexcept nogil:
        """∇v at a point where level m is the best, from these columns of L⁻ᵀV."""
        cdef Py_ssize_t top = where.levels - 1
        cdef double scale = process.kernel.scale, own = data(self.factors)[m], target = data(self.factors)[top]
        cdef double by_mean = terms.by_mean * process.root * target
        cdef double by_target = -2.0 * scale * target * target * terms.by_target
        cdef double by_own = -2.0 * scale * own * own * terms.by_own
        cdef double both = -own * target * scale * terms.by_covariance
        memset(slope, 0, where.dims * sizeof(double))
        if m == top:
            by_target, by_own = by_target + by_own, 0.0
        join_tail(p, process, where, point, top)
        add_weighted(p, process, where.dims, alpha, by_mean, target_at, by_target, own_at, both, slope)
        if m < top:
            join_tail(p, process, where, point, m)
            add_weighted(p, process, where.dims, alpha, 0.0, own_at, by_own, target_at, both, slope)

    # -- points that come back -------------------------------------------------------------------------------

    cdef int _recall(self, Process process, cnp.ndarray points, double *heights) except -1:
        """The largest v_k from what the levels remember; the lock is held."""
        cdef Scratch scratch = Scratch.__new__(Scratch), room = Scratch.__new__(Scratch)
        cdef Py_ssize_t q = cnp.PyArray_DIM(points, 0), dims = cnp.PyArray_DIM(points, 1), j, m, slot
        cdef Py_ssize_t levels = cnp.PyArray_DIM(self.columns, 0)
        cdef Py_ssize_t *slots = scratch.indices(levels * q)
        cdef double *prior = scratch.numbers(levels)
        cdef double *mean = scratch.numbers(levels * q)
        cdef double *var = scratch.numbers(levels * q)
        cdef double *covariance = scratch.numbers(levels * q)
        cdef Tracker kept, target = None
        cdef Desks desks
        cdef Terms terms
        if q == 0:
            return 0
        self._relate(process, points, prior, scratch)
        for m in range(levels - 1, -1, -1):  # the target first
            level = self.levels[self.columns[m]]
            (<Level>level).keep(q, dims, data(points), slots + m * q)
            kept = (<Level>level).kept
            if target is None:
                target = kept
                kept.open_desks(&desks, q, room)
            with nogil:
                kept.refresh_some(q, slots + m * q, &desks)
                for j in range(q):
                    slot = slots[m * q + j]
                    mean[m * q + j] = process.mean_of(kept.columns.dot[slot])
                    var[m * q + j] = process.variance_of(kept.columns.square[slot])
                    covariance[m * q + j] = 0.0
                    if m < levels - 1:
                        covariance[m * q + j] = process.kernel.scale * (
                            prior[m] - multiply(kept, target, process.n(), slot, slots[(levels - 1) * q + j])
                        )
        for j in range(q):
            self._find_best(q, mean + j, var + j, covariance + j, &terms)
            heights[j] = terms.value
        return 0


cdef void covary(
    Pass *p, Process process, Py_ssize_t levels, Py_ssize_t count, const double *prior, double *covariance
) noexcept nogil:
    """The covariances of every level with the last one at the points of a pass, (levels, count)."""
    cdef Py_ssize_t i, m, j, last = (levels - 1) * count
    cdef const double *row
    memset(covariance, 0, levels * count * sizeof(double))
    for i in range(process.n()):
        row = p.v + i * p.width
        for m in range(levels - 1):
            for j in range(count):
                covariance[m * count + j] += row[m * count + j] * row[last + j]
    for m in range(levels - 1):
        for j in range(count):
            covariance[m * count + j] = process.kernel.scale * (prior[m] - covariance[m * count + j])


cdef void gather(
    Pass *p, Py_ssize_t n, Py_ssize_t levels, Py_ssize_t count, const Py_ssize_t *winners, Py_ssize_t *places
) noexcept nogil:
    """Keep of V what a gradient needs: the columns of the target, then those of the best levels, at these places."""
    cdef Py_ssize_t i, j, columns = count, last = (levels - 1) * count, width
    cdef double kept[CHUNK]
    cdef double *row
    for j in range(count):
        places[j] = j
        if winners[j] < levels - 1:
            places[j] = columns
            columns += 1
    width = find_width(columns)
    for i in range(n):
        row = p.v + i * p.width
        for j in range(count):
            kept[j] = row[last + j]
            kept[places[j]] = row[winners[j] * count + j]
        for j in range(columns, width):
            kept[j] = 0.0
        memcpy(p.v + i * width, kept, width * sizeof(double))  # not behind the row that comes next
    p.width = width


cdef void add_weighted(
    Pass *p, Process process, Py_ssize_t dims, const double *alpha, double a, Py_ssize_t first, double b,
    Py_ssize_t second, double c, double *slope
) noexcept nogil:
    """Add Σ_i (a α_i + b V_i,first + c V_i,second) ∇r_i at the point `p.whole`."""
    cdef Py_ssize_t block, i, n = process.n(), count
    cdef const double *v
    cdef double weights[BLOCK]
    cdef Slopes slopes
    slopes.count = 1
    slopes.strides[0], slopes.weights[0], slopes.out[0] = 1, weights, slope
    for block in range(count_blocks(n)):
        count = count_in_block(block, n)
        v = p.v + block * BLOCK * p.width
        for i in range(count):
            weights[i] = a * alpha[block * BLOCK + i] + b * v[i * p.width + first] + c * v[i * p.width + second]
        process.kernel.add_slopes(dims, count, process.data.soa[block], BLOCK, p.whole, &slopes)


cdef double multiply(Tracker one, Tracker other, Py_ssize_t n, Py_ssize_t j, Py_ssize_t k) noexcept nogil:
    """vᵀv′ of two columns that are remembered."""
    cdef Py_ssize_t b
    cdef double total = 0.0
    for b in range(count_blocks(n)):
        total += mf_dot(count_in_block(b, n), one.columns.v[b] + j * BLOCK, other.columns.v[b] + k * BLOCK)
    return total
