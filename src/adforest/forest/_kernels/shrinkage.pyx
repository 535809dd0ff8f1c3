"""Class probabilities of leaves, shrunk towards those of the nodes above them (hierarchical shrinkage, Agarwal et al. 2022).

With N(v) the weight of the samples below a node v and p(v) their class probabilities, a leaf answers

    p(root) + sum over its path of (p(v) - p(parent of v)) * keep(N(parent of v)),

where keep(N) = N / (N + strength). This is a weighted mean of the proba along the path: an inner node v weighs
keep(N(parent of v)) - keep(N(v)), the leaf keep(N(its parent)), and the root 1 - keep(N(root)). It is linear in keep, so
that a mean of answers of several strengths is the answer for the mean of their keep.

It is added up from the top of a path down: the same to the last bit for a leaf that is asked alone, and where the answers
of all leaves are written to a table on one way through the tree, each node adding to what its parent has. Samples reach
few of the leaves of a tree that has many: its rows are written one by one as they are asked for, with those of the nodes
above them, which other leaves share, until the leaves asked for are many.
"""
from libc.stdint cimport int32_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from .routing cimport PREFETCH, STRIDE, has_nan, walk
from .sums cimport Sums, Tree, TreeSums

cdef enum:
    WORTH_TABLE = 1000      # nodes whose rows are marked as not written in the time that a table saves for one sample
    MAX_TABLE = 1 << 23     # entries that a table may have, of 8 bytes
    AHEAD = 12              # samples whose rows are fetched before they are added
    FEW = 4                 # a row written alone costs about as much as so many of all that are written at once


# One leaf


cdef struct Scratch:
    # Buffers for the answer of one leaf: nodes of its path, the weight of each, and probabilities, zero between two answers.
    int32_t* path
    double* weight
    double* row


cdef bint open_scratch(Scratch* scratch, Py_ssize_t depth, Py_ssize_t n_columns) noexcept nogil:
    """Allocate buffers; return False where memory ran out. Close it in both cases."""
    scratch.path = <int32_t*>malloc((depth + 1) * sizeof(int32_t))
    scratch.weight = <double*>malloc((depth + 1) * sizeof(double))
    scratch.row = <double*>calloc(n_columns + 1, sizeof(double))
    return scratch.path != NULL and scratch.weight != NULL and scratch.row != NULL


cdef void close_scratch(Scratch* scratch) noexcept nogil:
    """Free what open_scratch allocated."""
    free(scratch.path)
    free(scratch.weight)
    free(scratch.row)


cdef inline Py_ssize_t find_path(const Sums* s, int32_t leaf, const Mixture* mixture,
                                 Scratch* scratch) noexcept nogil:
    """Write the nodes that a leaf's probabilities are a mixture of, from the leaf up, and their weights; return how many."""
    cdef Py_ssize_t n = 0
    cdef int32_t at = leaf, above
    cdef double given = 0, kept
    while at >= 0:
        above = s.parent[at]
        if s.total[at] > 0:     # an empty leaf leaves its say to the node above it
            kept = 1.0 if above < 0 else keep(mixture, s.total[above])
            scratch.path[n] = at
            scratch.weight[n] = (kept - given) / s.total[at]
            n += 1
            given = kept
            if kept == 1.0:
                break
        at = above
    return n


cdef inline void add_node(const Sums* s, int32_t at, double weight, double* votes) noexcept nogil:
    """Add a node's class weights, times a weight, to votes."""
    cdef Py_ssize_t j
    for j in range(s.first[at], s.stop[at]):
        votes[s.klass[j]] += weight * s.weight[j]


cdef void add_leaf(const Sums* s, int32_t leaf, const Mixture* mixture, Scratch* scratch,
                   double* votes) noexcept nogil:
    """Add the answer of a leaf to votes."""
    cdef Py_ssize_t n = find_path(s, leaf, mixture, scratch), i, j
    cdef int32_t top, k
    if n == 1:
        add_node(s, scratch.path[0], scratch.weight[0], votes)
    elif n > 1:
        for i in range(n - 1, -1, -1):
            add_node(s, scratch.path[i], scratch.weight[i], scratch.row)
        top = scratch.path[n - 1]   # it holds all classes that are held below it
        for j in range(s.first[top], s.stop[top]):
            k = s.klass[j]
            votes[k] += scratch.row[k]
            scratch.row[k] = 0


