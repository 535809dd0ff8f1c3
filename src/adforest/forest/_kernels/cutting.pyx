"""Put a cut into effect: part the samples, and write threshold or categories into the node."""
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t
from libc.string cimport memcpy

from .binning cimport between
from .node cimport CATEGORICAL, MISSING_LEFT
from .splitting cimport MAX_WEIGHT
from .subtrees cimport add_category_set


cdef Py_ssize_t partition(const Table* table, const Block* block, uint8_t* category_left, uint64_t* samples,
                          uint64_t* spare, Py_ssize_t n, Cut* cut) noexcept nogil:
    """Put the samples of the left side first, keeping their order on both sides; return how many they are.

    category_left says by code which categories go left, for a cut by categories; spare has room for n samples. Where no
    value was missing, the side that weighs more is written into the cut as the side of missing values.
    """
    cdef Py_ssize_t i, n_left = 0, n_right = 0
    cdef int64_t balance = 0
    cdef int32_t f = cut.feature, missing_code = block.n_codes[f]
    cdef const uint16_t* column = block.codes + f * block.stride
    cdef bint categorical = table.n_categories[f] > 0, seen_missing = False, is_missing, left
    cdef uint64_t sample
    cdef uint16_t code
    if categorical:
        category_left[missing_code] = cut.missing_left
    for i in range(n):
        sample = samples[i]
        code = column[sample >> 32]
        is_missing = code == missing_code
        seen_missing |= is_missing
        left = category_left[code] if categorical else (code <= cut.low) | (is_missing & cut.missing_left)
        # Written to both sides; the next sample overwrites it on the wrong one.
        samples[n_left] = sample
        spare[n_right] = sample
        n_left += left
        n_right += 1 - left
        balance += (2 * left - 1) * <int32_t>(sample & MAX_WEIGHT)
    memcpy(samples + n_left, spare, n_right * sizeof(uint64_t))
    if not seen_missing:
        cut.missing_left = balance >= 0
    return n_left


cdef bint write_question(const Table* table, const Block* block, const uint8_t* category_left, const uint64_t* samples,
                         Py_ssize_t n, const Cut* cut, CategoryBits* bits, Node* node) noexcept nogil:
    """Write a cut into a node, and its categories into the bit sets; return False where memory ran out."""
    cdef Py_ssize_t first
    node.split = (cut.feature << 2) | (MISSING_LEFT if cut.missing_left else 0)
    if table.n_categories[cut.feature] == 0:
        node.threshold = threshold_of(block, cut)
        return True
    # Categories that the node did not see follow the missing values.
    first = add_category_set(bits, table.n_categories[cut.feature], cut.missing_left)
    if first < 0:
        return False
    set_categories(block, category_left, samples, n, cut, bits.words + first)
    node.split |= CATEGORICAL
    node.threshold = <double>(bits.first_number + first - 1)
    return True


cdef double threshold_of(const Block* block, const Cut* cut) noexcept nogil:
    """Return the largest value that goes left; infinity for everything known against everything missing."""
    cdef const double* bounds = block.bounds + cut.feature * block.bounds_stride
    if cut.high >= block.n_codes[cut.feature]:
        return INFINITY
    if block.exact:
        return between(bounds[cut.low], bounds[cut.high])
    return bounds[(cut.low + cut.high - 1) // 2]


cdef void set_categories(const Block* block, const uint8_t* category_left, const uint64_t* samples, Py_ssize_t n,
                         const Cut* cut, uint64_t* words) noexcept nogil:
    """Set the bit of each category of the node that goes left, and clear that of each that goes right."""
    cdef Py_ssize_t i
    cdef uint64_t category, bit
    cdef const uint16_t* column = block.codes + cut.feature * block.stride
    cdef const double* values = block.bounds + cut.feature * block.bounds_stride
    cdef uint16_t code
    for i in range(n):
        code = column[samples[i] >> 32]
        if code == block.n_codes[cut.feature]:
            continue
        category = <uint64_t>values[code] if block.exact else <uint64_t>code
        bit = <uint64_t>1 << (category & 63)
        if category_left[code]:
            words[category >> 6] |= bit
        else:
            words[category >> 6] &= ~bit
