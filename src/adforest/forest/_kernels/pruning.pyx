"""Prune grown subtrees by the expected errors of leaves on new samples, as C4.5 does."""
from libc.math cimport pow, sqrt
from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc

from .node cimport Node
from .splitting cimport MAX_WEIGHT, class_of
from .subtrees cimport make_leaf, node_at, reserve

cdef enum:
    ROOM = 256      # nodes to begin with
    PENDING = -2    # a new position that is not known yet
    PRUNED = -2     # Node.split of a node that becomes a leaf; its left still says where its children are

cdef double MIN_SAVED = 0.1     # errors that a subtree must save to be kept, as in C4.5


cdef bint open_pruning(Pruning* pruning) noexcept nogil:
    """Allocate room for nodes to begin with; return False where memory ran out. Close it in both cases."""
    pruning.room = ROOM
    pruning.added = <NodeErrors*>malloc(ROOM * sizeof(NodeErrors))
    return pruning.added != NULL


cdef void close_pruning(Pruning* pruning) noexcept nogil:
    """Free what was allocated."""
    free(pruning.added)


cdef bint reserve_errors(Pruning* pruning, Py_ssize_t n_nodes) noexcept nogil:
    """Make room for n_nodes added nodes; return False where memory ran out."""
    return reserve(<void**>&pruning.added, &pruning.room, n_nodes, sizeof(NodeErrors))


cdef inline NodeErrors* errors_at(Pruning* pruning, Py_ssize_t at) noexcept nogil:
    return &pruning.added[at] if at >= 0 else &pruning.replaced


cdef void note_node(Pruning* pruning, Py_ssize_t at, const NodeSamples* node, const Scratch* scratch,
                    double gain) noexcept nogil:
    """Store the statistics of a node for pruning; its class weights are in scratch.right."""
    cdef Py_ssize_t i
    cdef int32_t weight
    cdef NodeErrors* errors = errors_at(pruning, at)
    errors.total = <int32_t>node.weight
    errors.top = 0
    errors.gain = gain
    for i in range(node.n):
        weight = scratch.right[class_of(node.samples[i])]
        if weight > errors.top:
            errors.top = weight


cdef double expected_errors(const Pruning* pruning, const NodeErrors* node) noexcept nogil:
    """Return how many errors a leaf expects on as many new samples: C4.5's upper limit of the binomial rate.

    With a confidence of a quarter, the limit is what a true error rate would stay below in three cases of four, given
    the errors seen; half an error is added to those as a correction for continuity.
    """
    cdef double n = node.total, errors = node.total - node.top, rate, z = pruning.deviate
    if n == 0:
        return 0
    if errors < 1:  # no error among n: the rate for which that has just the probability of the confidence
        return n * (1 - pow(pruning.confidence, 1 / n))
    if errors + 0.5 >= n:
        return n
    rate = (errors + 0.5) / n
    rate = (rate + z * z / (2 * n) + z * sqrt(rate / n * (1 - rate) + z * z / (4 * n * n))) / (1 + z * z / n)
    return rate * n


cdef void choose_leaves(Pruning* pruning, Subtrees* subtrees, Py_ssize_t group, Py_ssize_t first) noexcept nogil:
    """Mark the nodes of a group's subtree that become leaves, from the bottom up: children come after their parents.

    The subtree is the node in the group's place and the nodes added from the first on.
    """
    cdef Py_ssize_t i, at, left
    cdef Node* node
    cdef NodeErrors* errors
    cdef double as_leaf, below
    for i in range(subtrees.nodes.n - 1, first - 2, -1):
        at = i if i >= first else -1 - group
        node = node_at(&subtrees.nodes, at)
        errors = errors_at(pruning, at)
        as_leaf = expected_errors(pruning, errors)
        errors.expected = as_leaf
        if node.split < 0:
            continue
        left = node.left - subtrees.nodes.first_number
        below = pruning.added[left].expected + pruning.added[left + 1].expected
        if as_leaf <= below + MIN_SAVED:
            subtrees.importance[node.split >> 2] -= errors.gain
            node.split = PRUNED
        else:
            errors.expected = below


cdef Py_ssize_t renumber(const Pruning* pruning, Subtrees* subtrees, Py_ssize_t group, Py_ssize_t first,
                         int32_t* moved) noexcept nogil:
    """Close the nodes marked by choose_leaves, and find the new positions of all; return how many nodes stay.

    Afterwards moved[i], for each node added from the first on, is its new position, or, where it is gone, that of the
    leaf its samples are in now; -1 is the node in the group's place.
    """
    cdef Py_ssize_t i, left, kept = first
    cdef int32_t to
    cdef Node* node
    for i in range(first, subtrees.nodes.n):
        moved[i] = PENDING
    for i in range(first - 1, subtrees.nodes.n):
        node = node_at(&subtrees.nodes, i if i >= first else -1 - group)
        left = node.left - subtrees.nodes.first_number
        if i >= first and moved[i] != PENDING:      # inside a pruned subtree: all below goes where this went
            if node.split >= 0:
                subtrees.importance[node.split >> 2] -= pruning.added[i].gain
            if node.split != -1:
                moved[left] = moved[left + 1] = moved[i]
            continue
        to = -1
        if i >= first:
            to = moved[i] = <int32_t>kept
            kept += 1
        if node.split == PRUNED:
            moved[left] = moved[left + 1] = to
            make_leaf(node)
    return kept


cdef void move_together(NodeList* nodes, Py_ssize_t group, Py_ssize_t first, Py_ssize_t kept,
                        const int32_t* moved) noexcept nogil:
    """Move the nodes that stay to their new positions. Siblings stay neighbours: both stay or both go."""
    cdef Py_ssize_t i, to = first
    cdef Node* root = &nodes.replaced[group]
    if root.split >= 0:
        root.left = nodes.first_number + moved[root.left - nodes.first_number]
    for i in range(first, nodes.n):
        if moved[i] == to:      # a node that is gone has the position of one before
            nodes.added[to] = nodes.added[i]
            if nodes.added[to].split >= 0:
                nodes.added[to].left = nodes.first_number + moved[nodes.added[to].left - nodes.first_number]
            to += 1
    nodes.n = kept


cdef inline void follow(const NodeList* nodes, Py_ssize_t group, const int32_t* moved, int32_t* number) noexcept nogil:
    """Replace a leaf's number in the tree by what it is after pruning."""
    cdef int32_t to
    if number[0] >= nodes.first_number:
        to = moved[number[0] - nodes.first_number]
        number[0] = nodes.first_number + to if to >= 0 else nodes.replaced_number[group]


cdef bint prune_group(Pruning* pruning, Subtrees* subtrees, Py_ssize_t group, Py_ssize_t first_node,
                      Py_ssize_t first_count, const int32_t* indices, Py_ssize_t n_samples) noexcept nogil:
    """Prune the subtree of a group; return False where memory ran out.

    Its nodes were added from first_node on, its leaf counts from first_count on; indices are its samples.
    """
    cdef Py_ssize_t i, kept
    cdef int32_t* moved = <int32_t*>malloc(max(subtrees.nodes.n, 1) * sizeof(int32_t))
    if moved == NULL:
        return False
    choose_leaves(pruning, subtrees, group, first_node)
    kept = renumber(pruning, subtrees, group, first_node, moved)
    move_together(&subtrees.nodes, group, first_node, kept, moved)
    for i in range(first_count, subtrees.counts.n):
        follow(&subtrees.nodes, group, moved, &subtrees.counts.node[i])
    for i in range(n_samples):
        follow(&subtrees.nodes, group, moved, &subtrees.leaf_of[indices[i]])
    free(moved)
    return True
