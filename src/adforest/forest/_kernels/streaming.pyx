"""Grow Hoeffding trees: records come one by one, and a leaf splits once enough of them prefer one attribute.

Each growing leaf keeps, in one block of doubles,

    | weight of each class, -1 where never seen | per numerical attribute and class: n, mean, M2, min, max |
    | per categorical attribute: weight by (category, class) |

which is dropped when the leaf splits; the two new leaves begin with the class weights that the cut lets expect.
"""
from libc.math cimport INFINITY, erfc, log2, sqrt
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy

import numpy as np

from .node cimport CATEGORICAL, MISSING_LEFT, Node, goes_left

from .growing import NODE

cdef enum:
    CUTS = 10                   # thresholds tried per numerical attribute
    GAUSS = 5                   # doubles per class: n, mean, M2, min, max

cdef double MIN_SHARE = 0.01    # of the weight, that each side of a cut must expect
cdef double MAX_SHARE = 0.99    # of one class, up to which splitting is tried


cdef struct Leaf:
    double* block               # NULL once the leaf has split
    double weight
    double attempted            # weight at the last attempt to split
    int32_t depth


cdef struct Merit:
    double gain
    int32_t feature
    double value                # the threshold, or the category that goes left alone


cdef struct Stream:
    Py_ssize_t m
    Py_ssize_t C
    const int32_t* n_categories
    Py_ssize_t* offset          # of each attribute's statistics in a block
    Py_ssize_t block_size
    double grace
    double log_inverse_delta
    double tie
    int32_t max_depth
    Node* nodes                 # of the group at hand; children are numbered within it
    Leaf* leaves                # one per node
    Py_ssize_t n_nodes
    Py_ssize_t room
    uint64_t* words
    Py_ssize_t n_words
    Py_ssize_t words_room
    Py_ssize_t words_base
    double* left                # class weights expected on either side of the cut at hand
    double* right
    double* totals              # see sum_up
    double* importance
    bint out_of_memory


cdef inline double bits(const double* weights, Py_ssize_t C, double* total) noexcept nogil:
    """Return entropy times weight, and the weight."""
    cdef Py_ssize_t k
    cdef double s = 0, e = 0
    for k in range(C):
        if weights[k] > 0:
            e -= weights[k] * log2(weights[k])
            s += weights[k]
    total[0] = s
    return e + s * log2(s) if s > 0 else 0


cdef double gain_of(Stream* s, double entropy) noexcept nogil:
    """Return the gain of the cut at hand in bits a record; minus infinity where a side expects next to nothing."""
    cdef double left_total, right_total, total
    cdef double after = bits(s.left, s.C, &left_total)
    after += bits(s.right, s.C, &right_total)
    total = left_total + right_total
    if total <= 0 or left_total <= MIN_SHARE * total or right_total <= MIN_SHARE * total:
        return -INFINITY
    return entropy - after / total


cdef void expect(Stream* s, const double* statistics, Py_ssize_t f, double value) noexcept nogil:
    """Fill both sides with the class weights expected if an attribute is cut at value."""
    cdef Py_ssize_t k
    cdef const double* g
    for k in range(s.C):
        if s.n_categories[f] > 0:
            s.left[k] = statistics[<Py_ssize_t>value * s.C + k]
            s.right[k] = s.totals[k] - s.left[k]
            continue
        g = statistics + k * GAUSS
        if g[0] == 0 or value >= g[4]:
            s.left[k] = g[0]
        elif value < g[3] or s.totals[k] == 0:
            s.left[k] = 0
        else:
            s.left[k] = g[0] * 0.5 * erfc((g[1] - value) * s.totals[k])
        s.right[k] = g[0] - s.left[k]


cdef void sum_up(Stream* s, const double* statistics, Py_ssize_t f) noexcept nogil:
    """Fill totals with what all cuts of an attribute share: class weights, or one over sqrt(2) standard deviations."""
    cdef Py_ssize_t i, k
    cdef const double* g
    for k in range(s.C):
        s.totals[k] = 0
        if s.n_categories[f] == 0:
            g = statistics + k * GAUSS
            if g[0] > 1 and g[2] > 0:
                s.totals[k] = 1 / sqrt(2 * g[2] / (g[0] - 1))
    for i in range(s.n_categories[f]):
        for k in range(s.C):
            s.totals[k] += statistics[i * s.C + k]


