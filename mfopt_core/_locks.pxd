cdef list lock_all(list gps)
cdef int unlock_all(list gps) except -1
