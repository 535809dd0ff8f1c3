"""Find the best split of a node: draw features, search each for the best split, by gain or as C4.5 by gain ratio."""
from libc.math cimport INFINITY, log
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc

from .binning cimport Pair, sort_pairs
from .categories cimport begin_trial, end_trial, rank_histogram, rank_keys
from .coding cimport BLOCK, EDGE_SAMPLE, Block, PairSpace, Table, has_codes, is_code_one_value, set_feature
from .splitmix cimport random_below
from .splitting cimport (
    Cut, Scratch, class_of, count_known, count_missing, fill_histogram, name_codes, sort_keys, suits_histogram,
    no_gain, try_histogram, try_keys, xlogx,
)

cdef enum:
    MAX_HISTOGRAM = 1 << 20     # cells of (code, class)

cdef double MIN_GAIN = 1e-9     # bits a sample, that C4.5 asks of a cut
cdef double PERFECT = -0.5      # a score above this is that of a cut into two pure sides: any other is -1 at most
cdef double BIT_CHI_SQUARE = 2 * log(2.0)   # the chi-square of a cut that gains one bit by chance

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


cdef bint open_search(Search* search, const double* xlogx_table, Py_ssize_t n_samples, Py_ssize_t n_classes) noexcept:
    """Allocate all scratch for nodes of at most n_samples; return False where memory ran out.

    The table and the rules are set already, all else is zero. Close it in both cases.
    """
    cdef Py_ssize_t f, max_codes = 0, n_pairs
    cdef Py_ssize_t histogram = (search.table.max_bins + 1) * n_classes
    cdef Scratch* scratch = &search.scratch
    for f in range(search.table.n_features):
        max_codes = max(max_codes, <Py_ssize_t>search.table.n_categories[f])
    n_pairs = max(<Py_ssize_t>EDGE_SAMPLE, min(n_samples, max_codes)) + 1
    max_codes = max(max_codes, max(search.table.max_bins, <Py_ssize_t>BLOCK)) + 2
    scratch.n_classes = n_classes
    scratch.histogram_size = histogram if histogram <= MAX_HISTOGRAM else 0
    scratch.table = <double*>xlogx_table
    search.class_weights = <int32_t*>calloc(2 * n_classes, sizeof(int32_t))
    scratch.keys = <uint64_t*>malloc(2 * n_samples * sizeof(uint64_t))
    scratch.bucket = <int32_t*>malloc(2 * max_codes * sizeof(int32_t))
    scratch.histogram = <uint64_t*>malloc(max(scratch.histogram_size, 1) * sizeof(uint64_t))
    search.space.pairs = <Pair*>malloc(2 * n_pairs * sizeof(Pair))
    search.categories.left = <uint8_t*>malloc(max_codes)
    search.cuts = <Cut*>malloc(search.table.n_features * sizeof(Cut))
    if (search.class_weights == NULL or scratch.keys == NULL or scratch.bucket == NULL or scratch.histogram == NULL
            or search.space.pairs == NULL or search.categories.left == NULL or search.cuts == NULL):
        return False
    scratch.left = search.class_weights
    scratch.right = search.class_weights + n_classes
    scratch.order = scratch.bucket + max_codes
    search.space.spare = search.space.pairs + n_pairs
    search.categories.space = search.space
    search.categories.keys = scratch.keys + n_samples
    search.categories.random = &search.random
    search.categories.by_top_class = search.rules.by_ratio
    return True


cdef void close_search(Search* search) noexcept:
    """Free what open_search allocated."""
    free(search.class_weights)
    free(search.scratch.keys)
    free(search.scratch.bucket)
    free(search.scratch.histogram)
    free(search.space.pairs)
    free(search.categories.left)
    free(search.cuts)


cdef bint find_cut(Search* search, Block* block, NodeSamples* node, Cut* best) noexcept nogil:
    """Find the best cut of a node; return False where there is none.

    Features are drawn until max_features of them vary in the node, and on until some cut is possible. A cut into two
    pure sides ends it, since no other can be better. C4.5 looks at all features instead.
    """
    cdef Py_ssize_t drawn = 0, tried = 0
    cdef int32_t f
    if search.rules.by_ratio:
        return find_cut_by_ratio(search, block, node, best)
    best.score = -INFINITY
    while (drawn < node.n_features and best.score < PERFECT
            and (tried < search.rules.max_features or best.score == -INFINITY)):
        swap_features(block, drawn, draw_feature(search, block, drawn, node.n_features))
        f = block.feature[drawn]
        if not has_codes(&search.table, search.space, block, f):
            hide_feature(block, node, drawn)
        elif try_feature(search, block, f, node, best):
            drawn += 1
            tried += 1
        elif is_code_one_value(&search.table, block, f):
            hide_feature(block, node, drawn)
        else:
            drawn += 1
    return best.score > -INFINITY


