"""K_ν of the general Matérn kernel. SciPy's special functions take long to import, and no other kernel needs them: so
this is a module of its own, imported when the first such kernel is made.
"""

from scipy.special.cython_special cimport kve


cdef double _scaled_bessel(double nu, double u) noexcept nogil:
    """e^u K_ν(u)."""
    return kve(nu, u)


def address() -> int:
    """Where the function is, for C code that knows its type."""
    return <size_t>&_scaled_bessel
