"""Grow trees from samples: a whole tree from a bootstrap sample, or subtrees at many leaves of a tree in one call."""
from libc.math cimport INFINITY
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from statistics import NormalDist

import numpy as np

from .coding cimport Block, Table, is_constant, set_feature
from .counting cimport DIGIT, FEW, sort_by_class
from .grower cimport Grower, Task, close_grower, grow_group, open_grower
from .node cimport Node
from .pruning cimport prune_group
from .routing cimport walk
from .splitting cimport CLASS_SHIFT, MAX_CLASSES, MAX_WEIGHT, TABLE
from .subtrees cimport LeafCounts, Subtrees, copy_out, make_leaf

from .subtrees import NODE



def xlogx_table():
    """Return f(x) = x log2 x for x below 65,536."""
    x = np.arange(TABLE, dtype=np.float64)
    x[1:] *= np.log2(x[1:])
    return x


cdef double[::1] XLOGX = xlogx_table()
cdef double MANY_CLASSES = 10   # effective ones, beyond which Gini impurity tends to cut better, see decision 24


cdef double gini_above(str criterion, uint64_t seed):
    """Return above how many effective classes a node is cut by Gini impurity; with "auto" in every other tree."""
    if criterion == "auto":
        return MANY_CLASSES if seed & 1 else INFINITY
    return 0.0 if criterion == "gini" else INFINITY


cdef set_params(Grower* g, params, uint64_t seed):
    """Write the parameters of the call into an empty grower."""
    g.search.random = seed
    g.search.rules.max_features = params.max_features
    g.search.rules.min_leaf = max(params.min_samples_leaf, 1)
    g.search.rules.gini_above = gini_above(params.criterion, seed)
    g.search.rules.by_ratio = params.by_ratio
    g.search.table.max_bins = params.max_bins
    g.max_depth = -1 if params.max_depth is None else params.max_depth
    g.pruning.confidence = params.prune_confidence
    g.pruning.deviate = NormalDist().inv_cdf(1 - params.prune_confidence) if params.prune_confidence else 0.0


cdef void take_codes(Block* shared, const Table* table, const uint16_t[:, ::1] codes, const double[:, ::1] edges,
                     const int32_t[::1] n_codes) noexcept:
    """Let a block of all samples use codes made before; constant features are left out of its list."""
    cdef Py_ssize_t f
    shared.codes = <uint16_t*>&codes[0, 0]
    shared.stride = codes.shape[1]
    shared.n = codes.shape[1]
    shared.bounds = <double*>&edges[0, 0]
    shared.bounds_stride = edges.shape[1]
    shared.n_codes = <int32_t*>&n_codes[0]
    for f in range(table.n_features):
        if not is_constant(table, shared, f):
            set_feature(shared, shared.n_features, <int32_t>f)
            shared.n_features += 1


cdef void grow_groups(Grower* g, Block* shared, const int32_t* y, const int32_t* indices, const uint16_t* weights,
                      const int64_t* start, const int32_t* depth, Py_ssize_t n_groups) noexcept nogil:
    """Grow and prune the subtree of each group in turn, until memory runs out."""
    cdef Py_ssize_t i, first_node, first_count
    for i in range(start[n_groups]):
        g.samples[i] = (<uint64_t>indices[i] << 32) | (<uint32_t>y[indices[i]] << CLASS_SHIFT) | weights[i]
    for i in range(n_groups):
        first_node = g.subtrees.nodes.n
        first_count = g.subtrees.counts.n
        grow_group(g, shared, Task(start[i], start[i + 1], <int32_t>(-1 - i), depth[i], 0))
        if g.pruning.confidence > 0 and not g.out_of_memory:
            g.out_of_memory = not prune_group(&g.pruning, &g.subtrees, i, first_node, first_count, indices + start[i],
                                              start[i + 1] - start[i])
        if g.out_of_memory:
            return


cdef copy_subtrees(const Subtrees* subtrees, replaced, importance):
    """Return the grown subtrees as arrays, see grow."""
    counts = (
        copy_out(subtrees.counts.node, subtrees.counts.n, np.int32),
        copy_out(subtrees.counts.klass, subtrees.counts.n, np.int32),
        copy_out(subtrees.counts.weight, subtrees.counts.n, np.int32),
    )
    added = copy_out(subtrees.nodes.added, subtrees.nodes.n, NODE)
    category_bits = copy_out(subtrees.category_bits.words, subtrees.category_bits.n, np.uint64)
    return replaced, added, category_bits, counts, importance


