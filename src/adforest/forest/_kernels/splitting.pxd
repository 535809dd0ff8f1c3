# The worth of a cut. With class counts l_k left, r_k right, their sums L and R, and f(x) = x log2 x, the gain of a cut
# is, up to terms that are the same for every cut of the node,
#
#     entropy:  score = sum_k f(l_k) - f(L) + sum_k f(r_k) - f(R)
#     Gini:     score = sum_k l_k^2 / L + sum_k r_k^2 / R - (L + R)
#
# Moving one sample from right to left changes two terms of the sums: O(1), however many classes there are. Both scores
# are 0 for two pure sides and below for any other cut.
from libc.math cimport log2
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t

cdef enum:
    TABLE = 65536       # f is read from a table below this, computed above
    CLASS_SHIFT = 12
    MAX_WEIGHT = 4095
    MAX_CLASSES = 1048576

cdef struct Cut:
    double score
    int32_t low             # last code on the left
    int32_t high            # first code on the right; n_codes when only missing values are there
    bint missing_left
    int64_t left_total      # weight on the left
    int32_t feature


cdef inline uint32_t class_of(uint64_t key) noexcept nogil:
    """Return the class in the lower half of a key, class << 12 | weight."""
    return <uint32_t>key >> CLASS_SHIFT


cdef inline double xlogx(const double* table, int64_t x, bint tabled=False) noexcept nogil:
    """Return f(x); tabled says that x is known to be in the table."""
    return table[x] if tabled or x < TABLE else x * log2(<double>x)


cdef struct SideSums:
    # Sums over classes while a scan goes on: for entropy both, for Gini the other two.
    double both             # of f over both sides
    int64_t left            # of squares
    int64_t right


cdef inline void move(const double* table, int32_t* left, int32_t* right, int64_t k, int32_t weight, SideSums* sums,
                      bint gini, bint tabled=False) noexcept nogil:
    """Move weight of class k from right to left."""
    cdef int32_t l = left[k], r = right[k]
    left[k] = l + weight
    right[k] = r - weight
    if gini:
        sums.left += <int64_t>weight * (2 * <int64_t>l + weight)
        sums.right -= <int64_t>weight * (2 * <int64_t>r - weight)
    else:
        sums.both += ((xlogx(table, l + weight, tabled) - xlogx(table, l, tabled))
                      + (xlogx(table, r - weight, tabled) - xlogx(table, r, tabled)))


cdef inline double gini_score(const SideSums* sums, int64_t left_total, int64_t total) noexcept nogil:
    """Return the score of a cut with these sums of squares."""
    return <double>sums.left / left_total + <double>sums.right / (total - left_total) - total


cdef inline double no_gain(const double* table, double class_sum, int64_t total, bint gini) noexcept nogil:
    """Return the score of a cut that gains nothing, by a node's sum over classes of f or of squares."""
    return class_sum / total - total if gini else class_sum - xlogx(table, total)


cdef struct Scratch:
    # What one scan needs, allocated once per tree. Between scans left is zero and right holds the node's class counts.
    bint gini               # whether cuts are scored by Gini impurity, else by entropy
    double* table           # f(x) for x < TABLE
    int32_t* left
    int32_t* right
    uint64_t* keys          # code << 32 | class << 12 | weight, one per sample of the largest node
    int32_t* bucket         # one per code
    int32_t* order          # one per code: those the node has, in the order of the scan
    uint64_t* histogram     # room for codes x classes of the nodes that use it; a cell is samples << 32 | weight
    Py_ssize_t n_classes
    Py_ssize_t histogram_size


cdef inline void swap_sides(Scratch* s) noexcept nogil:
    """Restart after a scan that has moved everything to the left."""
    s.left, s.right = s.right, s.left