# All leaves of a tree


cdef struct Table:
    # Rows of a tree, as they are asked for. That of a leaf is its answer, followed by the leaf's value; that of an inner
    # node is what the nodes down to it add to the answers below it. All of them are written at once without inner ones.
    Py_ssize_t n_rows
    Py_ssize_t n_leaf_rows
    int32_t* row_of     # by node, -1 for those not written yet
    double* rows
    double* kept        # by row of an inner node: how much is kept of the steps below it
    double* above       # by depth: what the nodes of the path add to the predictions below them


cdef bint open_table(Table* table, Py_ssize_t n_nodes, Py_ssize_t n_rows, Py_ssize_t depth,
                     Py_ssize_t n_columns) noexcept nogil:
    """Allocate buffers; return False where memory ran out. Close it in both cases."""
    table.row_of = <int32_t*>malloc(n_nodes * sizeof(int32_t))
    table.rows = <double*>malloc(n_rows * n_columns * sizeof(double))
    table.kept = <double*>malloc(n_rows * sizeof(double))
    table.above = <double*>calloc((depth + 2) * n_columns, sizeof(double))
    return table.row_of != NULL and table.rows != NULL and table.kept != NULL and table.above != NULL


cdef void close_table(Table* table) noexcept nogil:
    """Free what open_table allocated."""
    free(table.row_of)
    free(table.rows)
    free(table.kept)
    free(table.above)


cdef inline double* next_row(Table* table, int32_t node, Py_ssize_t n_columns) noexcept nogil:
    """Return where the row of a node is to be written."""
    table.row_of[node] = <int32_t>table.n_rows
    table.n_rows += 1
    return table.rows + table.row_of[node] * n_columns


cdef void write_table(Table* table, const Tree* tree, const Mixture* mixture, Scratch* scratch,
                      Py_ssize_t n_columns) noexcept nogil:
    """Write the answers of all leaves of a tree."""
    cdef const Sums* s = &tree.sums
    cdef Py_ssize_t i, depth = 0, up
    cdef double kept, below
    cdef double* row
    cdef int32_t at
    table.n_rows = 0
    for i in range(tree.n_nodes):   # depth first: the path to a node is that of the node before, up to its parent
        at = s.order[i]
        while depth > 0 and scratch.path[depth - 1] != s.parent[at]:
            depth -= 1
        scratch.path[depth] = at
        if tree.nodes[at].split < 0:
            row = next_row(table, at, n_columns)
            up = depth
            while up > 0 and s.total[scratch.path[up]] <= 0:    # an empty leaf says what the node above it says
                up -= 1
            memcpy(row, table.above + up * n_columns, n_columns * sizeof(double))
            if s.total[scratch.path[up]] > 0:
                kept = 1.0 if up == 0 else scratch.weight[up - 1]
                add_node(s, scratch.path[up], kept / s.total[scratch.path[up]], row)
            if tree.values != NULL:
                row[n_columns - 1] = tree.values[at]
        elif s.total[at] > 0:       # what is below an empty node never reads its row
            kept = 1.0 if depth == 0 else scratch.weight[depth - 1]
            below = keep(mixture, s.total[at])
            row = table.above + (depth + 1) * n_columns
            if below == 1.0:
                memset(row, 0, n_columns * sizeof(double))
            else:
                memcpy(row, row - n_columns, n_columns * sizeof(double))
                add_node(s, at, (kept - below) / s.total[at], row)
            scratch.weight[depth] = below
        if tree.nodes[at].split >= 0:
            depth += 1


cdef inline Py_ssize_t find_unwritten(const Table* table, const Sums* s, int32_t node, const Mixture* mixture,
                                      Scratch* scratch) noexcept nogil:
    """Write the nodes without a row from a node up, and the fraction kept below each; return how many.

    The last of them is the root, or one of which all is kept, or one below a node that has a row.
    """
    cdef Py_ssize_t n = 0
    cdef int32_t at = node
    while at >= 0 and table.row_of[at] < 0:
        scratch.path[n] = at
        scratch.weight[n] = keep(mixture, s.total[at])
        n += 1
        if scratch.weight[n - 1] == 1.0:
            break
        at = s.parent[at]
    return n


