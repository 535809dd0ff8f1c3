from libc.math cimport INFINITY
from libc.stdint cimport uint16_t, uint32_t, uint64_t

cdef enum:
    EDGES = 256     # room for the bounds of 255 bins, padded to a power of two

cdef struct Pair:
    double value
    uint32_t item


cdef inline void sort_pairs(Pair* pairs, Pair* spare, Py_ssize_t n) noexcept nogil:
    """Sort pairs by value, stably; spare is scratch of the same length."""
    cdef Py_ssize_t run = 8, start, stop, middle, i, j, k
    cdef Pair moving
    cdef Pair* source = pairs
    cdef Pair* target = spare
    cdef Pair* swap
    start = 0
    while start < n:
        stop = min(start + run, n)
        for i in range(start + 1, stop):
            moving = pairs[i]
            j = i
            while j > start and pairs[j - 1].value > moving.value:
                pairs[j] = pairs[j - 1]
                j -= 1
            pairs[j] = moving
        start = stop
    while run < n:
        start = 0
        while start < n:
            middle = min(start + run, n)
            stop = min(middle + run, n)
            i = start
            j = middle
            k = start
            while i < middle and j < stop:
                if source[j].value < source[i].value:
                    target[k] = source[j]
                    j += 1
                else:
                    target[k] = source[i]
                    i += 1
                k += 1
            while i < middle:
                target[k] = source[i]
                i += 1
                k += 1
            while j < stop:
                target[k] = source[j]
                j += 1
                k += 1
            start = stop
        swap = source
        source = target
        target = swap
        run *= 2
    if source != pairs:
        for i in range(n):
            pairs[i] = source[i]


cdef inline double between(double low, double high) noexcept nogil:
    """Return a threshold t with low <= t < high, the middle where floating point has one."""
    cdef double middle = low / 2 + high / 2
    if middle >= low and middle < high:
        return middle
    return low


cdef inline Py_ssize_t find_edges(const double* values, Py_ssize_t n, Py_ssize_t max_bins,
                                  double* edges) noexcept nogil:
    """Write the upper bounds of at most max_bins quantile bins of sorted values; return how many bins there are.

    Few distinct values get a bin each. Otherwise a bin is closed once it holds its part of what is left, and before a
    value that fills a bin by itself. Nothing but missing values makes one empty bin.
    """
    cdef Py_ssize_t distinct = 1, i, stop, start = 0, bins = 0
    cdef double size = 0
    for i in range(EDGES):
        edges[i] = INFINITY
    for i in range(1, n):
        if values[i] != values[i - 1]:
            distinct += 1
    i = 0
    while i < n:
        stop = i + 1
        while stop < n and values[stop] == values[i]:
            stop += 1
        if distinct > max_bins:
            size = <double>(n - start) / (max_bins - bins)
        if i > 0 and bins < max_bins - 1 and (i - start >= size or stop - i >= size):
            edges[bins] = between(values[i - 1], values[i])
            bins += 1
            start = i
        i = stop
    return bins + 1


cdef inline Py_ssize_t jitter(Py_ssize_t i, Py_ssize_t step) noexcept nogil:
    """Return a position in the i-th run of step samples, lest samples that come in turns fool a regular sample."""
    cdef uint64_t z = <uint64_t>i * <uint64_t>0x9e3779b97f4a7c15
    z ^= z >> 32
    z = z * <uint64_t>0xd6e8feb86659fd93 >> 32
    return i * step + <Py_ssize_t>(z * <uint64_t>step >> 32)


cdef inline Py_ssize_t first_half(Py_ssize_t n_bins) noexcept nogil:
    """Return half of the smallest power of two that is not below a number of bins."""
    cdef Py_ssize_t half = 1
    while 2 * half < n_bins:
        half *= 2
    return half


cdef inline uint16_t code_of(double value, const double* edges, Py_ssize_t n_bins, Py_ssize_t half) noexcept nogil:
    """Return the first bin whose upper bound is not below value (the last bin has none); missing gets n_bins.

    Edges are padded with infinity to EDGES, so that a search from `first_half` of the bins has no branch that depends on the value.
    """
    cdef Py_ssize_t low = 0
    if half >= 128:
        low = 128 * (edges[127] < value)
    if half >= 64:
        low += 64 * (edges[low + 63] < value)
    if half >= 32:
        low += 32 * (edges[low + 31] < value)
    if half >= 16:
        low += 16 * (edges[low + 15] < value)
    if half >= 8:
        low += 8 * (edges[low + 7] < value)
    if half >= 4:
        low += 4 * (edges[low + 3] < value)
    if half >= 2:
        low += 2 * (edges[low + 1] < value)
    low += edges[low] < value
    return <uint16_t>(low if value == value else n_bins)