cdef bint find_cut_by_ratio(Search* search, Block* block, NodeSamples* node, Cut* best) noexcept nogil:
    """Take the best cut by gain of every feature, and of those with at least average gain the best by gain ratio."""
    cdef Py_ssize_t i = 0, n_cuts = 0
    cdef int32_t f
    cdef double average = 0
    cdef double no_gain = node.class_sum - xlogx(search.scratch.table, node.weight)
    cdef Cut* cut
    search.categories.top_class = top_class_of(search, node)
    while i < node.n_features:
        f = block.feature[i]
        cut = &search.cuts[i]
        cut.score = -INFINITY
        if not has_codes(&search.table, search.space, block, f) or (
                not try_feature(search, block, f, node, cut) and is_code_one_value(&search.table, block, f)):
            hide_feature(block, node, i)
            continue
        if cut.score > -INFINITY:
            average += cut.score - no_gain
            n_cuts += 1
        i += 1
    if not choose_by_ratio(search, node, no_gain, average, n_cuts, best):
        return False
    if search.table.n_categories[best.feature] > 0:  # features tried later have overwritten which categories go left
        cut = &search.cuts[0]
        cut.score = -INFINITY
        try_feature(search, block, best.feature, node, cut)
    return True


cdef bint choose_by_ratio(const Search* search, const NodeSamples* node, double no_gain, double gain_sum,
                          Py_ssize_t n_cuts, Cut* best) noexcept nogil:
    """Choose the cut of the highest gain ratio among those of at least gain_sum / n_cuts; return False if none."""
    cdef Py_ssize_t i
    cdef double gain, ratio, best_ratio = 0
    cdef const double* table = search.scratch.table
    cdef const Cut* cut
    best.score = -INFINITY
    for i in range(node.n_features):
        cut = &search.cuts[i]
        gain = cut.score - no_gain
        if cut.score == -INFINITY or gain <= MIN_GAIN * node.weight or gain * n_cuts < gain_sum * (1 - 1e-12):
            continue
        ratio = gain / (xlogx(table, node.weight) - xlogx(table, cut.left_total)
                        - xlogx(table, node.weight - cut.left_total))
        if ratio > best_ratio or (ratio == best_ratio and cut.feature < best.feature):
            best_ratio = ratio
            best[0] = cut[0]
    return best.score > -INFINITY


cdef uint32_t top_class_of(const Search* search, const NodeSamples* node) noexcept nogil:
    """Return the class of the largest weight in the node; among equals, that of the first sample."""
    cdef Py_ssize_t i
    cdef uint32_t top = class_of(node.samples[0])
    for i in range(node.n):
        if search.scratch.right[class_of(node.samples[i])] > search.scratch.right[top]:
            top = class_of(node.samples[i])
    return top


