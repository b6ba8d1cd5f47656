"""The lazy exact argmax of φ = min_m φ_m over points that are tracked at every fidelity.

With b = β^½ and the bounds of mfopt_core._tracker: points are looked at by falling bound, and made current only until
no bound exceeds the best exact value.

Layout. One bound per point, and the points in a heap, the highest bound first (mfopt_core._heap).
"""

cimport numpy as cnp
from libc.math cimport INFINITY

from mfopt_core._heap cimport heapify, pop
from mfopt_core._memory cimport Scratch
from mfopt_core._tracker cimport Tracker

cnp.import_array()


cdef tuple find_argmax(list trackers, double b, const double *factor, const double *shift, cnp.ndarray mask):
    """(index, φ) of the maximum, the lowest index among equals; −1 where `mask` leaves no point, which may be None.

    φ_m = factor_m μ + b |factor_m| σ + shift_m. Trackers have the same number of points and are synchronised; the
    caller holds the locks of their GPs.
    """
    cdef Scratch scratch = Scratch.__new__(Scratch)
    cdef Py_ssize_t m, j, size = 0, best = -1, fidelities = len(trackers), count = (<Tracker>trackers[0]).count
    cdef void **members = scratch.pointers(fidelities)
    cdef double *bound = scratch.numbers(count)
    cdef Py_ssize_t *heap = scratch.indices(count)
    cdef const unsigned char *excluded = <const unsigned char *>cnp.PyArray_DATA(mask) if mask is not None else NULL
    cdef double value = -INFINITY, phi
    for m in range(fidelities):
        members[m] = <void *>trackers[m]
    with nogil:
        for j in range(count):
            if excluded != NULL and excluded[j]:
                continue
            bound[j] = INFINITY
            for m in range(fidelities):
                phi = (<Tracker>members[m]).upper(j, b, factor[m], shift[m])
                if phi < bound[j]:
                    bound[j] = phi
            heap[size] = j
            size += 1
        heapify(heap, size, bound)
        while size > 0 and (best < 0 or bound[heap[0]] > value or (bound[heap[0]] == value and heap[0] < best)):
            j = pop(heap, size, bound)
            size -= 1
            phi = evaluate(members, fidelities, j, b, factor, shift, value)
            if best < 0 or phi > value or (phi == value and j < best):
                value = phi
                best = j
    return best, value


cdef double evaluate(
    void **members, Py_ssize_t fidelities, Py_ssize_t j, double b, const double *factor, const double *shift,
    double value
) noexcept nogil:
    """φ at point j; or, as soon as that is known to be below `value`, any bound that shows it."""
    cdef Py_ssize_t m
    cdef double phi = INFINITY, one
    for m in range(fidelities):
        (<Tracker>members[m]).refresh(j)
        one = (<Tracker>members[m]).upper(j, b, factor[m], shift[m])
        if one < phi:
            phi = one
        if phi < value:
            break
    return phi
