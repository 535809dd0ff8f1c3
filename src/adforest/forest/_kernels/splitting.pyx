"""The best cut of one attribute, as the grower finds it in a node, offered on its own for tests."""
from libc.math cimport INFINITY, log2
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t

import numpy as np


def xlogx_table():
    """Return f(x) = x log2 x for x below 65,536."""
    x = np.arange(TABLE, dtype=np.float64)
    x[1:] *= np.log2(x[1:])
    return x


def best_cut(const uint16_t[::1] codes, const int32_t[::1] classes, const uint8_t[::1] weights, int32_t n_codes,
             Py_ssize_t n_classes, Py_ssize_t min_leaf):
    """Return (gain, low, high, missing_left) of the best cut, or None where there is none.

    The gain is in bits times weight; codes up to ``low`` go left, from ``high`` on right, and ``n_codes`` is the
    code of missing values.
    """
    cdef Py_ssize_t n = codes.shape[0], i
    cdef int64_t total = 0
    cdef double node_sum = 0
    cdef Scratch s
    cdef Cut best
    table = xlogx_table()
    labels_array = (np.asarray(classes, dtype=np.uint32) << 8) | np.asarray(weights, dtype=np.uint32)
    counts = np.zeros((3, n_classes), dtype=np.int32)
    keys = np.empty(n, dtype=np.uint64)
    bucket = np.empty(n_codes + 1, dtype=np.int32)
    histogram = np.empty((n_codes + 1) * n_classes, dtype=np.int32)
    cdef double[::1] table_view = table
    cdef const uint32_t[::1] labels = labels_array
    cdef int32_t[:, ::1] counts_view = counts
    cdef uint64_t[::1] keys_view = keys
    cdef int32_t[::1] bucket_view = bucket
    cdef int32_t[::1] histogram_view = histogram
    s.table = &table_view[0]
    s.count = &counts_view[0, 0]
    s.left = &counts_view[1, 0]
    s.right = &counts_view[2, 0]
    s.keys = &keys_view[0]
    s.bucket = &bucket_view[0]
    s.histogram = &histogram_view[0]
    s.n_classes = n_classes
    s.histogram_size = histogram.size
    for i in range(n):
        s.count[labels[i] >> 8] += labels[i] & MAX_WEIGHT
        total += labels[i] & MAX_WEIGHT
    for i in range(n_classes):
        node_sum += xlogx(s.table, s.count[i])
    best.score = -INFINITY
    best_cut_of(&s, &codes[0], &labels[0], n, n_codes, node_sum, total, min_leaf, &best)
    if best.score == -INFINITY:
        return None
    return best.score - node_sum + xlogx(s.table, total), best.low, best.high, bool(best.missing_left)
