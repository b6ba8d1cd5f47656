# The augmented expected improvement at one level of one point (mfopt_core._improvement), and its derivatives.

from libc.math cimport M_PI, erfc, exp, fabs, log, sqrt

cdef enum:
    TERMS = 40  # of a continued fraction, which has converged for z < -5

cdef struct Terms:  # a value, and its derivatives
    double value
    double by_mean, by_target  # in the mean and the variance of the target
    double by_own, by_covariance  # in the variance of the level and their covariance; the latter 0 at the target


cdef inline Terms assess(double excess, double var, double unit, double own, double noise) noexcept nogil:
    """log EI/unit + log(1 - eta/sqrt(own + eta^2)), where the target has this mean over the incumbent and variance.

    With s = sqrt(own + eta^2) the last factor is own/(s (s + eta)), which does not cancel where `own` is small.
    """
    cdef double least = 1e-12 * unit  # a value that is certain still has a finite logarithm
    cdef double sigma = sqrt(var) if sqrt(var) > least else least
    cdef double eta = sqrt(noise), s = sqrt(own + noise)
    cdef double floor = 1e-12 * noise if 1e-12 * noise > 1e-307 else 1e-307  # its inverse must not overflow
    cdef Terms terms
    terms.value = log_excess(excess / sigma, &terms.by_mean, &terms.by_target) + log(sigma / unit)
    terms.value += log((own if own > floor else floor) / (s * (s + eta)))
    terms.by_mean /= sigma
    terms.by_target /= 2.0 * sigma * sigma
    terms.by_own = (1.0 / own if own > floor else 0.0) - 0.5 / (s * s) - 0.5 / (s * (s + eta))
    terms.by_covariance = 0.0
    return terms


cdef inline void correlate(Terms *terms, double var, double own, double covariance) noexcept nogil:
    """Add log |correlation|, which is at least that of 1e-8 and passes for none below."""
    cdef double product = sqrt(var) * sqrt(own)
    cdef double share = fabs(covariance) / product if product > 0.0 else 0.0  # what is known has nothing to correlate
    terms.value += log(1e-8 if share < 1e-8 else (1.0 if share > 1.0 else share))
    if 1e-8 < share < 1.0:
        terms.by_covariance = 1.0 / covariance
        terms.by_own -= 0.5 / own
        terms.by_target -= 0.5 / var


cdef inline double log_excess(double z, double *by_mean, double *by_sigma) noexcept nogil:
    """log h(z) with h = phi + z Phi (normal density and distribution), and Phi/h and phi/h; accurate for all z.

    With x = -z, Phi/phi is Mills' ratio R = 1/(x + c), c = 1/(x + 2/(x + 3/(x + ...))), and h/phi = 1 - x R = c R.
    """
    cdef double density, below, share, ratio, c = 0.0, x = -z
    cdef int j
    if z > -1.0:
        density, below = exp(-0.5 * z * z) / sqrt(2.0 * M_PI), 0.5 * erfc(x / sqrt(2.0))
        share = density + z * below
        by_mean[0], by_sigma[0] = below / share, density / share
        return log(share)
    if z > -5.0:
        ratio = sqrt(0.5 * M_PI) * exp(0.5 * x * x) * erfc(x / sqrt(2.0))
        share = 1.0 - x * ratio
        by_mean[0], by_sigma[0] = ratio / share, 1.0 / share
    else:
        for j in range(TERMS, 0, -1):
            c = j / (x + c)
        share = c / (x + c)
        by_mean[0], by_sigma[0] = 1.0 / c, 1.0 / share
    return -0.5 * z * z - 0.5 * log(2.0 * M_PI) + log(share)
