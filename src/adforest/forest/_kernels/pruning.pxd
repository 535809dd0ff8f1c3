# C4.5's pruning: an inner node becomes a leaf where as a leaf it would expect no more errors than its subtree does.
from libc.stdint cimport int32_t

from .search cimport NodeSamples
from .splitting cimport Scratch
from .subtrees cimport NodeList, Subtrees


cdef struct NodeErrors:
    # What pruning asks of a node.
    int32_t total           # weight of its samples
    int32_t top             # weight of its most frequent class
    double gain             # of its cut, in bits times weight; 0 for a leaf
    double expected         # errors expected below it


cdef struct Pruning:
    double confidence       # of C4.5's estimate of errors; 0 for no pruning
    double deviate          # the quantile of the standard normal distribution at 1 - confidence
    NodeErrors* added       # by position among the added nodes
    Py_ssize_t room
    NodeErrors replaced     # of the node that the group replaces


cdef bint open_pruning(Pruning* pruning) noexcept nogil
cdef void close_pruning(Pruning* pruning) noexcept nogil
cdef bint reserve_errors(Pruning* pruning, Py_ssize_t n_nodes) noexcept nogil
cdef void note_node(Pruning* pruning, Py_ssize_t at, const NodeSamples* node, const Scratch* scratch,
                    double gain) noexcept nogil
cdef bint prune_group(Pruning* pruning, Subtrees* subtrees, Py_ssize_t group, Py_ssize_t first_node,
                      Py_ssize_t first_count, const int32_t* indices, Py_ssize_t n_samples) noexcept nogil
