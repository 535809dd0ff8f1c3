"""Grow trees from records: a whole tree from its root, or subtrees at many leaves of a tree in one call.

A node's records are a segment of one array, partitioned in place:

    records | left child's ... | right child's ... |      item << 32 | class << 8 | weight

where the item is the number of the record in the block at hand.

A *block* is a set of records that were coded together (coding.pxd). The root's block has at most max_bins codes per
feature. As soon as a node holds BLOCK records or fewer it becomes a block of its own, coded by its own distinct values:
from there on every cut is exact, and all the codes fit the first-level cache. Such a block is sorted once by each
feature; a node below it then sorts its records by setting the bits of their places and reading them off.

Features that are constant in a node are constant below it. A block's features stand in one list, of which a node looks
at the first n_features; those found constant are swapped to the end of that part, out of its children's sight:

    feature | may vary in the node ... | constant in it | constant in its parent | ... |

Growing depth first keeps this true, since a subtree only reorders the part that its root looks at.
"""
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

import numpy as np

from .coding cimport BLOCK, Block, close_block, is_constant, open_block, record_of
from .cutting cimport partition, write_question
from .node cimport Node
from .pruning cimport Pruning, close_pruning, note_node, open_pruning, prune_group, reserve_errors
from .search cimport NodeRecords, Search, close_search, find_cut, open_search
from .splitting cimport MAX_WEIGHT, Cut, Scratch, class_of, xlogx
from .subtrees cimport (
    LeafCounts, Subtrees, close_subtrees, copy_out, make_leaf, node_at, number_of, open_subtrees, reserve,
    reserve_counts,
)

from .splitting import xlogx_table
from .subtrees import NODE

cdef double[::1] XLOGX = xlogx_table()


cdef struct Task:
    # A node to grow from.
    Py_ssize_t start        # its records in Grower.records
    Py_ssize_t stop
    int32_t node            # position among the added nodes, or -1 - group
    int32_t depth           # from the root of the tree
    int32_t n_features      # how many features at the head of the block's list may vary


cdef enum Outcome:
    IS_LEAF
    IS_CUT
    IS_STUCK                # no cut along its block's codes, though values differ that share a code


cdef struct Grower:
    Search search
    Pruning pruning
    Subtrees subtrees
    uint64_t* records       # of all groups, see above
    uint64_t* spare         # as many, for partitioning
    Block exact             # the block of at most BLOCK records at hand
    int32_t max_depth       # -1 for no limit
    Py_ssize_t max_new_nodes
    bint out_of_memory


cdef int64_t count_classes(Scratch* scratch, const uint64_t* records, Py_ssize_t n) noexcept nogil:
    """Add a node's records to the class weights in scratch.right; return their weight."""
    cdef Py_ssize_t i
    cdef int64_t total = 0
    for i in range(n):
        scratch.right[class_of(records[i])] += records[i] & MAX_WEIGHT
        total += records[i] & MAX_WEIGHT
    return total


cdef double sum_classes(const Scratch* scratch, const uint64_t* records, Py_ssize_t n) noexcept nogil:
    """Return the sum of x log2 x over a node's class weights."""
    cdef Py_ssize_t i, k
    cdef double class_sum = 0
    if scratch.n_classes <= 2 * n:
        for k in range(scratch.n_classes):
            class_sum += xlogx(scratch.table, scratch.right[k])
    else:
        for i in range(n):  # each record brings its share of its class
            k = class_of(records[i])
            class_sum += xlogx(scratch.table, scratch.right[k]) * (records[i] & MAX_WEIGHT) / scratch.right[k]
    return class_sum


cdef void clear_classes(Scratch* scratch, const uint64_t* records, Py_ssize_t n) noexcept nogil:
    """Set a node's class weights to zero."""
    cdef Py_ssize_t i
    if scratch.n_classes <= n:
        memset(scratch.right, 0, scratch.n_classes * sizeof(int32_t))
    else:
        for i in range(n):
            scratch.right[class_of(records[i])] = 0


