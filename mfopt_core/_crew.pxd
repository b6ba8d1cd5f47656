# Several threads for one computation: the C function of src/crew.h, and how many are worth their start.

cdef extern from "crew.h" nogil:
    ctypedef void (*mf_task)(void *context, Py_ssize_t k, int worker) noexcept
    void mf_run(int threads, Py_ssize_t count, mf_task task, void *context) noexcept

cdef enum:
    MOST_THREADS = 256


cdef inline int count_workers(int threads, Py_ssize_t tasks, double work) noexcept nogil:
    """How many of `threads` to use for this many tasks, with this many multiplications in all.

    Half a million take about as long as to start a thread. What is computed does not depend on it.
    """
    if threads == 1 or tasks <= 1 or work < 1e6:
        return 1
    return threads if threads < tasks else <int>tasks
