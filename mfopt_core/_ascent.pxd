cimport cython
cimport numpy as cnp

from mfopt_core._step cimport Model, Workspace

cdef struct Climb:  # one ascent
    Model model  # φ at its point, H and the step from there
    double *at  # its point, (d,)
    double *target  # the point that is tried, (d,)
    double *height  # φ_m at its point, (M,)
    double *slope  # their gradients, (M, d)
    double *recent  # the last values, (MEMORY,)
    double *best  # its best point, (d,)
    double *best_value  # φ there
    double *promise  # what the step promises to gain
    double *length  # how much of the step is tried
    Py_ssize_t *running  # 1, or 0 when the ascent has ended
    Py_ssize_t *taken  # steps taken
    Py_ssize_t *stale  # those of them since the last gain


@cython.final
cdef class Ascent:
    cdef readonly Py_ssize_t k, d
    cdef cython.pymutex lock
    cdef double spread
    cdef Py_ssize_t pieces  # 0 before the first values
    cdef cnp.ndarray at, target, height, slope, inverse, weight, best, best_value, recent, step, promise, length
    cdef cnp.ndarray running, taken, stale
    cdef cnp.ndarray free  # (k, d) booleans, or None

    cdef Py_ssize_t _check(self, Py_ssize_t q, cnp.ndarray h, cnp.ndarray g) except -1
    cdef void _give_up(self) noexcept
    cdef void _merge(self) noexcept
    cdef int _take_all(self, Py_ssize_t q, const double *heights, const double *slopes) except -1
    cdef Climb _climb(self, Py_ssize_t i) noexcept
    cdef void _take(
        self, Climb *climb, const double *height, const double *slope, double *change, Workspace *work
    ) noexcept
    cdef double _reference(self, Climb *climb) noexcept
    cdef void _move(self, Climb *climb, double value, const double *height, const double *slope) noexcept
    cdef void _aim(self, Climb *climb, Workspace *work) noexcept
    cdef void _try(self, Climb *climb) noexcept
