"""Grow Hoeffding trees: samples come one by one, and a leaf splits once enough of them prefer one feature.

The statistics of a leaf (observing.pxd) are dropped when it splits; the two new leaves begin with the class weights
that the cut lets expect.
"""
from libc.math cimport INFINITY, log2, sqrt
from libc.stdint cimport int32_t, int64_t, uint16_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memset

import numpy as np

from .node cimport CATEGORICAL, MISSING_LEFT, Node, goes_left
from .observing cimport Candidate, Gaussian, Layout, Sides, best_candidate, entropy_of, expect_sides, observe
from .subtrees cimport CategoryBits, add_category_set, copy_out, make_leaf, reserve

from .subtrees import NODE

cdef enum:
    ROOM = 64                   # nodes to begin with

cdef double MAX_FRACTION = 0.99 # of one class in a leaf, up to which splitting it is tried


cdef struct Leaf:
    double* block               # its statistics; NULL once the leaf has split
    double weight
    double attempted            # weight at the last attempt to split
    int32_t depth


cdef struct Bound:
    # When a leaf splits.
    double grace                # weight a leaf receives between two attempts
    double log_inverse_delta    # ln(1 / delta), delta being the risk that another feature is better
    double tie                  # Hoeffding bound below which features count as equal
    int32_t max_depth           # -1 for no limit


cdef struct Group:
    # The tree of a group; children are numbered within it.
    Node* nodes
    Leaf* leaves                # by node
    Py_ssize_t n
    Py_ssize_t room


cdef struct Stream:
    Layout layout
    Bound bound
    Sides sides
    Group group
    CategoryBits category_bits
    double* importance
    bint out_of_memory


cdef bint reserve_nodes(Group* group, Py_ssize_t needed) noexcept nogil:
    """Make room for needed nodes; return False where memory ran out."""
    cdef Py_ssize_t room = group.room
    return (reserve(<void**>&group.nodes, &room, needed, sizeof(Node))
            and reserve(<void**>&group.leaves, &group.room, needed, sizeof(Leaf)))


cdef bint open_leaf(Group* group, const Layout* layout, Py_ssize_t at, int32_t depth,
                    const double* weights) noexcept nogil:
    """Begin a leaf with the class weights it may expect, NULL for none; return False where memory ran out."""
    cdef Py_ssize_t k
    cdef Leaf* leaf = &group.leaves[at]
    make_leaf(&group.nodes[at])
    leaf.block = <double*>calloc(layout.size, sizeof(double))
    if leaf.block == NULL:
        return False
    leaf.depth = depth
    leaf.weight = 0
    for k in range(layout.n_classes):
        leaf.block[k] = -1
        if weights != NULL and weights[k] > 0:
            leaf.block[k] = weights[k]
            leaf.weight += weights[k]
    leaf.attempted = leaf.weight
    return True


cdef void forget_leaves(Group* group) noexcept nogil:
    """Free the statistics of all leaves."""
    cdef Py_ssize_t i
    for i in range(group.n):
        free(group.leaves[i].block)
        group.leaves[i].block = NULL


cdef double write_category(Stream* s, Py_ssize_t f, Py_ssize_t category) noexcept nogil:
    """Append the bit set of the one category that goes left; return its number in the tree."""
    cdef Py_ssize_t first = add_category_set(&s.category_bits, s.layout.n_categories[f], False)
    if first < 0:
        s.out_of_memory = True
        return 0
    s.category_bits.words[first + (category >> 6)] |= <uint64_t>1 << (category & 63)
    return <double>(s.category_bits.first_number + first - 1)


