"""Values of a matrix in the narrowest of three types: 16-bit words, single or double precision, by column."""
from libc.math cimport NAN, isnan, signbit
from libc.stdint cimport int32_t, uint8_t, uint16_t

import numpy as np

cdef enum:
    WORD = 0
    SINGLE = 1
    DOUBLE = 2
    ROWS = 64          # rows that are moved at a time: those of a few dozen columns fit in the nearest cache
    MISSING = 65535    # the word for a missing value


cdef inline uint8_t needed(double value, uint8_t at_least) noexcept nogil:
    """Return the narrowest type, from one on, that holds a value exactly."""
    if at_least == WORD and (isnan(value) or (
            0 <= value < MISSING and value == <double><uint16_t>value and not signbit(value))):
        return WORD
    if at_least <= SINGLE and (isnan(value) or value == <double><float>value):
        return SINGLE
    return DOUBLE


def narrowest(const double[:, :] X, const uint8_t[::1] at_least):
    """Return by column the narrowest type, from a given one on, that holds all values exactly.

    Codes hold integers from 0 to 65,534.
    """
    cdef Py_ssize_t n = X.shape[0], m = X.shape[1], first = 0, last, i, j
    cdef uint8_t one
    found = np.array(at_least, dtype=np.uint8)
    cdef uint8_t[::1] types = found
    with nogil:
        while first < n:
            last = min(n, first + ROWS)
            for j in range(m):
                one = types[j]
                for i in range(first, last):
                    if one == DOUBLE:
                        break
                    one = needed(X[i, j], one)
                types[j] = one
            first = last
    return found


def pack(const double[:, :] X, const uint8_t[::1] types, const int32_t[::1] column_index, uint16_t[:, ::1] words,
         float[:, ::1] singles, double[:, ::1] doubles):
    """Write the columns of a matrix to the arrays of their types, each at its index; all hold as many rows."""
    cdef Py_ssize_t n = X.shape[0], m = X.shape[1], first = 0, last, i, j
    cdef int32_t index
    with nogil:
        while first < n:
            last = min(n, first + ROWS)
            for j in range(m):
                index = column_index[j]
                if types[j] == WORD:
                    for i in range(first, last):
                        words[i, index] = MISSING if isnan(X[i, j]) else <uint16_t>X[i, j]
                elif types[j] == SINGLE:
                    for i in range(first, last):
                        singles[i, index] = <float>X[i, j]
                else:
                    for i in range(first, last):
                        doubles[i, index] = X[i, j]
            first = last


def unpack(const uint8_t[::1] types, const int32_t[::1] column_index, const uint16_t[:, ::1] words,
           const float[:, ::1] singles, const double[:, ::1] doubles):
    """Return the matrix that was packed."""
    cdef Py_ssize_t n = words.shape[0], m = types.shape[0], i, j, k, n_runs
    # Neighbours of one type are neighbours among the columns of that type: they are moved together.
    starts = np.flatnonzero(np.diff(np.asarray(types), prepend=DOUBLE + 1)).astype(np.int32)
    cdef const int32_t[::1] first = starts, last = np.append(starts[1:], m).astype(np.int32)
    cdef const uint16_t* word
    cdef const float* single
    cdef const double* wide
    cdef double* to
    matrix = np.empty((n, m))
    cdef double[:, ::1] out = matrix
    n_runs = first.shape[0]
    with nogil:
        for i in range(n):
            for j in range(n_runs):
                to = &out[i, first[j]]
                if types[first[j]] == WORD:
                    word = &words[i, column_index[first[j]]]
                    for k in range(last[j] - first[j]):
                        to[k] = NAN if word[k] == MISSING else <double>word[k]
                elif types[first[j]] == SINGLE:
                    single = &singles[i, column_index[first[j]]]
                    for k in range(last[j] - first[j]):
                        to[k] = <double>single[k]
                else:
                    wide = &doubles[i, column_index[first[j]]]
                    for k in range(last[j] - first[j]):
                        to[k] = wide[k]
    return matrix
