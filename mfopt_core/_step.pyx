"""One step of an ascent on a minimum of smooth pieces, φ(x) = min_m φ_m(x), in the unit cube.

A quasi-Newton step on φ alone stops at the first kink, and the maximum of a minimum often is one. So the step solves

    max_s min_m φ_m + g_mᵀs − ½ sᵀH⁻¹s

whose dual is a small quadratic programme over the simplex, min_λ λᵀφ + ½ ‖Σ_m λ_m g_m‖²_H, with s = H Σ_m λ_m g_m
(Pshenichnyi's linearisation; with one piece it is plain BFGS). H is updated by BFGS from the change of Σ λ_m g_m at
fixed λ.

Layout. A Model points to the numbers of one ascent, row-major: slopes (M, d), H (d, d). A Workspace is shared by all
ascents, one after the other.
"""

from libc.math cimport INFINITY, fabs, sqrt

from mfopt_core._memory cimport Scratch

cdef enum:
    PAIRS = 500  # steps of the pairwise solver of the dual; it needs a few per piece

cdef double FIRST_STEP = 0.05, LONGEST_STEP = 0.3  # in the cube
cdef double AT_BOUND = 1e-6  # in the cube
cdef double FLAT = 1e-8  # cosine of s and y below which they show no curvature
cdef double EQUAL = 1e-12  # relative difference of slopes at which the dual is solved


cdef int open_workspace(Workspace *work, Py_ssize_t d, Py_ssize_t pieces, Scratch scratch) except -1:
    """Memory for models of M = `pieces` in d dimensions."""
    work.gram = scratch.numbers(pieces * pieces)
    work.advanced = scratch.numbers(pieces)
    work.uphill = scratch.numbers(d)
    work.free = scratch.numbers(d)
    work.product = scratch.numbers(d)
    return 0


cdef double solve_step(Model *model, Workspace *work) noexcept nogil:
    """Find λ and the step s; the gain in φ that it promises.

    A coordinate that the step would take over a bound is set down on the bound, the heights are advanced by what
    that gains or loses, and the others are solved for again, until none crosses. With several pieces that may lose:
    what crossed for one λ need not for another. Then only coordinates at their bound are set down, and a step that
    would cross is shortened.
    """
    cdef Py_ssize_t m
    cdef double lowest = INFINITY, promise
    for m in range(model.pieces):
        lowest = model.height[m] if model.height[m] < lowest else lowest
    if model.inverse[0] == 0.0:
        start_inverse(model, lowest)
    promise = solve_within(model, work, lowest, INFINITY)
    if model.pieces > 1 and not promise > 0.0:
        promise = solve_within(model, work, lowest, AT_BOUND)
    return promise


cdef double solve_within(Model *model, Workspace *work, double lowest, double near) noexcept nogil:
    """λ, s and the promise; coordinates that cross a bound are set down on it if they are as near as that to it."""
    cdef Py_ssize_t d = model.d, c, m, _
    cdef double promise = INFINITY, total
    for m in range(model.pieces):
        work.advanced[m] = model.height[m]
    for c in range(d):
        work.free[c] = 1.0
        model.step[c] = 0.0
    for _ in range(d + 1):
        fill_gram(model, work)
        minimise_on_simplex(model.pieces, work.gram, work.advanced, model.weight)
        if not set_step(model, work, near):
            break
    for m in range(model.pieces):
        total = model.height[m] - lowest
        for c in range(d):
            total += model.slope[m * d + c] * model.step[c]
        promise = total if total < promise else promise
    return promise


cdef void start_inverse(Model *model, double lowest) noexcept nogil:
    """H for the first step: a known length along the gradient of the lowest piece."""
    cdef Py_ssize_t d = model.d, c, m
    cdef double size = 0.0
    for m in range(model.pieces):
        if model.height[m] == lowest:
            for c in range(d):
                size = fabs(model.slope[m * d + c]) if fabs(model.slope[m * d + c]) > size else size
    for c in range(d):
        model.inverse[c * d + c] = FIRST_STEP / size if size > 0.0 else 1.0