cdef prepare(Grower* g, Block* shared, samples, params, weights, double[::1] importance, int32_t[::1] leaf_of,
             int32_t n_nodes, Py_ssize_t n_words, uint64_t seed):
    """Get ready to grow from as many samples as there are weights; the caller holds all arrays, and closes the grower.

    For the other parameters see grow.
    """
    cdef const double[:, ::1] X = samples.X
    cdef const int32_t[::1] n_categories = samples.n_categories, draws = params.draws
    cdef Py_ssize_t n_classes = samples.n_classes
    memset(g, 0, sizeof(Grower))
    memset(shared, 0, sizeof(Block))
    if n_classes > MAX_CLASSES:
        raise ValueError(f"there are {n_classes} classes; trees can tell {MAX_CLASSES} apart")
    if len(weights) > INT32_MAX // MAX_WEIGHT and weights.sum(dtype=np.int64) > INT32_MAX:
        raise ValueError(f"the samples weigh more than {INT32_MAX} together, which is as far as a tree can count")
    set_params(g, params, seed)
    if draws is not None:
        g.search.rules.draws = &draws[0]
        g.search.rules.n_draws = draws.shape[0]
    g.search.table.X = &X[0, 0]
    g.search.table.n_features = X.shape[1]
    g.search.table.n_categories = &n_categories[0]
    g.subtrees.nodes.first_number = n_nodes
    g.subtrees.category_bits.first_number = n_words
    g.subtrees.leaf_of = &leaf_of[0]
    g.subtrees.importance = &importance[0]
    if len(weights) > 0:
        if not open_grower(g, shared, &XLOGX[0], len(weights), n_classes):
            raise MemoryError
        if samples.codes is not None:
            codes, edges, n_codes = samples.codes
            take_codes(shared, &g.search.table, codes, edges, n_codes)


def grow(samples, groups, params, int32_t[::1] leaf_of, *, int32_t n_nodes, Py_ssize_t n_words, uint64_t seed):
    """Grow a subtree for each group of samples, all for one tree.

    Parameters
    ----------
    samples : Samples
        Their codes, where there are any, are used for large nodes; otherwise nodes are coded by themselves.
    groups : Groups
        Weights are at least 1.
    params : GrowthParams
    leaf_of : int32 (n,)
        Written for every sample in the groups: the number of the leaf it is in now.
    n_nodes, n_words : int
        How many nodes and words of category bits the tree has already.
    seed : int
        Fixes all random choices.

    Returns
    -------
    replaced, added : NODE
        The nodes to put in the place of the groups' leaves, and those to append to the tree.
    category_bits : uint64
        Words of 64 category bits to append to the tree's.
    counts : (node, klass, weight), int32 each
        The weight of each class in each new leaf; after pruning, in several lines.
    importance : float64 (m,)
        Gain of the new cuts by feature, in bits or Gini impurity times weight, less the price of cuts by categories.
    """
    cdef const int32_t[::1] y = samples.y
    cdef const int32_t[::1] indices = groups.indices, group_node = groups.node, depth = groups.depth
    cdef const uint16_t[::1] weights = groups.weights
    cdef const int64_t[::1] start = groups.start
    cdef Py_ssize_t n_groups = group_node.shape[0]
    cdef Grower g
    cdef Block shared
    replaced = np.zeros(n_groups, dtype=NODE)
    importance = np.zeros(samples.X.shape[1])
    cdef Node[::1] replaced_view = replaced
    try:    # what close_grower frees is either allocated or NULL, wherever Python raises
        prepare(&g, &shared, samples, params, groups.weights, importance, leaf_of, n_nodes, n_words, seed)
        if indices.shape[0] == 0:
            replaced["left"] = -1
            replaced["split"] = -1
        else:
            g.subtrees.nodes.replaced = &replaced_view[0]
            g.subtrees.nodes.replaced_number = &group_node[0]
            with nogil:
                grow_groups(&g, &shared, &y[0], &indices[0], &weights[0], &start[0], &depth[0], n_groups)
        if g.out_of_memory:
            raise MemoryError
        return copy_subtrees(&g.subtrees, replaced, importance)
    finally:
        close_grower(&g, &shared)


cdef bint write_rows(const LeafCounts* counts, Py_ssize_t n_nodes, int32_t* start, int32_t* klass, double* weight,
                     double* scale) noexcept nogil:
    """Write the class weights of a tree's leaves as rows, see counting.pyx; lines of a leaf follow each other.

    Return False where memory ran out.
    """
    cdef Py_ssize_t i, j, at, node, n, most = 0
    cdef double total
    cdef double* spare = NULL   # room for a class, a weight and a count of each line, of the leaf that has most
    memset(start, 0, (n_nodes + 1) * sizeof(int32_t))
    for i in range(counts.n):
        start[counts.node[i] + 1] += 1
        most = max(most, start[counts.node[i] + 1])
    for node in range(n_nodes):
        start[node + 1] += start[node]
        scale[node] = 0
    if most > FEW:
        spare = <double*>malloc(2 * most * sizeof(double) + (1 << DIGIT) * sizeof(Py_ssize_t))
        if spare == NULL:
            return False
    i = 0
    while i < counts.n:
        node = counts.node[i]
        n = start[node + 1] - start[node]
        total = 0
        for j in range(start[node], start[node + 1]):
            at = j
            while n <= FEW and at > start[node] and klass[at - 1] > counts.klass[i]:
                klass[at] = klass[at - 1]
                weight[at] = weight[at - 1]
                at -= 1
            klass[at] = counts.klass[i]
            weight[at] = counts.weight[i]
            total += counts.weight[i]
            i += 1
        if n > FEW:
            sort_by_class(klass + start[node], weight + start[node], n, <int32_t*>(spare + most), spare,
                          <Py_ssize_t*>(spare + 2 * most))
        scale[node] = 1 / total
    free(spare)
    return True