cdef inline void scan_keys(Scratch* s, const uint64_t* keys, Py_ssize_t n, Py_ssize_t n_known, int32_t missing_code,
                           double class_sum, int64_t total, Py_ssize_t min_leaf, bint missing_left, bint tabled,
                           bint gini, Cut* best) noexcept nogil:
    """Try every cut along sorted keys, missing codes last; with missing_left these begin on the left.

    Everything is on the left in the end, but for missing values without missing_left.
    """
    cdef Py_ssize_t i, n_left = 0, n_missing = n - n_known
    cdef uint64_t key, following
    cdef int64_t left_total = 0
    cdef double score
    cdef SideSums sums = SideSums(class_sum, 0, <int64_t>class_sum)
    cdef const double* table = s.table
    cdef int32_t* left = s.left
    cdef int32_t* right = s.right
    if missing_left:
        for i in range(n_known, n):
            move(table, left, right, class_of(keys[i]), keys[i] & MAX_WEIGHT, &sums, gini, tabled)
            left_total += keys[i] & MAX_WEIGHT
        n_left = n_missing
    following = keys[0]
    for i in range(n_known):
        key = following
        move(table, left, right, class_of(key), key & MAX_WEIGHT, &sums, gini, tabled)
        left_total += key & MAX_WEIGHT
        n_left += 1
        if i + 1 < n_known:
            following = keys[i + 1]
            if following >> 32 == key >> 32:
                continue
        elif missing_left or n_missing == 0:
            break
        if n_left < min_leaf or n - n_left < min_leaf:
            continue
        if gini:
            score = gini_score(&sums, left_total, total)
        else:
            score = sums.both - (xlogx(table, left_total, tabled) + xlogx(table, total - left_total, tabled))
        if score > best.score:
            best.score = score
            best.low = <int32_t>(key >> 32)
            best.high = <int32_t>(following >> 32) if i + 1 < n_known else missing_code
            best.missing_left = missing_left
            best.left_total = left_total


cdef inline void try_keys(Scratch* s, const uint64_t* keys, Py_ssize_t n, Py_ssize_t n_known, int32_t missing_code,
                          double node_sum, int64_t total, Py_ssize_t min_leaf, Cut* best) noexcept nogil:
    """Improve best by the best cut along sorted keys."""
    cdef Py_ssize_t i, k
    # Where arguments are literals the compiler makes a scan of its own, which does not ask what they say.
    if s.gini and n_known == n and min_leaf == 1:
        scan_keys(s, keys, n, n, missing_code, node_sum, total, 1, False, False, True, best)
    elif s.gini:
        scan_keys(s, keys, n, n_known, missing_code, node_sum, total, min_leaf, False, False, True, best)
    elif n_known == n and total < TABLE and min_leaf == 1:
        scan_keys(s, keys, n, n, missing_code, node_sum, total, 1, False, True, False, best)
    elif n_known == n and total < TABLE:
        scan_keys(s, keys, n, n, missing_code, node_sum, total, min_leaf, False, True, False, best)
    else:
        scan_keys(s, keys, n, n_known, missing_code, node_sum, total, min_leaf, False, False, False, best)
    if n_known < n:
        for i in range(n_known):
            k = class_of(keys[i])
            s.right[k] += s.left[k]
            s.left[k] = 0
        if s.gini:
            scan_keys(s, keys, n, n_known, missing_code, node_sum, total, min_leaf, True, False, True, best)
        else:
            scan_keys(s, keys, n, n_known, missing_code, node_sum, total, min_leaf, True, False, False, best)
    swap_sides(s)


cdef inline void scan_histogram(Scratch* s, Py_ssize_t present, const uint64_t* missing, Py_ssize_t n,
                                Py_ssize_t n_missing, double class_sum, int64_t total, Py_ssize_t min_leaf,
                                bint missing_left, bint gini, Cut* best) noexcept nogil:
    """Try every cut along the rows of the histogram that order names; low and high are positions in order.

    missing is the row of missing values, which with missing_left begin on the left.
    """
    cdef Py_ssize_t i, k, n_left = 0
    cdef int64_t left_total = 0
    cdef int32_t weight
    cdef const uint64_t* row
    cdef double score
    cdef SideSums sums = SideSums(class_sum, 0, <int64_t>class_sum)
    if missing_left:
        for k in range(s.n_classes):
            weight = <int32_t>missing[k]
            left_total += weight
            move(s.table, s.left, s.right, k, weight, &sums, gini)
        n_left = n_missing
    for i in range(present):
        row = s.histogram + s.order[i] * s.n_classes
        for k in range(s.n_classes):
            if row[k] > 0:
                weight = <int32_t>row[k]
                n_left += row[k] >> 32
                left_total += weight
                move(s.table, s.left, s.right, k, weight, &sums, gini)
        if i + 1 == present and (missing_left or n_missing == 0):
            break
        if n_left < min_leaf or n - n_left < min_leaf:
            continue
        if gini:
            score = gini_score(&sums, left_total, total)
        else:
            score = sums.both - xlogx(s.table, left_total) - xlogx(s.table, total - left_total)
        if score > best.score:
            best.score = score
            best.low = <int32_t>i
            best.high = <int32_t>i + 1
            best.missing_left = missing_left
            best.left_total = left_total