cdef void fill_gram(Model *model, Workspace *work) noexcept nogil:
    """gram[m, e] = g_mᵀ H g_e over the free coordinates."""
    cdef Py_ssize_t d = model.d, n = model.pieces, c, e, m
    cdef const double *slope = model.slope
    for m in range(n):
        for c in range(d):
            work.product[c] = multiply_row(model, work, c, slope + m * d) if work.free[c] != 0.0 else 0.0
        for e in range(n):
            work.gram[m * n + e] = 0.0
            for c in range(d):
                work.gram[m * n + e] += slope[e * d + c] * work.product[c]


cdef double multiply_row(Model *model, Workspace *work, Py_ssize_t c, const double *x) noexcept nogil:
    """Row c of H times x, over the free coordinates."""
    cdef Py_ssize_t e
    cdef double total = 0.0
    for e in range(model.d):
        if work.free[e] != 0.0:
            total += model.inverse[c * model.d + e] * x[e]
    return total


cdef bint set_step(Model *model, Workspace *work, double near) noexcept nogil:
    """s = H Σ_m λ_m g_m in the free coordinates, no longer than LONGEST_STEP and than what keeps those in the cube
    that are not `near` their bound; whether one that is near came to it.
    """
    cdef Py_ssize_t d = model.d, c, m
    cdef double *step = model.step
    cdef double longest = 0.0, part = 1.0, room
    cdef bint crossed = False
    for c in range(d):
        work.uphill[c] = 0.0
        for m in range(model.pieces):
            work.uphill[c] += model.weight[m] * model.slope[m * d + c]
    for c in range(d):
        if work.free[c] != 0.0:
            step[c] = multiply_row(model, work, c, work.uphill)
            longest = fabs(step[c]) if fabs(step[c]) > longest else longest
    for c in range(d):
        if work.free[c] != 0.0:
            if longest > LONGEST_STEP:
                step[c] *= LONGEST_STEP / longest
            if model.at[c] + step[c] < 0.0 or model.at[c] + step[c] > 1.0:
                room = (0.0 if step[c] < 0.0 else 1.0) - model.at[c]
                if fabs(room) > near:
                    part = room / step[c] if room / step[c] < part else part
                    continue
                step[c] = room
                work.free[c] = 0.0
                crossed = True
                for m in range(model.pieces):
                    work.advanced[m] += model.slope[m * d + c] * step[c]
    if not crossed:
        for c in range(d):
            if work.free[c] != 0.0:
                step[c] *= part
    return crossed


cdef bint update_inverse(Model *model, const double *s, const double *y, Workspace *work) noexcept nogil:
    """BFGS: H ← (I − ρ s yᵀ) H (I − ρ y sᵀ) + ρ s sᵀ with ρ = 1/yᵀs; False when the curvature yᵀs is not positive."""
    cdef Py_ssize_t d = model.d, a, b
    cdef double *h = model.inverse
    cdef double *hy = work.product
    cdef double ys = 0.0, ss = 0.0, yy = 0.0, yhy = 0.0
    for a in range(d):
        ys += y[a] * s[a]
        ss += s[a] * s[a]
        yy += y[a] * y[a]
    if not ys > FLAT * sqrt(ss * yy):
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


cdef void minimise_on_simplex(Py_ssize_t n, const double *q, const double *height, double *weight) noexcept nogil:
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
        if not steepest - flattest > EQUAL * (fabs(steepest) + fabs(flattest)):
            return
        curvature = q[up * n + up] + q[down * n + down] - 2.0 * q[up * n + down]
        move = (steepest - flattest) / curvature if curvature > 0.0 else INFINITY
        if move >= weight[down]:
            move = weight[down]
            weight[down] = 0.0
        else:
            weight[down] -= move
        weight[up] += move
