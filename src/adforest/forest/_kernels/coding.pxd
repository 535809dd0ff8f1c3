# Blocks: sets of samples whose values are replaced by small integer codes, feature by feature, when first needed.
#
# An exact block has at most BLOCK samples, and a code for each distinct value. Codes of a larger block are quantile
# bins, at most 255, or the categories themselves. Missing values have the code n_codes[feature] in both.
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t

from .binning cimport Pair

cdef enum:
    BLOCK = 64              # samples that are coded exactly: one bit of a uint64 each
    EDGE_SAMPLE = 4096      # samples that place the bins of a block that is not exact


cdef struct Table:
    # All samples as they were given.
    const double* X             # X[sample * n_features + feature]; NaN is missing
    Py_ssize_t n_features
    const int32_t* n_categories # by feature; 0 for numerical ones
    Py_ssize_t max_bins         # codes of a numerical feature in a block that is not exact


cdef struct PairSpace:
    # Scratch for sorting, two arrays of equal length.
    Pair* pairs
    Pair* spare


cdef struct SortedBlock:
    # The samples of an exact block sorted by each feature, missing values last.
    uint8_t* rank           # rank[feature * stride + item]: position in that order
    uint64_t* keys          # keys[feature * stride + rank]: code << 32 | class << 12 | weight
    uint32_t* label         # label[item]: class << 12 | weight


cdef struct Block:
    bint exact
    Py_ssize_t n            # samples
    uint32_t* sample        # item -> sample; NULL where items are samples
    uint16_t* codes         # codes[feature * stride + item]
    Py_ssize_t stride
    double* bounds          # exact: the value of a code; else the largest value that has the code
    Py_ssize_t bounds_stride
    int32_t* n_codes        # by feature; -1 while it is not coded, 0 where it is constant in the block
    int32_t* feature        # features in an order that growing changes, see grower.pxd
    int32_t* position       # by feature: its position in that list; any number for one that is not listed
    int32_t n_features      # how many at the head of that list are not known to be constant in the block
    SortedBlock sorted      # of an exact block


cdef inline uint32_t sample_of(const Block* block, uint64_t key) noexcept nogil:
    """Return the number among all samples of the item in the upper half of a key."""
    return block.sample[key >> 32] if block.sample != NULL else <uint32_t>(key >> 32)


cdef inline void set_feature(Block* block, Py_ssize_t i, int32_t f) noexcept nogil:
    """Put a feature into the i-th position of the block's list."""
    block.feature[i] = f
    block.position[f] = <int32_t>i


cdef bint open_block(Block* block, Py_ssize_t n_features, Py_ssize_t n, bint exact) noexcept nogil
cdef void close_block(Block* block) noexcept nogil
cdef bint is_constant(const Table* table, const Block* block, Py_ssize_t f) noexcept nogil
cdef void code_feature(const Table* table, PairSpace space, Block* block, Py_ssize_t f) noexcept nogil


cdef inline bint has_codes(const Table* table, PairSpace space, Block* block, Py_ssize_t f) noexcept nogil:
    """Code a feature where it is not coded yet; return False where it is constant in the block."""
    if block.n_codes[f] == -1:
        code_feature(table, space, block, f)
    return block.n_codes[f] > 0


cdef inline bint is_code_one_value(const Table* table, const Block* block, Py_ssize_t f) noexcept nogil:
    """Return whether each code of the feature stands for a single value."""
    return block.exact or table.n_categories[f] > 0
