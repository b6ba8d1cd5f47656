# A binary heap of indices into an array of keys: the largest key first, the lowest index first among equal keys.
#
# Layout. heap[0] is the first of all; the children of heap[k] are heap[2k + 1] and heap[2k + 2], which come after it.
# The order is total, so the sequence of pops does not depend on that of the pushes.


cdef inline bint precedes(Py_ssize_t a, Py_ssize_t b, const double *key) noexcept nogil:
    return key[a] > key[b] or (key[a] == key[b] and a < b)


cdef inline void sift_down(Py_ssize_t *heap, Py_ssize_t size, const double *key, Py_ssize_t k) noexcept nogil:
    """Restore the order below position k, where alone it may be broken."""
    cdef Py_ssize_t child, moved
    if k >= size:
        return
    moved = heap[k]
    while 2 * k + 1 < size:
        child = 2 * k + 1
        if child + 1 < size and precedes(heap[child + 1], heap[child], key):
            child += 1
        if not precedes(heap[child], moved, key):
            break
        heap[k] = heap[child]
        k = child
    heap[k] = moved


cdef inline void heapify(Py_ssize_t *heap, Py_ssize_t size, const double *key) noexcept nogil:
    """Order `size` indices."""
    cdef Py_ssize_t k
    for k in range(size // 2 - 1, -1, -1):
        sift_down(heap, size, key, k)


cdef inline void push(Py_ssize_t *heap, Py_ssize_t size, const double *key, Py_ssize_t j) noexcept nogil:
    """Add index j to `size` others; there is room for one more."""
    cdef Py_ssize_t k = size, parent
    while k > 0:
        parent = (k - 1) // 2
        if not precedes(j, heap[parent], key):
            break
        heap[k] = heap[parent]
        k = parent
    heap[k] = j


cdef inline Py_ssize_t pop(Py_ssize_t *heap, Py_ssize_t size, const double *key) noexcept nogil:
    """Take the first of `size` indices; size − 1 are left."""
    cdef Py_ssize_t first = heap[0]
    heap[0] = heap[size - 1]
    sift_down(heap, size - 1, key, 0)
    return first