cdef Merit best_of(Stream* s, const double* block, Py_ssize_t f, double entropy) noexcept nogil:
    """Return the best cut of an attribute: one of ten thresholds between its extremes, or a category against the rest."""
    cdef Py_ssize_t i, k, n_cuts = CUTS
    cdef const double* statistics = block + s.offset[f]
    cdef double low = INFINITY, high = -INFINITY, value, gain
    cdef Merit best
    best.gain = -INFINITY
    best.feature = <int32_t>f
    best.value = 0
    sum_up(s, statistics, f)
    if s.n_categories[f] > 0:
        n_cuts = s.n_categories[f]
    else:
        for k in range(s.C):
            if statistics[k * GAUSS] > 0:
                low = min(low, statistics[k * GAUSS + 3])
                high = max(high, statistics[k * GAUSS + 4])
    for i in range(n_cuts):
        value = <double>i if s.n_categories[f] > 0 else low + (high - low) / (CUTS + 1) * (i + 1)
        if s.n_categories[f] == 0 and not low < value < high:
            continue
        expect(s, statistics, f, value)
        gain = gain_of(s, entropy)
        if gain > best.gain:
            best.gain = gain
            best.value = value
    return best


cdef bint reserve_nodes(Stream* s) noexcept nogil:
    """Make room for two more nodes."""
    cdef void* grown
    if s.n_nodes + 2 <= s.room:
        return True
    s.room = 2 * s.room + 2
    grown = realloc(s.nodes, s.room * sizeof(Node))
    if grown == NULL:
        return False
    s.nodes = <Node*>grown
    grown = realloc(s.leaves, s.room * sizeof(Leaf))
    if grown == NULL:
        return False
    s.leaves = <Leaf*>grown
    return True


cdef bint open_leaf(Stream* s, Py_ssize_t at, int32_t depth, const double* weights) noexcept nogil:
    """Begin a leaf with the class weights it may expect (none for a first leaf)."""
    cdef Py_ssize_t k
    cdef Leaf* leaf = &s.leaves[at]
    s.nodes[at].threshold = 0
    s.nodes[at].left = -1
    s.nodes[at].split = -1
    leaf.block = <double*>calloc(s.block_size, sizeof(double))
    if leaf.block == NULL:
        return False
    leaf.depth = depth
    leaf.weight = 0
    for k in range(s.C):
        leaf.block[k] = -1
        if weights != NULL and weights[k] > 0:
            leaf.block[k] = weights[k]
            leaf.weight += weights[k]
    leaf.attempted = leaf.weight
    return True


cdef double write_category(Stream* s, Py_ssize_t f, Py_ssize_t category) noexcept nogil:
    """Append the bit set of the one category that goes left."""
    cdef Py_ssize_t n_words = (s.n_categories[f] + 63) // 64, i, first = s.n_words
    cdef void* grown
    if first + 1 + n_words > s.words_room:
        s.words_room = 2 * s.words_room + 1 + n_words
        grown = realloc(s.words, s.words_room * sizeof(uint64_t))
        if grown == NULL:
            s.out_of_memory = True
            return 0
        s.words = <uint64_t*>grown
    s.words[first] = n_words
    for i in range(n_words):
        s.words[first + 1 + i] = 0
    s.words[first + 1 + (category >> 6)] |= <uint64_t>1 << (category & 63)
    s.n_words += 1 + n_words
    return <double>(s.words_base + first)