cdef void split_leaf(Stream* s, Py_ssize_t at, Candidate cut) noexcept nogil:
    """Turn a leaf into a split with two new leaves."""
    cdef double left_total = 0, right_total = 0
    cdef Py_ssize_t k, left = s.group.n
    cdef Node* node
    cdef Leaf* leaf
    if not reserve_nodes(&s.group, left + 2):
        s.out_of_memory = True
        return
    leaf = &s.group.leaves[at]
    expect_sides(&s.layout, leaf.block, cut.feature, cut.value, &s.sides)
    for k in range(s.layout.n_classes):
        left_total += s.sides.left[k]
        right_total += s.sides.right[k]
    s.group.leaves[left].block = s.group.leaves[left + 1].block = NULL
    s.group.n += 2
    if not open_leaf(&s.group, &s.layout, left, leaf.depth + 1, s.sides.left) or not open_leaf(
            &s.group, &s.layout, left + 1, leaf.depth + 1, s.sides.right):
        s.out_of_memory = True
        return
    node = &s.group.nodes[at]
    node.left = <int32_t>left
    node.split = (cut.feature << 2) | (MISSING_LEFT if left_total >= right_total else 0)
    node.threshold = cut.value
    if s.layout.n_categories[cut.feature] > 0:
        node.split |= CATEGORICAL
        node.threshold = write_category(s, cut.feature, <Py_ssize_t>cut.value)
    s.importance[cut.feature] += cut.gain * leaf.weight
    free(leaf.block)
    leaf.block = NULL


cdef void try_to_split(Stream* s, Py_ssize_t at) noexcept nogil:
    """Split a leaf if its best feature is surely better than the second, or if the two are as good as equal.

    Surely: their gains differ by more than the Hoeffding bound, log2(classes) * sqrt(ln(1 / delta) / (2 * weight)).
    """
    cdef Leaf* leaf = &s.group.leaves[at]
    cdef Py_ssize_t f, k, n_classes = 0, n_positive = 0
    cdef double top = 0, weight, bound, entropy
    cdef Candidate best, second, candidate
    for k in range(s.layout.n_classes):
        if leaf.block[k] >= 0:
            n_classes += 1
            n_positive += leaf.block[k] > 0
            top = max(top, leaf.block[k])
    if n_positive < 2 or top > MAX_FRACTION * leaf.weight:
        return
    entropy = entropy_of(leaf.block, s.layout.n_classes, &weight) / leaf.weight
    best.gain = second.gain = -INFINITY
    best.feature = -1
    for f in range(s.layout.n_features):
        candidate = best_candidate(&s.layout, leaf.block, f, entropy, &s.sides)
        if candidate.gain > best.gain:
            second = best
            best = candidate
        elif candidate.gain > second.gain:
            second = candidate
    if best.gain == -INFINITY:
        return
    bound = log2(<double>max(n_classes, 2)) * sqrt(s.bound.log_inverse_delta / (2 * leaf.weight))
    if best.gain - second.gain > bound or bound < s.bound.tie:
        split_leaf(s, at, best)


cdef void learn(Stream* s, const double* sample, int32_t klass, double weight) noexcept nogil:
    """Send a sample to its leaf, add it to the statistics of the leaf, and maybe split the leaf."""
    cdef Py_ssize_t at = 0
    cdef const Node* node = s.group.nodes
    cdef const uint64_t* bits = NULL    # as there are none yet, where no node asks for categories
    cdef Leaf* leaf
    if s.category_bits.words != NULL:
        bits = s.category_bits.words - s.category_bits.first_number
    while node.split >= 0:
        at = node.left + (not goes_left(node, bits, sample[node.split >> 2]))
        node = s.group.nodes + at
    leaf = &s.group.leaves[at]
    observe(&s.layout, leaf.block, sample, klass, weight)
    leaf.weight += weight
    if leaf.weight - leaf.attempted >= s.bound.grace and (s.bound.max_depth < 0 or leaf.depth < s.bound.max_depth):
        leaf.attempted = leaf.weight
        try_to_split(s, at)


