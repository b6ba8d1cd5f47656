from mfopt_core._process cimport Process

cdef double compute_likelihood(Process process) noexcept nogil
cdef int compute_likelihood_gradient(Process process, double *gradient, double *slopes) except -1
cdef int compute_mixture_gradient(
    Process process, double *by_lengthscale, double *by_weight, double *slopes
) except -1
