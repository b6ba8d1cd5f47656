from mfopt_core._memory cimport Scratch
from mfopt_core._process cimport Points, Process

cdef enum:
    CHUNK = 256  # most columns of one pass: bounds its memory at n · CHUNK numbers

cdef struct Pass:
    Points points  # of this pass
    Py_ssize_t width  # columns of V: the points of this pass at all levels, and what fills it up to a quick length
    double *soa  # coordinates of the points, d arrays of their number
    double *whole  # one point with its tail, (d,)
    double *v  # V = L⁻¹ r, (n, width)
    double mean[CHUNK]  # μ of the columns
    double var[CHUNK]  # σ²

cdef struct Where:  # q points (q, dims), row by row, at each of M levels
    Py_ssize_t count  # q
    Py_ssize_t dims
    const double *x
    Py_ssize_t levels  # M
    const double *tails  # (M, d − dims)

cdef struct Moments:  # at M levels of q points: numbers (M, q), gradients in the points (M, q, dims) or NULL
    double *mean
    double *var
    double *dmean
    double *dvar

cdef Pass *open_passes(
    int workers, Process process, Py_ssize_t points, Py_ssize_t width, Scratch scratch
) except NULL
cdef Py_ssize_t choose_chunk(Py_ssize_t q, Py_ssize_t levels) noexcept nogil
cdef Py_ssize_t find_width(Py_ssize_t columns) noexcept nogil
cdef void solve_pass(Pass *p, Process process, const Where *where, Py_ssize_t first, Py_ssize_t count) noexcept nogil
cdef void join_tail(Pass *p, Process process, const Where *where, Py_ssize_t j, Py_ssize_t m) noexcept nogil
cdef int compute_posterior(Process process, const Where *where, Moments *moments) except -1
cdef int compute_covariance(Process process, Py_ssize_t q, const double *x, double *covariance) except -1
cdef int draw(
    Process process, Py_ssize_t q, const double *mean, const double *covariance, Py_ssize_t size,
    const double *normals, double *draws
) except -1
