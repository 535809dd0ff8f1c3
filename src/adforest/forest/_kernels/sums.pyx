"""Class weights of every node of a tree, inner ones included, added up from those of its leaves."""
from libc.math cimport log2
from libc.stdint cimport int32_t, uint64_t
from libc.string cimport memcpy

import numpy as np

from .node cimport Node


def find_order(const Node[::1] nodes):
    """Return all nodes, parents before their children, the parent of each, -1 for the root, and its depth; int32 each."""
    cdef Py_ssize_t n_nodes = nodes.shape[0], n_ordered = 0, top = 1
    cdef int32_t at, left
    order_array = np.empty(n_nodes, dtype=np.int32)
    parent_array = np.full(n_nodes, -1, dtype=np.int32)
    depth_array = np.zeros(n_nodes, dtype=np.int32)
    cdef int32_t[::1] order = order_array, parent = parent_array, depth = depth_array
    cdef int32_t[::1] stack = np.zeros(n_nodes + 1, dtype=np.int32)
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
                stack[top] = left
                stack[top + 1] = left + 1
                top += 2
    return order_array, parent_array, depth_array


cdef struct Lists:
    # Class weights of nodes while they are added up, see sum_rows.
    double* total
    int32_t* first
    int32_t* stop
    int32_t* klass
    float* weight


cdef inline void sum_leaf(const Lists* lists, int32_t at, const int32_t* row_start,
                          const double* row_weight) noexcept nogil:
    """Store where the class weights of a leaf are, and add them up."""
    cdef Py_ssize_t a
    lists.first[at] = row_start[at]
    lists.stop[at] = row_start[at + 1]
    lists.total[at] = 0
    for a in range(row_start[at], row_start[at + 1]):
        lists.total[at] += row_weight[a]


cdef inline Py_ssize_t sum_children(const Lists* lists, int32_t at, int32_t left, Py_ssize_t to) noexcept nogil:
    """Write the class weights of a node's children together, from a position on; return the position after them."""
    cdef Py_ssize_t a = lists.first[left], a_stop = lists.stop[left]
    cdef Py_ssize_t b = lists.first[left + 1], b_stop = lists.stop[left + 1]
    cdef const int32_t* klass = lists.klass
    cdef const float* weight = lists.weight
    lists.total[at] = lists.total[left] + lists.total[left + 1]
    lists.first[at] = <int32_t>to
    while a < a_stop or b < b_stop:
        if b >= b_stop or (a < a_stop and klass[a] < klass[b]):
            lists.klass[to] = klass[a]
            lists.weight[to] = weight[a]
            a += 1
        elif a >= a_stop or klass[b] < klass[a]:
            lists.klass[to] = klass[b]
            lists.weight[to] = weight[b]
            b += 1
        else:
            lists.klass[to] = klass[a]
            lists.weight[to] = weight[a] + weight[b]
            a += 1
            b += 1
        to += 1
    lists.stop[at] = <int32_t>to
    return to


