# The worth of a cut. With f(x) = x log2 x and class counts l_k left, r_k right, the entropy gain of a cut is, up to
# terms that are the same for every cut of the node,
#
#     score = sum_k f(l_k) - f(sum l) + sum_k f(r_k) - f(sum r)
#
# Moving one record from right to left changes two terms of the sums: O(1), however many classes there are.
from libc.math cimport log2
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t

cdef enum:
    TABLE = 65536       # f is read from a table below this, computed above
    MAX_WEIGHT = 255

cdef struct Cut:
    double score
    int32_t low             # last code on the left
    int32_t high            # first code on the right; n_codes when only missing values are there
    bint missing_left
    int64_t left_total      # weight on the left
    int32_t feature


cdef inline double xlogx(const double* table, int64_t x) noexcept nogil:
    return table[x] if x < TABLE else x * log2(<double>x)


cdef inline double move(const double* table, int32_t* left, int32_t* right, int64_t k, int32_t weight) noexcept nogil:
    """Move weight of class k from right to left; return by how much the sum of f over both sides changes."""
    cdef int32_t l = left[k], r = right[k]
    left[k] = l + weight
    right[k] = r - weight
    return (xlogx(table, l + weight) - xlogx(table, l)) + (xlogx(table, r - weight) - xlogx(table, r))


cdef inline void scan_sorted(const uint64_t* keys, Py_ssize_t n, Py_ssize_t n_known, int32_t missing_code,
                             const double* table, int32_t* left, int32_t* right, double both_sums, int64_t total,
                             Py_ssize_t min_leaf, bint missing_left, Cut* best) noexcept nogil:
    """Try every cut along records sorted by code; a key is code << 32 | class << 8 | weight, missing codes last.

    left is all zero and right the node's class counts; with missing_left the missing records begin on the left.
    """
    cdef Py_ssize_t i, n_left = 0, n_missing = n - n_known
    cdef uint64_t key, code
    cdef int64_t left_total = 0
    cdef double score
    if missing_left:
        for i in range(n_known, n):
            key = keys[i]
            both_sums += move(table, left, right, <uint32_t>key >> 8, key & MAX_WEIGHT)
            left_total += key & MAX_WEIGHT
        n_left = n_missing
    for i in range(n_known):
        key = keys[i]
        code = key >> 32
        both_sums += move(table, left, right, <uint32_t>key >> 8, key & MAX_WEIGHT)
        left_total += key & MAX_WEIGHT
        n_left += 1
        if i + 1 < n_known:
            if keys[i + 1] >> 32 == code:
                continue
        elif missing_left or n_missing == 0:
            break
        if n_left < min_leaf or n - n_left < min_leaf:
            continue
        score = both_sums - xlogx(table, left_total) - xlogx(table, total - left_total)
        if score > best.score:
            best.score = score
            best.low = <int32_t>code
            best.high = <int32_t>(keys[i + 1] >> 32) if i + 1 < n_known else missing_code
            best.missing_left = missing_left
            best.left_total = left_total


cdef inline void scan_histogram(const int32_t* histogram, const int32_t* records, int32_t first, int32_t last,
                                int32_t missing_code, Py_ssize_t n_classes, Py_ssize_t n, const double* table,
                                int32_t* left, int32_t* right, double both_sums, int64_t total, Py_ssize_t min_leaf,
                                bint missing_left, Cut* best) noexcept nogil:
    """Try every cut along a histogram of weights by (code - first, class); records counts records by code - first.

    The row and the count of missing values stand at missing_code - first, where last < missing_code is the last
    known code.
    """
    cdef Py_ssize_t k, n_left = 0
    cdef int64_t left_total = 0
    cdef int32_t code, low = -1, weight
    cdef int32_t n_missing = records[missing_code - first]
    cdef const int32_t* row
    cdef double score
    if missing_left:
        row = histogram + (missing_code - first) * n_classes
        for k in range(n_classes):
            if row[k] > 0:
                left_total += row[k]
                both_sums += move(table, left, right, k, row[k])
        n_left = n_missing
    for code in range(first, last + 2):
        # A cut lies between the last code that has records (low) and the next one that has.
        if code <= last and records[code - first] == 0:
            continue
        if low >= 0 and (code <= last or (n_missing > 0 and not missing_left)):
            if n_left >= min_leaf and n - n_left >= min_leaf:
                score = both_sums - xlogx(table, left_total) - xlogx(table, total - left_total)
                if score > best.score:
                    best.score = score
                    best.low = low
                    best.high = code if code <= last else missing_code
                    best.missing_left = missing_left
                    best.left_total = left_total
        if code > last:
            break
        row = histogram + (code - first) * n_classes
        for k in range(n_classes):
            weight = row[k]
            if weight > 0:
                left_total += weight
                both_sums += move(table, left, right, k, weight)
        n_left += records[code - first]
        low = code


