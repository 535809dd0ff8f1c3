"""Class shares of leaves, shrunk towards those of the nodes above them (hierarchical shrinkage, Agarwal et al. 2022).

With N(v) the weight of the records below a node v and share(v) their class shares, a leaf answers

    share(root) + sum over its path of (share(v) - share(parent of v)) * keep(N(parent of v)),

where keep(N) = N / (N + strength). This is a weighted mean of the shares along the path: an inner node v weighs
keep(N(parent of v)) - keep(N(v)), the leaf keep(N(its parent)), and the root 1 - keep(N(root)). It is linear in keep, so
that a mean of answers of several strengths is the answer for the mean of their keep.
"""
from libc.stdint cimport int32_t, uint64_t

import numpy as np

from .node cimport Node
from .routing cimport STRIDE, walk

cdef double ENOUGH = 0.99   # once so much weight is given, the node at hand gets the rest


def sum_rows(const Node[::1] nodes, const int32_t[::1] row_start, const int32_t[::1] row_class,
             const double[::1] row_weight, Py_ssize_t n_classes):
    """Return (order, parent, total, first, stop, klass, weight): class weights of every node, inner ones included.

    Parameters
    ----------
    row_start, row_class, row_weight
        Class weights of leaves, see `adforest.forest._kernels.counting`.
    n_classes : int
        Classes are below this.

    Returns
    -------
    order : int32 (n_nodes,)
        All nodes, parents before their children.
    parent : int32 (n_nodes,)
        -1 for the root.
    total : float64 (n_nodes,)
        Weight of all classes below a node.
    first, stop : int32 (n_nodes,)
    klass : int32
    weight : float32
        Node v holds ``klass[first[v]:stop[v]]``, in ascending order.
    """
    cdef Py_ssize_t n_nodes = nodes.shape[0], i, n_ordered = 0, top = 1, held = 0, a, b, a_stop, b_stop, room
    cdef int32_t at, left = 0
    parent_array = np.full(n_nodes, -1, dtype=np.int32)
    total_array = np.zeros(n_nodes)
    first_array = np.zeros(n_nodes, dtype=np.int32)
    stop_array = np.zeros(n_nodes, dtype=np.int32)
    cdef int32_t[::1] parent = parent_array, first = first_array, stop = stop_array
    cdef double[::1] total = total_array
    order_array = np.empty(n_nodes, dtype=np.int32)
    cdef int32_t[::1] order = order_array, stack = np.zeros(n_nodes + 1, dtype=np.int32)
    with nogil:
        while top > 0:
            top -= 1
            at = stack[top]
            order[n_ordered] = at
            n_ordered += 1
            if nodes[at].split >= 0:
                left = nodes[at].left
                parent[left] = at
                parent[left + 1] = at
                stack[top] = left
                stack[top + 1] = left + 1
                top += 2
    # Rows of leaves stay where they were; those of inner nodes follow.
    held = row_class.shape[0]
    room = 8 * held + n_classes
    class_array = np.empty(room, dtype=np.int32)
    weight_array = np.empty(room, dtype=np.float32)
    class_array[:held] = row_class
    weight_array[:held] = row_weight
    cdef int32_t[::1] klass = class_array
    cdef float[::1] weight = weight_array
    i = n_ordered
    while i > 0:
        with nogil:
            while i > 0 and held + n_classes <= room:   # children come after their parents, so they are done first
                i -= 1
                at = order[i]
                if nodes[at].split < 0:
                    first[at] = row_start[at]
                    stop[at] = row_start[at + 1]
                    for a in range(row_start[at], row_start[at + 1]):
                        total[at] += row_weight[a]
                else:
                    first[at] = <int32_t>held
                    left = nodes[at].left
                    total[at] = total[left] + total[left + 1]
                    a = first[left]
                    a_stop = stop[left]
                    b = first[left + 1]
                    b_stop = stop[left + 1]
                    while a < a_stop or b < b_stop:
                        if b >= b_stop or (a < a_stop and klass[a] < klass[b]):
                            klass[held] = klass[a]
                            weight[held] = weight[a]
                            a += 1
                        elif a >= a_stop or klass[b] < klass[a]:
                            klass[held] = klass[b]
                            weight[held] = weight[b]
                            b += 1
                        else:
                            klass[held] = klass[a]
                            weight[held] = weight[a] + weight[b]
                            a += 1
                            b += 1
                        held += 1
                    stop[at] = <int32_t>held
        if i > 0:
            room *= 2
            class_array = np.resize(class_array, room)
            weight_array = np.resize(weight_array, room)
            klass = class_array
            weight = weight_array
    return (order_array, parent_array, total_array, first_array, stop_array, class_array[:held].copy(),
            weight_array[:held].copy())


