from libc.stdint cimport int32_t, uint64_t

from .node cimport Node

cdef extern from *:
    """
    #if defined(__GNUC__)
    #define PREFETCH(address) __builtin_prefetch(address)
    #else
    #define PREFETCH(address)
    #endif
    """
    void PREFETCH(const void* address) nogil

cdef enum:
    STRIDE = 512    # samples whose leaves are held between walking and answering

cdef void walk(const Node* nodes, const uint64_t* category_bits, const double* X, const int32_t* rows, Py_ssize_t n,
               Py_ssize_t m, bint categorical, bint has_missing, int32_t* leaf) noexcept nogil
cdef bint has_nan(const double* X, Py_ssize_t n) noexcept nogil
