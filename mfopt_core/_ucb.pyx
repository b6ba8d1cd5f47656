"""The multi-fidelity upper confidence bound of the paper, eq. (mfgpucbDefn), over M Gaussian processes:

    φ_m(x) = μ_m(x) + β^½ σ_m(x) + ζ_m,    φ(x) = min_m φ_m(x)

mf_ucb evaluates φ at given points; argmax_ucb finds its maximum over tracked points without evaluating most of them.
mfopt_core._bound has the same φ over levels, for searches.

Layout. φ_m at q points is (q,), fidelity after fidelity lowered into one array φ.
"""

cimport numpy as cnp
from libc.math cimport INFINITY, fabs, sqrt
from libc.string cimport memset

from mfopt_core._argmax cimport find_argmax
from mfopt_core._arrays cimport as_mask, as_number, as_points, as_vector, data, keep_still, to_soa
from mfopt_core._blas cimport gemv_t
from mfopt_core._gp cimport GP
from mfopt_core._locks cimport lock_all, unlock_all
from mfopt_core._memory cimport Scratch
from mfopt_core._posterior cimport CHUNK, Pass, open_passes
from mfopt_core._process cimport Process
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
    gps, zeta, b = _check(gps, GP, beta, zetas)
    points = as_points(x, max(<Py_ssize_t>gp.d for gp in gps), "x").view()  # whose shape no other thread can set
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


cdef tuple _check(members, type kind, beta, zetas):
    """Members as a list, ζ and √β, or a ValueError."""
    members = list(members)
    if not members or not all(isinstance(member, kind) for member in members):
        raise ValueError(f"one {kind.__name__} per fidelity is needed, at least one, got {members!r}")
    cdef double b = as_number(beta, "beta")
    if b < 0.0:
        raise ValueError(f"beta must not be negative, got {keep_still(beta)!r}")
    return members, as_vector(zetas, len(members), "zetas"), sqrt(b)


cdef int _lower(
    GP gp, cnp.ndarray points, double b, double zeta, cnp.ndarray phi, cnp.ndarray active, Py_ssize_t m
) except -1:
    """phi ← min(phi, φ_m) and active ← m where that is lower, or equal with a smaller m."""
    cdef Scratch scratch = Scratch.__new__(Scratch)
    cdef Process process = gp.process
    cdef Py_ssize_t q = cnp.PyArray_DIM(points, 0), d = cnp.PyArray_DIM(points, 1), first = 0
    cdef Py_ssize_t chunk = q if q < CHUNK else CHUNK, count, kept, j, k
    cdef double *x = data(points)
    cdef double *lowest = data(phi)
    cdef Py_ssize_t *which = <Py_ssize_t *>cnp.PyArray_DATA(active)
    cdef Py_ssize_t *index = scratch.indices(chunk)  # of the pass's points that are left, (kept,)
    cdef double margin, value
    cdef bint skipping
    cdef Pass *p
    gp.bind(d)
    with gp.lock:
        p = open_passes(1, process, chunk, chunk, scratch)
        with nogil:
            skipping = process.n() >= WORTH_SKIPPING
            margin = bound_rounding(process) if skipping else 0.0
            while first < q:
                count = q - first if q - first < chunk else chunk
                to_soa(count, d, x + first * d, p.soa, count)
                p.points = process.plain(count, p.soa, count)
                process.covary(&p.points, p.v, count)
                if skipping:
                    kept = keep_low(p, process, count, zeta, margin, lowest + first, index)
                    skipping = kept < 0.9 * count  # where it hardly helps, the rest goes without
                else:
                    kept = keep_all(p, count, index)
                if kept > 0:
                    process.factor.forward(p.width, p.v, p.width)
                    process.moments(p.width, p.v, p.mean, p.var)
                for k in range(kept):
                    j = first + index[k]
                    value = p.mean[k] + b * sqrt(p.var[k]) + zeta
                    if value < lowest[j] or (value == lowest[j] and m < which[j]):
                        lowest[j] = value
                        which[j] = m
                first += count
    return 0


cdef double bound_rounding(Process process) noexcept nogil:
    """What rounding can do to rᵀα, from which μ is found in O(n)."""
    cdef const double *alpha = process.solve_alpha()
    cdef Py_ssize_t i
    cdef double size = 0.0
    for i in range(process.n()):
        size += fabs(alpha[i])
    return size * (4.0 * EPS * sqrt(<double>process.n()))


cdef Py_ssize_t keep_low(
    Pass *p, Process process, Py_ssize_t count, double zeta, double margin, const double *lowest, Py_ssize_t *index
) noexcept nogil:
    """Of the `count` columns of r in a pass, keep those where μ + ζ does not exceed `lowest`: their number and indices.

    They are moved together in place, and filled up with zeros to the quick length MF_FEW where that is near.
    """
    cdef Py_ssize_t n = process.n(), kept = 0, width, i, j, k
    cdef double *v = p.v
    memset(p.mean, 0, count * sizeof(double))
    gemv_t(n, count, v, count, <double *>process.solve_alpha(), p.mean)
    for j in range(count):
        if process.mean_of(p.mean[j] - margin) + zeta <= lowest[j]:
            index[kept] = j
            kept += 1
    width = MF_FEW if 1 < kept <= MF_FEW <= count else kept
    if kept < count:
        for i in range(n):
            for k in range(kept):
                v[i * width + k] = v[i * count + index[k]]
            for k in range(kept, width):
                v[i * width + k] = 0.0
    p.width = width
    return kept


cdef Py_ssize_t keep_all(Pass *p, Py_ssize_t count, Py_ssize_t *index) noexcept nogil:
    """Keep all `count` columns of r in a pass."""
    cdef Py_ssize_t j
    for j in range(count):
        index[j] = j
    p.width = count
    return count


def argmax_ucb(tracked, beta, zetas, exclude=None):
    """(index, φ) of the maximum of φ over points that every fidelity tracks, the lowest index among equals.

    tracked holds one Tracked per fidelity, over the same points; exclude is a mask of points to leave out. Only points
    whose bound (see mfopt_core._tracker) exceeds the best exact value are computed; the answer is the same. Trackers of
    one GP may differ in their points: a process over several fidelities has coordinates that stand for the fidelity.
    """
    cdef cnp.ndarray zeta, ones, mask = None
    cdef double b
    cdef Py_ssize_t m, count
    cdef list members, ordered
    members, zeta, b = _check(tracked, Tracked, beta, zetas)
    count = len(members[0])
    if len({id(t) for t in members}) < len(members):
        raise ValueError("every fidelity must have a tracker of its own, got one twice")
    for m in range(1, len(members)):
        if not (<Tracked>members[m]).is_parallel(members[0]):
            raise ValueError(f"all fidelities must track the same points, got others at fidelity {m}")
    if exclude is not None:
        mask = as_mask(exclude, count, "exclude")
    ordered = lock_all([t.gp for t in members])
    try:
        for member in members:
            (<Tracked>member).tracker.sync()
        ones = np.ones(len(members))
        best, value = find_argmax([(<Tracked>member).tracker for member in members], b, data(ones), data(zeta), mask)
    finally:
        unlock_all(ordered)
    if best < 0:
        raise ValueError(f"exclude must leave at least one point, got a mask that covers all {count}")
    return best, value
