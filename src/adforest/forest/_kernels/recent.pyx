"""Predictions from the last labelled samples: neighbours by shared leaves, and classes that follow each other."""
from libc.stdint cimport int32_t, int64_t

import numpy as np


def probabilities(const double[:, ::1] votes, const int32_t[:, ::1] leaves, const int32_t[:, ::1] near_leaves,
                  const int32_t[::1] near_y, const double[::1] near_weight, double own_weight,
                  const double[::1] frequencies, int power):
    """Return class probabilities by the votes, by neighbours, and by class frequencies, float64 (3, n, n_classes).

    Neighbours of a sample are others, each by weight * proximity ** power with proximity the fraction of trees in which both
    reach the same leaf (Breiman 2001), and the probabilities by the votes times own_weight.

    Parameters
    ----------
    votes : float64 (n, n_classes)
        Scaled to a sum of 1; where all are 0, each class has the same probability.
    leaves : int32 (n_trees, n)
    near_leaves : int32 (n_trees, n_near)
        Leaves of the others.
    near_y : int32 (n_near,)
        Their classes.
    near_weight : float64 (n_near,)
    frequencies : float64 (n_classes,)
        Adding up to 1.
    """
    cdef Py_ssize_t n = votes.shape[0], n_classes = votes.shape[1], n_trees = leaves.shape[0], n_near = near_y.shape[0]
    cdef Py_ssize_t i, j, k
    found_array = np.zeros((3, n, n_classes))
    cdef double[:, :, ::1] found = found_array
    cdef int32_t[::1] shared = np.empty(n_near, dtype=np.int32)
    cdef int32_t leaf
    cdef double near, total
    with nogil:
        for i in range(n):
            total = 0
            for k in range(n_classes):
                total += votes[i, k]
            for k in range(n_classes):
                found[0, i, k] = votes[i, k] / total if total > 0 else 1.0 / n_classes
                found[2, i, k] = frequencies[k]
            for j in range(n_near):
                shared[j] = 0
            for k in range(n_trees):
                leaf = leaves[k, i]
                for j in range(n_near):
                    shared[j] += near_leaves[k, j] == leaf
            for j in range(n_near):
                if shared[j]:
                    near = near_weight[j]
                    for k in range(power):
                        near *= <double>shared[j] / n_trees
                    found[1, i, near_y[j]] += near
            total = 0
            for k in range(n_classes):
                found[1, i, k] += own_weight * found[0, i, k]
                total += found[1, i, k]
            for k in range(n_classes):
                found[1, i, k] /= total
    return found_array


cdef Py_ssize_t lower_bound(const int64_t[::1] ascending, int64_t value) noexcept nogil:
    """Return how many values are below one."""
    cdef Py_ssize_t low = 0, high = ascending.shape[0], middle
    while low < high:
        middle = (low + high) // 2
        if ascending[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low


def count_labels(const int32_t[::1] y, Py_ssize_t n_labels, const int64_t[::1] pairs, const int64_t[::1] counts,
                 Py_ssize_t n_classes):
    """Return labels by class: none, the last one, the last n_labels, and those that followed the last one's class.

    Parameters
    ----------
    y : int32 (n,)
        Labels, the last one behind; at least one.
    pairs : int64 (n_pairs,)
        Classes that followed each other, as first * 2 ** 32 + second, ascending.
    counts : int64 (n_pairs,)
        How often they did.

    Returns
    -------
    float64 (4, n_classes)
    """
    cdef Py_ssize_t n = y.shape[0], j
    cdef int64_t first = <int64_t>y[n - 1] << 32
    found_array = np.zeros((4, n_classes))
    cdef double[:, ::1] found = found_array
    with nogil:
        found[1, y[n - 1]] = 1
        for j in range(max(0, n - n_labels), n):
            found[2, y[j]] += 1
        j = lower_bound(pairs, first)
        while j < pairs.shape[0] and pairs[j] < first + (<int64_t>1 << 32):
            found[3, pairs[j] - first] = counts[j]
            j += 1
    return found_array


def merge_pairs(const int64_t[::1] pairs, const int64_t[::1] counts, const int64_t[::1] more):
    """Return pairs and counts after some more pairs; both lists of pairs ascend, more may hold one twice."""
    cdef Py_ssize_t n = pairs.shape[0], m = more.shape[0], i = 0, j = 0, at = 0
    pairs_array, counts_array = np.empty(n + m, dtype=np.int64), np.empty(n + m, dtype=np.int64)
    cdef int64_t[::1] merged = pairs_array, total = counts_array
    with nogil:
        while i < n or j < m:
            if j == m or (i < n and pairs[i] <= more[j]):
                merged[at] = pairs[i]
                total[at] = counts[i]
                i += 1
            else:
                merged[at] = more[j]
                total[at] = 0
            while j < m and more[j] == merged[at]:
                total[at] += 1
                j += 1
            at += 1
    return pairs_array[:at], counts_array[:at]