cdef void write_above(Table* table, const Sums* s, int32_t node, const Mixture* mixture, Scratch* scratch,
                      Py_ssize_t n_columns) noexcept nogil:
    """Write the row of an inner node, and those of nodes above it on which it depends."""
    cdef Py_ssize_t i
    cdef int32_t at, above
    cdef double kept, below
    cdef double* row
    for i in range(find_unwritten(table, s, node, mixture, scratch) - 1, -1, -1):
        at = scratch.path[i]
        above = s.parent[at]
        below = scratch.weight[i]
        row = next_row(table, at, n_columns)
        table.kept[table.row_of[at]] = below
        if above < 0 or below == 1.0:
            memset(row, 0, n_columns * sizeof(double))
            kept = 1.0
        else:
            memcpy(row, table.rows + table.row_of[above] * n_columns, n_columns * sizeof(double))
            kept = table.kept[table.row_of[above]]
        if below != 1.0:
            add_node(s, at, (kept - below) / s.total[at], row)


cdef void write_row(Table* table, const Tree* tree, int32_t leaf, const Mixture* mixture, Scratch* scratch,
                    Py_ssize_t n_columns) noexcept nogil:
    """Write the answer of one leaf, or of all if those written are many."""
    cdef const Sums* s = &tree.sums
    cdef int32_t at = leaf, above
    cdef double kept = 1.0
    cdef double* row
    if FEW * table.n_leaf_rows > (tree.n_nodes + 1) // 2:
        write_table(table, tree, mixture, scratch, n_columns)
        return
    while s.total[at] <= 0 and s.parent[at] >= 0:   # an empty leaf says what the node above it says
        at = s.parent[at]
    above = s.parent[at]
    if above >= 0:
        write_above(table, s, above, mixture, scratch, n_columns)
    row = next_row(table, leaf, n_columns)
    table.n_leaf_rows += 1
    if above >= 0:
        memcpy(row, table.rows + table.row_of[above] * n_columns, n_columns * sizeof(double))
        kept = table.kept[table.row_of[above]]
    else:
        memset(row, 0, n_columns * sizeof(double))
    if s.total[at] > 0:
        add_node(s, at, kept / s.total[at], row)
    if tree.values != NULL:
        row[n_columns - 1] = tree.values[leaf]


# Samples


cdef void add_from_table(Table* table, const Tree* tree, const int32_t* leaf, Py_ssize_t n, const Mixture* mixture,
                         Scratch* scratch, double* votes, Py_ssize_t n_columns) noexcept nogil:
    """Add the rows of the leaves that samples reached to their votes."""
    cdef Py_ssize_t i, j
    cdef const double* row
    for i in range(n):
        if i + AHEAD < n and leaf[i + AHEAD] >= 0 and table.row_of[leaf[i + AHEAD]] >= 0:
            row = table.rows + table.row_of[leaf[i + AHEAD]] * n_columns
            PREFETCH(row)
            PREFETCH(row + n_columns - 1)
        if leaf[i] >= 0:
            if table.row_of[leaf[i]] < 0:
                write_row(table, tree, leaf[i], mixture, scratch, n_columns)
            row = table.rows + table.row_of[leaf[i]] * n_columns
            for j in range(n_columns):
                votes[j] += row[j]
        votes += n_columns


cdef void add_one_by_one(const Tree* tree, const int32_t* leaf, Py_ssize_t n, const Mixture* mixture, Scratch* scratch,
                         double* votes, Py_ssize_t n_columns) noexcept nogil:
    """Add the answer of each leaf that a sample reached to its votes."""
    cdef Py_ssize_t i
    for i in range(n):
        if leaf[i] >= 0:
            add_leaf(&tree.sums, leaf[i], mixture, scratch, votes)
            if tree.values != NULL:
                votes[n_columns - 1] += tree.values[leaf[i]]
        votes += n_columns