cdef double keep(double above, const double* strengths, const double* mix, Py_ssize_t n_strengths) noexcept nogil:
    """Return how much a node keeps of its own shares below a node of some weight: the mean over strengths."""
    cdef Py_ssize_t k
    cdef double kept = 0
    if n_strengths == 1 and strengths[0] == 0:
        return 1.0
    for k in range(n_strengths):
        kept += mix[k] * above / (above + strengths[k])
    return 1.0 if kept > ENOUGH else kept


cdef void add_shares(const Sums* s, const int32_t* leaf, Py_ssize_t n, const double* strengths, const double* mix,
                     Py_ssize_t n_strengths, double* votes, Py_ssize_t n_columns) noexcept nogil:
    """Add the shrunk class shares of leaves to the votes of the records that reached them; -1 for none."""
    cdef Py_ssize_t i, j
    cdef int32_t at, above
    cdef double given, kept, scale
    for i in range(n):
        at = leaf[i]
        if at < 0 or s.total[0] <= 0:
            continue
        given = 0
        while True:
            above = s.parent[at]
            kept = 1.0 if above < 0 else keep(s.total[above], strengths, mix, n_strengths)
            if s.total[at] > 0:     # an empty leaf leaves its say to the node above it
                scale = (kept - given) / s.total[at]
                given = kept
                for j in range(s.first[at], s.stop[at]):
                    votes[i * n_columns + s.klass[j]] += scale * s.weight[j]
                if kept == 1.0:
                    break
            if above < 0:
                break
            at = above


def vote(const Node[::1] nodes, const uint64_t[::1] category_bits, const int32_t[::1] parent, const double[::1] total,
         const int32_t[::1] first, const int32_t[::1] stop, const int32_t[::1] klass, const float[::1] weight,
         const double[::1] strengths, const double[::1] mix, const double[:, ::1] X, double[:, ::1] votes,
         const float[::1] values=None):
    """Send records down one tree and add its shrunk class shares to votes (n, n_classes).

    Parameters
    ----------
    parent, total, first, stop, klass, weight
        What `sum_rows` returned.
    strengths, mix : float64
        The shares are the mean, weighted by mix, of those shrunk by each strength; mix adds up to 1.
    values : float32 (n_nodes,), optional
        Added up in a column more: the value of the leaf that each record reaches.
    """
    cdef Py_ssize_t i, j, n = X.shape[0], m = X.shape[1], width, last = votes.shape[1] - 1
    cdef int32_t leaf[STRIDE]
    cdef Sums s
    if n == 0 or (klass.shape[0] == 0 and values is None):
        return
    s = Sums(&parent[0], &total[0], &first[0], &stop[0], &klass[0], &weight[0])     # not read where nothing is held
    with nogil:
        i = 0
        while i < n:
            width = min(<Py_ssize_t>STRIDE, n - i)
            walk(&nodes[0], &category_bits[0], &X[i, 0], NULL, width, m, category_bits.shape[0] > 1, leaf)
            add_shares(&s, leaf, width, &strengths[0], &mix[0], strengths.shape[0], &votes[i, 0], votes.shape[1])
            if values is not None:
                for j in range(width):
                    votes[i + j, last] += values[leaf[j]]
            i += width


def vote_each(const int32_t[::1] leaf, const int32_t[::1] parent, const double[::1] total, const int32_t[::1] first,
              const int32_t[::1] stop, const int32_t[::1] klass, const float[::1] weight,
              const double[::1] strengths, double[:, :, ::1] votes):
    """Add the class shares of leaves already reached, shrunk by each strength, to votes (n_strengths, n, n_classes)."""
    cdef Py_ssize_t k
    cdef double one = 1.0
    cdef Sums s
    if leaf.shape[0] == 0 or klass.shape[0] == 0:
        return
    s = Sums(&parent[0], &total[0], &first[0], &stop[0], &klass[0], &weight[0])
    with nogil:
        for k in range(strengths.shape[0]):
            add_shares(&s, &leaf[0], leaf.shape[0], &strengths[k], &one, 1, &votes[k, 0, 0], votes.shape[2])


def vote_from(const int32_t[::1] leaf, const int32_t[::1] parent, const double[::1] total, const int32_t[::1] first,
              const int32_t[::1] stop, const int32_t[::1] klass, const float[::1] weight,
              const double[::1] strengths, const double[::1] mix, double[:, ::1] votes):
    """Add what `vote` adds, for leaves already reached, to votes (n, n_classes)."""
    cdef Sums s
    if leaf.shape[0] == 0 or klass.shape[0] == 0:
        return
    s = Sums(&parent[0], &total[0], &first[0], &stop[0], &klass[0], &weight[0])
    with nogil:
        add_shares(&s, &leaf[0], leaf.shape[0], &strengths[0], &mix[0], strengths.shape[0], &votes[0, 0],
                   votes.shape[1])