cdef Outcome close_leaf(Grower* g, const Block* block, const Task* task, const NodeRecords* node) noexcept nogil:
    """Make a node a leaf: write its class weights, and its number for each of its records. Clears the weights."""
    cdef Py_ssize_t i
    cdef int32_t k, number = number_of(&g.subtrees.nodes, task.node)
    cdef LeafCounts* counts = &g.subtrees.counts
    cdef int32_t* weights = g.search.scratch.right
    make_leaf(node_at(&g.subtrees.nodes, task.node))
    if g.pruning.confidence > 0:
        note_node(&g.pruning, task.node, node, &g.search.scratch, 0)
    for i in range(node.n):
        g.subtrees.leaf_of[record_of(block, node.records[i])] = number
        k = class_of(node.records[i])
        if weights[k] == 0:
            continue
        if counts.n == counts.room and not reserve_counts(counts, counts.n + 1):
            g.out_of_memory = True
            return IS_LEAF
        counts.node[counts.n] = number
        counts.klass[counts.n] = k
        counts.weight[counts.n] = weights[k]
        counts.n += 1
        weights[k] = 0
    return IS_LEAF


cdef inline bint may_split(const Grower* g, const Task* task, const NodeRecords* node) noexcept nogil:
    """Return whether a node holds several classes, and limits of depth, leaves and nodes allow for a cut."""
    return (node.n > 0 and g.search.scratch.right[class_of(node.records[0])] != node.weight
            and node.n >= 2 * g.search.rules.min_leaf and (g.max_depth < 0 or task.depth < g.max_depth)
            and g.subtrees.nodes.n + 2 <= g.max_new_nodes)


cdef Outcome split_node(Grower* g, Block* block, const Task* task, Task* children) noexcept nogil:
    """Cut a node in two and write the tasks of its children, or close it as a leaf, or leave it as it is: stuck."""
    cdef Py_ssize_t n_left, n_nodes = g.subtrees.nodes.n
    cdef uint64_t* records = g.records + task.start
    cdef Scratch* scratch = &g.search.scratch
    cdef double gain
    cdef NodeRecords node
    cdef Cut cut
    cdef Node* split
    cdef bint found
    node.records = records
    node.n = task.stop - task.start
    node.n_features = task.n_features
    node.weight = count_classes(scratch, records, node.n)
    if not may_split(g, task, &node):
        return close_leaf(g, block, task, &node)
    node.class_sum = sum_classes(scratch, records, node.n)
    found = find_cut(&g.search, block, &node, &cut)
    if not found and (block.exact or (block.record != NULL and node.n == block.n)):
        return close_leaf(g, block, task, &node)
    gain = cut.score - node.class_sum + xlogx(scratch.table, node.weight)
    if found and g.pruning.confidence > 0:
        note_node(&g.pruning, task.node, &node, scratch, gain)
    clear_classes(scratch, records, node.n)
    if not found:
        return IS_STUCK
    if not reserve(<void**>&g.subtrees.nodes.added, &g.subtrees.nodes.room, n_nodes + 2, sizeof(Node)) or (
            g.pruning.confidence > 0 and not reserve_errors(&g.pruning, n_nodes + 2)):
        g.out_of_memory = True
        return IS_LEAF
    g.subtrees.importance[cut.feature] += max(0.0, gain)
    n_left = partition(&g.search.table, block, g.search.categories.left, records, g.spare, node.n, &cut)
    split = node_at(&g.subtrees.nodes, task.node)
    split.left = number_of(&g.subtrees.nodes, n_nodes)
    if not write_question(&g.search.table, block, g.search.categories.left, records, node.n, &cut,
                          &g.subtrees.category_bits, split):
        g.out_of_memory = True
    children[0] = Task(task.start, task.start + n_left, <int32_t>n_nodes, task.depth + 1, node.n_features)
    children[1] = Task(task.start + n_left, task.stop, <int32_t>n_nodes + 1, task.depth + 1, node.n_features)
    g.subtrees.nodes.n += 2
    return IS_CUT


