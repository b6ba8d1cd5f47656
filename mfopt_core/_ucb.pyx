"""The multi-fidelity upper confidence bound of the paper, eq. (mfgpucbDefn), over M Gaussian processes:

    φ_m(x) = μ_m(x) + β^½ σ_m(x) + ζ_m,    φ(x) = min_m φ_m(x)

mf_ucb evaluates φ at given points, ucb_pieces every φ_m with its gradient; argmax_ucb finds the maximum of φ over
tracked points without evaluating most of them.
"""

cimport numpy as cnp
from libc.math cimport INFINITY, fabs, sqrt
from libc.stdlib cimport free
from libc.string cimport memset

from mfopt_core._arrays cimport as_number, as_points, as_vector, data, to_soa
from mfopt_core._blas cimport gemv_t
from mfopt_core._gp cimport CHUNK, GP, workspace
from mfopt_core._rows cimport MF_FEW
from mfopt_core._tracked cimport Tracked

import numpy as np

cnp.import_array()

cdef double EPS = 2.220446049250313e-16
# A fidelity with fewer rows is computed everywhere: finding out where it is not needed would cost as much.
cdef Py_ssize_t WORTH_SKIPPING = 32


def mf_ucb(gps, x, beta, zetas, bint grad=False):
    """φ at the rows of x, (q,); with grad=True also its gradient, (q, d).

    beta is β_t, whose square root multiplies σ; zetas holds one ζ_m per GP. Where two bounds are equal (a kink of φ)
    the gradient is that of the lowest m. Where μ_m + ζ_m, known after O(n), already exceeds another fidelity's φ, the
    O(n²) of σ_m is saved.
    """
    cdef cnp.ndarray zeta, points, phi, active, rows
    cdef double b
    cdef Py_ssize_t m
    gps, zeta, b = _checked(gps, GP, beta, zetas)
    points = as_points(x, max(<Py_ssize_t>gp.d for gp in gps), "x")
    phi = np.full(len(points), INFINITY)
    active = np.full(len(points), -1, dtype=np.intp)
    for m in sorted(range(len(gps)), key=lambda m: (gps[m].n, m)):  # few rows first: they are cheap
        _lower(gps[m], points, b, data(zeta)[m], phi, active, m)
    if not grad:
        return phi
    gradient = np.zeros((len(points), points.shape[1]))  # stays 0 where φ is not finite
    for m in range(len(gps)):
        rows = np.flatnonzero(active == m)
        if len(rows):
            _, var, dmean, dvar = gps[m].posterior_gradient(points[rows])
            sigma = np.sqrt(var)[:, None]
            gradient[rows] = dmean + np.divide(0.5 * b * dvar, sigma, out=np.zeros_like(dvar), where=sigma > 0)
    return phi, gradient


def ucb_pieces(gps, x, beta, zetas):
    """Every φ_m at the rows of x, (M, q), and their gradients, (M, q, d)."""
    cdef cnp.ndarray zeta, points, values, slopes, mean, var, dmean, dvar
    cdef double b, sigma
    cdef Py_ssize_t m, j, c, q, d
    gps, zeta, b = _checked(gps, GP, beta, zetas)
    points = as_points(x, max(<Py_ssize_t>gp.d for gp in gps), "x")
    q, d = points.shape[0], points.shape[1]
    values = np.empty((len(gps), q))
    slopes = np.empty((len(gps), q, d))
    for m in range(len(gps)):
        mean, var, dmean, dvar = gps[m].posterior_gradient(points)
        for j in range(q):
            sigma = sqrt(data(var)[j])
            data(values)[m * q + j] = data(mean)[j] + b * sigma + data(zeta)[m]
            for c in range(d):  # σ has no gradient where it is 0: the mean's alone is used there
                data(slopes)[(m * q + j) * d + c] = data(dmean)[j * d + c] + (
                    0.5 * b * data(dvar)[j * d + c] / sigma if sigma > 0.0 else 0.0
                )
    return values, slopes


