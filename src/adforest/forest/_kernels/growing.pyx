"""Grow trees from records: a whole tree from its root, or subtrees at many leaves of a tree in one call."""
from libc.math cimport INFINITY
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memset

from statistics import NormalDist

import numpy as np

from .coding cimport Block, Table, is_constant, set_feature
from .grower cimport Grower, Task, close_grower, grow_group, open_grower
from .node cimport Node
from .pruning cimport prune_group
from .splitting cimport CLASS_SHIFT, MAX_CLASSES, MAX_WEIGHT
from .subtrees cimport Subtrees, copy_out

from .splitting import xlogx_table
from .subtrees import NODE

cdef double[::1] XLOGX = xlogx_table()
cdef double MANY_CLASSES = 10   # effective ones, beyond which Gini impurity tends to cut better, see decision 24


cdef double gini_above(str criterion, uint64_t seed):
    """Return above how many effective classes a node is cut by Gini impurity; with "auto" in every other tree."""
    if criterion == "auto":
        return MANY_CLASSES if seed & 1 else INFINITY
    return 0.0 if criterion == "gini" else INFINITY


cdef set_params(Grower* g, params, Py_ssize_t n_nodes, uint64_t seed):
    """Write what the caller asks for into an empty grower; n_nodes is how many nodes the tree has already."""
    g.search.random = seed
    g.search.rules.max_features = params.max_features
    g.search.rules.min_leaf = max(params.min_samples_leaf, 1)
    g.search.rules.gini_above = gini_above(params.criterion, seed)
    g.search.rules.by_ratio = params.by_ratio
    g.search.table.max_bins = params.max_bins
    g.max_depth = -1 if params.max_depth is None else params.max_depth
    g.max_new_nodes = INT32_MAX if params.max_nodes is None else max(0, params.max_nodes - n_nodes)
    g.pruning.confidence = params.prune_confidence
    g.pruning.deviate = NormalDist().inv_cdf(1 - params.prune_confidence) if params.prune_confidence else 0.0


cdef void share_codes(Block* shared, const Table* table, const uint16_t[:, ::1] codes, const double[:, ::1] edges,
                      const int32_t[::1] n_codes) noexcept:
    """Let a block of all records use codes made before; constant features are left out of its list."""
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


cdef void grow_groups(Grower* g, Block* shared, const int32_t* y, const int32_t* samples, const uint16_t* weights,
                      const int64_t* start, const int32_t* depth, Py_ssize_t n_groups) noexcept nogil:
    """Grow and prune the subtree of each group in turn, until memory runs out."""
    cdef Py_ssize_t i, first_node, first_count
    for i in range(start[n_groups]):
        g.records[i] = (<uint64_t>samples[i] << 32) | (<uint32_t>y[samples[i]] << CLASS_SHIFT) | weights[i]
    for i in range(n_groups):
        first_node = g.subtrees.nodes.n
        first_count = g.subtrees.counts.n
        grow_group(g, shared, Task(start[i], start[i + 1], <int32_t>(-1 - i), depth[i], 0))
        if g.pruning.confidence > 0 and not g.out_of_memory:
            g.out_of_memory = not prune_group(&g.pruning, &g.subtrees, i, first_node, first_count, samples + start[i],
                                              start[i + 1] - start[i])
        if g.out_of_memory:
            return


cdef copy_subtrees(const Subtrees* subtrees, replaced, importance):
    """Return what was grown as arrays, see grow."""
    counts = (
        copy_out(subtrees.counts.node, subtrees.counts.n, np.int32),
        copy_out(subtrees.counts.klass, subtrees.counts.n, np.int32),
        copy_out(subtrees.counts.weight, subtrees.counts.n, np.int32),
    )
    added = copy_out(subtrees.nodes.added, subtrees.nodes.n, NODE)
    category_bits = copy_out(subtrees.category_bits.words, subtrees.category_bits.n, np.uint64)
    return replaced, added, category_bits, counts, importance


def grow(records, groups, params, int32_t[::1] leaf_of, *, int32_t n_nodes, Py_ssize_t n_words, uint64_t seed):
    """Grow a subtree for each group of records, all for one tree.

    Parameters
    ----------
    records : Records
        Their codes, where there are any, are used for large nodes; otherwise nodes are coded by themselves.
    groups : Groups
        Weights are at least 1.
    params : GrowthParams
    leaf_of : int32 (n,)
        Written for every record in the groups: the number of the leaf it is in now.
    n_nodes, n_words : int
        How many nodes and words of category bits the tree has already.
    seed : int
        Fixes all random choices.

    Returns
    -------
    replaced, added : NODE
        The nodes to put in the place of the groups' leaves, and those to append to the tree.
    category_bits : uint64
        Words to append to the tree's.
    counts : (node, klass, weight), int32 each
        The weight of each class in each new leaf; after pruning, in several lines.
    importance : float64 (m,)
        Gain of the new cuts by feature, in bits or Gini impurity times weight, less the price of cuts by categories.
    """
    cdef const double[:, ::1] X = records.X
    cdef const int32_t[::1] y = records.y, n_categories = records.n_categories
    cdef const int32_t[::1] samples = groups.samples, group_node = groups.node, depth = groups.depth
    cdef const uint16_t[::1] weights = groups.weights
    cdef const int64_t[::1] start = groups.start
    cdef const int32_t[::1] draws = params.draws
    cdef Py_ssize_t n_groups = group_node.shape[0], n_classes = records.n_classes
    cdef Grower g
    cdef Block shared
    if n_classes > MAX_CLASSES:
        raise ValueError(f"there are {n_classes} classes; trees can tell {MAX_CLASSES} apart")
    if samples.shape[0] > INT32_MAX // MAX_WEIGHT and groups.weights.sum(dtype=np.int64) > INT32_MAX:
        raise ValueError(f"the records weigh more than {INT32_MAX} together, which is as far as a tree can count")
    replaced = np.zeros(n_groups, dtype=NODE)
    importance = np.zeros(X.shape[1])
    memset(&g, 0, sizeof(Grower))
    memset(&shared, 0, sizeof(Block))
    set_params(&g, params, n_nodes, seed)
    if samples.shape[0] == 0:
        replaced["left"] = -1
        replaced["split"] = -1
        return copy_subtrees(&g.subtrees, replaced, importance)
    cdef Node[::1] replaced_view = replaced
    cdef double[::1] importance_view = importance
    if draws is not None:
        g.search.rules.draws = &draws[0]
        g.search.rules.n_draws = draws.shape[0]
    g.search.table.X = &X[0, 0]
    g.search.table.n_features = X.shape[1]
    g.search.table.n_categories = &n_categories[0]
    g.subtrees.nodes.replaced = &replaced_view[0]
    g.subtrees.nodes.replaced_number = &group_node[0]
    g.subtrees.nodes.first_number = n_nodes
    g.subtrees.category_bits.first_number = n_words
    g.subtrees.leaf_of = &leaf_of[0]
    g.subtrees.importance = &importance_view[0]
    try:    # what close_grower frees is either allocated or NULL, wherever Python raises
        if not open_grower(&g, &shared, &XLOGX[0], samples.shape[0], n_classes):
            raise MemoryError
        if records.codes is not None:
            codes, edges, n_codes = records.codes
            share_codes(&shared, &g.search.table, codes, edges, n_codes)
        with nogil:
            grow_groups(&g, &shared, &y[0], &samples[0], &weights[0], &start[0], &depth[0], n_groups)
        if g.out_of_memory:
            raise MemoryError
        return copy_subtrees(&g.subtrees, replaced, importance)
    finally:
        close_grower(&g, &shared)
