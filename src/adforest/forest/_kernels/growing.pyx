"""Grow trees from records: a whole tree from its root, or subtrees at many leaves of a tree in one call.

A node's records are a segment of one array, partitioned in place:

    records | left child's ... | right child's ... |      item << 32 | class << 8 | weight

where the item is the number of the record in the block at hand.

A *block* is a set of records that were coded together. The root's block has at most max_bins codes per attribute.
As soon as a node holds BLOCK records or fewer it becomes a block of its own, coded by its own distinct values: from
there on every cut is exact, and all the codes fit the first-level cache. Such a block is sorted once by each attribute;
a node below it then sorts its records by setting the bits of their places and reading them off.

Attributes that are constant in a node are constant below it. A block's attributes stand in one list, of which a node
looks at the first n_features; those found constant are swapped to the end of that part, out of its children's sight:

    feature | may vary in the node ... | constant in it | constant in its parent | ... |

Growing depth first keeps this true, since a subtree only reorders the part that its root looks at.
"""
from libc.math cimport INFINITY, log2, pow, sqrt
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

import numpy as np

from .binning cimport EDGES, Pair, between, code_of, find_edges, jitter, sort_pairs
from .node cimport CATEGORICAL, MISSING_LEFT, Node
from .splitmix cimport as_unit, next_random, random_below
from .splitting cimport (
    MAX_WEIGHT, Cut, Scratch, class_of, count_known, count_missing, fill_histogram, name_codes, sort_keys,
    suits_histogram, try_histogram, try_keys, xlogx,
)

from .splitting import xlogx_table

NODE = np.dtype([("threshold", np.float64), ("left", np.int32), ("split", np.int32)])

cdef enum:
    BLOCK = 64              # records that are coded exactly: a bit of a word each
    SPREAD = 64             # buckets that sort most of a block
    EDGE_SAMPLE = 4096      # records that place the bins of a block between the two kinds
    MAX_HISTOGRAM = 1 << 20
    PENDING = -2            # an alias not known yet

cdef double LEAST_GAIN = 1e-9   # bits a record, that C4.5 asks of a cut
cdef double PERFECT = -1.0      # a score above this is that of a cut into two pure sides: any other loses two bits

cdef extern from *:
    """
    #if defined(_MSC_VER)
    #include <intrin.h>
    static inline int lowest_bit(uint64_t bits) { unsigned long at; _BitScanForward64(&at, bits); return (int)at; }
    #else
    #define lowest_bit(bits) __builtin_ctzll(bits)
    #endif
    """
    int lowest_bit(uint64_t bits) nogil

cdef double[::1] XLOGX = xlogx_table()


cdef struct Closing:
    # What pruning asks of a node.
    int32_t total           # weight
    int32_t top             # weight of its most frequent class
    double gain             # of its cut, in bits times weight
    double errors           # expected below it


cdef struct Block:
    bint exact
    uint16_t* codes         # codes[f * stride + item]
    Py_ssize_t stride
    double* bounds          # exact: the value of a code; else the largest value that has the code
    Py_ssize_t bounds_stride
    int32_t* n_codes        # per attribute; -1 while it is not coded, 0 where it is constant
    uint32_t* record        # item -> record; NULL where items are records
    Py_ssize_t n            # how many records
    int32_t* feature        # attributes, see above
    int32_t n_features      # how many are not known to be constant in the block
    uint8_t* place          # exact: place[f * stride + item] among the records sorted by f, missing values last
    uint64_t* sorted        # exact: sorted[f * stride + place] is the key of the record there
    uint32_t* label         # exact: item -> class << 8 | weight


cdef struct Task:
    Py_ssize_t start
    Py_ssize_t stop
    int32_t node            # index among the new nodes, or -1 - group
    int32_t depth
    int32_t n_features      # how many attributes at the head of the block's list may vary


cdef struct Grower:
    const double* X
    Py_ssize_t m
    const int32_t* n_categories
    uint64_t* records
    uint64_t* spare_records
    Scratch scratch
    int32_t* counts         # of classes, for the two sides of a cut
    Pair* pairs
    Pair* spare_pairs
    uint64_t* spare_keys
    uint8_t* category_left  # of the best cut so far
    Block small
    uint64_t random
    Py_ssize_t max_features
    Py_ssize_t max_bins
    Py_ssize_t min_leaf
    int32_t max_depth
    Py_ssize_t max_new_nodes
    bint by_ratio           # C4.5: the best gain ratio among attributes of at least average gain
    Cut* cuts               # one per attribute, for that
    uint32_t top_class      # of the node at hand, for that
    double confidence       # of pruning; 0 for none
    double deviate          # the normal deviate that leaves confidence above it
    Closing* closings       # one per new node
    Py_ssize_t closings_room
    Closing group_closing   # of the node the group at hand takes the place of
    Node* group_nodes
    Node* nodes
    Py_ssize_t n_nodes
    Py_ssize_t nodes_room
    int32_t base            # number of the first new node in the tree
    uint64_t* words
    Py_ssize_t n_words
    Py_ssize_t words_room
    Py_ssize_t words_base
    int32_t* row_node
    int32_t* row_class
    int32_t* row_weight
    Py_ssize_t n_rows
    Py_ssize_t rows_room
    int32_t* leaf_of
    const int32_t* group_node
    double* importance
    bint out_of_memory
    bint stuck              # the node at hand has no cut along its block's codes, but may have along its own


cdef inline uint32_t number_of(const Block* b, uint64_t record) noexcept nogil:
    """Return the number of a record among all records."""
    return b.record[record >> 32] if b.record != NULL else <uint32_t>(record >> 32)


cdef inline double score_of_class(uint64_t salt, uint64_t k) noexcept nogil:
    """Return a random number in [0, 1) that depends on the salt and the class alone."""
    cdef uint64_t state = salt + k * <uint64_t>0xd1342543de82ef95
    return as_unit(next_random(&state))


cdef void sort_block(Pair* pairs, Pair* spare, Py_ssize_t n, double low, double high) noexcept nogil:
    """Sort at most BLOCK pairs by value, stably: first into equal parts of their range, then by insertion."""
    cdef int32_t end[SPREAD + 1]
    cdef uint8_t part[BLOCK]
    cdef Py_ssize_t i, j
    cdef double scale
    cdef Pair moving
    if n > 12 and high - low > 1e-300 and high - low < INFINITY:
        scale = (SPREAD - 1) / (high - low)
        for i in range(SPREAD + 1):
            end[i] = 0
        for i in range(n):
            part[i] = <uint8_t>((pairs[i].value - low) * scale)
            end[part[i] + 1] += 1
        for i in range(SPREAD):
            end[i + 1] += end[i]
        for i in range(n):
            spare[end[part[i]]] = pairs[i]
            end[part[i]] += 1
        memcpy(pairs, spare, n * sizeof(Pair))
    for i in range(1, n):
        moving = pairs[i]
        j = i
        while j > 0 and pairs[j - 1].value > moving.value:
            pairs[j] = pairs[j - 1]
            j -= 1
        pairs[j] = moving


