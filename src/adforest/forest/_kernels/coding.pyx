"""Code the values of a block of samples: exactly where it is small, by quantiles where it is large."""
from libc.math cimport INFINITY
from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from .binning cimport EDGES, Pair, code_of, find_edges, first_half, jitter, sort_pairs

cdef enum:
    SPREAD = 64     # buckets that sort most of an exact block


cdef bint open_block(Block* block, Py_ssize_t n_features, Py_ssize_t n, bint exact) noexcept nogil:
    """Allocate a block with room for n samples; return False where memory ran out. Close it in both cases."""
    memset(block, 0, sizeof(Block))
    block.exact = exact
    block.n = n
    block.stride = n
    block.bounds_stride = BLOCK if exact else EDGES
    block.sample = <uint32_t*>malloc(n * sizeof(uint32_t))
    block.codes = <uint16_t*>malloc(n_features * n * sizeof(uint16_t))
    block.bounds = <double*>malloc(n_features * block.bounds_stride * sizeof(double))
    block.n_codes = <int32_t*>malloc(n_features * sizeof(int32_t))
    block.feature = <int32_t*>malloc(n_features * sizeof(int32_t))
    block.position = <int32_t*>calloc(n_features, sizeof(int32_t))
    if exact:
        block.sorted.rank = <uint8_t*>malloc(n_features * n)
        block.sorted.keys = <uint64_t*>malloc(n_features * n * sizeof(uint64_t))
        block.sorted.label = <uint32_t*>malloc(n * sizeof(uint32_t))
        if block.sorted.rank == NULL or block.sorted.keys == NULL or block.sorted.label == NULL:
            return False
    return (block.sample != NULL and block.codes != NULL and block.bounds != NULL and block.n_codes != NULL
            and block.feature != NULL and block.position != NULL)


cdef void close_block(Block* block) noexcept nogil:
    """Free what open_block allocated."""
    free(block.sample)
    free(block.codes)
    free(block.bounds)
    free(block.n_codes)
    free(block.feature)
    free(block.position)
    free(block.sorted.rank)
    free(block.sorted.keys)
    free(block.sorted.label)


cdef bint is_constant(const Table* table, const Block* block, Py_ssize_t f) noexcept nogil:
    """Return whether all samples of the block share one value of feature f; one code may stand for several."""
    cdef Py_ssize_t i
    cdef double value, first
    first = table.X[(<Py_ssize_t>block.sample[0] if block.sample != NULL else 0) * table.n_features + f]
    for i in range(1, block.n):
        value = table.X[(<Py_ssize_t>block.sample[i] if block.sample != NULL else i) * table.n_features + f]
        if value != first and (value == value or first == first):
            return False
    return True


cdef void code_feature(const Table* table, PairSpace space, Block* block, Py_ssize_t f) noexcept nogil:
    """Code a feature of the block; n_codes becomes 0 where it is constant."""
    if block.exact:
        code_exactly(table, space, block, f)
    elif is_constant(table, block, f):
        block.n_codes[f] = 0
    elif table.n_categories[f] > 0:
        copy_categories(table, block, f)
    else:
        code_by_quantiles(table, space, block, f)