cdef inline Py_ssize_t n_table_rows(const Tree* tree, Py_ssize_t n) noexcept nogil:
    """Return the number of rows, inner nodes included, for which a table must have buffers to predict n samples."""
    cdef Py_ssize_t n_leaves = (tree.n_nodes + 1) // 2
    return n_leaves if n > tree.n_nodes else max(n_leaves, min(tree.n_nodes, n * (tree.depth + 1)))


cdef inline bint pays(const Tree* tree, Py_ssize_t n, Py_ssize_t n_columns) noexcept nogil:
    """Return whether a table is worth it for n samples."""
    return n > 1 and tree.n_nodes <= WORTH_TABLE * n and n_table_rows(tree, n) * n_columns <= MAX_TABLE


cdef struct Buffers:
    # What answers of some trees are made in, and whether some values of the samples may be missing.
    bint has_missing
    Scratch scratch
    Table table


cdef bint open_buffers(Buffers* buffers, const Tree* trees, Py_ssize_t n_trees, Py_ssize_t n,
                    Py_ssize_t n_columns) noexcept nogil:
    """Allocate buffers for n samples and any of the trees; return False where memory ran out. Close it in both cases."""
    cdef Py_ssize_t k, depth = 0, n_nodes = 0, n_rows = 0
    cdef bint is_open
    for k in range(n_trees):
        depth = max(depth, trees[k].depth)
        if pays(&trees[k], n, n_columns):
            n_nodes = max(n_nodes, trees[k].n_nodes)
            n_rows = max(n_rows, n_table_rows(&trees[k], n))
    is_open = open_scratch(&buffers.scratch, depth, n_columns)
    is_open &= open_table(&buffers.table, n_nodes, n_rows, depth, n_columns)
    return is_open


cdef void close_buffers(Buffers* buffers) noexcept nogil:
    """Free what open_buffers allocated."""
    close_scratch(&buffers.scratch)
    close_table(&buffers.table)


cdef void add_tree(const Tree* tree, const int32_t* reached, const double* X, Py_ssize_t n, Py_ssize_t m,
                   const Mixture* mixture, Buffers* buffers, double* votes, Py_ssize_t n_columns) noexcept nogil:
    """Send samples down a tree, unless the leaves they reach are known, and add its answers to votes."""
    cdef Py_ssize_t i = 0, width
    cdef Scratch* scratch = &buffers.scratch
    cdef Table* table = &buffers.table
    cdef int32_t found[STRIDE]
    cdef const int32_t* leaf = found
    cdef bint has_table = pays(tree, n, n_columns)
    if has_table and n > tree.n_nodes:
        write_table(table, tree, mixture, scratch, n_columns)
    elif has_table:
        table.n_rows = 0
        table.n_leaf_rows = 0
        memset(table.row_of, -1, tree.n_nodes * sizeof(int32_t))
    while i < n:
        width = min(<Py_ssize_t>STRIDE, n - i)
        if reached == NULL:
            walk(tree.nodes, tree.category_bits, X + i * m, NULL, width, m, tree.is_categorical, buffers.has_missing, found)
        else:
            leaf = reached + i
        if has_table:
            add_from_table(table, tree, leaf, width, mixture, scratch, votes + i * n_columns, n_columns)
        else:
            add_one_by_one(tree, leaf, width, mixture, scratch, votes + i * n_columns, n_columns)
        i += width


def route(list trees, const double[:, ::1] X, int32_t[:, ::1] leaf):
    """Write the leaf that each sample reaches in each tree, (n_trees, n)."""
    cdef Py_ssize_t n = X.shape[0], k
    cdef TreeSums one
    cdef bint has_missing
    if n > 0:
        has_missing = has_nan(&X[0, 0], n * X.shape[1])
        for k in range(len(trees)):
            one = trees[k]
            with nogil:
                walk(one.tree.nodes, one.tree.category_bits, &X[0, 0], NULL, n, X.shape[1], one.tree.is_categorical,
                     has_missing, &leaf[k, 0])


