"""Move rows of arrays in runs: memory drops single samples, and the rows between them move up."""
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy

import numpy as np

cdef enum:
    STEP = 64   # rows by which the end of a run is looked for


def take(values, kept):
    """Return ``values[kept]`` for an array of one or two dimensions and ascending positions, none of them twice."""
    out = np.empty((len(kept), *values.shape[1:]), dtype=values.dtype)
    take_into(values, kept, out)
    return out


def take_into(values, const int64_t[::1] kept, out):
    """Write ``values[kept]`` to the first rows of a contiguous array of the same type, see `take`.

    Long runs of neighbours are copied as blocks, many times faster than row by row.
    """
    if kept.shape[0] == 0 or values.size == 0:
        return
    cdef const uint8_t[:, ::1] rows = np.ascontiguousarray(values).view(np.uint8).reshape(len(values), -1)
    cdef uint8_t[:, ::1] taken = out.view(np.uint8).reshape(len(out), -1)
    cdef Py_ssize_t n = kept.shape[0], width = rows.shape[1], i = 0, stop
    with nogil:
        while i < n:
            stop = i + 1
            while stop + STEP <= n and kept[stop + STEP - 1] - kept[i] == stop + STEP - 1 - i:
                stop += STEP
            while stop < n and kept[stop] - kept[i] == stop - i:
                stop += 1
            memcpy(&taken[i, 0], &rows[kept[i], 0], (stop - i) * width)
            i = stop
