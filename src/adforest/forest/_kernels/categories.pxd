# Splits by categories. A node's categories are ordered, and splits are searched along that order as along numbers.
#
# The order is that of the mean score of a category's samples, where each class has a score. With two classes this is
# the order of the probability of a class, along which the best of all subsets is a prefix; with more it is a random projection of
# the class probabilities, drawn at each node. C4.5 draws nothing: there the most frequent class of the node scores 1, and
# others 0. Two categories need no order.
from libc.stdint cimport uint8_t, uint32_t, uint64_t

from .coding cimport PairSpace
from .splitting cimport Cut, Scratch


cdef struct CategoryOrder:
    PairSpace space         # space.pairs[i].item: code of the i-th category of the node in order
    uint64_t* keys          # sorted keys, code << 32 | class << 12 | weight, with a category's rank for its code
    uint8_t* left           # by code: whether the best cut so far sends the category left
    uint64_t* random        # state of the random numbers
    bint by_top_class       # score classes as C4.5 does
    uint32_t top_class      # of the node that is split, for that


cdef Py_ssize_t rank_keys(CategoryOrder* order, const uint64_t* keys, Py_ssize_t n, Py_ssize_t n_known) noexcept nogil
cdef void rank_histogram(CategoryOrder* order, const Scratch* scratch, Py_ssize_t present) noexcept nogil
cdef double begin_trial(Py_ssize_t present, Py_ssize_t n, double bit_worth, double no_gain, const Cut* best,
                        Cut* trial) noexcept nogil
cdef void end_trial(CategoryOrder* order, Py_ssize_t present, double before, double price, const Cut* trial,
                    Cut* best) noexcept nogil
