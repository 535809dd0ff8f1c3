# The search for a node's best cut over its features.
from libc.stdint cimport int32_t, int64_t, uint64_t

from .categories cimport CategoryOrder
from .coding cimport Block, PairSpace, Table
from .splitting cimport Cut, Scratch, no_gain, xlogx


cdef struct CutRules:
    Py_ssize_t max_features # features that vary in the node to look at, at least
    const int32_t* draws    # features to draw from, -1 for any; NULL where all are alike
    Py_ssize_t n_draws      # length of that list
    Py_ssize_t min_leaf     # samples on either side of a cut, at least
    double gini_above       # score cuts by Gini impurity at nodes of more effective classes than this, else by entropy
    bint by_ratio           # C4.5: the best gain ratio among the features of at least average gain


cdef struct NodeSamples:
    # The samples of the node that is split. Their class weights are in Scratch.right between scans.
    const uint64_t* samples # item << 32 | class << 12 | weight
    Py_ssize_t n
    int64_t weight          # of all samples
    double class_sum        # sum over classes of f(weight of the class), f(x) = x log2 x, or x^2 for Gini
    int32_t n_features      # how many features at the head of the block's list may vary in the node


cdef inline double no_gain_of(const Scratch* scratch, const NodeSamples* node) noexcept nogil:
    """Return the score of a cut of the node that gains nothing."""
    return no_gain(scratch.table, node.class_sum, node.weight, scratch.gini)


cdef inline double gain_of(const Scratch* scratch, const NodeSamples* node, double score) noexcept nogil:
    """Return what a cut of the node with this score gains."""
    if scratch.gini:
        return score - no_gain_of(scratch, node)
    return score - node.class_sum + xlogx(scratch.table, node.weight)


cdef struct Search:
    Table table
    CutRules rules
    PairSpace space
    Scratch scratch
    int32_t* class_weights  # the array in which Scratch.left and right are, in turns
    CategoryOrder categories
    Cut* cuts               # C4.5: the best cut of each feature
    uint64_t random         # state of the random numbers


cdef bint open_search(Search* search, const double* xlogx_table, Py_ssize_t n_samples, Py_ssize_t n_classes) noexcept
cdef void close_search(Search* search) noexcept
cdef bint find_cut(Search* search, Block* block, NodeSamples* node, Cut* best) noexcept nogil
