from libc.stdint cimport int32_t, uint64_t

from .node cimport Node


cdef struct Sums:
    # What sum_rows returned.
    const int32_t* order
    const int32_t* parent
    const double* total
    const int32_t* first
    const int32_t* stop
    const int32_t* klass
    const float* weight


cdef struct Tree:
    # What is read of a tree to answer.
    const Node* nodes
    Py_ssize_t n_nodes
    Py_ssize_t depth
    const uint64_t* category_bits
    bint is_categorical
    Sums sums
    const float* values     # by node, or NULL


cdef class TreeSums:
    cdef readonly object order, parent, total, first, stop, klass, weight
    cdef readonly Py_ssize_t depth, n_leaf_rows
    cdef Py_ssize_t _n_dense    # lines when all sums were last found
    cdef const Node[::1] _nodes
    cdef const uint64_t[::1] _category_bits
    cdef Tree tree
