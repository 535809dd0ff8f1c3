# A cut that was found, put into effect: the node's samples in two parts, and the question written into the node.
from libc.stdint cimport uint8_t, uint64_t

from .coding cimport Block, Table
from .node cimport Node
from .splitting cimport Cut
from .subtrees cimport CategoryBits


cdef Py_ssize_t partition(const Table* table, const Block* block, uint8_t* category_left, uint64_t* samples,
                          uint64_t* spare, Py_ssize_t n, Cut* cut) noexcept nogil
cdef bint write_question(const Table* table, const Block* block, const uint8_t* category_left, const uint64_t* samples,
                         Py_ssize_t n, const Cut* cut, CategoryBits* bits, Node* node) noexcept nogil