cdef void grow_exact(Grower* g, const Block* parent, const Task* root) noexcept nogil:
    """Grow everything below a node of at most BLOCK records, depth first, as an exact block."""
    cdef Task stack[BLOCK + 2]
    cdef Task task
    cdef Block* block = &g.exact
    cdef uint64_t* records = g.records + root.start
    cdef Py_ssize_t i, top = 1
    block.n = root.stop - root.start
    for i in range(block.n):
        block.record[i] = record_of(parent, records[i])
        block.sorted.label[i] = <uint32_t>records[i]
        records[i] = (<uint64_t>i << 32) | block.sorted.label[i]
    for i in range(root.n_features):
        block.feature[i] = parent.feature[i]
        block.n_codes[parent.feature[i]] = -1
    stack[0] = root[0]
    while top > 0 and not g.out_of_memory:
        top -= 1
        task = stack[top]
        if split_node(g, block, &task, &stack[top]) == IS_CUT:
            top += 2


cdef void grow_recoded(Grower* g, const Block* parent, Task root) noexcept nogil:
    """Grow everything below a large node as a block of its own."""
    cdef Block block
    cdef uint64_t* records = g.records + root.start
    cdef Py_ssize_t i, n_features = g.search.table.n_features
    if open_block(&block, n_features, root.stop - root.start, False):
        block.n_features = <int32_t>n_features
        root.n_features = block.n_features
        for i in range(n_features):
            block.feature[i] = <int32_t>i
            block.n_codes[i] = -1
        for i in range(block.n):
            block.record[i] = record_of(parent, records[i])
            records[i] = (<uint64_t>i << 32) | <uint32_t>records[i]
        grow_large(g, &block, root)
    else:
        g.out_of_memory = True
    close_block(&block)


cdef void grow_large(Grower* g, Block* block, Task root) noexcept nogil:
    """Grow everything below a node: depth first, but where nodes are limited breadth first.

    Breadth first, the limit stops all branches at about one depth.
    """
    cdef Task* tasks = NULL
    cdef Task task
    cdef Outcome outcome
    cdef Py_ssize_t room = 0, head = 0, tail = 1
    cdef bint limited = g.max_new_nodes < INT32_MAX
    if not reserve(<void**>&tasks, &room, 64, sizeof(Task)):
        g.out_of_memory = True
        return
    tasks[0] = root
    while head < tail and not g.out_of_memory:
        if limited:
            task = tasks[head]
            task.n_features = block.n_features
            head += 1
        else:
            tail -= 1
            task = tasks[tail]
        if task.stop - task.start <= BLOCK:
            grow_exact(g, block, &task)
            continue
        if not reserve(<void**>&tasks, &room, tail + 2, sizeof(Task)):
            g.out_of_memory = True
            break
        outcome = split_node(g, block, &task, tasks + tail)
        if outcome == IS_CUT:
            tail += 2
        elif outcome == IS_STUCK:
            grow_recoded(g, block, task)
    free(tasks)


cdef void grow_group(Grower* g, Block* shared, Task root) noexcept nogil:
    """Grow one group: by the shared codes where there are any, else by codes of its own."""
    cdef Py_ssize_t i
    if shared.codes != NULL:
        root.n_features = shared.n_features
        grow_large(g, shared, root)
    elif root.stop - root.start <= BLOCK:
        root.n_features = <int32_t>g.search.table.n_features
        for i in range(root.n_features):
            shared.feature[i] = <int32_t>i
        grow_exact(g, shared, &root)
    else:
        grow_recoded(g, shared, root)


