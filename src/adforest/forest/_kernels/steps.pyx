"""Contribution of each split on the path of a sample to the prediction of a tree.

Let a(v) be the prediction of a tree if its node v were a leaf. The step from a node u to its child v adds a(v) - a(u),
which is credited to the feature that u asks about, so that a(root) and the steps of a path add up to a(leaf). For
shrunk class probabilities (see shrinkage.pyx) a step adds

    (p(v) - p(u)) * keep(N(u)),

and a node without samples adds nothing. For trees that cast votes (see routing.pyx) a(v) is the class probabilities of v, or
one vote for its most frequent class; a tree whose leaf holds no sample says nothing, from the root on.
"""
from libc.stdint cimport int32_t

import numpy as np

from .shrinkage cimport Mixture, keep
from .sums cimport Sums, TreeSums


def add_proba_steps(TreeSums tree, const int32_t[::1] leaf, const double[::1] strengths, const double[::1] mix,
                    double[:, :, ::1] steps):
    """Add the contribution of each feature to the shrunk class probabilities of leaves to steps (n, n_features, n_classes).

    Parameters
    ----------
    tree : TreeSums
    leaf : int32 (n,)
        The leaf that each sample reaches.
    strengths, mix : float64
        See `shrinkage.vote`.
    """
    cdef Py_ssize_t i, j, n = leaf.shape[0]
    cdef int32_t at, above
    cdef double kept, scale
    cdef double* row
    cdef const Sums* s = &tree.tree.sums
    cdef Mixture mixture
    if n == 0 or len(tree.klass) == 0:
        return
    mixture = Mixture(&strengths[0], &mix[0], strengths.shape[0])
    with nogil:
        for i in range(n):
            at = leaf[i]
            above = s.parent[at]
            while above >= 0:
                if s.total[at] > 0:
                    kept = keep(&mixture, s.total[above])
                    row = &steps[i, tree.tree.nodes[above].split >> 2, 0]
                    scale = kept / s.total[at]
                    for j in range(s.first[at], s.stop[at]):
                        row[s.klass[j]] += scale * s.weight[j]
                    scale = kept / s.total[above]
                    for j in range(s.first[above], s.stop[above]):
                        row[s.klass[j]] -= scale * s.weight[j]
                at = above
                above = s.parent[at]


cdef struct Rows:
    # Class weights of leaves in double precision, which stand before those of inner nodes in what sum_rows returned.
    const double* weight
    const double* scale
    Py_ssize_t n


cdef void add_answer(const Sums* s, const Rows* rows, int32_t node, bint soft, double sign,
                     double* to) noexcept nogil:
    """Add the prediction of a node if it were a leaf, times a sign."""
    cdef Py_ssize_t j, best = s.first[node]
    cdef bint is_leaf = best < rows.n
    cdef double weight, most = 0
    for j in range(s.first[node], s.stop[node]):
        weight = rows.weight[j] if is_leaf else s.weight[j]
        if soft:
            to[s.klass[j]] += sign * (weight * rows.scale[node] if is_leaf else weight / s.total[node])
        elif weight > most:
            most = weight
            best = j
    if not soft:
        to[s.klass[best]] += sign


def add_vote_steps(TreeSums tree, const int32_t[::1] leaf, const double[::1] row_weight, const double[::1] row_scale,
                   bint soft, double[:, :, ::1] steps, double[:, ::1] roots):
    """Add the contribution of each feature to the votes of leaves to steps, and those of the root to roots (n, n_classes).

    Parameters
    ----------
    tree : TreeSums
    leaf : int32 (n,)
        The leaf that each sample reaches.
    row_weight, row_scale
        Class weights of leaves, see `adforest.forest._kernels.counting`.
    soft : bool
        Whether a node answers with class probabilities or one vote.
    """
    cdef Py_ssize_t i, n = leaf.shape[0]
    cdef int32_t at, above
    cdef double* row
    cdef const Sums* s = &tree.tree.sums
    cdef Rows rows
    if n == 0 or len(tree.klass) == 0:
        return
    rows = Rows(&row_weight[0], &row_scale[0], row_weight.shape[0])
    with nogil:
        for i in range(n):
            at = leaf[i]
            if s.first[at] == s.stop[at]:
                continue
            above = s.parent[at]
            while above >= 0:
                row = &steps[i, tree.tree.nodes[above].split >> 2, 0]
                add_answer(s, &rows, at, soft, 1.0, row)
                add_answer(s, &rows, above, soft, -1.0, row)
                at = above
                above = s.parent[at]
            add_answer(s, &rows, at, soft, 1.0, &roots[i, 0])


def read_leaves(const int32_t[::1] leaf, const int32_t[::1] row_start, const int32_t[::1] row_class,
                const double[::1] row_weight):
    """Return (klass, confidence, weight) of leaves already reached.

    Returns
    -------
    klass : int32 (n,)
        The most frequent class, the first of equal ones; -1 where a leaf holds nothing.
    confidence : float64 (n,)
        Its share of what the leaf holds.
    weight : float64 (n,)
        What the leaf holds, in samples.
    """
    cdef Py_ssize_t i, j, n = leaf.shape[0]
    cdef double most
    class_array = np.full(n, -1, dtype=np.int32)
    confidence_array, total_array = np.zeros(n), np.zeros(n)
    cdef int32_t[::1] klass = class_array
    cdef double[::1] confidence = confidence_array, total = total_array
    with nogil:
        for i in range(n):
            most = 0
            for j in range(row_start[leaf[i]], row_start[leaf[i] + 1]):
                total[i] += row_weight[j]
                if row_weight[j] > most:
                    most = row_weight[j]
                    klass[i] = row_class[j]
            if most > 0:
                confidence[i] = most / total[i]
    return class_array, confidence_array, total_array