def grow_tree(samples, const int32_t[::1] known, const uint16_t[::1] weights, params, *,
              const uint16_t[::1] counted=None, Py_ssize_t route_from=0, uint64_t seed):
    """Grow a tree from those of the known samples that have a weight, and send the others to their leaves.

    Parameters
    ----------
    samples, params, seed
        See `grow`; nothing is pruned.
    known : int32
        Positions of samples, ascending.
    weights : uint16
        How often each of them counts; 0 for those out of the bag.
    counted : uint16, optional
        By known sample: 0 for those that are in no leaf where they are out of the bag.
    route_from : int
        Samples out of the bag are sent to their leaves from this position on.

    Returns
    -------
    nodes : NODE
    category_bits : uint64
    rows : (row_start, row_class, row_weight, row_scale)
        Class weights of leaves, see `adforest.forest._kernels.counting`.
    importance : float64 (m,)
        See `grow`.
    leaf_of : int32 (n,)
        The leaf of each sample, -1 for those that are in none.
    """
    cdef const double[:, ::1] X = samples.X
    cdef const int32_t[::1] y = samples.y
    cdef Py_ssize_t n_known = known.shape[0], n_drawn = 0, n_others = 0, i, n_nodes, n_rows, n_words
    cdef int32_t root_number = 0, root_depth = 0
    cdef int64_t start[2]
    cdef bint is_drawn
    cdef Grower g
    cdef Block shared
    drawn_array = np.empty(n_known, dtype=np.uint16)
    importance = np.zeros(X.shape[1])
    leaf_array = np.full(X.shape[0], -1, dtype=np.int32)
    cdef int32_t[::1] leaf_of = leaf_array
    cdef int32_t[::1] indices = np.empty(n_known, dtype=np.int32), others = np.empty(n_known, dtype=np.int32)
    cdef uint16_t[::1] drawn = drawn_array
    cdef Node root
    with nogil:
        for i in range(n_known):    # overwritten by the next sample where this one is not of the kind
            is_drawn = weights[i] > 0
            indices[n_drawn] = known[i]
            drawn[n_drawn] = weights[i]
            n_drawn += is_drawn
            others[n_others] = known[i]
            n_others += not is_drawn and known[i] >= route_from and (counted is None or counted[i] > 0)
    start[0] = 0
    start[1] = n_drawn
    make_leaf(&root)
    try:
        prepare(&g, &shared, samples, params, drawn_array[:n_drawn], importance, leaf_of, 1, 1, seed)
        g.subtrees.nodes.replaced = &root
        g.subtrees.nodes.replaced_number = &root_number
        if n_drawn > 0:
            with nogil:
                grow_groups(&g, &shared, &y[0], &indices[0], &drawn[0], start, &root_depth, 1)
        if g.out_of_memory:
            raise MemoryError
        n_nodes, n_rows, n_words = g.subtrees.nodes.n + 1, g.subtrees.counts.n, g.subtrees.category_bits.n + 1
        node_array, word_array = np.empty(n_nodes, dtype=NODE), np.empty(n_words, dtype=np.uint64)
        rows = np.empty(n_nodes + 1, np.int32), np.empty(n_rows, np.int32), np.empty(n_rows), np.empty(n_nodes)
        finish_tree(&g, &root, &X[0, 0], node_array, word_array, rows[0], rows[1], rows[2], rows[3], others[:n_others],
                    leaf_of)
        return node_array, word_array, rows, importance, leaf_array
    finally:
        close_grower(&g, &shared)


cdef finish_tree(const Grower* g, const Node* root, const double* X, Node[::1] nodes, uint64_t[::1] words,
                 int32_t[::1] row_start, int32_t[::1] row_class, double[::1] row_weight, double[::1] row_scale,
                 const int32_t[::1] others, int32_t[::1] leaf_of):
    """Write the grown tree as arrays, and the leaves of other samples to leaf_of."""
    cdef Py_ssize_t i, m = g.search.table.n_features
    cdef bint is_written
    cdef int32_t[::1] leaf = np.empty(others.shape[0], dtype=np.int32)
    with nogil:
        nodes[0] = root[0]
        words[0] = 0
        if nodes.shape[0] > 1:
            memcpy(&nodes[1], g.subtrees.nodes.added, (nodes.shape[0] - 1) * sizeof(Node))
        if words.shape[0] > 1:
            memcpy(&words[1], g.subtrees.category_bits.words, (words.shape[0] - 1) * sizeof(uint64_t))
        is_written = write_rows(&g.subtrees.counts, nodes.shape[0], &row_start[0], &row_class[0], &row_weight[0],
                                &row_scale[0])
        if others.shape[0] > 0:
            walk(&nodes[0], &words[0], X, &others[0], others.shape[0], m, words.shape[0] > 1, True, &leaf[0])
            for i in range(others.shape[0]):
                leaf_of[others[i]] = leaf[i]
    if not is_written:
        raise MemoryError
