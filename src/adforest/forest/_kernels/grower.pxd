# The state of growing, and how it lies in memory.
#
# A node's samples are a segment of one array, partitioned in place:
#
#     samples | left child's ... | right child's ... |      item << 32 | class << 12 | weight
#
# where the item is the number of the sample in its block.
#
# A *block* is a set of samples that were coded together (coding.pxd). The root's block has at most max_bins codes per
# feature. As soon as a node holds BLOCK samples or fewer it becomes a block of its own, coded by its own distinct
# values: from there on every cut is exact, and all the codes fit the first-level cache. Such a block is sorted once by
# each feature; a node below it then sorts its samples by setting the bits of their places and reading them off.
#
# Features that are constant in a node are constant below it. A block's features stand in one list, of which a node
# looks at the first n_features; those found constant are swapped to the end of that part, out of its children's sight:
#
#     feature | may vary in the node ... | constant in it | constant in its parent | ... |
#
# Growing depth first keeps this true, since a subtree only reorders the part that its root looks at.
from libc.stdint cimport int32_t, uint64_t

from .coding cimport Block
from .pruning cimport Pruning
from .search cimport Search
from .subtrees cimport Subtrees


cdef struct Task:
    # A node to grow from.
    Py_ssize_t start        # its samples in Grower.samples
    Py_ssize_t stop
    int32_t node            # position among the added nodes, or -1 - group
    int32_t depth           # from the root of the tree
    int32_t n_features      # how many features at the head of the block's list may vary


cdef struct Grower:
    Search search
    Pruning pruning
    Subtrees subtrees
    uint64_t* samples       # of all groups, see above
    uint64_t* spare         # as many, for partitioning
    Block exact             # the current block of at most BLOCK samples
    int32_t max_depth       # -1 for no limit
    bint out_of_memory


cdef bint open_grower(Grower* g, Block* shared, const double* xlogx_table, Py_ssize_t n_samples,
                      Py_ssize_t n_classes) noexcept
cdef void close_grower(Grower* g, Block* shared) noexcept
cdef void grow_group(Grower* g, Block* shared, Task root) noexcept nogil
