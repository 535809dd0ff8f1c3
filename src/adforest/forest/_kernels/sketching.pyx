"""Count the values of many columns in a few cells each."""
from libc.stdint cimport int32_t, int64_t, uint8_t

import numpy as np

cdef enum:
    BOUNDS = 15     # of a column
    CELLS = 17      # one more than bounds, and one for missing values


def count_cells(const double[:, ::1] X, const int64_t[::1] rows, const double[:, ::1] bounds,
                const int32_t[::1] n_categories, const int32_t[::1] n_known):
    """Count some samples by column and cell.

    A number is in the cell of that many bounds as are below it, a category in the cell of the bound that is its code,
    or in cell 15 if none is; missing values are in cell 16.

    Parameters
    ----------
    X : float64 (n, m)
        Samples; NaN is missing.
    rows : int64
        Places of those to be counted.
    bounds : float64 (m, 15)
        Ascending, infinite behind the last one.
    n_categories : int32 (m,)
        0 for columns of numbers.
    n_known : int32 (m,)
        Categories from this code on are counted as unseen; nowhere in a column where it is 0.

    Returns
    -------
    counts : int64 (m, 17)
    unseen : int64 (m,)
    is_mixed : uint8 (m, 17)
        Whether a cell holds different values.
    """
    cdef Py_ssize_t m = X.shape[1], i, j, cell
    if bounds.shape[0] != m or bounds.shape[1] != BOUNDS or n_categories.shape[0] != m or n_known.shape[0] != m:
        raise ValueError(f"bounds, n_categories and n_known must be those of {m} columns")
    counts_array = np.zeros((m, CELLS), dtype=np.int64)
    unseen_array = np.zeros(m, dtype=np.int64)
    mixed_array = np.zeros((m, CELLS), dtype=np.uint8)
    first_array = np.empty((m, CELLS))
    cdef int64_t[:, ::1] counts = counts_array
    cdef int64_t[::1] unseen = unseen_array
    cdef uint8_t[:, ::1] is_mixed = mixed_array
    cdef double[:, ::1] first = first_array     # value by which a cell was entered first
    cdef const double *bound
    cdef double value
    with nogil:
        for i in range(rows.shape[0]):
            for j in range(m):
                value, bound = X[rows[i], j], &bounds[j, 0]
                if value != value:
                    counts[j, CELLS - 1] += 1
                    continue
                # A binary search without branches, which could not be foretold.
                cell = 8 * (bound[7] < value)
                cell += 4 * (bound[cell + 3] < value)
                cell += 2 * (bound[cell + 1] < value)
                cell += bound[cell] < value
                if n_categories[j] > 0:
                    if cell == BOUNDS or bound[cell] != value:
                        cell = BOUNDS
                    if 0 < n_known[j] and n_known[j] <= value:
                        unseen[j] += 1
                if counts[j, cell] == 0:
                    first[j, cell] = value
                is_mixed[j, cell] |= first[j, cell] != value
                counts[j, cell] += 1
    return counts_array, unseen_array, mixed_array
