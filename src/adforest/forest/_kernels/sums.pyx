"""Class weights of every node of a tree, inner ones included, added up from those of its leaves."""
from libc.stdint cimport int32_t, uint64_t

import numpy as np

from .node cimport Node


def find_order(const Node[::1] nodes):
    """Return all nodes, parents before their children, the parent of each, -1 for the root, and the depth of the tree."""
    cdef Py_ssize_t n_nodes = nodes.shape[0], n_ordered = 0, top = 1
    cdef int32_t at, left, deepest = 0
    order_array = np.empty(n_nodes, dtype=np.int32)
    parent_array = np.full(n_nodes, -1, dtype=np.int32)
    cdef int32_t[::1] order = order_array, parent = parent_array
    cdef int32_t[::1] stack = np.zeros(n_nodes + 1, dtype=np.int32), depth = np.zeros(n_nodes, dtype=np.int32)
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
                depth[left] = depth[at] + 1
                depth[left + 1] = depth[at] + 1
                deepest = max(deepest, depth[left])
                stack[top] = left
                stack[top + 1] = left + 1
                top += 2
    return order_array, parent_array, deepest


def sum_rows(const Node[::1] nodes, const int32_t[::1] order, const int32_t[::1] row_start,
             const int32_t[::1] row_class, const double[::1] row_weight, Py_ssize_t n_classes):
    """Return (total, first, stop, klass, weight): class weights of every node, inner ones included.

    Parameters
    ----------
    order : int32 (n_nodes,)
        All nodes, parents before their children.
    row_start, row_class, row_weight
        Class weights of leaves, see `adforest.forest._kernels.counting`.
    n_classes : int
        Classes are below this.

    Returns
    -------
    total : float64 (n_nodes,)
        Weight of all classes below a node.
    first, stop : int32 (n_nodes,)
    klass : int32
    weight : float32
        Node v holds ``klass[first[v]:stop[v]]``, in ascending order.
    """
    cdef Py_ssize_t n_nodes = nodes.shape[0], i, held, a, b, a_stop, b_stop, room
    cdef int32_t at, left
    total_array = np.zeros(n_nodes)
    first_array = np.zeros(n_nodes, dtype=np.int32)
    stop_array = np.zeros(n_nodes, dtype=np.int32)
    cdef int32_t[::1] first = first_array, stop = stop_array
    cdef double[::1] total = total_array
    # Rows of leaves stay where they were; those of inner nodes follow.
    held = row_class.shape[0]
    room = 8 * held + n_classes
    class_array = np.empty(room, dtype=np.int32)
    weight_array = np.empty(room, dtype=np.float32)
    class_array[:held] = row_class
    weight_array[:held] = row_weight
    cdef int32_t[::1] klass = class_array
    cdef float[::1] weight = weight_array
    i = n_nodes
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
    return total_array, first_array, stop_array, class_array[:held].copy(), weight_array[:held].copy()


cdef class TreeSums:
    """A tree and the class weights of every node of it, inner ones included: what answers are read from.

    Arrays are taken hold of once, so that asking many trees about one record costs little more than their kernels do.

    Attributes
    ----------
    order, parent, depth
        See `find_order`. They are given for a tree whose nodes are those of another one.
    total, first, stop, klass, weight
        See `sum_rows`.
    """

    def __init__(self, const Node[::1] nodes, const uint64_t[::1] category_bits, const int32_t[::1] row_start,
                 const int32_t[::1] row_class, const double[::1] row_weight, Py_ssize_t n_classes, shape=None):
        cdef const int32_t[::1] order, parent, first, stop, klass
        cdef const double[::1] total
        cdef const float[::1] weight
        self._nodes = nodes
        self._category_bits = category_bits
        self.order, self.parent, self.depth = find_order(nodes) if shape is None else shape
        (self.total, self.first, self.stop, self.klass, self.weight) = sum_rows(
            nodes, self.order, row_start, row_class, row_weight, n_classes)
        order, parent, total, first, stop = self.order, self.parent, self.total, self.first, self.stop
        klass, weight = self.klass, self.weight     # empty where the tree holds nothing, and then never read
        self.tree.nodes = &nodes[0]
        self.tree.n_nodes = nodes.shape[0]
        self.tree.category_bits = &category_bits[0]
        self.tree.is_categorical = category_bits.shape[0] > 1
        self.tree.sums = Sums(&order[0], &parent[0], &total[0], &first[0], &stop[0], &klass[0], &weight[0])
        self.tree.values = NULL