cdef void split(Stream* s, Py_ssize_t at, Merit cut) noexcept nogil:
    """Turn a leaf into a question with two new leaves."""
    cdef double left_total = 0, right_total = 0
    cdef Py_ssize_t k
    cdef Node* node
    cdef double* block = s.leaves[at].block
    cdef bint categorical = s.n_categories[cut.feature] > 0
    if not reserve_nodes(s):
        s.out_of_memory = True
        return
    sum_up(s, block + s.offset[cut.feature], cut.feature)
    expect(s, block + s.offset[cut.feature], cut.feature, cut.value)
    for k in range(s.C):
        left_total += s.left[k]
        right_total += s.right[k]
    if not open_leaf(s, s.n_nodes, s.leaves[at].depth + 1, s.left) or not open_leaf(
            s, s.n_nodes + 1, s.leaves[at].depth + 1, s.right):
        s.out_of_memory = True
        return
    node = &s.nodes[at]
    node.left = <int32_t>s.n_nodes
    node.split = (cut.feature << 2) | (MISSING_LEFT if left_total >= right_total else 0)
    node.threshold = cut.value
    if categorical:
        node.split |= CATEGORICAL
        node.threshold = write_category(s, cut.feature, <Py_ssize_t>cut.value)
    s.importance[cut.feature] += cut.gain * s.leaves[at].weight
    s.n_nodes += 2
    free(block)
    s.leaves[at].block = NULL


cdef void attempt(Stream* s, Py_ssize_t at) noexcept nogil:
    """Split a leaf if its best attribute is surely better than the second, or if the two are as good as equal."""
    cdef Leaf* leaf = &s.leaves[at]
    cdef Py_ssize_t f, k, n_classes = 0, n_positive = 0
    cdef double top = 0, weight, bound, entropy
    cdef Merit best, second, merit
    for k in range(s.C):
        if leaf.block[k] >= 0:
            n_classes += 1
            n_positive += leaf.block[k] > 0
            top = max(top, leaf.block[k])
    if n_positive < 2 or top > MAX_SHARE * leaf.weight:
        return
    entropy = bits(leaf.block, s.C, &weight) / leaf.weight
    best.gain = second.gain = -INFINITY
    best.feature = -1
    for f in range(s.m):
        merit = best_of(s, leaf.block, f, entropy)
        if merit.gain > best.gain:
            second = best
            best = merit
        elif merit.gain > second.gain:
            second = merit
    if best.gain == -INFINITY:
        return
    bound = log2(<double>max(n_classes, 2)) * sqrt(s.log_inverse_delta / (2 * leaf.weight))
    if best.gain - second.gain > bound or bound < s.tie:
        split(s, at, best)


cdef void learn(Stream* s, const double* record, int32_t klass, double weight) noexcept nogil:
    """Send a record to its leaf, add it to what the leaf has seen, and maybe split the leaf."""
    cdef Py_ssize_t at = 0, f
    cdef Leaf* leaf
    cdef double* g
    cdef double value, delta
    while s.nodes[at].split >= 0:
        at = s.nodes[at].left + (not goes_left(s.nodes + at, s.words - s.words_base, record[s.nodes[at].split >> 2]))
    leaf = &s.leaves[at]
    leaf.block[klass] = max(leaf.block[klass], 0) + weight
    leaf.weight += weight
    for f in range(s.m):
        value = record[f]
        if value != value:
            continue
        if s.n_categories[f] > 0:
            leaf.block[s.offset[f] + <Py_ssize_t>value * s.C + klass] += weight
            continue
        g = leaf.block + s.offset[f] + klass * GAUSS
        if g[0] == 0:
            g[3] = value
            g[4] = value
        g[0] += weight
        delta = value - g[1]
        g[1] += delta * weight / g[0]
        g[2] += weight * delta * (value - g[1])
        g[3] = min(g[3], value)
        g[4] = max(g[4], value)
    if leaf.weight - leaf.attempted >= s.grace and (s.max_depth < 0 or leaf.depth < s.max_depth):
        leaf.attempted = leaf.weight
        attempt(s, at)


cdef void forget_leaves(Stream* s) noexcept nogil:
    """Free the statistics of all leaves of the group at hand."""
    cdef Py_ssize_t i
    for i in range(s.n_nodes):
        free(s.leaves[i].block)
        s.leaves[i].block = NULL