cdef tuple _checked(members, type kind, beta, zetas):
    """(members as a list, ζ, √β) after checks."""
    members = list(members)
    if not members or not all(isinstance(member, kind) for member in members):
        raise ValueError(f"one {kind.__name__} per fidelity is needed, at least one, got {members!r}")
    cdef double b = as_number(beta, "beta")
    if b < 0.0:
        raise ValueError(f"beta must not be negative, got {beta!r}")
    return members, as_vector(zetas, len(members), "zetas"), sqrt(b)


cdef int _lower(
    GP gp, cnp.ndarray points, double b, double zeta, cnp.ndarray phi, cnp.ndarray active, Py_ssize_t m
) except -1:
    """phi ← min(phi, φ_m) and active ← m where that is lower, or equal with a smaller m."""
    cdef Py_ssize_t q = cnp.PyArray_DIM(points, 0), d = cnp.PyArray_DIM(points, 1), n, i, j, k, first, count
    cdef Py_ssize_t kept, width, chunk
    cdef double *x = data(points)
    cdef double *out = data(phi)
    cdef Py_ssize_t *which = <Py_ssize_t *>cnp.PyArray_DATA(active)
    cdef double *v
    cdef double *soa
    cdef double *mean
    cdef double *var
    cdef Py_ssize_t *index
    cdef double margin, value
    cdef bint skipping
    gp.bind(d)
    with gp.lock:
        n = gp.factor.n
        chunk = q if q < CHUNK else CHUNK
        v = workspace((n + d + 3) * chunk)
        soa = v + n * chunk
        mean = soa + d * chunk
        var = mean + chunk
        index = <Py_ssize_t *>(var + chunk)
        with nogil:
            margin = 0.0
            skipping = n >= WORTH_SKIPPING
            if skipping:
                gp.refresh_alpha()
                for i in range(n):
                    margin += fabs(gp.alpha[i])
                margin *= 4.0 * EPS * sqrt(<double>n)  # what rounding can do to μ computed as rᵀα
            first = 0
            while first < q:
                count = q - first if q - first < chunk else chunk
                to_soa(count, d, x + first * d, soa, count)
                gp.cross(count, soa, count, v)
                kept = 0
                if skipping:
                    memset(mean, 0, count * sizeof(double))
                    gemv_t(n, count, v, count, gp.alpha, mean)
                    for j in range(count):
                        if gp.mean + gp.root * (mean[j] - margin) + zeta <= out[first + j]:
                            index[kept] = j
                            kept += 1
                    width = MF_FEW if 1 < kept <= MF_FEW <= count else kept
                    if kept < count:  # squeeze the columns that are left together, in place
                        for i in range(n):
                            for k in range(kept):
                                v[i * width + k] = v[i * count + index[k]]
                            for k in range(kept, width):
                                v[i * width + k] = 0.0
                    skipping = kept < 0.9 * count  # where it hardly helps, the rest goes without
                else:
                    for j in range(count):
                        index[j] = j
                    kept = width = count
                if kept > 0:
                    gp.factor.forward(width, v, width)
                    gp.moments(width, v, mean, var)
                for k in range(kept):
                    j = first + index[k]
                    value = mean[k] + b * sqrt(var[k]) + zeta
                    if value < out[j] or (value == out[j] and m < which[j]):
                        out[j] = value
                        which[j] = m
                first += count
        free(v)
    return 0


