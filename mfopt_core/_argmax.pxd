cimport numpy as cnp

cdef tuple find_argmax(list trackers, double b, const double *factor, const double *shift, cnp.ndarray mask)
