"""The growing loop: split a node or make it a leaf, node after node, block after block; see grower.pxd.

A split that was found is applied: samples are partitioned, and threshold or categories are written into the node.
"""
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from .binning cimport between
from .coding cimport BLOCK, Block, Table, close_block, open_block, sample_of, set_feature
from .node cimport CATEGORICAL, MISSING_LEFT, Node
from .pruning cimport close_pruning, note_node, open_pruning, reserve_errors
from .search cimport NodeSamples, close_search, find_cut, gain_of, open_search
from .splitting cimport MAX_WEIGHT, Cut, Scratch, class_of, xlogx
from .subtrees cimport (
    CategoryBits, LeafCounts, add_category_set, close_subtrees, make_leaf, node_at, number_of, open_subtrees, reserve,
    reserve_counts,
)


cdef enum Outcome:
    IS_LEAF
    IS_CUT
    IS_STUCK                # no cut along its block's codes, though values differ that share a code


cdef int64_t count_classes(Scratch* scratch, const uint64_t* samples, Py_ssize_t n) noexcept nogil:
    """Add a node's samples to the class weights in scratch.right; return their weight."""
    cdef Py_ssize_t i
    cdef int64_t total = 0
    for i in range(n):
        scratch.right[class_of(samples[i])] += samples[i] & MAX_WEIGHT
        total += samples[i] & MAX_WEIGHT
    return total


cdef double sum_classes(const Scratch* scratch, const uint64_t* samples, Py_ssize_t n) noexcept nogil:
    """Return the sum of x log2 x over a node's class weights, or of x^2 for Gini."""
    cdef Py_ssize_t i, k
    cdef double class_sum = 0
    if scratch.gini:
        for i in range(n):
            class_sum += <double>scratch.right[class_of(samples[i])] * (samples[i] & MAX_WEIGHT)
    elif scratch.n_classes <= 2 * n:
        for k in range(scratch.n_classes):
            class_sum += xlogx(scratch.table, scratch.right[k])
    else:
        for i in range(n):  # each sample adds its part of the term of its class
            k = class_of(samples[i])
            class_sum += xlogx(scratch.table, scratch.right[k]) * (samples[i] & MAX_WEIGHT) / scratch.right[k]
    return class_sum


cdef inline void choose_criterion(Scratch* scratch, NodeSamples* node, double gini_above) noexcept nogil:
    """Write the sum over classes by which a node's cuts are scored: of squares for Gini, else of x log2 x.

    As many equally frequent classes as are effective, 1 / sum of p^2, would have the node's Gini impurity.
    """
    scratch.gini = gini_above < INFINITY
    node.class_sum = sum_classes(scratch, node.samples, node.n)
    if scratch.gini and <double>node.weight * node.weight <= gini_above * node.class_sum:
        scratch.gini = False
        node.class_sum = sum_classes(scratch, node.samples, node.n)


cdef void clear_classes(Scratch* scratch, const uint64_t* samples, Py_ssize_t n) noexcept nogil:
    """Set a node's class weights to zero."""
    cdef Py_ssize_t i
    if scratch.n_classes <= n:
        memset(scratch.right, 0, scratch.n_classes * sizeof(int32_t))
    else:
        for i in range(n):
            scratch.right[class_of(samples[i])] = 0


cdef Outcome close_leaf(Grower* g, const Block* block, const Task* task, const NodeSamples* node) noexcept nogil:
    """Make a node a leaf: write its class weights, and its number for each of its samples. Clears the weights."""
    cdef Py_ssize_t i
    cdef int32_t k, number = number_of(&g.subtrees.nodes, task.node)
    cdef LeafCounts* counts = &g.subtrees.counts
    cdef int32_t* weights = g.search.scratch.right
    make_leaf(node_at(&g.subtrees.nodes, task.node))
    if g.pruning.confidence > 0:
        note_node(&g.pruning, task.node, node, &g.search.scratch, 0)
    for i in range(node.n):
        g.subtrees.leaf_of[sample_of(block, node.samples[i])] = number
        k = class_of(node.samples[i])
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


cdef inline bint may_split(const Grower* g, const Task* task, const NodeSamples* node) noexcept nogil:
    """Return whether a node holds several classes, and limits of depth and leaves allow for a cut."""
    return (node.n > 0 and g.search.scratch.right[class_of(node.samples[0])] != node.weight
            and node.n >= 2 * g.search.rules.min_leaf and (g.max_depth < 0 or task.depth < g.max_depth))


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