cdef void learn_group(Stream* s, const double* X, const int32_t* y, const int32_t* indices, const uint16_t* weights,
                      Py_ssize_t n, int32_t depth) noexcept nogil:
    """Grow the tree of one group of n samples, from a leaf at some depth."""
    cdef Py_ssize_t i
    s.group.leaves[0].block = NULL
    s.group.n = 1
    s.out_of_memory = not open_leaf(&s.group, &s.layout, 0, depth, NULL)
    for i in range(n):
        if s.out_of_memory:
            return
        if weights[i] > 0:
            learn(s, X + indices[i] * s.layout.n_features, y[indices[i]], weights[i])


def stream(samples, groups, *, double grace, double log_inverse_delta, double tie, max_depth, int32_t n_nodes,
           Py_ssize_t n_words):
    """Grow a Hoeffding tree for each group of samples, in the order in which they are given.

    Parameters
    ----------
    samples : Samples
    groups : Groups
        Samples of weight 0 are left out.
    grace : float
        Weight a leaf receives between two attempts to split it.
    log_inverse_delta, tie : float
        ln(1 / δ) of the Hoeffding bound, and the bound below which features count as equal.
    max_depth : int or None
    n_nodes, n_words : int
        How many nodes and words of category bits the tree has already.

    Returns
    -------
    replaced, added : NODE
        The nodes to put in the place of the groups' leaves, and those to append to the tree.
    category_bits : uint64
        Words of 64 category bits to append to the tree's.
    importance : float64 (m,)
        Entropy gain of the cuts by feature, in bits times weight seen.
    """
    cdef const double[:, ::1] X = samples.X
    cdef const int32_t[::1] y = samples.y, n_categories = samples.n_categories
    cdef const int32_t[::1] indices = groups.indices, depth = groups.depth
    cdef const uint16_t[::1] weights = groups.weights
    cdef const int64_t[::1] start = groups.start
    cdef Py_ssize_t n_groups = depth.shape[0], n_classes = samples.n_classes, group, f, width
    cdef int32_t appended = n_nodes
    cdef Py_ssize_t[::1] offset = np.empty(X.shape[1], dtype=np.intp)
    cdef double[:, ::1] sides = np.zeros((3, max(n_classes, 1)))
    importance = np.zeros(X.shape[1])
    cdef double[::1] importance_view = importance
    replaced = np.zeros(n_groups, dtype=NODE)
    parts = [np.empty(0, dtype=NODE)]
    cdef Stream s
    memset(&s, 0, sizeof(Stream))
    s.bound = Bound(grace, log_inverse_delta, tie, -1 if max_depth is None else max_depth)
    s.layout = Layout(X.shape[1], n_classes, &n_categories[0], &offset[0], n_classes)
    for f in range(X.shape[1]):
        offset[f] = s.layout.size
        width = n_categories[f] if n_categories[f] > 0 else <Py_ssize_t>(sizeof(Gaussian) // sizeof(double))
        s.layout.size += n_classes * width
    s.sides = Sides(&sides[0, 0], &sides[1, 0], &sides[2, 0])
    s.importance = &importance_view[0]
    s.category_bits.first_number = n_words
    try:    # what is freed in the end is either allocated or NULL, wherever Python raises
        if not reserve_nodes(&s.group, ROOM):
            raise MemoryError
        for group in range(n_groups):
            with nogil:
                learn_group(&s, &X[0, 0], &y[0], &indices[start[group]], &weights[start[group]],
                            start[group + 1] - start[group], depth[group])
            if s.out_of_memory:
                raise MemoryError
            grown = copy_out(s.group.nodes, s.group.n, NODE)
            # Children are numbered within the group from 1 on; in the tree they follow those of the groups before.
            grown["left"][grown["split"] >= 0] += appended - 1
            appended += <int32_t>(s.group.n - 1)
            replaced[group] = grown[0]
            parts.append(grown[1:])
            forget_leaves(&s.group)
            s.group.n = 0
        category_bits = copy_out(s.category_bits.words, s.category_bits.n, np.uint64)
    finally:
        forget_leaves(&s.group)
        free(s.group.nodes)
        free(s.group.leaves)
        free(s.category_bits.words)
    return replaced, np.concatenate(parts), category_bits, importance