def argmax_ucb(tracked, beta, zetas, exclude=None):
    """(index, φ) of the maximum of φ over points that every fidelity tracks, the lowest index among equals.

    tracked holds one Tracked per fidelity, over the same points; exclude is a mask of points to leave out. Only points
    whose bound (see mfopt_core._tracked) exceeds the best exact value are computed; the answer is the same. Trackers of
    one GP may differ in their points: a process over several fidelities has coordinates that stand for the fidelity.
    """
    cdef cnp.ndarray zeta, mask = None
    cdef double b
    cdef Py_ssize_t m, count
    cdef Tracked one
    cdef list members
    members, zeta, b = _checked(tracked, Tracked, beta, zetas)
    one = members[0]
    count = one.count
    if count == 0:
        raise ValueError("there must be a point to choose, got trackers without points")
    if len({id(t) for t in members}) < len(members):
        raise ValueError("every fidelity must have a tracker of its own, got one twice")
    for m in range(1, len(members)):
        if (<Tracked>members[m]).count != count or not (
            (<Tracked>members[m]).gp is one.gp
            or np.array_equal((<Tracked>members[m]).points[:count], one.points[:count])
        ):
            raise ValueError(f"all fidelities must track the same points, got others at fidelity {m}")
    if exclude is not None:
        mask = np.ascontiguousarray(exclude, dtype=bool)
        if cnp.PyArray_NDIM(mask) != 1 or cnp.PyArray_DIM(mask, 0) != count:
            raise ValueError(f"exclude must be a mask of shape ({count},), got shape {np.shape(exclude)}")
        if mask.all():
            raise ValueError(f"exclude must leave at least one point, got a mask that covers all {count}")
    # Locks are always taken in the same order, so that two calls cannot wait for each other.
    ordered = [t for _, t in sorted({id(t.gp): t for t in members}.items())]
    for member in ordered:
        (<Tracked>member).gp.lock.acquire()
    try:
        for member in members:
            (<Tracked>member).sync()
        return _argmax(members, b, data(zeta), mask, count)
    finally:
        for member in ordered:
            (<Tracked>member).gp.lock.release()


cdef tuple _argmax(list members, double b, const double *zeta, cnp.ndarray mask, Py_ssize_t count):
    cdef Py_ssize_t m, j, k, size = 0, best = -1, fidelities = len(members)
    cdef void **trackers = <void **>workspace(fidelities)
    cdef double *bound = workspace(count)
    cdef Py_ssize_t *heap = <Py_ssize_t *>workspace(count)
    cdef const unsigned char *out = <const unsigned char *>cnp.PyArray_DATA(mask) if mask is not None else NULL
    cdef double value = -INFINITY, phi
    for m in range(fidelities):
        trackers[m] = <void *>members[m]
    with nogil:
        for j in range(count):
            if out != NULL and out[j]:
                continue
            bound[j] = INFINITY
            for m in range(fidelities):
                phi = (<Tracked>trackers[m]).upper(j, b, zeta[m])
                if phi < bound[j]:
                    bound[j] = phi
            heap[size] = j
            size += 1
        for k in range(size // 2 - 1, -1, -1):
            sift_down(heap, bound, k, size)
        while size > 0 and (best < 0 or bound[heap[0]] > value or (bound[heap[0]] == value and heap[0] < best)):
            j = heap[0]
            size -= 1
            heap[0] = heap[size]
            sift_down(heap, bound, 0, size)
            phi = exact(trackers, fidelities, j, b, zeta, value)
            if best < 0 or phi > value or (phi == value and j < best):
                value = phi
                best = j
    free(trackers)
    free(bound)
    free(heap)
    return best, value


cdef double exact(
    void **trackers, Py_ssize_t fidelities, Py_ssize_t j, double b, const double *zeta, double value
) noexcept nogil:
    """φ at point j; or, as soon as that is known to be below `value`, any bound that shows it."""
    cdef Py_ssize_t m
    cdef double phi = INFINITY, one
    for m in range(fidelities):
        (<Tracked>trackers[m]).refresh(j)
        one = (<Tracked>trackers[m]).upper(j, b, zeta[m])
        if one < phi:
            phi = one
        if phi < value:
            break
    return phi


cdef void sift_down(Py_ssize_t *heap, const double *key, Py_ssize_t k, Py_ssize_t size) noexcept nogil:
    """Restore a binary heap, largest key first and lowest index first among equals, below position k."""
    cdef Py_ssize_t child, moved
    if k >= size:
        return
    moved = heap[k]
    while 2 * k + 1 < size:
        child = 2 * k + 1
        if child + 1 < size and before(heap[child + 1], heap[child], key):
            child += 1
        if not before(heap[child], moved, key):
            break
        heap[k] = heap[child]
        k = child
    heap[k] = moved


cdef inline bint before(Py_ssize_t a, Py_ssize_t b, const double *key) noexcept nogil:
    return key[a] > key[b] or (key[a] == key[b] and a < b)
