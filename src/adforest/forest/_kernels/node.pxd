# What one node of a tree is in memory: 16 bytes, four to a cache line.
#
#     | threshold (8) | left (4) | split (4) |
#
# split < 0            a leaf
# split >> 2           the feature the node asks about
# split & MISSING_LEFT a missing value goes left
# split & CATEGORICAL  threshold holds the number of the first 64-bit word of the categories' bit set;
#                      that word holds how many words follow, then come the words themselves
# left, left + 1       the two children, always neighbours
from libc.stdint cimport int32_t, uint64_t

cdef enum:
    CATEGORICAL = 1
    MISSING_LEFT = 2

cdef packed struct Node:
    double threshold
    int32_t left
    int32_t split


cdef inline bint goes_left(const Node* node, const uint64_t* category_bits, double value) noexcept nogil:
    """Return the side a value takes at an inner node; unknown categories are treated as missing."""
    cdef uint64_t category, first
    if value != value:
        return (node.split & MISSING_LEFT) != 0
    if node.split & CATEGORICAL:
        first = <uint64_t>node.threshold
        if value < 0 or value >= <double>(category_bits[first] * 64):
            return (node.split & MISSING_LEFT) != 0
        category = <uint64_t>value
        return (category_bits[first + 1 + (category >> 6)] >> (category & 63)) & 1
    return value <= node.threshold
