"""Turn raw columns into small integer codes, so that a node can count instead of sort."""
from libc.stdint cimport int32_t, uint16_t

import numpy as np

cdef enum:
    SAMPLE = 8192   # samples that are enough to place 255 quantiles
    BLOCK = 256     # rows that are coded column by column, so that their cache lines are read once


def bin_columns(const double[:, ::1] X, const int32_t[::1] n_categories, Py_ssize_t max_bins):
    """Code every column by quantiles of its values; categorical columns keep their own codes.

    Parameters
    ----------
    X : float64 (n, m)
        Raw samples; NaN is missing.
    n_categories : int32 (m,)
        0 for numerical columns, otherwise the number of categories known.
    max_bins : int
        The most codes a numerical column may have, missing not counted; at most 255.

    Returns
    -------
    codes : uint16 (m, n)
        ``n_codes[j]`` stands for missing in column j.
    edges : float64 (m, 256)
        ``edges[j, c]`` is the largest value with code c, infinite from the last code of a column on.
    n_codes : int32 (m,)
    """
    cdef Py_ssize_t n = X.shape[0], m = X.shape[1], i, j, known, step, start, stop, half
    codes_array = np.empty((m, n), dtype=np.uint16)
    edges_array = np.full((m, EDGES), np.inf)
    n_codes_array = np.empty(m, dtype=np.int32)
    cdef uint16_t[:, ::1] codes = codes_array
    cdef double[:, ::1] edges = edges_array
    cdef int32_t[::1] n_codes = n_codes_array
    cdef double value
    step = (n + SAMPLE - 1) // SAMPLE if n > SAMPLE else 1
    sample_array = np.empty(n // step)
    cdef double[::1] sample = sample_array
    for j in range(m):
        if n_categories[j] > 0:
            n_codes[j] = n_categories[j]
            continue
        for i in range(n // step):
            sample[i] = X[jitter(i, step), j]
        sample_array.sort()     # missing values come last
        known = n // step
        while known > 0 and sample[known - 1] != sample[known - 1]:
            known -= 1
        n_codes[j] = <int32_t>find_edges(&sample[0], known, max_bins, &edges[j, 0])
    with nogil:
        start = 0
        while start < n:
            stop = min(start + BLOCK, n)
            for j in range(m):
                if n_categories[j] > 0:
                    for i in range(start, stop):
                        value = X[i, j]
                        codes[j, i] = <uint16_t>value if value == value else <uint16_t>n_categories[j]
                else:
                    half = first_half(n_codes[j])
                    for i in range(start, stop):
                        codes[j, i] = code_of(X[i, j], &edges[j, 0], n_codes[j], half)
            start = stop
    return codes_array, edges_array, n_codes_array