cdef void code_exactly(Grower* g, Block* b, Py_ssize_t f) noexcept nogil:
    """Sort a block by an attribute and give each distinct value a code of its own, in ascending order.

    A constant attribute has no codes.
    """
    cdef Py_ssize_t i, item, known = 0, missing = b.n
    cdef int32_t code = -1
    cdef double value, low = INFINITY, high = -INFINITY
    cdef uint16_t* codes = b.codes + f * b.stride
    cdef double* values = b.bounds + f * b.bounds_stride
    cdef uint8_t* place = b.place + f * b.stride
    cdef uint64_t* sorted = b.sorted + f * b.stride
    cdef Pair* pairs = g.pairs
    for i in range(b.n):
        value = g.X[<Py_ssize_t>b.record[i] * g.m + f]
        if value == value:
            pairs[known].value = value
            pairs[known].item = <uint32_t>i
            known += 1
            low = min(low, value)
            high = max(high, value)
        else:
            missing -= 1
            place[i] = <uint8_t>missing
    if known == 0 or (known == b.n and low == high):
        b.n_codes[f] = 0
        return
    sort_block(pairs, g.spare_pairs, known, low, high)
    for i in range(known):
        if code < 0 or pairs[i].value != values[code]:
            code += 1
            values[code] = pairs[i].value
        item = pairs[i].item
        codes[item] = <uint16_t>code
        place[item] = <uint8_t>i
        sorted[i] = (<uint64_t>code << 32) | b.label[item]
    b.n_codes[f] = code + 1
    if known < b.n:
        for i in range(b.n):
            if place[i] >= known:
                codes[i] = <uint16_t>(code + 1)
                sorted[place[i]] = (<uint64_t>(code + 1) << 32) | b.label[i]


