"""How often a sample counts in a tree: random integers, fixed by the sample's serial number and a seed.

All random numbers of a sample in a tree are computed from one number u in [0, 1). Of a sample with weight w a Poisson
draw of mean w is at least 1 only if w rounded by the same u is, since exp(-w) >= 1 - w: what is in the bag also counts
outside of it.
"""
from libc.math cimport exp, floor
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint64_t

import numpy as np

from .splitmix cimport GAMMA, as_unit, hash64
from .splitting cimport MAX_WEIGHT

cdef enum:
    LARGEST = 40        # draw that is never exceeded for the means that all samples share
    MAX_DRAWN = 500     # larger means of single samples are rounded instead, which is off by 4 %


cdef inline double uniform(int64_t serial, uint64_t seed) noexcept nogil:
    """Return the number in [0, 1) that decides on a sample in a tree."""
    return as_unit(hash64(seed + <uint64_t>serial * GAMMA))


cdef inline uint16_t rounded(double weight, double u) noexcept nogil:
    """Return a weight rounded up or down at random, in the mean the weight itself."""
    cdef double whole = floor(weight)
    if weight >= MAX_WEIGHT:
        return MAX_WEIGHT
    return <uint16_t>whole + (u >= 1 - (weight - whole))


cdef inline uint16_t drawn(double mean, double u) noexcept nogil:
    """Return a Poisson draw."""
    cdef double term, cumulated
    cdef int k = 0
    if mean > MAX_DRAWN:
        return rounded(mean, u)
    term = cumulated = exp(-mean)
    while u >= cumulated and term > 0:
        k += 1
        term *= mean / k
        cumulated += term
    return <uint16_t>k


def hashes(const int64_t[::1] serial):
    """Return a number for each serial number that looks random and never changes, as uint64."""
    cdef Py_ssize_t i
    hash_array = np.empty(serial.shape[0], dtype=np.uint64)
    cdef uint64_t[::1] hashed = hash_array
    with nogil:
        for i in range(serial.shape[0]):
            hashed[i] = hash64(<uint64_t>serial[i] * GAMMA)
    return hash_array


def are_drawn(const int64_t[::1] serial, double fraction, uint64_t seed=0):
    """Return which samples are drawn if a fraction of all is, below 1: those whose `hashes` are the smallest.

    A decision for each sample by itself. Of a smaller fraction a subset is drawn, for the same seed.
    """
    cdef Py_ssize_t i
    cdef uint64_t bound = <uint64_t>(fraction * 18446744073709551616.0)   # 2 ** 64
    drawn_array = np.empty(serial.shape[0], dtype=np.bool_)
    cdef uint8_t[::1] out = drawn_array.view(np.uint8)
    with nogil:
        for i in range(serial.shape[0]):
            out[i] = hash64(seed + <uint64_t>serial[i] * GAMMA) < bound
    return drawn_array


def poisson_weights(const int64_t[::1] serial, uint64_t seed, double mean, const double[::1] weight=None):
    """Return a Poisson draw for each sample, of a mean that is multiplied by the sample's weight if there are any."""
    cdef Py_ssize_t n = serial.shape[0], i
    drawn_array = np.empty(n, dtype=np.uint16)
    cdef uint16_t[::1] out = drawn_array
    cdef double u, term = exp(-mean)
    cdef double cumulated[LARGEST]
    cdef int k
    if weight is not None:
        with nogil:
            for i in range(n):
                out[i] = drawn(mean * weight[i], uniform(serial[i], seed))
        return drawn_array
    cumulated[0] = term
    for k in range(1, LARGEST):
        term *= mean / k
        cumulated[k] = cumulated[k - 1] + term
    with nogil:
        for i in range(n):
            u = uniform(serial[i], seed)
            # The first three without a branch: for a mean of 1 they are nearly all there is.
            k = (u >= cumulated[0]) + (u >= cumulated[1]) + (u >= cumulated[2])
            if k == 3:
                while k < LARGEST and u >= cumulated[k]:
                    k += 1
            out[i] = <uint16_t>k
    return drawn_array


def whole_weights(const int64_t[::1] serial, uint64_t seed, const double[::1] weight=None):
    """Return the weight of each sample rounded up or down at random, 1 for all where there are none."""
    cdef Py_ssize_t n = serial.shape[0], i
    if weight is None:
        return np.ones(n, dtype=np.uint16)
    whole_array = np.empty(n, dtype=np.uint16)
    cdef uint16_t[::1] out = whole_array
    with nogil:
        for i in range(n):
            out[i] = rounded(weight[i], uniform(serial[i], seed))
    return whole_array