cdef bint open_grower(Grower* g, Block* shared, Py_ssize_t n_records, Py_ssize_t n_classes) noexcept:
    """Allocate all that growing needs; return False where memory ran out. Close it in both cases."""
    cdef Py_ssize_t n_features = g.search.table.n_features
    cdef bint is_open = open_search(&g.search, &XLOGX[0], n_records, n_classes)
    is_open &= open_subtrees(&g.subtrees)
    is_open &= open_pruning(&g.pruning)
    is_open &= open_block(&g.exact, n_features, BLOCK, True)
    g.records = <uint64_t*>malloc(2 * n_records * sizeof(uint64_t))
    g.spare = g.records + n_records
    shared.feature = <int32_t*>malloc(n_features * sizeof(int32_t))
    return is_open and g.records != NULL and shared.feature != NULL


cdef void close_grower(Grower* g, Block* shared) noexcept:
    """Free what open_grower allocated and what growing added."""
    close_search(&g.search)
    close_subtrees(&g.subtrees)
    close_pruning(&g.pruning)
    close_block(&g.exact)
    free(g.records)
    free(shared.feature)


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
    memset(&g, 0, sizeof(Grower))
    memset(&shared, 0, sizeof(Block))
    g.search.table.X = &X[0, 0]
    g.search.table.n_features = m
    g.search.table.n_categories = &n_categories[0]
    g.search.table.max_bins = max_bins
    g.search.random = seed
    g.search.rules.max_features = max_features
    g.search.rules.min_leaf = max(min_leaf, 1)
    g.search.rules.by_ratio = by_ratio
    g.max_depth = max_depth
    g.max_new_nodes = max_new_nodes
    g.pruning.confidence = confidence
    g.pruning.deviate = deviate
    g.subtrees.nodes.replaced = &group_nodes_view[0]
    g.subtrees.nodes.replaced_number = &group_node[0]
    g.subtrees.nodes.first_number = base
    g.subtrees.category_bits.first_number = words_base
    g.subtrees.leaf_of = &leaf_of[0]
    g.subtrees.importance = &importance_view[0]
    try:    # nothing of Python's before everything that close_grower frees is there: it might raise
        if not open_grower(&g, &shared, n_items, n_classes):
            raise MemoryError
        if binned is not None:
            codes, edges, n_codes = binned
            shared.codes = <uint16_t*>&codes[0, 0]
            shared.stride = codes.shape[1]
            shared.n = codes.shape[1]
            shared.bounds = <double*>&edges[0, 0]
            shared.bounds_stride = edges.shape[1]
            shared.n_codes = <int32_t*>&n_codes[0]
            for i in range(m):
                if not is_constant(&g.search.table, &shared, i):
                    shared.feature[shared.n_features] = <int32_t>i
                    shared.n_features += 1
        with nogil:
            for i in range(n_items):
                g.records[i] = (<uint64_t>samples[i] << 32) | (<uint32_t>y[samples[i]] << 8) | weights[i]
            for i in range(n_groups):
                first = g.subtrees.nodes.n
                first_row = g.subtrees.counts.n
                grow_group(&g, &shared, Task(group_start[i], group_start[i + 1], <int32_t>(-1 - i), group_depth[i], 0))
                if g.pruning.confidence > 0 and not g.out_of_memory:
                    g.out_of_memory = not prune_group(&g.pruning, &g.subtrees, i, first, first_row,
                                                      &samples[group_start[i]], group_start[i + 1] - group_start[i])
                if g.out_of_memory:
                    break
        if g.out_of_memory:
            raise MemoryError
        return (group_nodes, copy_out(g.subtrees.nodes.added, g.subtrees.nodes.n, NODE),
                copy_out(g.subtrees.category_bits.words, g.subtrees.category_bits.n, np.uint64),
                copy_out(g.subtrees.counts.node, g.subtrees.counts.n, np.int32),
                copy_out(g.subtrees.counts.klass, g.subtrees.counts.n, np.int32),
                copy_out(g.subtrees.counts.weight, g.subtrees.counts.n, np.int32), importance)
    finally:
        close_grower(&g, &shared)
