from mfopt_core._memory cimport Scratch

cdef struct Model:  # φ near a point: M linear pieces and one quadratic term
    Py_ssize_t d
    Py_ssize_t pieces  # M
    const double *at  # the point x, (d,)
    const double *height  # φ_m(x), (M,)
    const double *slope  # g_m = ∇φ_m(x), (M, d)
    double *inverse  # H, (d, d); all zeros while nothing is known of it
    double *weight  # λ, (M,): found with the step
    double *step  # s, (d,)

cdef struct Workspace:  # what finding a step needs
    double *gram  # g_mᵀ H g_e over the free coordinates, (M, M)
    double *advanced  # heights after what the coordinates on a bound gain or lose, (M,)
    double *uphill  # Σ_m λ_m g_m, (d,)
    double *free  # 1 where the coordinate is not set down on a bound, otherwise 0, (d,)
    double *product  # H times some vector, (d,)

cdef int open_workspace(Workspace *work, Py_ssize_t d, Py_ssize_t pieces, Scratch scratch) except -1
cdef double solve_step(Model *model, Workspace *work) noexcept nogil
cdef bint update_inverse(Model *model, const double *s, const double *y, Workspace *work) noexcept nogil