cdef inline void swap_features(Block* block, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    cdef int32_t f = block.feature[i]
    set_feature(block, i, block.feature[j])
    set_feature(block, j, f)


cdef inline Py_ssize_t draw_feature(Search* search, const Block* block, Py_ssize_t first, Py_ssize_t n) noexcept nogil:
    """Return the position of a feature drawn from those at positions from the first to n - 1, all alike or by draws.

    Where the list of draws says -1, or a feature that is constant or was drawn before, it may be any of them.
    """
    cdef int32_t f = -1
    cdef Py_ssize_t at
    if search.rules.draws != NULL:
        f = search.rules.draws[random_below(&search.random, search.rules.n_draws)]
        if f >= 0:
            at = block.position[f]
            if first <= at and at < n and block.feature[at] == f:
                return at
    return first + random_below(&search.random, n - first)


cdef inline void hide_feature(Block* block, NodeSamples* node, Py_ssize_t i) noexcept nogil:
    """Hide the i-th feature, which is constant in the node, from its children."""
    node.n_features -= 1
    swap_features(block, i, node.n_features)


cdef inline double bit_worth(const Scratch* scratch, const NodeSamples* node) noexcept nogil:
    """Return the gain in the unit of the criterion that chance makes as likely as one bit.

    By chance a cut's entropy gain is half a chi-square in nats. Its Gini gain is that chi-square times 2pq where there
    are two classes, or divided by their number where several are equally frequent: nearly the smaller of the sum of
    squared class probabilities and 1 minus it.
    """
    cdef double squares = node.class_sum / (<double>node.weight * node.weight)
    return BIT_CHI_SQUARE * min(squares, 1 - squares) if scratch.gini else 1.0


cdef bint try_feature(Search* search, const Block* block, Py_ssize_t f, const NodeSamples* node,
                      Cut* best) noexcept nogil:
    """Improve best by feature f; return whether it takes more than one code in the node."""
    cdef double before = best.score
    cdef bint varies
    if suits_histogram(&search.scratch, node.n, block.n_codes[f]):
        varies = try_counted(search, block, f, node, best)
    else:
        varies = try_sorted(search, block, f, node, best)
    if best.score > before:
        best.feature = <int32_t>f
    return varies


cdef bint try_counted(Search* search, const Block* block, Py_ssize_t f, const NodeSamples* node,
                      Cut* best) noexcept nogil:
    """Improve best by feature f, counting samples by code and class; return whether it varies in the node."""
    cdef Scratch* scratch = &search.scratch
    cdef int32_t n_codes = block.n_codes[f]
    cdef Py_ssize_t n_missing, present, min_leaf = search.rules.min_leaf
    cdef double before = best.score, price
    cdef Cut trial
    present = fill_histogram(scratch, block.codes + f * block.stride, node.samples, node.n, n_codes)
    n_missing = count_missing(scratch, n_codes)
    if present + (n_missing > 0) < 2:
        return False
    if search.table.n_categories[f] == 0:
        try_histogram(scratch, present, n_codes, node.n, n_missing, node.class_sum, node.weight, min_leaf, best)
        if best.score > before:
            name_codes(scratch, present, n_codes, best)
        return True
    rank_histogram(&search.categories, scratch, present)
    price = begin_trial(present, node.n, bit_worth(scratch, node), no_gain_of(scratch, node), best, &trial)
    before = trial.score
    try_histogram(scratch, present, n_codes, node.n, n_missing, node.class_sum, node.weight, min_leaf, &trial)
    end_trial(&search.categories, present, before, price, &trial, best)
    return True


cdef bint try_sorted(Search* search, const Block* block, Py_ssize_t f, const NodeSamples* node,
                     Cut* best) noexcept nogil:
    """Improve best by feature f, sorting the samples by code; return whether it varies in the node."""
    cdef Scratch* scratch = &search.scratch
    cdef Py_ssize_t n = node.n, n_known, present, at = f * block.stride
    cdef int32_t n_codes = block.n_codes[f]
    cdef double before, price
    cdef Cut trial
    cdef uint64_t* keys = scratch.keys
    if block.exact:
        sort_by_rank(keys, block.sorted.keys + at, block.sorted.rank + at, node.samples, n)
    elif n_codes > 8 * n:
        sort_sparse(search.space, keys, block.codes + at, node.samples, n)
    else:
        sort_keys(scratch, block.codes + at, node.samples, n, n_codes)
    if keys[0] >> 32 == keys[n - 1] >> 32:
        return False
    n_known = count_known(keys, n, n_codes)
    if search.table.n_categories[f] == 0:
        try_keys(scratch, keys, n, n_known, n_codes, node.class_sum, node.weight, search.rules.min_leaf, best)
        return True
    present = rank_keys(&search.categories, keys, n, n_known)
    price = begin_trial(present, n, bit_worth(scratch, node), no_gain_of(scratch, node), best, &trial)
    before = trial.score
    try_keys(scratch, search.categories.keys, n, n_known, <int32_t>present, node.class_sum, node.weight,
             search.rules.min_leaf, &trial)
    end_trial(&search.categories, present, before, price, &trial, best)
    return True


cdef void sort_sparse(PairSpace space, uint64_t* keys, const uint16_t* column, const uint64_t* samples,
                      Py_ssize_t n) noexcept nogil:
    """Fill keys in ascending order of code where codes are many more than samples."""
    cdef Py_ssize_t i
    for i in range(n):
        space.pairs[i].value = column[samples[i] >> 32]
        space.pairs[i].item = <uint32_t>samples[i]
    sort_pairs(space.pairs, space.spare, n)
    for i in range(n):
        keys[i] = (<uint64_t>space.pairs[i].value << 32) | space.pairs[i].item


cdef void sort_by_rank(uint64_t* keys, const uint64_t* sorted, const uint8_t* rank, const uint64_t* samples,
                       Py_ssize_t n) noexcept nogil:
    """Fill keys with the node's samples in the order of their block."""
    cdef Py_ssize_t i, at = 0
    cdef uint64_t present = 0
    for i in range(n):
        present |= <uint64_t>1 << rank[samples[i] >> 32]
    while present != 0:
        keys[at] = sorted[lowest_bit(present)]
        present &= present - 1
        at += 1
