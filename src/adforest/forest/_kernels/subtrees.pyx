"""Lists that grow: nodes, bit sets of categories, class weights of leaves; and how they become NumPy arrays."""
from libc.stdint cimport int32_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcpy

import numpy as np

from .node cimport Node

NODE = np.dtype([("threshold", np.float64), ("left", np.int32), ("split", np.int32)])

cdef enum:
    ROOM = 256      # elements of a new list


cdef bint reserve(void** array, Py_ssize_t* room, Py_ssize_t needed, size_t size) noexcept nogil:
    """Make room for needed elements of some bytes each, doubling; return False where memory ran out."""
    cdef Py_ssize_t more
    cdef void* grown
    if needed <= room[0]:
        return True
    more = max(needed, 2 * room[0])
    grown = realloc(array[0], more * size)
    if grown == NULL:
        return False
    array[0] = grown
    room[0] = more
    return True


cdef bint open_subtrees(Subtrees* subtrees) noexcept nogil:
    """Allocate empty lists; return False where memory ran out. Close them in both cases."""
    subtrees.nodes.added = <Node*>malloc(ROOM * sizeof(Node))
    subtrees.nodes.n = 0
    subtrees.nodes.room = ROOM
    subtrees.category_bits.words = NULL
    subtrees.category_bits.n = 0
    subtrees.category_bits.room = 0
    subtrees.counts.node = <int32_t*>malloc(ROOM * sizeof(int32_t))
    subtrees.counts.klass = <int32_t*>malloc(ROOM * sizeof(int32_t))
    subtrees.counts.weight = <int32_t*>malloc(ROOM * sizeof(int32_t))
    subtrees.counts.n = 0
    subtrees.counts.room = ROOM
    return (subtrees.nodes.added != NULL and subtrees.counts.node != NULL and subtrees.counts.klass != NULL
            and subtrees.counts.weight != NULL)


cdef void close_subtrees(Subtrees* subtrees) noexcept nogil:
    """Free the lists."""
    free(subtrees.nodes.added)
    free(subtrees.category_bits.words)
    free(subtrees.counts.node)
    free(subtrees.counts.klass)
    free(subtrees.counts.weight)


cdef bint reserve_counts(LeafCounts* counts, Py_ssize_t needed) noexcept nogil:
    """Make room for needed lines; return False where memory ran out."""
    cdef Py_ssize_t room = counts.room
    if not reserve(<void**>&counts.node, &room, needed, sizeof(int32_t)):
        return False
    room = counts.room
    if not reserve(<void**>&counts.klass, &room, needed, sizeof(int32_t)):
        return False
    return reserve(<void**>&counts.weight, &counts.room, needed, sizeof(int32_t))


cdef Py_ssize_t add_category_set(CategoryBits* bits, Py_ssize_t n_categories, bint full) noexcept nogil:
    """Append a bit set with all bits set or none; return where its bits begin, or -1 where memory ran out.

    Before its bits stands how many 64-bit words they take; a node's threshold is the number of that word in the tree.
    """
    cdef Py_ssize_t n_words = (n_categories + 63) // 64, i, first = bits.n + 1
    if not reserve(<void**>&bits.words, &bits.room, first + n_words, sizeof(uint64_t)):
        return -1
    bits.words[first - 1] = n_words
    for i in range(n_words):
        bits.words[first + i] = ~<uint64_t>0 if full else 0
    bits.n = first + n_words
    return first


cdef copy_out(const void* source, Py_ssize_t n, dtype):
    """Return n elements of C memory as a NumPy array of its own."""
    array = np.empty(n, dtype=dtype)
    cdef uint8_t[::1] view
    if n > 0:
        view = array.view(np.uint8)
        memcpy(&view[0], source, view.shape[0])
    return array