cdef sum_rows(const Node[::1] nodes, const int32_t[::1] order, const int32_t[::1] row_start,
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
    cdef Py_ssize_t n_nodes = nodes.shape[0], i, n_rows, room
    cdef int32_t at
    total_array = np.empty(n_nodes)
    first_array = np.empty(n_nodes, dtype=np.int32)
    stop_array = np.empty(n_nodes, dtype=np.int32)
    cdef int32_t[::1] first = first_array, stop = stop_array
    cdef double[::1] total = total_array
    # Rows of leaves stay where they were; those of inner nodes follow.
    n_rows = row_class.shape[0]
    room = 8 * n_rows + n_classes
    class_array = np.empty(room, dtype=np.int32)
    weight_array = np.empty(room, dtype=np.float32)
    class_array[:n_rows] = row_class
    weight_array[:n_rows] = row_weight
    cdef int32_t[::1] klass = class_array
    cdef float[::1] weight = weight_array
    cdef Lists lists
    i = n_nodes
    while i > 0:
        lists = Lists(&total[0], &first[0], &stop[0], &klass[0], &weight[0])
        with nogil:
            while i > 0 and n_rows + n_classes <= room:   # children come after their parents, so they are done first
                i -= 1
                at = order[i]
                if nodes[at].split < 0:
                    sum_leaf(&lists, at, &row_start[0], &row_weight[0])
                else:
                    n_rows = sum_children(&lists, at, nodes[at].left, n_rows)
        if i > 0:
            room *= 2
            class_array = np.resize(class_array, room)
            weight_array = np.resize(weight_array, room)
            klass = class_array
            weight = weight_array
    return total_array, first_array, stop_array, class_array[:n_rows].copy(), weight_array[:n_rows].copy()


cdef sum_changed_rows(TreeSums before, const int32_t[::1] changed, const Node[::1] nodes, const int32_t[::1] row_start,
                      const int32_t[::1] row_class, const double[::1] row_weight, Py_ssize_t n_classes):
    """Return what `sum_rows` does, given the sums of the same nodes before the rows of some leaves were added to.

    The class weights of a node above these leaves are computed again, and stay where they were unless they are of more
    classes: then they follow all others.
    """
    cdef Py_ssize_t n_nodes = nodes.shape[0], i, n, room, n_before = before.n_leaf_rows
    cdef Py_ssize_t n_rows = len(before.klass) + row_class.shape[0] - n_before
    cdef int32_t at, left, shift = <int32_t>(row_class.shape[0] - n_before)
    cdef const int32_t* parent = before.tree.sums.parent
    cdef const int32_t[::1] first_before = before.first, stop_before = before.stop
    first_array = np.empty(n_nodes, dtype=np.int32)
    stop_array = np.empty(n_nodes, dtype=np.int32)
    total_array = before.total.copy()
    cdef int32_t[::1] first = first_array, stop = stop_array
    cdef double[::1] total = total_array
    cdef int32_t[::1] n_waiting = np.zeros(n_nodes, dtype=np.int32)    # what is to be summed before a node
    room = n_rows
    with nogil:
        for i in range(n_nodes):
            first[i] = row_start[i] if nodes[i].split < 0 else first_before[i] + shift
            stop[i] = row_start[i + 1] if nodes[i].split < 0 else stop_before[i] + shift
        for i in range(changed.shape[0]):
            at = changed[i]
            if i > 0 and at == changed[i - 1]:
                continue
            while parent[at] >= 0:
                at = parent[at]
                n_waiting[at] += 1
                if n_waiting[at] > 1:
                    break
                room += min(n_classes, stop[at] - first[at] + changed.shape[0])
    class_array = np.empty(room, dtype=np.int32)
    weight_array = np.empty(room, dtype=np.float32)
    class_array[: row_class.shape[0]] = row_class
    class_array[row_class.shape[0] : n_rows] = before.klass[n_before:]
    weight_array[: row_class.shape[0]] = row_weight
    weight_array[row_class.shape[0] : n_rows] = before.weight[n_before:]
    cdef int32_t[::1] klass = class_array
    cdef float[::1] weight = weight_array
    cdef Lists lists = Lists(&total[0], &first[0], &stop[0], &klass[0], &weight[0])
    with nogil:
        for i in range(changed.shape[0]):
            at = changed[i]
            if i > 0 and at == changed[i - 1]:
                continue
            sum_leaf(&lists, at, &row_start[0], &row_weight[0])
            while parent[at] >= 0:
                at = parent[at]
                n_waiting[at] -= 1
                if n_waiting[at] > 0:
                    break
                left = first[at]
                n = stop[at] - left
                if sum_children(&lists, at, nodes[at].left, n_rows) - n_rows > n:
                    n_rows = stop[at]
                else:   # of the same classes as before
                    memcpy(&weight[left], &weight[n_rows], n * sizeof(float))
                    first[at] = left
                    stop[at] = left + <int32_t>n
    return total_array, first_array, stop_array, class_array[:n_rows], weight_array[:n_rows]


def entropies(TreeSums sums):
    """Return the weight of each node times the entropy of its classes in bits, as float64."""
    cdef Py_ssize_t at, j
    cdef const Sums* s = &sums.tree.sums
    cdef double weight, found
    entropy_array = np.zeros(sums.tree.n_nodes)
    cdef double[::1] entropy = entropy_array
    with nogil:
        for at in range(sums.tree.n_nodes):
            if s.total[at] <= 0 or s.stop[at] - s.first[at] < 2:
                continue
            found = s.total[at] * log2(s.total[at])
            for j in range(s.first[at], s.stop[at]):
                weight = s.weight[j]
                found -= weight * log2(weight)
            entropy[at] = found
    return entropy_array


cdef class TreeSums:
    """A tree and the class weights of every node of it, inner ones included, for predictions.

    Arrays are taken hold of once, so that asking many trees about one sample costs little more than their kernels do.

    Where rows of some leaves were added to and the nodes are those of another tree, its sums and these leaves may be given.

    Attributes
    ----------
    order, parent
        See `find_order`.
    depth : int
        Length of the longest path.
    total, first, stop, klass, weight
        See `sum_rows`.
    n_leaf_rows : int
        How many lines of klass and weight are of leaves; they stand first.
    """

    def __init__(self, const Node[::1] nodes, const uint64_t[::1] category_bits, const int32_t[::1] row_start,
                 const int32_t[::1] row_class, const double[::1] row_weight, TreeSums before=None, changed=None):
        cdef const int32_t[::1] order, parent, first, stop, klass
        cdef const double[::1] total
        cdef const float[::1] weight
        cdef Py_ssize_t i
        cdef int32_t n_classes = 1
        for i in range(row_class.shape[0]):
            n_classes = max(n_classes, row_class[i] + 1)
        self._nodes = nodes
        self._category_bits = category_bits
        self.n_leaf_rows = row_class.shape[0]
        if before is None:
            self.order, self.parent, depth = find_order(nodes)
            self.depth = depth.max()
        else:
            self.order, self.parent, self.depth = before.order, before.parent, before.depth
        if before is None or before.is_sparse:
            self.total, self.first, self.stop, self.klass, self.weight = sum_rows(
                nodes, self.order, row_start, row_class, row_weight, n_classes)
            self._n_dense = len(self.klass)
        else:
            self.total, self.first, self.stop, self.klass, self.weight = sum_changed_rows(
                before, changed, nodes, row_start, row_class, row_weight, n_classes)
            self._n_dense = before._n_dense
        order, parent, total, first, stop = self.order, self.parent, self.total, self.first, self.stop
        klass, weight = self.klass, self.weight     # empty where the tree holds nothing, and then never read
        self.tree.nodes = &nodes[0]
        self.tree.n_nodes = nodes.shape[0]
        self.tree.depth = self.depth
        self.tree.category_bits = &category_bits[0]
        self.tree.is_categorical = category_bits.shape[0] > 1
        self.tree.sums = Sums(&order[0], &parent[0], &total[0], &first[0], &stop[0], &klass[0], &weight[0])
        self.tree.values = NULL

    @property
    def is_sparse(self):
        """Whether so many class weights have moved that most of the lines are no longer read."""
        return len(self.klass) > 2 * self._n_dense
