"""The best cut of one attribute, as the grower finds it in a node, offered on its own for tests."""
from libc.math cimport INFINITY, log2
from libc.stdint cimport int32_t, uint16_t, uint32_t, uint64_t

import numpy as np


def xlogx_table():
    """Return f(x) = x log2 x for x below 65,536."""
    x = np.arange(TABLE, dtype=np.float64)
    x[1:] *= np.log2(x[1:])
    return x


def best_cut(const uint16_t[::1] codes, const int32_t[::1] classes, const uint16_t[::1] weights, int32_t n_codes,
             Py_ssize_t n_classes, Py_ssize_t min_leaf, bint gini=False):
    """Return (gain, low, high, missing_left) of the best cut, or None where there is none.

    The gain is in bits or Gini impurity, times weight; codes up to ``low`` go left, from ``high`` on right, and
    ``n_codes`` is the code of missing values.
    """
    cdef Py_ssize_t n = codes.shape[0], i, present
    cdef int64_t total = 0
    cdef double node_sum = 0
    cdef Scratch s
    cdef Cut best
    table = xlogx_table()
    records_array = (np.arange(n, dtype=np.uint64) << 32) | (np.asarray(classes, dtype=np.uint64) << CLASS_SHIFT) | weights
    counts = np.zeros((2, n_classes), dtype=np.int32)
    keys = np.empty(n, dtype=np.uint64)
    by_code = np.empty((2, n_codes + 1), dtype=np.int32)
    histogram = np.empty((n_codes + 1) * n_classes, dtype=np.uint64)
    cdef double[::1] table_view = table
    cdef const uint64_t[::1] samples = records_array
    cdef int32_t[:, ::1] counts_view = counts
    cdef uint64_t[::1] keys_view = keys
    cdef int32_t[:, ::1] by_code_view = by_code
    cdef uint64_t[::1] histogram_view = histogram
    s.gini = gini
    s.table = &table_view[0]
    s.left = &counts_view[0, 0]
    s.right = &counts_view[1, 0]
    s.keys = &keys_view[0]
    s.bucket = &by_code_view[0, 0]
    s.order = &by_code_view[1, 0]
    s.histogram = &histogram_view[0]
    s.n_classes = n_classes
    s.histogram_size = histogram.size
    for i in range(n):
        s.right[class_of(samples[i])] += samples[i] & MAX_WEIGHT
        total += samples[i] & MAX_WEIGHT
    for i in range(n_classes):
        node_sum += <double>s.right[i] * s.right[i] if gini else xlogx(s.table, s.right[i])
    best.score = -INFINITY
    if suits_histogram(&s, n, n_codes):
        present = fill_histogram(&s, &codes[0], &samples[0], n, n_codes)
        try_histogram(&s, present, n_codes, n, count_missing(&s, n_codes), node_sum, total, min_leaf, &best)
        if best.score > -INFINITY:
            name_codes(&s, present, n_codes, &best)
    else:
        sort_keys(&s, &codes[0], &samples[0], n, n_codes)
        try_keys(&s, s.keys, n, count_known(s.keys, n, n_codes), n_codes, node_sum, total, min_leaf, &best)
    if best.score == -INFINITY:
        return None
    return best.score - no_gain(s.table, node_sum, total, gini), best.low, best.high, bool(best.missing_left)