cdef inline void try_histogram(Scratch* s, Py_ssize_t present, int32_t n_codes, Py_ssize_t n, Py_ssize_t n_missing,
                               double node_sum, int64_t total, Py_ssize_t min_leaf, Cut* best) noexcept nogil:
    """Improve best by the best cut along the rows of the histogram that order names."""
    cdef Py_ssize_t k
    cdef const uint64_t* missing = s.histogram + n_codes * s.n_classes
    if s.gini:
        scan_histogram(s, present, missing, n, n_missing, node_sum, total, min_leaf, False, True, best)
    else:
        scan_histogram(s, present, missing, n, n_missing, node_sum, total, min_leaf, False, False, best)
    if n_missing > 0:
        for k in range(s.n_classes):
            s.right[k] += s.left[k]
            s.left[k] = 0
        if s.gini:
            scan_histogram(s, present, missing, n, n_missing, node_sum, total, min_leaf, True, True, best)
        else:
            scan_histogram(s, present, missing, n, n_missing, node_sum, total, min_leaf, True, False, best)
    swap_sides(s)


cdef inline bint suits_histogram(const Scratch* s, Py_ssize_t n, int32_t n_codes) noexcept nogil:
    """Return whether counting by (code, class) is less work than sorting; n_codes does not count missing."""
    return n >= 2 * (n_codes + 1) * s.n_classes and (n_codes + 1) * s.n_classes <= s.histogram_size


cdef inline Py_ssize_t count_missing(const Scratch* s, int32_t n_codes) noexcept nogil:
    """Return how many samples the histogram's row of missing values holds."""
    cdef Py_ssize_t k, n_missing = 0
    for k in range(s.n_classes):
        n_missing += s.histogram[n_codes * s.n_classes + k] >> 32
    return n_missing


cdef inline void sort_keys(Scratch* s, const uint16_t* column, const uint64_t* samples, Py_ssize_t n,
                           int32_t n_codes) noexcept nogil:
    """Fill keys in ascending order of code, missing values last."""
    cdef Py_ssize_t i
    cdef int32_t code, at = 0, count
    for code in range(n_codes + 1):
        s.bucket[code] = 0
    for i in range(n):
        s.bucket[column[samples[i] >> 32]] += 1
    for code in range(n_codes + 1):
        count = s.bucket[code]
        s.bucket[code] = at
        at += count
    for i in range(n):
        code = column[samples[i] >> 32]
        s.keys[s.bucket[code]] = (<uint64_t>code << 32) | <uint32_t>samples[i]
        s.bucket[code] += 1


cdef inline Py_ssize_t fill_histogram(Scratch* s, const uint16_t* column, const uint64_t* samples, Py_ssize_t n,
                                      int32_t n_codes) noexcept nogil:
    """Count by (code, class), missing values in the last row; list known codes in order and return how many."""
    cdef Py_ssize_t i, k, present = 0, C = s.n_classes
    cdef int32_t code
    cdef uint64_t anything, one = <uint64_t>1 << 32
    for i in range((n_codes + 1) * C):
        s.histogram[i] = 0
    for i in range(n):
        s.histogram[column[samples[i] >> 32] * C + class_of(samples[i])] += one | (samples[i] & MAX_WEIGHT)
    for code in range(n_codes):
        anything = 0
        for k in range(C):
            anything |= s.histogram[code * C + k]
        s.order[present] = code
        present += anything > 0
    return present


cdef inline Py_ssize_t count_known(const uint64_t* keys, Py_ssize_t n, int32_t missing_code) noexcept nogil:
    """Return how many sorted keys stand before the missing ones."""
    while n > 0 and keys[n - 1] >> 32 == <uint64_t>missing_code:
        n -= 1
    return n


cdef inline void name_codes(const Scratch* s, Py_ssize_t present, int32_t n_codes, Cut* cut) noexcept nogil:
    """Turn a cut told by positions in order into one told by codes."""
    cut.high = s.order[cut.high] if cut.high < present else n_codes
    cut.low = s.order[cut.low]
