from mfopt_core._memory cimport Scratch
from mfopt_core._process cimport Process

cdef enum:
    CHUNK = 256  # most points of one pass: bounds its memory at n · CHUNK numbers

cdef struct Pass:
    Py_ssize_t width  # columns of V: the points of this pass, and what fills it up to a quick length
    double *soa  # coordinates of the points, d arrays of `width`
    double *v  # V = L⁻¹ r, (n, width)
    double mean[CHUNK]  # μ of the points
    double var[CHUNK]  # σ²

cdef int open_pass(Pass *p, Process process, Py_ssize_t chunk, Scratch scratch) except -1
cdef int compute_posterior(
    Process process, Py_ssize_t q, const double *x, double *mean, double *var, double *dmean, double *dvar
) except -1
cdef int compute_covariance(Process process, Py_ssize_t q, const double *x, double *covariance) except -1
cdef int draw(
    Process process, Py_ssize_t q, const double *mean, const double *covariance, Py_ssize_t size,
    const double *normals, double *draws
) except -1
