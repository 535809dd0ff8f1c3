"""Class counts in leaves: tally a batch by leaf, compare it with the counts of the leaves, merge it in.

A tree's counts are rows, one per node, empty for inner nodes:

    row_start   | 0 | 0 | 2 | 3 | ...        node i holds row_class[row_start[i]:row_start[i + 1]]
    row_class   | 0 5 | 5 | ...              ascending within a row
    row_weight  | 7 1 | 4 | ...
"""
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t, uint16_t
from libc.string cimport memchr, memcpy, memset

import numpy as np

cdef enum:
    MASK = (1 << DIGIT) - 1


def tally(const int32_t[::1] leaf, const int32_t[::1] y, const uint16_t[::1] weights, Py_ssize_t n_nodes):
    """Return (row_node, row_class, row_weight): the weight of each class in each leaf, ascending by leaf and class.

    Samples whose leaf is negative or whose weight is 0 are left out.
    """
    cdef Py_ssize_t n = leaf.shape[0], i, total = 0
    cdef int32_t[::1] node = np.empty(n, dtype=np.int32), klass = np.empty(n, dtype=np.int32)
    cdef double[::1] weight = np.empty(n, dtype=np.float64)
    with nogil:
        for i in range(n):
            node[total] = leaf[i]   # overwritten by the next sample where this one does not count
            klass[total] = y[i]
            weight[total] = weights[i]
            total += leaf[i] >= 0 and weights[i] > 0
    return put_in_order(node[:total], klass[:total], weight[:total], n_nodes)


def compare(const int32_t[::1] row_start, const int32_t[::1] row_class, const double[::1] row_weight,
            const int32_t[::1] new_node, const int32_t[::1] new_class, const double[::1] new_weight):
    """Compare class weights of leaves with those of a tally; one entry for each leaf of the tally.

    Returns
    -------
    leaf : int32
        The leaf's number.
    statistics : float64 (7, n_leaves)
        Total and largest class weight before; total and largest class weight of the tally; largest class weight of both
        together; weight of the tally in the class that the leaf predicts (its most frequent, the first among equals);
        number of classes of both together.
    """
    cdef Py_ssize_t n = new_node.shape[0], i = 0, j, stop, old, old_stop, leaves = 0
    cdef int32_t node, predicted, k
    cdef double before, max_before, in_batch, max_batch, max_merged, in_predicted, weight
    cdef int64_t classes
    leaf_array = np.empty(n, dtype=np.int32)
    statistics_array = np.empty((7, n))
    cdef int32_t[::1] leaf = leaf_array
    cdef double[:, ::1] statistics = statistics_array
    with nogil:
        while i < n:
            node = new_node[i]
            old = row_start[node]
            old_stop = row_start[node + 1]
            before = max_before = in_batch = max_batch = max_merged = in_predicted = 0
            predicted = -1
            for j in range(old, old_stop):
                before += row_weight[j]
                if row_weight[j] > max_before:
                    max_before = row_weight[j]
                    predicted = row_class[j]
            classes = old_stop - old
            max_merged = max_before
            stop = i
            while stop < n and new_node[stop] == node:
                k = new_class[stop]
                weight = new_weight[stop]
                in_batch += weight
                max_batch = max(max_batch, weight)
                if k == predicted:
                    in_predicted = weight
                while old < old_stop and row_class[old] < k:
                    old += 1
                if old < old_stop and row_class[old] == k:
                    max_merged = max(max_merged, weight + row_weight[old])
                else:
                    max_merged = max(max_merged, weight)
                    classes += 1
                stop += 1
            leaf[leaves] = node
            statistics[0, leaves] = before
            statistics[1, leaves] = max_before
            statistics[2, leaves] = in_batch
            statistics[3, leaves] = max_batch
            statistics[4, leaves] = max_merged
            statistics[5, leaves] = in_predicted
            statistics[6, leaves] = classes
            leaves += 1
            i = stop
    return leaf_array[:leaves].copy(), np.ascontiguousarray(statistics_array[:, :leaves])


cdef bint is_in_order(const int32_t[::1] node, const int32_t[::1] klass) noexcept nogil:
    """Return whether lines ascend by node and class, none with the same of both."""
    cdef Py_ssize_t i
    for i in range(1, node.shape[0]):
        if node[i] < node[i - 1] or (node[i] == node[i - 1] and klass[i] <= klass[i - 1]):
            return False
    return True