def stream(const double[:, ::1] X, const int32_t[::1] y, const uint8_t[::1] weights, const int32_t[::1] n_categories,
           const int32_t[::1] samples, const int64_t[::1] group_start, const int32_t[::1] group_depth, *,
           Py_ssize_t n_classes, double grace, double log_inverse_delta, double tie, int32_t max_depth, int32_t base,
           Py_ssize_t words_base):
    """Grow a Hoeffding tree for each group of records, in the order in which they are given.

    Parameters
    ----------
    X, y : float64 (n, m), int32 (n,)
        The records.
    weights : uint8
        How often each record in samples counts; 0 leaves it out.
    n_categories : int32 (m,)
        0 for numerical attributes.
    samples : int32
        Records of all groups; group g is ``samples[group_start[g]:group_start[g + 1]]``.
    group_depth : int32 (n_groups,)
        Depth of the node that each group's tree takes the place of.
    grace : float
        Weight a leaf receives between two attempts to split it.
    log_inverse_delta, tie : float
        ln(1 / δ) of the Hoeffding bound, and the bound below which attributes count as equal.
    max_depth : int
        -1 for no limit.
    base, words_base : int
        How many nodes and category words the tree has already.

    Returns
    -------
    group_nodes, nodes : NODE
        The nodes to put in place of the groups' leaves, and those to append to the tree.
    words : uint64
        Category words to append to the tree.
    importance : float64 (m,)
        Entropy gain of the cuts, in bits times weight seen, by attribute.
    """
    cdef Py_ssize_t n_groups = group_depth.shape[0], m = X.shape[1], group, i, f
    cdef int32_t appended = base
    cdef Stream s
    offset_array = np.empty(m, dtype=np.intp)
    cdef Py_ssize_t[::1] offset = offset_array
    scratch = np.zeros((3, max(n_classes, 1)))
    cdef double[:, ::1] scratch_view = scratch
    importance = np.zeros(m)
    cdef double[::1] importance_view = importance
    s.block_size = n_classes
    for f in range(m):
        offset[f] = s.block_size
        s.block_size += n_categories[f] * n_classes if n_categories[f] > 0 else GAUSS * n_classes
    s.m = m
    s.C = n_classes
    s.n_categories = &n_categories[0]
    s.offset = &offset[0]
    s.grace = grace
    s.log_inverse_delta = log_inverse_delta
    s.tie = tie
    s.max_depth = max_depth
    s.left = &scratch_view[0, 0]
    s.right = &scratch_view[1, 0]
    s.totals = &scratch_view[2, 0]
    s.importance = &importance_view[0]
    s.room = 64
    s.nodes = <Node*>malloc(s.room * sizeof(Node))
    s.leaves = <Leaf*>malloc(s.room * sizeof(Leaf))
    s.words = <uint64_t*>malloc(sizeof(uint64_t))
    s.words_room = 1
    s.n_words = 0
    s.n_nodes = 0
    s.words_base = words_base
    s.out_of_memory = s.nodes == NULL or s.leaves == NULL or s.words == NULL
    group_nodes = np.zeros(n_groups, dtype=NODE)
    parts = []
    cdef Node[::1] view
    try:
        for group in range(n_groups):
            with nogil:
                if not s.out_of_memory:
                    s.n_nodes = 1
                    s.out_of_memory = not open_leaf(&s, 0, group_depth[group], NULL)
                for i in range(group_start[group], group_start[group + 1]):
                    if s.out_of_memory:
                        break
                    if weights[i] > 0:
                        learn(&s, &X[samples[i], 0], y[samples[i]], weights[i])
            if s.out_of_memory:
                raise MemoryError
            grown = np.empty(s.n_nodes, dtype=NODE)
            view = grown
            memcpy(&view[0], s.nodes, s.n_nodes * sizeof(Node))
            # Children are numbered within the group from 1 on; in the tree they follow those of the groups before.
            inner = grown["split"] >= 0
            grown["left"][inner] += appended - 1
            appended += <int32_t>(s.n_nodes - 1)
            group_nodes[group] = grown[0]
            parts.append(grown[1:])
            forget_leaves(&s)
            s.n_nodes = 0
        words = np.empty(s.n_words, dtype=np.uint64)
        for i in range(s.n_words):
            words[i] = s.words[i]
    finally:
        forget_leaves(&s)
        free(s.nodes)
        free(s.leaves)
        free(s.words)
    return group_nodes, np.concatenate(parts) if parts else np.empty(0, dtype=NODE), words, importance