cdef struct Scratch:
    # What one scan needs, allocated once per tree.
    double* table           # f(x) for x < TABLE
    int32_t* count          # class counts of the node at hand
    int32_t* left
    int32_t* right
    uint64_t* keys          # one per record of the largest node
    int32_t* bucket         # one per code
    int32_t* histogram      # room for codes x classes of the nodes that use it
    Py_ssize_t n_classes
    Py_ssize_t histogram_size

cdef enum:
    SMALL = 40              # below this many records insertion sort beats counting


cdef inline void reset_sides(Scratch* s, const uint32_t* labels, Py_ssize_t n) noexcept nogil:
    """Put the whole node on the right side; touches only the node's own classes when those are fewer."""
    cdef Py_ssize_t i, k
    if s.n_classes <= n:
        for k in range(s.n_classes):
            s.left[k] = 0
            s.right[k] = s.count[k]
    else:
        for i in range(n):
            k = labels[i] >> 8
            s.left[k] = 0
            s.right[k] = s.count[k]


cdef inline void sort_keys(Scratch* s, const uint16_t* codes, const uint32_t* labels, Py_ssize_t n, int32_t first,
                           int32_t last) noexcept nogil:
    """Fill keys with code << 32 | label in ascending order of code."""
    cdef Py_ssize_t i, j
    cdef uint64_t key
    cdef int32_t c, at, held
    if n <= SMALL:
        for i in range(n):
            key = (<uint64_t>codes[i] << 32) | labels[i]
            j = i
            while j > 0 and s.keys[j - 1] > key:
                s.keys[j] = s.keys[j - 1]
                j -= 1
            s.keys[j] = key
        return
    for c in range(last - first + 1):
        s.bucket[c] = 0
    for i in range(n):
        s.bucket[codes[i] - first] += 1
    at = 0
    for c in range(last - first + 1):
        held = s.bucket[c]
        s.bucket[c] = at
        at += held
    for i in range(n):
        c = codes[i] - first
        s.keys[s.bucket[c]] = (<uint64_t>codes[i] << 32) | labels[i]
        s.bucket[c] += 1


cdef inline void fill_histogram(Scratch* s, const uint16_t* codes, const uint32_t* labels, Py_ssize_t n,
                                int32_t first, int32_t last) noexcept nogil:
    """Count weights by (code - first, class) and records by code - first."""
    cdef Py_ssize_t i, c, C = s.n_classes
    cdef uint32_t label
    for i in range((last - first + 1) * C):
        s.histogram[i] = 0
    for i in range(last - first + 1):
        s.bucket[i] = 0
    for i in range(n):
        c = codes[i] - first
        label = labels[i]
        s.bucket[c] += 1
        s.histogram[c * C + (label >> 8)] += label & MAX_WEIGHT


cdef inline void best_cut_of(Scratch* s, const uint16_t* codes, const uint32_t* labels, Py_ssize_t n,
                             int32_t missing_code, double node_sum, int64_t total, Py_ssize_t min_leaf,
                             Cut* best) noexcept nogil:
    """Improve best by the best cut of one attribute, whose codes in the node are given; constant ones change nothing."""
    cdef Py_ssize_t i, n_known = n
    cdef int32_t first = missing_code, last = -1, c, top
    for i in range(n):
        c = codes[i]
        if c == missing_code:
            n_known -= 1
            continue
        if c < first:
            first = c
        if c > last:
            last = c
    if n_known == 0 or (first == last and n_known == n):
        return
    top = last if n_known == n else missing_code
    if n >= 2 * (top - first + 1) * s.n_classes and (missing_code - first + 1) * s.n_classes <= s.histogram_size:
        s.bucket[missing_code - first] = 0
        fill_histogram(s, codes, labels, n, first, top)
        reset_sides(s, labels, n)
        scan_histogram(s.histogram, s.bucket, first, last, missing_code, s.n_classes, n, s.table, s.left, s.right,
                       node_sum, total, min_leaf, False, best)
        if n_known < n:
            reset_sides(s, labels, n)
            scan_histogram(s.histogram, s.bucket, first, last, missing_code, s.n_classes, n, s.table, s.left, s.right,
                           node_sum, total, min_leaf, True, best)
        return
    sort_keys(s, codes, labels, n, first, top)
    reset_sides(s, labels, n)
    scan_sorted(s.keys, n, n_known, missing_code, s.table, s.left, s.right, node_sum, total, min_leaf, False, best)
    if n_known < n:
        reset_sides(s, labels, n)
        scan_sorted(s.keys, n, n_known, missing_code, s.table, s.left, s.right, node_sum, total, min_leaf, True, best)
