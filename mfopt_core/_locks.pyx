"""The locks of several GPs at once, for what is computed with all of them."""

from mfopt_core._gp cimport GP


cdef list lock_all(list gps):
    """Take the locks of these GPs, each once, and return them for `unlock_all`.

    Always in the same order, so that two calls cannot wait for each other.
    """
    cdef list ordered = [gp for _, gp in sorted({id(gp): gp for gp in gps}.items())]
    for gp in ordered:
        (<GP>gp).lock.acquire()
    return ordered


cdef int unlock_all(list gps) except -1:
    for gp in gps:
        (<GP>gp).lock.release()
    return 0