cdef void sort_by_class(int32_t* klass, double* weight, Py_ssize_t n, int32_t* spare_class, double* spare_weight,
                        Py_ssize_t* count) noexcept nogil:
    """Sort lines by class, those of one class as they are; the spare arrays have room for n, count for 2 ** DIGIT."""
    cdef Py_ssize_t i, at, seen, moved
    cdef int shift = 0
    cdef int32_t largest = 0
    for i in range(n):
        largest = max(largest, klass[i])
    while shift < 32 and largest >> shift > 0:
        memset(count, 0, (1 << DIGIT) * sizeof(Py_ssize_t))
        for i in range(n):
            count[(klass[i] >> shift) & MASK] += 1
        seen = 0
        for i in range(1 << DIGIT):
            moved = count[i]
            count[i] = seen
            seen += moved
        for i in range(n):
            at = count[(klass[i] >> shift) & MASK]
            count[(klass[i] >> shift) & MASK] += 1
            spare_class[at] = klass[i]
            spare_weight[at] = weight[i]
        memcpy(klass, spare_class, n * sizeof(int32_t))
        memcpy(weight, spare_weight, n * sizeof(double))
        shift += DIGIT


cpdef put_in_order(const int32_t[::1] node, const int32_t[::1] klass, const double[::1] weight, Py_ssize_t n_nodes):
    """Return the lines ascending by node and class, those that share both added up; nodes are below n_nodes."""
    cdef Py_ssize_t n = node.shape[0], i, j, at, first = 0, rows = 0
    cdef int32_t k
    cdef double moving
    node_array = np.empty(n, dtype=np.int32)
    class_array = np.empty(n, dtype=np.int32)
    weight_array = np.empty(n, dtype=np.float64)
    cdef int32_t[::1] start = np.zeros(n_nodes + 1, dtype=np.int32)
    cdef int32_t[::1] in_node = node_array, in_class = class_array
    cdef double[::1] in_weight = weight_array
    cdef bint is_many = n > FEW
    cdef int32_t[::1] spare_class = np.empty(n if is_many else 1, dtype=np.int32)
    cdef double[::1] spare_weight = np.empty(n if is_many else 1)
    cdef Py_ssize_t[::1] count = np.empty(1 << DIGIT if is_many else 1, dtype=np.intp)
    with nogil:
        for i in range(n):
            start[node[i] + 1] += 1
        for i in range(n_nodes):
            start[i + 1] += start[i]
        for i in range(n):
            at = start[node[i]]
            start[node[i]] += 1
            in_node[at] = node[i]
            in_class[at] = klass[i]
            in_weight[at] = weight[i]
        for i in range(n):      # earlier lines are in order
            if rows == 0 or in_node[rows - 1] != in_node[i]:
                first = rows
                if start[in_node[i]] - i > FEW:     # a node's start has moved to the end of its lines
                    sort_by_class(&in_class[i], &in_weight[i], start[in_node[i]] - i, &spare_class[0], &spare_weight[0],
                                  &count[0])
            k = in_class[i]
            moving = in_weight[i]
            j = rows
            while j > first and in_class[j - 1] > k:
                j -= 1
            if j > first and in_class[j - 1] == k:
                in_weight[j - 1] += moving
                continue
            for at in range(rows, j, -1):
                in_class[at] = in_class[at - 1]
                in_weight[at] = in_weight[at - 1]
            in_node[rows] = in_node[i]
            in_class[j] = k
            in_weight[j] = moving
            rows += 1
    return node_array[:rows].copy(), class_array[:rows].copy(), weight_array[:rows].copy()