cdef Outcome split_node(Grower* g, Block* block, const Task* task, Task* children) noexcept nogil:
    """Cut a node in two and write the tasks of its children, or close it as a leaf, or leave it as it is: stuck."""
    cdef Py_ssize_t n_left, n_nodes = g.subtrees.nodes.n
    cdef uint64_t* samples = g.samples + task.start
    cdef Scratch* scratch = &g.search.scratch
    cdef double gain
    cdef NodeSamples node
    cdef Cut cut
    cdef Node* split
    cdef bint found
    node.samples = samples
    node.n = task.stop - task.start
    node.n_features = task.n_features
    node.weight = count_classes(scratch, samples, node.n)
    if not may_split(g, task, &node):
        return close_leaf(g, block, task, &node)
    choose_criterion(scratch, &node, g.search.rules.gini_above)
    found = find_cut(&g.search, block, &node, &cut)
    if not found and (block.exact or (block.sample != NULL and node.n == block.n)):
        return close_leaf(g, block, task, &node)
    gain = gain_of(scratch, &node, cut.score)
    if found and g.pruning.confidence > 0:
        note_node(&g.pruning, task.node, &node, scratch, gain)
    clear_classes(scratch, samples, node.n)
    if not found:
        return IS_STUCK
    if not reserve(<void**>&g.subtrees.nodes.added, &g.subtrees.nodes.room, n_nodes + 2, sizeof(Node)) or (
            g.pruning.confidence > 0 and not reserve_errors(&g.pruning, n_nodes + 2)):
        g.out_of_memory = True
        return IS_LEAF
    g.subtrees.importance[cut.feature] += max(0.0, gain)
    n_left = partition(&g.search.table, block, g.search.categories.left, samples, g.spare, node.n, &cut)
    split = node_at(&g.subtrees.nodes, task.node)
    split.left = number_of(&g.subtrees.nodes, n_nodes)
    if not write_question(&g.search.table, block, g.search.categories.left, samples, node.n, &cut,
                          &g.subtrees.category_bits, split):
        g.out_of_memory = True
    children[0] = Task(task.start, task.start + n_left, <int32_t>n_nodes, task.depth + 1, node.n_features)
    children[1] = Task(task.start + n_left, task.stop, <int32_t>n_nodes + 1, task.depth + 1, node.n_features)
    g.subtrees.nodes.n += 2
    return IS_CUT


cdef void grow_exact(Grower* g, const Block* parent, const Task* root) noexcept nogil:
    """Grow everything below a node of at most BLOCK samples, depth first, as an exact block."""
    cdef Task stack[BLOCK + 2]
    cdef Task task
    cdef Block* block = &g.exact
    cdef uint64_t* samples = g.samples + root.start
    cdef Py_ssize_t i, top = 1
    block.n = root.stop - root.start
    for i in range(block.n):
        block.sample[i] = sample_of(parent, samples[i])
        block.sorted.label[i] = <uint32_t>samples[i]
        samples[i] = (<uint64_t>i << 32) | block.sorted.label[i]
    for i in range(root.n_features):
        set_feature(block, i, parent.feature[i])
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
    cdef uint64_t* samples = g.samples + root.start
    cdef Py_ssize_t i, n_features = g.search.table.n_features
    if open_block(&block, n_features, root.stop - root.start, False):
        block.n_features = <int32_t>n_features
        root.n_features = block.n_features
        for i in range(n_features):
            set_feature(&block, i, <int32_t>i)
            block.n_codes[i] = -1
        for i in range(block.n):
            block.sample[i] = sample_of(parent, samples[i])
            samples[i] = (<uint64_t>i << 32) | <uint32_t>samples[i]
        grow_large(g, &block, root)
    else:
        g.out_of_memory = True
    close_block(&block)


cdef void grow_large(Grower* g, Block* block, Task root) noexcept nogil:
    """Grow everything below a node, depth first."""
    cdef Task* tasks = NULL
    cdef Task task
    cdef Outcome outcome
    cdef Py_ssize_t room = 0, n_tasks = 1
    if not reserve(<void**>&tasks, &room, 64, sizeof(Task)):
        g.out_of_memory = True
        return
    tasks[0] = root
    while n_tasks > 0 and not g.out_of_memory:
        n_tasks -= 1
        task = tasks[n_tasks]
        if task.stop - task.start <= BLOCK:
            grow_exact(g, block, &task)
            continue
        if not reserve(<void**>&tasks, &room, n_tasks + 2, sizeof(Task)):
            g.out_of_memory = True
            break
        outcome = split_node(g, block, &task, tasks + n_tasks)
        if outcome == IS_CUT:
            n_tasks += 2
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
            set_feature(shared, i, <int32_t>i)
        grow_exact(g, shared, &root)
    else:
        grow_recoded(g, shared, root)


cdef bint open_grower(Grower* g, Block* shared, const double* xlogx_table, Py_ssize_t n_samples,
                      Py_ssize_t n_classes) noexcept:
    """Allocate all that growing needs; return False where memory ran out. Close it in both cases."""
    cdef Py_ssize_t n_features = g.search.table.n_features
    cdef bint is_open = open_search(&g.search, xlogx_table, n_samples, n_classes)
    is_open &= open_subtrees(&g.subtrees)
    is_open &= open_pruning(&g.pruning)
    is_open &= open_block(&g.exact, n_features, BLOCK, True)
    g.samples = <uint64_t*>malloc(2 * n_samples * sizeof(uint64_t))
    g.spare = g.samples + n_samples
    shared.feature = <int32_t*>malloc(n_features * sizeof(int32_t))
    shared.position = <int32_t*>calloc(n_features, sizeof(int32_t))
    return is_open and g.samples != NULL and shared.feature != NULL and shared.position != NULL


cdef void close_grower(Grower* g, Block* shared) noexcept:
    """Free what open_grower allocated and what growing added."""
    close_search(&g.search)
    close_subtrees(&g.subtrees)
    close_pruning(&g.pruning)
    close_block(&g.exact)
    free(g.samples)
    free(shared.feature)
    free(shared.position)