cdef void code_exactly(const Table* table, PairSpace space, Block* block, Py_ssize_t f) noexcept nogil:
    """Sort an exact block by a feature and give each distinct value a code of its own, in ascending order."""
    cdef Py_ssize_t i, item, known = 0, missing = block.n
    cdef int32_t code = -1
    cdef double value, low = INFINITY, high = -INFINITY
    cdef uint16_t* codes = block.codes + f * block.stride
    cdef double* values = block.bounds + f * block.bounds_stride
    cdef uint8_t* rank = block.sorted.rank + f * block.stride
    cdef uint64_t* keys = block.sorted.keys + f * block.stride
    cdef const uint32_t* label = block.sorted.label
    cdef Pair* pairs = space.pairs
    for i in range(block.n):
        value = table.X[<Py_ssize_t>block.sample[i] * table.n_features + f]
        if value == value:
            pairs[known].value = value
            pairs[known].item = <uint32_t>i
            known += 1
            low = min(low, value)
            high = max(high, value)
        else:
            missing -= 1
            rank[i] = <uint8_t>missing
    if known == 0 or (known == block.n and low == high):
        block.n_codes[f] = 0
        return
    sort_block(pairs, space.spare, known, low, high)
    for i in range(known):
        if code < 0 or pairs[i].value != values[code]:
            code += 1
            values[code] = pairs[i].value
        item = pairs[i].item
        codes[item] = <uint16_t>code
        rank[item] = <uint8_t>i
        keys[i] = (<uint64_t>code << 32) | label[item]
    block.n_codes[f] = code + 1
    if known < block.n:
        for i in range(block.n):
            if rank[i] >= known:
                codes[i] = <uint16_t>(code + 1)
                keys[rank[i]] = (<uint64_t>(code + 1) << 32) | label[i]


cdef void sort_block(Pair* pairs, Pair* spare, Py_ssize_t n, double low, double high) noexcept nogil:
    """Sort at most BLOCK pairs by value, stably: first into equal parts of their range, then by insertion."""
    cdef int32_t end[SPREAD + 1]
    cdef uint8_t part[BLOCK]
    cdef Py_ssize_t i, j
    cdef double scale
    cdef Pair moving
    if n > 12 and high - low > 1e-300 and high - low < INFINITY:
        scale = (SPREAD - 1) / (high - low)
        for i in range(SPREAD + 1):
            end[i] = 0
        for i in range(n):
            part[i] = <uint8_t>((pairs[i].value - low) * scale)
            end[part[i] + 1] += 1
        for i in range(SPREAD):
            end[i + 1] += end[i]
        for i in range(n):
            spare[end[part[i]]] = pairs[i]
            end[part[i]] += 1
        memcpy(pairs, spare, n * sizeof(Pair))
    for i in range(1, n):
        moving = pairs[i]
        j = i
        while j > 0 and pairs[j - 1].value > moving.value:
            pairs[j] = pairs[j - 1]
            j -= 1
        pairs[j] = moving


cdef void copy_categories(const Table* table, Block* block, Py_ssize_t f) noexcept nogil:
    """Code a categorical feature of a large block by the categories' own numbers."""
    cdef Py_ssize_t i
    cdef double value
    cdef uint16_t* codes = block.codes + f * block.stride
    block.n_codes[f] = table.n_categories[f]
    for i in range(block.n):
        value = table.X[<Py_ssize_t>block.sample[i] * table.n_features + f]
        codes[i] = <uint16_t>value if value == value else <uint16_t>table.n_categories[f]


cdef void code_by_quantiles(const Table* table, PairSpace space, Block* block, Py_ssize_t f) noexcept nogil:
    """Code a numerical feature of a large block by quantiles of at most EDGE_SAMPLE of its values."""
    cdef Py_ssize_t i, known = 0, n = block.n, step = (block.n + EDGE_SAMPLE - 1) // EDGE_SAMPLE, half
    cdef double value
    cdef uint16_t* codes = block.codes + f * block.stride
    cdef double* edges = block.bounds + f * block.bounds_stride
    cdef double* values = <double*>space.spare
    for i in range(n // step):
        value = table.X[<Py_ssize_t>block.sample[jitter(i, step)] * table.n_features + f]
        if value == value:
            space.pairs[known].value = value
            known += 1
    sort_pairs(space.pairs, space.spare, known)
    for i in range(known):
        values[i] = space.pairs[i].value
    block.n_codes[f] = <int32_t>find_edges(values, known, table.max_bins, edges)
    half = first_half(block.n_codes[f])
    for i in range(n):
        codes[i] = code_of(table.X[<Py_ssize_t>block.sample[i] * table.n_features + f], edges, block.n_codes[f], half)