def merge(const int32_t[::1] row_start, const int32_t[::1] row_class, const double[::1] row_weight,
          const double[::1] row_scale, const uint8_t[::1] dropped, const int32_t[::1] new_node,
          const int32_t[::1] new_class, const double[::1] new_weight, Py_ssize_t n_nodes):
    """Return rows that hold the old weights, but for nodes marked as dropped by a 1, plus those of a tally.

    The tally may be in any order and name a class of a node several times; ``n_nodes`` may exceed the nodes there were.
    The last of the arrays is each row's scale, one over its total (0 for empty rows).
    """
    if not is_in_order(new_node, new_class):
        new_node, new_class, new_weight = put_in_order(new_node, new_class, new_weight, n_nodes)
    cdef Py_ssize_t n_old = row_start.shape[0] - 1, n_new = new_node.shape[0], node, old, stop, i, at
    cdef Py_ssize_t n_rows = row_class.shape[0] + n_new
    if n_rows > INT32_MAX:
        raise ValueError(f"the leaves hold {n_rows} class counts; a tree can number {INT32_MAX}")
    old = 0
    with nogil:
        for node in range(n_old):
            if dropped[node]:
                n_rows -= row_start[node + 1] - row_start[node]
        for i in range(n_new):
            node = new_node[i]
            if node < n_old and not dropped[node]:
                if i == 0 or new_node[i - 1] != node:
                    old = row_start[node]
                while old < row_start[node + 1] and row_class[old] < new_class[i]:
                    old += 1
                n_rows -= old < row_start[node + 1] and row_class[old] == new_class[i]
    start_array = np.empty(n_nodes + 1, dtype=np.int32)
    class_array = np.empty(n_rows, dtype=np.int32)
    weight_array = np.empty(n_rows, dtype=np.float64)
    scale_array = np.empty(n_nodes, dtype=np.float64)
    cdef int32_t[::1] start = start_array, out_class = class_array
    cdef double[::1] out_weight = weight_array, scale = scale_array
    cdef double total
    cdef const void* gone
    with nogil:
        node = i = at = 0
        while node < n_nodes:
            stop = n_old if i == n_new else min(n_old, <Py_ssize_t>new_node[i])
            if stop > node:     # up to there rows stay as they are, but for those dropped
                gone = memchr(&dropped[node], 1, stop - node)
                if gone != NULL:
                    stop = <const uint8_t*>gone - &dropped[0]
            if stop > node:
                copy_rows(row_start, row_class, row_weight, row_scale, node, stop, start, out_class, out_weight, scale,
                          at)
                at += row_start[stop] - row_start[node]
                node = stop
                continue
            start[node] = <int32_t>at
            old = stop = 0
            if node < n_old and not dropped[node]:
                old = row_start[node]
                stop = row_start[node + 1]
            total = 0
            while old < stop or (i < n_new and new_node[i] == node):
                if old < stop and (i >= n_new or new_node[i] != node or row_class[old] < new_class[i]):
                    out_class[at] = row_class[old]
                    out_weight[at] = row_weight[old]
                    old += 1
                elif old < stop and row_class[old] == new_class[i]:
                    out_class[at] = row_class[old]
                    out_weight[at] = row_weight[old] + new_weight[i]
                    old += 1
                    i += 1
                else:
                    out_class[at] = new_class[i]
                    out_weight[at] = new_weight[i]
                    i += 1
                total += out_weight[at]
                at += 1
            scale[node] = 1 / total if total > 0 else 0
            node += 1
        start[n_nodes] = <int32_t>at
    return start_array, class_array, weight_array, scale_array


cdef inline void copy_rows(const int32_t[::1] row_start, const int32_t[::1] row_class, const double[::1] row_weight,
                           const double[::1] row_scale, Py_ssize_t node, Py_ssize_t stop, int32_t[::1] start,
                           int32_t[::1] out_class, double[::1] out_weight, double[::1] scale,
                           Py_ssize_t at) noexcept nogil:
    """Copy the rows of some nodes to where they belong."""
    cdef Py_ssize_t i, first = row_start[node], shift = at - first
    for i in range(node, stop):
        start[i] = <int32_t>(row_start[i] + shift)
        scale[i] = row_scale[i]
    for i in range(first, row_start[stop]):
        out_class[i + shift] = row_class[i]
        out_weight[i + shift] = row_weight[i]


