# What growing makes, in lists that grow: new nodes, bit sets of categories, class weights of leaves.
from libc.stdint cimport int32_t, uint64_t

from .node cimport Node


cdef struct NodeList:
    # Nodes to append to a tree, and those that take the place of its leaves, one for each group of samples.
    Node* added
    Py_ssize_t n
    Py_ssize_t room
    int32_t first_number        # in the tree, of added[0]
    Node* replaced              # by group
    const int32_t* replaced_number


cdef struct CategoryBits:
    # Bit sets of the categories that go left, see node.pxd.
    uint64_t* words
    Py_ssize_t n
    Py_ssize_t room
    Py_ssize_t first_number     # in the tree, of words[0]


cdef struct LeafCounts:
    # The weight of each class in each new leaf, one line a (leaf, class) pair.
    int32_t* node               # number in the tree
    int32_t* klass
    int32_t* weight
    Py_ssize_t n
    Py_ssize_t room


cdef struct Subtrees:
    NodeList nodes
    CategoryBits category_bits
    LeafCounts counts
    int32_t* leaf_of            # by sample: the number of its leaf
    double* importance          # by feature: gain of its cuts, in bits times weight


# A node is named by its position among the added ones, or by -1 - group where it takes the place of a leaf.

cdef inline Node* node_at(const NodeList* nodes, Py_ssize_t at) noexcept nogil:
    return &nodes.added[at] if at >= 0 else &nodes.replaced[-1 - at]


cdef inline int32_t number_of(const NodeList* nodes, Py_ssize_t at) noexcept nogil:
    """Return a node's number in the tree."""
    return nodes.first_number + <int32_t>at if at >= 0 else nodes.replaced_number[-1 - at]


cdef inline void make_leaf(Node* node) noexcept nogil:
    node.threshold = 0
    node.left = -1
    node.split = -1


cdef bint reserve(void** array, Py_ssize_t* room, Py_ssize_t needed, size_t size) noexcept nogil
cdef bint open_subtrees(Subtrees* subtrees) noexcept nogil
cdef void close_subtrees(Subtrees* subtrees) noexcept nogil
cdef bint reserve_counts(LeafCounts* counts, Py_ssize_t needed) noexcept nogil
cdef Py_ssize_t add_category_set(CategoryBits* bits, Py_ssize_t n_categories, bint full) noexcept nogil
cdef copy_out(const void* source, Py_ssize_t n, dtype)
