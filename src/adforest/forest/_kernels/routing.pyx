"""Find the leaves that raw samples reach in a tree, and add the votes of these leaves."""
from libc.stdint cimport int32_t, uint64_t

import numpy as np

from .node cimport CATEGORICAL, MISSING_LEFT, Node, goes_left
from .sums import find_order

cdef enum:
    LANES = 32      # samples that walk side by side, so that their cache misses overlap


cdef void walk(const Node* nodes, const uint64_t* category_bits, const double* X, const int32_t* rows, Py_ssize_t n,
               Py_ssize_t m, bint categorical, bint has_missing, int32_t* leaf) noexcept nogil:
    """Write the leaf that each of n samples reaches: those in rows, or the first n where rows is NULL.

    categorical and has_missing say whether the tree cuts by categories, and whether some values may be missing.
    """
    # Where arguments are literals the compiler makes a walk of its own, which does not ask what they say.
    if categorical:
        walk_lanes(nodes, category_bits, X, rows, n, m, True, True, leaf)
    elif has_missing:
        walk_lanes(nodes, category_bits, X, rows, n, m, False, True, leaf)
    else:
        walk_lanes(nodes, category_bits, X, rows, n, m, False, False, leaf)


cdef bint has_nan(const double* X, Py_ssize_t n) noexcept nogil:
    """Return whether some of n values are missing."""
    cdef Py_ssize_t i
    for i in range(n):
        if X[i] != X[i]:
            return True
    return False


cdef inline void walk_lanes(const Node* nodes, const uint64_t* category_bits, const double* X, const int32_t* rows,
                            Py_ssize_t n, Py_ssize_t m, bint categorical, bint has_missing,
                            int32_t* leaf) noexcept nogil:
    """Walk LANES samples in turns, a step each; who reaches a leaf makes room for the next sample.

    Numerical cuts are taken without a branch that could be guessed wrong.
    """
    cdef Py_ssize_t lane, active = min(<Py_ssize_t>LANES, n), following = active
    cdef Py_ssize_t walker[LANES]
    cdef const double* sample[LANES]
    cdef int32_t at[LANES]
    cdef int32_t split, left
    cdef const Node* node
    cdef double value
    for lane in range(active):
        walker[lane] = lane
        sample[lane] = X + (lane if rows == NULL else rows[lane]) * m
        at[lane] = 0
    while active > 0:
        lane = 0
        while lane < active:
            node = nodes + at[lane]
            split = node.split
            if split < 0:
                leaf[walker[lane]] = at[lane]
                if following < n:
                    walker[lane] = following
                    sample[lane] = X + (following if rows == NULL else rows[following]) * m
                    at[lane] = 0
                    following += 1
                else:
                    active -= 1
                    walker[lane] = walker[active]
                    sample[lane] = sample[active]
                    at[lane] = at[active]
                continue
            value = sample[lane][split >> 2]
            if categorical and split & CATEGORICAL:
                left = goes_left(node, category_bits, value)
            elif has_missing:
                left = (value <= node.threshold) | ((value != value) & ((split & MISSING_LEFT) != 0))
            else:
                left = value <= node.threshold
            at[lane] = node.left + 1 - left
            PREFETCH(nodes + at[lane])
            lane += 1


cdef void add_answers(const int32_t* leaf, Py_ssize_t n, const int32_t* row_start, const int32_t* row_class,
                      const double* row_weight, const double* row_scale, bint soft, double* votes,
                      Py_ssize_t n_classes) noexcept nogil:
    """Add each leaf's class probabilities, or one vote for its most frequent class, to the votes of its sample."""
    cdef Py_ssize_t i, j, best
    for i in range(n):
        if leaf[i] < 0 or row_start[leaf[i]] == row_start[leaf[i] + 1]:
            continue
        if soft:
            for j in range(row_start[leaf[i]], row_start[leaf[i] + 1]):
                votes[i * n_classes + row_class[j]] += row_weight[j] * row_scale[leaf[i]]
        else:
            best = row_start[leaf[i]]
            for j in range(best + 1, row_start[leaf[i] + 1]):
                if row_weight[j] > row_weight[best]:
                    best = j
            votes[i * n_classes + row_class[best]] += 1


def route(const Node[::1] nodes, const uint64_t[::1] category_bits, const double[:, ::1] X,
          const int32_t[::1] rows=None):
    """Return the number of the leaf that each sample reaches, as int32; rows picks some of the samples."""
    cdef Py_ssize_t n = X.shape[0] if rows is None else rows.shape[0]
    leaf_array = np.empty(n, dtype=np.int32)
    cdef int32_t[::1] leaf = leaf_array
    if n > 0:
        with nogil:
            walk(&nodes[0], &category_bits[0], &X[0, 0], NULL if rows is None else &rows[0], n, X.shape[1],
                 category_bits.shape[0] > 1, True, &leaf[0])
    return leaf_array


def vote(const Node[::1] nodes, const uint64_t[::1] category_bits, const int32_t[::1] row_start,
         const int32_t[::1] row_class, const double[::1] row_weight, const double[::1] row_scale, bint soft,
         const double[:, ::1] X, double[:, ::1] votes):
    """Send samples down one tree and add its answers to votes (n, n_classes)."""
    cdef Py_ssize_t i, n = X.shape[0], m = X.shape[1], width
    cdef int32_t leaf[STRIDE]
    if row_class.shape[0] == 0:
        return
    with nogil:
        i = 0
        while i < n:
            width = min(<Py_ssize_t>STRIDE, n - i)
            walk(&nodes[0], &category_bits[0], &X[i, 0], NULL, width, m, category_bits.shape[0] > 1, True, leaf)
            add_answers(leaf, width, &row_start[0], &row_class[0], &row_weight[0], &row_scale[0], soft, &votes[i, 0],
                        votes.shape[1])
            i += width


def vote_from(const int32_t[::1] leaf, const int32_t[::1] row_start, const int32_t[::1] row_class,
              const double[::1] row_weight, const double[::1] row_scale, bint soft, double[:, ::1] votes):
    """Add the answers of leaves already reached to votes (n, n_classes)."""
    if leaf.shape[0] == 0 or row_class.shape[0] == 0:
        return
    with nogil:
        add_answers(&leaf[0], leaf.shape[0], &row_start[0], &row_class[0], &row_weight[0], &row_scale[0], soft,
                    &votes[0, 0], votes.shape[1])


def depths(nodes):
    """Return each node's distance from the root, as int32."""
    return find_order(nodes)[2]