cdef void code_by_quantiles(Grower* g, Block* b, Py_ssize_t f) noexcept nogil:
    """Code an attribute of a large block by quantiles of a sample of it; categories keep their own codes."""
    cdef Py_ssize_t i, known = 0, n = b.n, step = (b.n + EDGE_SAMPLE - 1) // EDGE_SAMPLE
    cdef double value
    cdef uint16_t* codes = b.codes + f * b.stride
    cdef double* edges = b.bounds + f * b.bounds_stride
    cdef double* values = <double*>g.spare_pairs
    if g.n_categories[f] > 0:
        b.n_codes[f] = g.n_categories[f]
        for i in range(n):
            value = g.X[<Py_ssize_t>b.record[i] * g.m + f]
            codes[i] = <uint16_t>value if value == value else <uint16_t>g.n_categories[f]
        return
    for i in range(n // step):
        value = g.X[<Py_ssize_t>b.record[jitter(i, step)] * g.m + f]
        if value == value:
            g.pairs[known].value = value
            known += 1
    sort_pairs(g.pairs, g.spare_pairs, known)
    for i in range(known):
        values[i] = g.pairs[i].value
    b.n_codes[f] = <int32_t>find_edges(values, known, g.max_bins, edges)
    for i in range(n):
        codes[i] = code_of(g.X[<Py_ssize_t>b.record[i] * g.m + f], edges, b.n_codes[f])


cdef uint64_t draw_lots(Grower* g) noexcept nogil:
    """Return what scores the classes of a node: a random number, or for C4.5 the most frequent class."""
    return g.top_class if g.by_ratio else next_random(&g.random)


cdef inline double score_of(const Grower* g, uint64_t lots, uint64_t k) noexcept nogil:
    """Return the score of a class. C4.5 draws no lots: there the most frequent class scores 1, others 0."""
    return <double>(k == lots) if g.by_ratio else score_of_class(lots, k)


# Categories are ordered by the mean score of their records' classes. With two classes this is the order of the class
# share, along which the best of all subsets is a prefix; with more it is a fresh random projection of the class shares,
# which suits a forest. Two categories need no order. After either function pairs[i].item is the i-th category's code.

cdef Py_ssize_t rank_runs(Grower* g, const uint64_t* keys, Py_ssize_t n, Py_ssize_t n_known) noexcept nogil:
    """Write sorted keys to spare_keys with the categories in order and coded by rank; return how many there are."""
    cdef Py_ssize_t i, j, present = 0, at = 0
    cdef uint64_t lots = 0, code
    cdef double score, weight
    cdef Pair* pairs = g.pairs
    i = 0
    while i < n_known:
        pairs[present].item = <uint32_t>i
        code = keys[i] >> 32
        while i < n_known and keys[i] >> 32 == code:
            i += 1
        present += 1
    if present > 2:
        lots = draw_lots(g)
        for j in range(present):
            score = weight = 0
            for i in range(pairs[j].item, pairs[j + 1].item if j + 1 < present else n_known):
                weight += keys[i] & MAX_WEIGHT
                score += (keys[i] & MAX_WEIGHT) * score_of(g, lots, class_of(keys[i]))
            pairs[j].value = score / weight
        sort_pairs(pairs, g.spare_pairs, present)
    for j in range(present):
        i = pairs[j].item
        code = keys[i] >> 32
        pairs[j].item = <uint32_t>code
        while i < n_known and keys[i] >> 32 == code:
            g.spare_keys[at] = (<uint64_t>j << 32) | <uint32_t>keys[i]
            i += 1
            at += 1
    for i in range(n_known, n):
        g.spare_keys[i] = (<uint64_t>present << 32) | <uint32_t>keys[i]
    return present


cdef void rank_rows(Grower* g, Py_ssize_t present) noexcept nogil:
    """Put the rows of the histogram that are named in order into the order of their categories."""
    cdef Py_ssize_t i, k
    cdef uint64_t lots = draw_lots(g) if present > 2 else 0, cell
    cdef double score, weight
    for i in range(present):
        g.pairs[i].item = <uint32_t>g.scratch.order[i]
        if present <= 2:
            continue
        score = weight = 0
        for k in range(g.scratch.n_classes):
            cell = g.scratch.histogram[g.scratch.order[i] * g.scratch.n_classes + k]
            if cell > 0:
                weight += <int32_t>cell
                score += <int32_t>cell * score_of(g, lots, k)
        g.pairs[i].value = score / weight
    if present > 2:
        sort_pairs(g.pairs, g.spare_pairs, present)
    for i in range(present):
        g.scratch.order[i] = <int32_t>g.pairs[i].item


cdef inline double price_of_subset(Py_ssize_t present, Py_ssize_t n) noexcept nogil:
    """Return what a cut by categories must gain before it is worth anything, in bits.

    Of k categories there are 2^(k-1) - 1 ways to make two sides, where k values in order have k - 1. The bits that it
    takes to say which one are what chance gains by the choice, and up to twice as many where most of the n records have
    a category of their own, since records are drawn repeatedly. So a column of names that say nothing is left alone.
    """
    cdef double k = <double>(present - 1)
    if present <= 2:
        return 0
    return (1 + <double>present / n) * ((k if k > 50 else log2(pow(2, k) - 1)) - log2(k))


cdef void begin_subset(const Grower* g, Py_ssize_t present, Py_ssize_t n, double node_sum, int64_t total,
                       const Cut* best, Cut* trial, double* price) noexcept nogil:
    """Prepare a search among categories, which must beat the best cut so far, and gain more than their price."""
    price[0] = 0 if g.by_ratio else price_of_subset(present, n)
    trial[0] = best[0]
    if price[0] > 0:
        trial.score = max(best.score, node_sum - xlogx(g.scratch.table, total)) + price[0]


cdef void keep_categories(Grower* g, Py_ssize_t present, const Cut* cut) noexcept nogil:
    """Note which categories a cut sends left."""
    cdef Py_ssize_t i
    for i in range(present):
        g.category_left[g.pairs[i].item] = i <= cut.low


cdef void take_subset(Grower* g, Py_ssize_t present, double before, double price, const Cut* trial,
                      Cut* best) noexcept nogil:
    """Take the cut by categories that was found as the best, less its price, if it is better than before."""
    if trial.score > before:
        best[0] = trial[0]
        best.score -= price
        keep_categories(g, present, best)


cdef bint try_counted(Grower* g, const Block* b, Py_ssize_t f, const Task* task, double node_sum, int64_t total,
                      Cut* best) noexcept nogil:
    """Improve best by attribute f, counting records by code and class; return whether it varies in the node."""
    cdef int32_t n_codes = b.n_codes[f]
    cdef Py_ssize_t n = task.stop - task.start, n_missing, present
    cdef double before = best.score, price
    cdef Cut trial
    present = fill_histogram(&g.scratch, b.codes + f * b.stride, g.records + task.start, n, n_codes)
    n_missing = count_missing(&g.scratch, n_codes)
    if present + (n_missing > 0) < 2:
        return False
    if g.n_categories[f] == 0:
        try_histogram(&g.scratch, present, n_codes, n, n_missing, node_sum, total, g.min_leaf, best)
        if best.score > before:
            name_codes(&g.scratch, present, n_codes, best)
        return True
    rank_rows(g, present)
    begin_subset(g, present, n, node_sum, total, best, &trial, &price)
    before = trial.score
    try_histogram(&g.scratch, present, n_codes, n, n_missing, node_sum, total, g.min_leaf, &trial)
    take_subset(g, present, before, price, &trial, best)
    return True


cdef void sort_sparse(Grower* g, const uint16_t* column, const uint64_t* records, Py_ssize_t n) noexcept nogil:
    """Fill keys in ascending order of code where codes are many more than records."""
    cdef Py_ssize_t i
    for i in range(n):
        g.pairs[i].value = column[records[i] >> 32]
        g.pairs[i].item = <uint32_t>records[i]
    sort_pairs(g.pairs, g.spare_pairs, n)
    for i in range(n):
        g.scratch.keys[i] = (<uint64_t>g.pairs[i].value << 32) | g.pairs[i].item


cdef void sort_by_place(uint64_t* keys, const uint64_t* sorted, const uint8_t* place, const uint64_t* records,
                        Py_ssize_t n) noexcept nogil:
    """Fill keys with the node's records in the order of their block."""
    cdef Py_ssize_t i, at = 0
    cdef uint64_t present = 0
    for i in range(n):
        present |= <uint64_t>1 << place[records[i] >> 32]
    while present != 0:
        keys[at] = sorted[lowest_bit(present)]
        present &= present - 1
        at += 1


cdef bint try_sorted(Grower* g, const Block* b, Py_ssize_t f, const Task* task, double node_sum, int64_t total,
                     Cut* best) noexcept nogil:
    """Improve best by attribute f, sorting the records by code; return whether it varies in the node."""
    cdef Py_ssize_t n = task.stop - task.start, n_known, present
    cdef double before, price
    cdef Cut trial
    cdef uint64_t* keys = g.scratch.keys
    cdef const uint64_t* records = g.records + task.start
    if b.exact:
        sort_by_place(keys, b.sorted + f * b.stride, b.place + f * b.stride, records, n)
    elif b.n_codes[f] > 8 * n:
        sort_sparse(g, b.codes + f * b.stride, records, n)
    else:
        sort_keys(&g.scratch, b.codes + f * b.stride, records, n, b.n_codes[f])
    if keys[0] >> 32 == keys[n - 1] >> 32:
        return False
    n_known = count_known(keys, n, b.n_codes[f])
    if g.n_categories[f] == 0:
        try_keys(&g.scratch, keys, n, n_known, b.n_codes[f], node_sum, total, g.min_leaf, best)
        return True
    present = rank_runs(g, keys, n, n_known)
    begin_subset(g, present, n, node_sum, total, best, &trial, &price)
    before = trial.score
    try_keys(&g.scratch, g.spare_keys, n, n_known, <int32_t>present, node_sum, total, g.min_leaf, &trial)
    take_subset(g, present, before, price, &trial, best)
    return True


cdef bint try_attribute(Grower* g, const Block* b, Py_ssize_t f, const Task* task, double node_sum, int64_t total,
                        Cut* best) noexcept nogil:
    """Improve best by attribute f; return whether it takes more than one code in the node."""
    cdef double before = best.score
    cdef bint varies
    if suits_histogram(&g.scratch, task.stop - task.start, b.n_codes[f]):
        varies = try_counted(g, b, f, task, node_sum, total, best)
    else:
        varies = try_sorted(g, b, f, task, node_sum, total, best)
    if best.score > before:
        best.feature = <int32_t>f
    return varies


cdef bint is_ready(Grower* g, Block* b, Py_ssize_t f) noexcept nogil:
    """Code an attribute where it is not coded yet; return False where it is found to be constant in the block."""
    if b.n_codes[f] == -1:
        if b.exact:
            code_exactly(g, b, f)
        elif is_constant(g, b, f):
            b.n_codes[f] = 0
        else:
            code_by_quantiles(g, b, f)
    return b.n_codes[f] > 0


cdef inline bint is_single(const Grower* g, const Block* b, Py_ssize_t f) noexcept nogil:
    """Return whether a code of the attribute stands for one value alone."""
    return b.exact or g.n_categories[f] > 0


cdef bint find_cut_by_ratio(Grower* g, Block* b, Task* task, double node_sum, int64_t total, Cut* best) noexcept nogil:
    """Take the best cut by gain of every attribute, and of those with at least average gain the best by gain ratio."""
    cdef Py_ssize_t i, n_cuts = 0
    cdef double base = xlogx(g.scratch.table, total) - node_sum, gain, ratio, best_ratio = 0, average = 0
    cdef Cut* cut
    g.top_class = class_of(g.records[task.start])
    for i in range(task.start, task.stop):
        if g.scratch.right[class_of(g.records[i])] > g.scratch.right[g.top_class]:
            g.top_class = class_of(g.records[i])
    i = 0
    while i < task.n_features:
        cut = &g.cuts[i]
        cut.score = -INFINITY
        if not is_ready(g, b, b.feature[i]) or (
                not try_attribute(g, b, b.feature[i], task, node_sum, total, cut) and is_single(g, b, b.feature[i])):
            set_aside(b, task, i)
            continue
        if cut.score > -INFINITY:
            average += cut.score + base
            n_cuts += 1
        i += 1
    best.score = -INFINITY
    for i in range(task.n_features):
        cut = &g.cuts[i]
        gain = cut.score + base
        if cut.score == -INFINITY or gain <= LEAST_GAIN * total or gain * n_cuts < average * (1 - 1e-12):
            continue
        ratio = gain / (xlogx(g.scratch.table, total) - xlogx(g.scratch.table, cut.left_total)
                        - xlogx(g.scratch.table, total - cut.left_total))
        if ratio > best_ratio or (ratio == best_ratio and cut.feature < best.feature):
            best_ratio = ratio
            best[0] = cut[0]
    if best.score == -INFINITY:
        return False
    if g.n_categories[best.feature] > 0:  # attributes tried later have overwritten which categories go left
        cut = &g.cuts[0]
        cut.score = -INFINITY
        try_attribute(g, b, best.feature, task, node_sum, total, cut)
    return True


cdef inline void swap_features(Block* b, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    b.feature[i], b.feature[j] = b.feature[j], b.feature[i]


cdef inline void set_aside(Block* b, Task* task, Py_ssize_t i) noexcept nogil:
    """Hide the i-th attribute, which is constant in the node, from its children."""
    task.n_features -= 1
    swap_features(b, i, task.n_features)


cdef bint find_cut(Grower* g, Block* b, Task* task, double node_sum, int64_t total, Cut* best) noexcept nogil:
    """Draw attributes until max_features of them vary in the node, and go on until some cut is possible.

    A cut into two pure sides ends it, since no other can be better. C4.5 looks at all of them instead.
    """
    cdef Py_ssize_t drawn = 0, tried = 0
    cdef int32_t f
    if g.by_ratio:
        return find_cut_by_ratio(g, b, task, node_sum, total, best)
    best.score = -INFINITY
    while drawn < task.n_features and best.score < PERFECT and (tried < g.max_features or best.score == -INFINITY):
        swap_features(b, drawn, drawn + random_below(&g.random, task.n_features - drawn))
        f = b.feature[drawn]
        if not is_ready(g, b, f):
            set_aside(b, task, drawn)
        elif try_attribute(g, b, f, task, node_sum, total, best):
            drawn += 1
            tried += 1
        elif is_single(g, b, f):
            set_aside(b, task, drawn)
        else:
            drawn += 1
    return best.score > -INFINITY


cdef inline bint is_constant(const Grower* g, const Block* b, Py_ssize_t f) noexcept nogil:
    """Return whether all records of the block share one value of attribute f; one code may stand for several."""
    cdef Py_ssize_t i
    cdef double value, first = g.X[(<Py_ssize_t>b.record[0] if b.record != NULL else 0) * g.m + f]
    for i in range(1, b.n):
        value = g.X[(<Py_ssize_t>b.record[i] if b.record != NULL else i) * g.m + f]
        if value != first and (value == value or first == first):
            return False
    return True


cdef Py_ssize_t partition(Grower* g, Block* b, Py_ssize_t start, Py_ssize_t stop, Cut* cut) noexcept nogil:
    """Put the left side's records first, keeping their order; return where the right side begins.

    Where no value was missing, the side that weighs more is written into the cut as the side of missing values.
    """
    cdef Py_ssize_t i, at = start, spare = 0
    cdef int64_t balance = 0
    cdef int32_t f = cut.feature, missing_code = b.n_codes[f]
    cdef const uint16_t* column = b.codes + f * b.stride
    cdef bint categorical = g.n_categories[f] > 0, seen_missing = False, is_missing, left
    cdef uint64_t record
    cdef uint16_t code
    if categorical:
        g.category_left[missing_code] = cut.missing_left
    for i in range(start, stop):
        record = g.records[i]
        code = column[record >> 32]
        is_missing = code == missing_code
        seen_missing |= is_missing
        left = g.category_left[code] if categorical else (code <= cut.low) | (is_missing & cut.missing_left)
        # Written to both sides; the next record overwrites it on the wrong one.
        g.records[at] = record
        g.spare_records[spare] = record
        at += left
        spare += 1 - left
        balance += (2 * left - 1) * <int32_t>(record & MAX_WEIGHT)
    memcpy(g.records + at, g.spare_records, spare * sizeof(uint64_t))
    if not seen_missing:
        cut.missing_left = balance >= 0
    return at


cdef bint reserve(void** array, Py_ssize_t* room, Py_ssize_t needed, size_t size) noexcept nogil:
    """Make room for needed elements, doubling; return False where memory ran out."""
    cdef Py_ssize_t more
    cdef void* grown
    if needed <= room[0]:
        return True
    more = max(needed, 2 * room[0])
    grown = realloc(array[0], more * size)
    if grown == NULL:
        return False
    array[0] = grown
    room[0] = more
    return True


cdef double write_categories(Grower* g, const Block* b, Py_ssize_t start, Py_ssize_t stop,
                             const Cut* cut) noexcept nogil:
    """Append the bit set of the categories that go left; return where it begins.

    Categories the node did not see follow the missing values.
    """
    cdef Py_ssize_t n_words = (g.n_categories[cut.feature] + 63) // 64, i, first = g.n_words
    cdef uint64_t category, bit, unseen = ~<uint64_t>0 if cut.missing_left else 0
    cdef const uint16_t* column = b.codes + cut.feature * b.stride
    cdef const double* values = b.bounds + cut.feature * b.bounds_stride
    cdef uint16_t code
    if not reserve(<void**>&g.words, &g.words_room, first + 1 + n_words, sizeof(uint64_t)):
        g.out_of_memory = True
        return 0
    g.words[first] = n_words
    for i in range(n_words):
        g.words[first + 1 + i] = unseen
    for i in range(start, stop):
        code = column[g.records[i] >> 32]
        if code == b.n_codes[cut.feature]:
            continue
        category = <uint64_t>values[code] if b.exact else <uint64_t>code
        bit = <uint64_t>1 << (category & 63)
        if g.category_left[code]:
            g.words[first + 1 + (category >> 6)] |= bit
        else:
            g.words[first + 1 + (category >> 6)] &= ~bit
    g.n_words += 1 + n_words
    return <double>(g.words_base + first)


cdef double threshold_of(const Grower* g, const Block* b, const Cut* cut) noexcept nogil:
    """Return the value up to which records go left."""
    cdef const double* bounds = b.bounds + cut.feature * b.bounds_stride
    if cut.high >= b.n_codes[cut.feature]:
        return INFINITY  # everything known against everything missing
    if b.exact:
        return between(bounds[cut.low], bounds[cut.high])
    return bounds[(cut.low + cut.high - 1) // 2]


cdef void note(Grower* g, const Task* task, double gain) noexcept nogil:
    """Note what pruning will ask of a node whose counts are at hand."""
    cdef Py_ssize_t i
    cdef int32_t k
    cdef Closing* closing = &g.closings[task.node] if task.node >= 0 else &g.group_closing
    closing.total = 0
    closing.top = 0
    closing.gain = gain
    for i in range(task.start, task.stop):
        closing.total += g.records[i] & MAX_WEIGHT
        k = g.scratch.right[class_of(g.records[i])]
        if k > closing.top:
            closing.top = k


cdef void make_leaf(Grower* g, const Block* b, const Task* task) noexcept nogil:
    """Close a node: its class counts become rows, its records learn where they are. Clears the counts."""
    cdef Py_ssize_t i, room
    cdef int32_t k, node
    cdef Node* closed = &g.nodes[task.node] if task.node >= 0 else &g.group_nodes[-1 - task.node]
    node = g.base + task.node if task.node >= 0 else g.group_node[-1 - task.node]
    closed.threshold = 0
    closed.left = -1
    closed.split = -1
    if g.confidence > 0:
        note(g, task, 0)
    for i in range(task.start, task.stop):
        g.leaf_of[number_of(b, g.records[i])] = node
        k = class_of(g.records[i])
        if g.scratch.right[k] == 0:
            continue
        if g.n_rows == g.rows_room:
            room = g.rows_room
            if not (reserve(<void**>&g.row_node, &room, g.n_rows + 1, sizeof(int32_t))):
                g.out_of_memory = True
                return
            room = g.rows_room
            if not (reserve(<void**>&g.row_class, &room, g.n_rows + 1, sizeof(int32_t))):
                g.out_of_memory = True
                return
            if not (reserve(<void**>&g.row_weight, &g.rows_room, g.n_rows + 1, sizeof(int32_t))):
                g.out_of_memory = True
                return
        g.row_node[g.n_rows] = node
        g.row_class[g.n_rows] = k
        g.row_weight[g.n_rows] = g.scratch.right[k]
        g.n_rows += 1
        g.scratch.right[k] = 0


cdef int64_t count_classes(Scratch* s, const uint64_t* records, Py_ssize_t n) noexcept nogil:
    """Count a node's classes; return its weight."""
    cdef Py_ssize_t i
    cdef int64_t total = 0
    for i in range(n):
        s.right[class_of(records[i])] += records[i] & MAX_WEIGHT
        total += records[i] & MAX_WEIGHT
    return total


cdef double sum_classes(const Scratch* s, const uint64_t* records, Py_ssize_t n) noexcept nogil:
    """Return the sum of f over a node's class counts."""
    cdef Py_ssize_t i, k
    cdef double node_sum = 0
    if s.n_classes <= 2 * n:
        for k in range(s.n_classes):
            node_sum += xlogx(s.table, s.right[k])
    else:
        for i in range(n):  # each record brings its share of its class
            k = class_of(records[i])
            node_sum += xlogx(s.table, s.right[k]) * (records[i] & MAX_WEIGHT) / s.right[k]
    return node_sum


cdef void clear_classes(Scratch* s, const uint64_t* records, Py_ssize_t n) noexcept nogil:
    """Forget a node's class counts."""
    cdef Py_ssize_t i
    if s.n_classes <= n:
        memset(s.right, 0, s.n_classes * sizeof(int32_t))
    else:
        for i in range(n):
            s.right[class_of(records[i])] = 0


cdef bint split_node(Grower* g, Block* b, Task* task, Task* children) noexcept nogil:
    """Cut a node in two, or close it as a leaf; return whether there are children to go on with.

    A node whose records share all codes of their block, but not all values, is left as it is and marked as stuck.
    """
    cdef Py_ssize_t n = task.stop - task.start, middle
    cdef const uint64_t* records = g.records + task.start
    cdef int64_t total = count_classes(&g.scratch, records, n)
    cdef double node_sum
    cdef Cut cut
    cdef Node* node
    cdef bint found
    if n == 0 or g.scratch.right[class_of(records[0])] == total:
        make_leaf(g, b, task)
        return False
    if (n < 2 * g.min_leaf or (g.max_depth >= 0 and task.depth >= g.max_depth) or g.n_nodes + 2 > g.max_new_nodes):
        make_leaf(g, b, task)
        return False
    node_sum = sum_classes(&g.scratch, records, n)
    found = find_cut(g, b, task, node_sum, total, &cut)
    g.stuck = not found and not b.exact and (b.record == NULL or n < b.n)
    if not found and not g.stuck:
        make_leaf(g, b, task)
        return False
    if g.confidence > 0 and found:
        note(g, task, cut.score - node_sum + xlogx(g.scratch.table, total))
    clear_classes(&g.scratch, records, n)
    if g.stuck:
        return False
    if not reserve(<void**>&g.nodes, &g.nodes_room, g.n_nodes + 2, sizeof(Node)) or (
            g.confidence > 0 and not reserve(<void**>&g.closings, &g.closings_room, g.n_nodes + 2, sizeof(Closing))):
        g.out_of_memory = True
        return False
    g.importance[cut.feature] += max(0.0, cut.score - node_sum + xlogx(g.scratch.table, total))
    middle = partition(g, b, task.start, task.stop, &cut)
    node = &g.nodes[task.node] if task.node >= 0 else &g.group_nodes[-1 - task.node]
    node.left = g.base + <int32_t>g.n_nodes
    node.split = (cut.feature << 2) | (MISSING_LEFT if cut.missing_left else 0)
    if g.n_categories[cut.feature] > 0:
        node.split |= CATEGORICAL
        node.threshold = write_categories(g, b, task.start, task.stop, &cut)
    else:
        node.threshold = threshold_of(g, b, &cut)
    children[0] = Task(task.start, middle, <int32_t>g.n_nodes, task.depth + 1, task.n_features)
    children[1] = Task(middle, task.stop, <int32_t>g.n_nodes + 1, task.depth + 1, task.n_features)
    g.n_nodes += 2
    return True


cdef void grow_small(Grower* g, const Block* parent, const Task* root) noexcept nogil:
    """Grow everything below a node of at most BLOCK records, depth first."""
    cdef Task stack[BLOCK + 2]
    cdef Task task
    cdef Block* b = &g.small
    cdef Py_ssize_t i, top = 1
    b.n = root.stop - root.start
    for i in range(b.n):
        b.record[i] = number_of(parent, g.records[root.start + i])
        b.label[i] = <uint32_t>g.records[root.start + i]
        g.records[root.start + i] = (<uint64_t>i << 32) | b.label[i]
    for i in range(root.n_features):
        b.feature[i] = parent.feature[i]
        b.n_codes[parent.feature[i]] = -1
    stack[0] = root[0]
    while top > 0 and not g.out_of_memory:
        top -= 1
        task = stack[top]
        if split_node(g, b, &task, &stack[top]):
            top += 2


cdef void grow_own(Grower* g, const Block* parent, Task root) noexcept nogil:
    """Grow everything below a large node by codes of its own."""
    cdef Block own
    cdef Py_ssize_t i, n = root.stop - root.start
    own.exact = False
    own.n = n
    own.stride = n
    own.bounds_stride = EDGES
    own.codes = <uint16_t*>malloc(g.m * n * sizeof(uint16_t))
    own.bounds = <double*>malloc(g.m * EDGES * sizeof(double))
    own.n_codes = <int32_t*>malloc(g.m * sizeof(int32_t))
    own.feature = <int32_t*>malloc(g.m * sizeof(int32_t))
    own.record = <uint32_t*>malloc(n * sizeof(uint32_t))
    if own.codes == NULL or own.bounds == NULL or own.n_codes == NULL or own.feature == NULL or own.record == NULL:
        g.out_of_memory = True
    else:
        own.n_features = <int32_t>g.m
        root.n_features = own.n_features
        for i in range(g.m):
            own.feature[i] = <int32_t>i
            own.n_codes[i] = -1
        for i in range(n):
            own.record[i] = number_of(parent, g.records[root.start + i])
            g.records[root.start + i] = (<uint64_t>i << 32) | <uint32_t>g.records[root.start + i]
        grow_large(g, &own, root)
    free(own.codes)
    free(own.bounds)
    free(own.n_codes)
    free(own.feature)
    free(own.record)


cdef void grow_large(Grower* g, Block* b, Task root) noexcept nogil:
    """Grow everything below a node: depth first, but where nodes are limited breadth first.

    Breadth first, the limit stops all branches at about one depth.
    """
    cdef Task* tasks = NULL
    cdef Task task
    cdef Py_ssize_t room = 0, head = 0, tail = 1
    cdef bint limited = g.max_new_nodes < INT32_MAX
    if not reserve(<void**>&tasks, &room, 64, sizeof(Task)):
        g.out_of_memory = True
        return
    tasks[0] = root
    while head < tail and not g.out_of_memory:
        if limited:
            task = tasks[head]
            task.n_features = b.n_features
            head += 1
        else:
            tail -= 1
            task = tasks[tail]
        if task.stop - task.start <= BLOCK:
            grow_small(g, b, &task)
            continue
        if not reserve(<void**>&tasks, &room, tail + 2, sizeof(Task)):
            g.out_of_memory = True
            break
        if split_node(g, b, &task, tasks + tail):
            tail += 2
        elif g.stuck:
            grow_own(g, b, task)
    free(tasks)


cdef void grow_group(Grower* g, Block* shared, Task root) noexcept nogil:
    """Grow one group: by the shared codes where there are any, else by codes of its own."""
    cdef Py_ssize_t i, n = root.stop - root.start
    if shared.codes != NULL:
        root.n_features = shared.n_features
        grow_large(g, shared, root)
        return
    if n <= BLOCK:
        root.n_features = <int32_t>g.m
        for i in range(g.m):
            shared.feature[i] = <int32_t>i
        grow_small(g, shared, &root)
        return
    grow_own(g, shared, root)


cdef double expected_errors(const Grower* g, const Closing* node) noexcept nogil:
    """Return how many errors a leaf expects on as many new records: C4.5's upper limit of the binomial share.

    With a confidence of a quarter, the limit is what a true error share would stay below in three cases of four, given
    the errors seen; half an error is added to those as a correction for continuity.
    """
    cdef double n = node.total, errors = node.total - node.top, share, z = g.deviate
    if n == 0:
        return 0
    if errors < 1:  # no error among n: the share for which that has just the probability of the confidence
        return n * (1 - pow(g.confidence, 1 / n))
    if errors + 0.5 >= n:
        return n
    share = (errors + 0.5) / n
    share = (share + z * z / (2 * n) + z * sqrt(share / n * (1 - share) + z * z / (4 * n * n))) / (1 + z * z / n)
    return share * n


cdef void prune(Grower* g, Py_ssize_t first, Py_ssize_t group, int32_t* alias) noexcept nogil:
    """Turn inner nodes into leaves, from the bottom up, where a leaf expects no more errors than the subtree.

    Children are numbered after their parents. Afterwards alias[i], for each new node from first on, is its new number
    among the new nodes, or, where it is gone, that of the leaf its records are in; the group's own node is -1.
    """
    cdef Py_ssize_t i, j, kept = first, left
    cdef Node* node
    cdef Closing* closing
    cdef double as_leaf, below
    for i in range(g.n_nodes - 1, first - 2, -1):
        node = &g.nodes[i] if i >= first else &g.group_nodes[group]
        closing = &g.closings[i] if i >= first else &g.group_closing
        as_leaf = expected_errors(g, closing)
        closing.errors = as_leaf
        if node.split < 0:
            continue
        left = node.left - g.base
        below = g.closings[left].errors + g.closings[left + 1].errors
        if as_leaf <= below + 0.1:
            g.importance[node.split >> 2] -= closing.gain
            node.split = -2     # a leaf from now on; left still says where its children are
        else:
            closing.errors = below
    for i in range(first, g.n_nodes):
        alias[i] = PENDING
    for i in range(first - 1, g.n_nodes):
        node = &g.nodes[i] if i >= first else &g.group_nodes[group]
        if i >= first and alias[i] == PENDING:
            alias[i] = <int32_t>kept
            kept += 1
        elif i >= first:
            if node.split != -1:    # inside a pruned subtree: everything below goes where this went
                if node.split >= 0:
                    g.importance[node.split >> 2] -= g.closings[i].gain
                alias[node.left - g.base] = alias[i]
                alias[node.left - g.base + 1] = alias[i]
            continue
        if node.split == -2:
            alias[node.left - g.base] = alias[i] if i >= first else -1
            alias[node.left - g.base + 1] = alias[i] if i >= first else -1
            node.split = -1
            node.left = -1
            node.threshold = 0
    # Move what is left together; brothers stay neighbours, since they are kept or gone together.
    if g.group_nodes[group].split >= 0:
        g.group_nodes[group].left = g.base + alias[g.group_nodes[group].left - g.base]
    j = first
    for i in range(first, g.n_nodes):
        if alias[i] == j:  # a node that is gone has the number of one kept before
            g.nodes[j] = g.nodes[i]
            if g.nodes[j].split >= 0:
                g.nodes[j].left = g.base + alias[g.nodes[j].left - g.base]
            j += 1
    g.n_nodes = kept


cdef void prune_group(Grower* g, Py_ssize_t first, Py_ssize_t first_row, Py_ssize_t group, const int32_t* samples,
                      Py_ssize_t n) noexcept nogil:
    """Prune the subtree of a group, and tell its rows and records where they are now."""
    cdef int32_t* alias = <int32_t*>malloc(max(g.n_nodes, 1) * sizeof(int32_t))
    cdef Py_ssize_t i
    cdef int32_t* at
    if alias == NULL:
        g.out_of_memory = True
        return
    prune(g, first, group, alias)
    for i in range(g.n_rows - first_row + n):
        at = &g.row_node[first_row + i] if i < g.n_rows - first_row else &g.leaf_of[samples[i - g.n_rows + first_row]]
        if at[0] >= g.base:
            at[0] = g.base + alias[at[0] - g.base] if alias[at[0] - g.base] >= 0 else g.group_node[group]
    free(alias)


cdef bint open_grower(Grower* g, Block* shared, Py_ssize_t n_items, Py_ssize_t n_classes, int32_t max_codes) noexcept:
    """Allocate all scratch of a grower; return False where memory ran out."""
    cdef Py_ssize_t m = g.m
    cdef Py_ssize_t n_pairs = max(max(<Py_ssize_t>EDGE_SAMPLE, n_items if max_codes > 0 else 0), <Py_ssize_t>BLOCK) + 1
    cdef Py_ssize_t histogram = (g.max_bins + 1) * n_classes
    n_pairs = min(n_pairs, max(<Py_ssize_t>EDGE_SAMPLE, <Py_ssize_t>max_codes) + 1)
    max_codes = max(max_codes, <int32_t>max(g.max_bins, <Py_ssize_t>BLOCK)) + 2
    g.scratch.n_classes = n_classes
    g.scratch.histogram_size = histogram if histogram <= MAX_HISTOGRAM else 0
    g.scratch.table = &XLOGX[0]
    g.counts = <int32_t*>calloc(2 * n_classes, sizeof(int32_t))
    g.scratch.keys = <uint64_t*>malloc(2 * n_items * sizeof(uint64_t))
    g.scratch.bucket = <int32_t*>malloc(2 * max_codes * sizeof(int32_t))
    g.scratch.histogram = <uint64_t*>malloc(max(g.scratch.histogram_size, 1) * sizeof(uint64_t))
    g.records = <uint64_t*>malloc(2 * n_items * sizeof(uint64_t))
    g.pairs = <Pair*>malloc(2 * n_pairs * sizeof(Pair))
    g.category_left = <uint8_t*>malloc(max_codes)
    g.small.exact = True
    g.small.stride = BLOCK
    g.small.bounds_stride = BLOCK
    g.small.codes = <uint16_t*>malloc(m * BLOCK * sizeof(uint16_t))
    g.small.bounds = <double*>malloc(m * BLOCK * sizeof(double))
    g.small.n_codes = <int32_t*>malloc(m * sizeof(int32_t))
    g.small.feature = <int32_t*>malloc(m * sizeof(int32_t))
    g.small.record = <uint32_t*>malloc(BLOCK * sizeof(uint32_t))
    g.small.place = <uint8_t*>malloc(m * BLOCK)
    g.small.sorted = <uint64_t*>malloc(m * BLOCK * sizeof(uint64_t))
    g.small.label = <uint32_t*>malloc(BLOCK * sizeof(uint32_t))
    shared.feature = <int32_t*>malloc(m * sizeof(int32_t))
    g.cuts = <Cut*>malloc(m * sizeof(Cut))
    g.closings_room = 256
    g.closings = <Closing*>malloc(g.closings_room * sizeof(Closing))
    g.nodes_room = 256
    g.nodes = <Node*>malloc(g.nodes_room * sizeof(Node))
    g.rows_room = 256
    g.row_node = <int32_t*>malloc(g.rows_room * sizeof(int32_t))
    g.row_class = <int32_t*>malloc(g.rows_room * sizeof(int32_t))
    g.row_weight = <int32_t*>malloc(g.rows_room * sizeof(int32_t))
    if (g.counts == NULL or g.scratch.keys == NULL or g.scratch.bucket == NULL or g.scratch.histogram == NULL
            or g.records == NULL or g.pairs == NULL or g.category_left == NULL
            or g.small.codes == NULL or g.small.bounds == NULL or g.small.n_codes == NULL or g.small.feature == NULL
            or g.small.record == NULL or g.small.place == NULL or g.small.sorted == NULL or g.small.label == NULL
            or shared.feature == NULL or g.cuts == NULL or g.closings == NULL or g.nodes == NULL
            or g.row_node == NULL or g.row_class == NULL or g.row_weight == NULL):
        return False
    g.scratch.left = g.counts
    g.scratch.right = g.counts + n_classes
    g.scratch.order = g.scratch.bucket + max_codes
    g.spare_keys = g.scratch.keys + n_items
    g.spare_records = g.records + n_items
    g.spare_pairs = g.pairs + n_pairs
    return True


cdef void close_grower(Grower* g, Block* shared) noexcept:
    """Free what open_grower allocated and what growing added."""
    free(g.counts)
    free(g.scratch.keys)
    free(g.scratch.bucket)
    free(g.scratch.histogram)
    free(g.records)
    free(g.pairs)
    free(g.category_left)
    free(g.small.codes)
    free(g.small.bounds)
    free(g.small.n_codes)
    free(g.small.feature)
    free(g.small.record)
    free(g.small.place)
    free(g.small.sorted)
    free(g.small.label)
    free(shared.feature)
    free(g.cuts)
    free(g.closings)
    free(g.nodes)
    free(g.words)
    free(g.row_node)
    free(g.row_class)
    free(g.row_weight)


cdef copy_out(const void* source, Py_ssize_t n, dtype):
    """Return n elements of C memory as a NumPy array of its own."""
    array = np.empty(n, dtype=dtype)
    cdef uint8_t[::1] view
    if n > 0:
        view = array.view(np.uint8)
        memcpy(&view[0], source, view.shape[0])
    return array


def grow(const double[:, ::1] X, const int32_t[::1] y, const uint8_t[::1] weights, const int32_t[::1] n_categories,
         const int32_t[::1] samples, const int64_t[::1] group_start, const int32_t[::1] group_node,
         const int32_t[::1] group_depth, int32_t[::1] leaf_of, *, Py_ssize_t n_classes, Py_ssize_t max_features,
         Py_ssize_t min_leaf, Py_ssize_t max_bins, int32_t max_depth, Py_ssize_t max_new_nodes, int32_t base,
         Py_ssize_t words_base, uint64_t seed, binned=None, bint by_ratio=False, double confidence=0,
         double deviate=0):
    """Grow a subtree for each group of records, all for one tree.

    Parameters
    ----------
    X, y : float64 (n, m), int32 (n,)
        The records.
    weights : uint8
        How often each record in samples counts, at least 1.
    n_categories : int32 (m,)
        0 for numerical attributes.
    samples : int32
        Records of all groups, one group after the other; group g is ``samples[group_start[g]:group_start[g + 1]]``.
    group_node, group_depth : int32 (n_groups,)
        The number and depth of the node that each group's subtree takes the place of.
    leaf_of : int32 (n,)
        Written for every record in samples: the number of the leaf it is in now.
    max_depth : int
        Depth from the root of the tree at which growing stops; -1 for no limit.
    max_new_nodes : int
        How many nodes may be added.
    base, words_base : int
        How many nodes and category words the tree has already.
    binned : (codes, edges, n_codes), optional
        What `bin_columns` returned for X, shared by several trees.
    by_ratio : bool
        Choose cuts as C4.5 does: of all attributes, by gain ratio among those of at least average gain.
    confidence, deviate : float
        Prune by C4.5's estimate of errors with this confidence, 0 for not at all; deviate is the standard normal
        quantile of one minus the confidence.

    Returns
    -------
    group_nodes, nodes : NODE
        The nodes to put at group_node, and those to append to the tree.
    words : uint64
        Category words to append to the tree.
    row_node, row_class, row_weight : int32
        Weight of each class in each new leaf; after pruning, in several lines.
    importance : float64 (m,)
        Entropy gain, in bits times weight, of the new cuts by attribute.
    """
    cdef Py_ssize_t n_items = samples.shape[0], n_groups = group_node.shape[0], i, m = X.shape[1], first, first_row
    cdef int32_t max_codes = 0
    cdef Grower g
    cdef Block shared
    cdef const uint16_t[:, ::1] codes
    cdef const double[:, ::1] edges
    cdef const int32_t[::1] n_codes
    group_nodes = np.zeros(n_groups, dtype=NODE)
    importance = np.zeros(m)
    if n_items == 0:
        group_nodes["left"] = -1
        group_nodes["split"] = -1
        nothing = np.empty(0, dtype=np.int32)
        return (group_nodes, np.empty(0, dtype=NODE), np.empty(0, dtype=np.uint64), nothing, nothing, nothing,
                importance)
    cdef Node[::1] group_nodes_view = group_nodes
    cdef double[::1] importance_view = importance
    g.X = &X[0, 0]
    g.m = m
    g.n_categories = &n_categories[0]
    g.random = seed
    g.max_features = max_features
    g.max_bins = max_bins
    g.min_leaf = max(min_leaf, 1)
    g.max_depth = max_depth
    g.max_new_nodes = max_new_nodes
    g.by_ratio = by_ratio
    g.confidence = confidence
    g.deviate = deviate
    g.group_nodes = &group_nodes_view[0]
    g.group_node = &group_node[0]
    g.n_nodes = 0
    g.base = base
    g.words = NULL
    g.n_words = 0
    g.words_room = 0
    g.words_base = words_base
    g.n_rows = 0
    g.leaf_of = &leaf_of[0]
    g.importance = &importance_view[0]
    g.out_of_memory = False
    g.stuck = False
    shared.exact = False
    shared.codes = NULL
    shared.bounds = NULL
    shared.record = NULL
    for i in range(m):
        max_codes = max(max_codes, n_categories[i])
    try:    # nothing of Python's before everything that close_grower frees is there: it might raise
        if not open_grower(&g, &shared, n_items, n_classes, max_codes):
            raise MemoryError
        if binned is not None:
            codes, edges, n_codes = binned
            shared.codes = <uint16_t*>&codes[0, 0]
            shared.stride = codes.shape[1]
            shared.n = codes.shape[1]
            shared.bounds = <double*>&edges[0, 0]
            shared.bounds_stride = edges.shape[1]
            shared.n_codes = <int32_t*>&n_codes[0]
            shared.n_features = 0
            for i in range(m):
                if not is_constant(&g, &shared, i):
                    shared.feature[shared.n_features] = <int32_t>i
                    shared.n_features += 1
        with nogil:
            for i in range(n_items):
                g.records[i] = (<uint64_t>samples[i] << 32) | (<uint32_t>y[samples[i]] << 8) | weights[i]
            for i in range(n_groups):
                first = g.n_nodes
                first_row = g.n_rows
                grow_group(&g, &shared, Task(group_start[i], group_start[i + 1], <int32_t>(-1 - i), group_depth[i], 0))
                if g.confidence > 0 and not g.out_of_memory:
                    prune_group(&g, first, first_row, i, &samples[group_start[i]], group_start[i + 1] - group_start[i])
                if g.out_of_memory:
                    break
        if g.out_of_memory:
            raise MemoryError
        return (group_nodes, copy_out(g.nodes, g.n_nodes, NODE), copy_out(g.words, g.n_words, np.uint64),
                copy_out(g.row_node, g.n_rows, np.int32), copy_out(g.row_class, g.n_rows, np.int32),
                copy_out(g.row_weight, g.n_rows, np.int32), importance)
    finally:
        close_grower(&g, &shared)