def vote(list trees, const double[::1] strengths, const double[::1] mix, const double[:, ::1] X, double[:, ::1] votes,
         values=None, leaves=None):
    """Send samples down some trees and add their shrunk class probabilities to votes (n, n_classes).

    Parameters
    ----------
    trees : list of TreeSums
    strengths, mix : float64
        The probabilities are the mean, weighted by mix, of those shrunk by each strength; mix adds up to 1.
    values : sequence of float32 arrays, optional
        By tree and node; added up in a column more: the value of the leaf that each sample reaches.
    leaves : int32 (n_trees, n), optional
        The leaf that each sample reaches in each tree, where this is known; X is not read then.
    """
    cdef Py_ssize_t n = X.shape[0], n_columns = votes.shape[1], n_trees = len(trees), k
    cdef Mixture mixture = Mixture(&strengths[0], &mix[0], strengths.shape[0])
    cdef Buffers buffers
    cdef TreeSums one
    cdef const float[::1] by_node
    cdef const int32_t[::1] leaf
    cdef bint is_open
    if n == 0 or n_trees == 0:
        return
    cdef Tree* asked = <Tree*>malloc(n_trees * sizeof(Tree))
    cdef const int32_t** reached = <const int32_t**>calloc(n_trees, sizeof(int32_t*))
    try:
        if asked == NULL or reached == NULL:
            raise MemoryError
        for k in range(n_trees):
            one = trees[k]
            asked[k] = one.tree
            if values is not None:
                by_node = values[k]     # the caller holds the arrays
                asked[k].values = &by_node[0]
            if leaves is not None:
                leaf = leaves[k]
                reached[k] = &leaf[0]
        with nogil:
            is_open = open_buffers(&buffers, asked, n_trees, n, n_columns)
            buffers.has_missing = leaves is None and has_nan(&X[0, 0], n * X.shape[1])
            if is_open:
                for k in range(n_trees):
                    add_tree(&asked[k], reached[k], &X[0, 0], n, X.shape[1], &mixture, &buffers, &votes[0, 0], n_columns)
            close_buffers(&buffers)
    finally:
        free(asked)
        free(reached)
    if not is_open:
        raise MemoryError


def vote_each(list trees, leaves, const double[::1] strengths, double[:, :, ::1] votes):
    """Add the class probabilities of leaves already reached, shrunk by each strength, to votes (n_strengths, n, n_classes).

    Parameters
    ----------
    trees : list of TreeSums
    leaves : int32 (n_trees, n)
        The leaf of each sample, -1 for none.
    """
    cdef Py_ssize_t k, n = votes.shape[1], n_columns = votes.shape[2]
    cdef const int32_t[::1] leaf
    cdef double all_of_it = 1.0
    cdef Mixture mixture
    cdef Buffers buffers
    cdef TreeSums one
    cdef bint is_open
    if n == 0:
        return
    for one, leaf in zip(trees, leaves, strict=True):
        with nogil:
            is_open = open_buffers(&buffers, &one.tree, 1, n, n_columns)
            if is_open:
                for k in range(strengths.shape[0]):
                    mixture = Mixture(&strengths[k], &all_of_it, 1)
                    add_tree(&one.tree, &leaf[0], NULL, n, 0, &mixture, &buffers, &votes[k, 0, 0], n_columns)
            close_buffers(&buffers)
        if not is_open:
            raise MemoryError


def vote_from(TreeSums tree, const int32_t[::1] leaf, const double[::1] strengths, const double[::1] mix,
              double[:, ::1] votes):
    """Add what `vote` adds for one tree, for leaves already reached, to votes (n, n_classes)."""
    cdef Mixture mixture = Mixture(&strengths[0], &mix[0], strengths.shape[0])
    cdef Scratch scratch
    cdef bint is_open
    if leaf.shape[0] == 0:
        return
    with nogil:
        is_open = open_scratch(&scratch, tree.depth, votes.shape[1])
        if is_open:
            add_one_by_one(&tree.tree, &leaf[0], leaf.shape[0], &mixture, &scratch, &votes[0, 0], votes.shape[1])
        close_scratch(&scratch)
    if not is_open:
        raise MemoryError