def gather(const int32_t[::1] leaf_of, const int32_t[::1] y, const int32_t[::1] leaves, Py_ssize_t n_nodes):
    """Return the samples in some leaves, one leaf after the other, but for leaves whose samples are all of one class.

    Returns
    -------
    indices : int32
        Places of samples, ascending within a leaf.
    group_start : int64 (n_groups + 1,)
        Group g is ``indices[group_start[g]:group_start[g + 1]]``.
    group_node : int32 (n_groups,)
        The leaf of each group, ascending.
    """
    cdef Py_ssize_t n = leaf_of.shape[0], i, found = 0, n_marked = 0, n_groups = 0, total = 0
    cdef int32_t node, k
    cdef int32_t[::1] group = np.full(n_nodes + 1, -1, dtype=np.int32)  # a sample in no leaf reads the last entry
    cdef int32_t[::1] row_index = np.empty(n, dtype=np.int32)
    cdef int64_t[::1] count = np.zeros(leaves.shape[0], dtype=np.int64)
    cdef int32_t[::1] first_class = np.empty(leaves.shape[0], dtype=np.int32)
    cdef uint8_t[::1] is_mixed = np.zeros(leaves.shape[0], dtype=np.uint8)
    start_array = np.zeros(leaves.shape[0] + 1, dtype=np.int64)
    node_array = np.empty(leaves.shape[0], dtype=np.int32)
    cdef int64_t[::1] start = start_array
    cdef int32_t[::1] group_node = node_array
    with nogil:
        for i in range(leaves.shape[0]):
            group[leaves[i]] = 0
        for i in range(n_nodes):
            if group[i] == 0:
                group[i] = <int32_t>n_marked
                group_node[n_marked] = <int32_t>i
                n_marked += 1
        for i in range(n):
            row_index[found] = <int32_t>i   # overwritten by the next sample where this one is in none of the leaves
            node = leaf_of[i]
            found += group[node if node >= 0 else n_nodes] >= 0
        for i in range(found):
            k = group[leaf_of[row_index[i]]]
            if count[k] == 0:
                first_class[k] = y[row_index[i]]
            is_mixed[k] |= y[row_index[i]] != first_class[k]
            count[k] += 1
        for i in range(n_marked):
            node = group_node[i]
            group[node] = -1
            if is_mixed[i]:
                group[node] = <int32_t>n_groups
                group_node[n_groups] = node
                start[n_groups] = total
                total += count[i]
                n_groups += 1
    index_array = np.empty(total, dtype=np.int32)
    cdef int32_t[::1] indices = index_array
    with nogil:
        for i in range(found):
            k = group[leaf_of[row_index[i]]]
            if k >= 0:
                indices[start[k]] = row_index[i]
                start[k] += 1
        for i in range(n_groups, 0, -1):    # each start has moved to where the next one was
            start[i] = start[i - 1]
        start[0] = 0
    return index_array, start_array[: n_groups + 1].copy(), node_array[:n_groups].copy()


def recency(const int32_t[::1] order, const int32_t[::1] parent, const double[::1] total, const int32_t[::1] young,
            double expected, const double[::1] weight=None):
    """Return by node, as float32, the density of young samples about it relative to the whole tree; 1 at most.

    Parameters
    ----------
    order, parent, total
        See `sums.TreeSums`: nodes, parents before children; each node's parent; weight below it.
    young : int32
        The leaf of each young sample; negative for samples that do not count.
    expected : float
        About a node are the samples below it. But where they are so few that, by their fractions in the whole tree,
        fewer than these are to be expected of the young or of the old, it is those about its parent.
    weight : float64, optional
        How much each young sample counts, by default once.

    Returns
    -------
    float32 (n_nodes,)
        1 everywhere where no young sample counts, or only young ones do.
    """
    cdef Py_ssize_t n_nodes = order.shape[0], i
    cdef bint is_weighted = weight is not None
    cdef int32_t at
    density_array = np.ones(n_nodes, dtype=np.float32)
    cdef float[::1] density = density_array
    cdef double[::1] below = np.zeros(n_nodes)
    cdef double scale, at_least, one = 1, n_young = 0
    with nogil:
        for i in range(young.shape[0]):
            if young[i] >= 0:
                if is_weighted:
                    one = weight[i]
                n_young += one
                below[young[i]] += one
        if 0 < n_young < total[0]:
            for i in range(n_nodes - 1, 0, -1):
                at = order[i]
                below[parent[at]] += below[at]
            scale = total[0] / n_young
            at_least = max(1.0, expected * total[0] / min(n_young, total[0] - n_young))
            for i in range(1, n_nodes):
                at = order[i]
                density[at] = density[parent[at]]
                if total[at] >= at_least:
                    density[at] = <float>min(1.0, below[at] * scale / total[at])
    return density_array

