"""How near samples are to others: the share of a forest's trees in which they reach the same leaf (Breiman 2001)."""
from libc.stdint cimport int32_t

import numpy as np


def weigh_classes(list leaves, const int32_t[:, ::1] other_leaves, const int32_t[::1] other_y,
                  const double[::1] other_weight, Py_ssize_t n_classes):
    """Return by sample and class the sum of weight * proximity ** 4 over others of that class, float64 (n, n_classes).

    Parameters
    ----------
    leaves : list of int32 (n,) arrays
        By tree: the leaf of each sample.
    other_leaves : int32 (n_trees, n_others)
    other_y : int32 (n_others,)
        Classes of the other samples.
    other_weight : float64 (n_others,)
    """
    cdef Py_ssize_t n = leaves[0].shape[0], n_trees = len(leaves), n_others = other_y.shape[0], i, j, k
    totals_array = np.zeros((n, n_classes))
    if n == 0 or n_others == 0:
        return totals_array
    cdef double[:, ::1] totals = totals_array
    cdef int32_t[:, ::1] own = np.ascontiguousarray(np.stack(leaves, axis=1), dtype=np.int32)
    cdef int32_t[::1] shared = np.empty(n_others, dtype=np.int32)
    cdef int32_t leaf
    cdef double near
    with nogil:
        for i in range(n):
            for j in range(n_others):
                shared[j] = 0
            for k in range(n_trees):
                leaf = own[i, k]
                for j in range(n_others):
                    shared[j] += other_leaves[k, j] == leaf
            for j in range(n_others):
                near = <double>shared[j] / n_trees
                totals[i, other_y[j]] += other_weight[j] * near * near * near * near
    return totals_array
