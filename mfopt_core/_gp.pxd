cimport cython
cimport numpy as cnp

from mfopt_core._process cimport Process


@cython.final
cdef class GP:
    # Other extensions compute with `process` and its methods, and hold `lock` while they do.
    cdef Process process
    cdef cython.pymutex lock

    cdef int bind(self, Py_ssize_t d) except -1
    cdef tuple _copy_rows(self)
    cdef tuple _copy_state(self)
    cdef int _restore(self, cnp.ndarray x, cnp.ndarray y, cnp.ndarray etas, cnp.ndarray rows, cnp.ndarray z) except -1
