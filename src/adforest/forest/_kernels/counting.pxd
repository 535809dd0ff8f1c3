from libc.stdint cimport int32_t

cdef enum:
    FEW = 64        # lines of a node that are put in order one by one
    DIGIT = 11      # bits by which more of them are sorted at a time


cdef void sort_by_class(int32_t* klass, double* weight, Py_ssize_t n, int32_t* spare_class, double* spare_weight,
                        Py_ssize_t* count) noexcept nogil
