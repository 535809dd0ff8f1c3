"""The ways in which voters answer: class shares of a forest, or the mean of two, corrected for several class mixes."""
from libc.math cimport log
from libc.stdint cimport int32_t, uint8_t
from libc.stdlib cimport free, malloc

import numpy as np


cdef struct Voter:
    # Class shares (n, n_classes) of a forest, and of another one or NULL.
    const double* one
    const double* other


cdef inline void read_shares(const Voter* voter, Py_ssize_t i, Py_ssize_t n_classes, double* shares) noexcept nogil:
    """Write the class shares that a voter gives record i."""
    cdef Py_ssize_t k
    if voter.other == NULL:
        for k in range(n_classes):
            shares[k] = voter.one[i * n_classes + k]
    else:
        for k in range(n_classes):
            shares[k] = (voter.one[i * n_classes + k] + voter.other[i * n_classes + k]) / 2


cdef inline void correct(const double* shares, const double* ratio, Py_ssize_t n_classes,
                         double* corrected) noexcept nogil:
    """Write class shares times a ratio for each class, scaled to a sum of 1."""
    cdef Py_ssize_t k
    cdef double total = 0
    for k in range(n_classes):
        corrected[k] = shares[k] * ratio[k]
        total += corrected[k]
    if total > 0:
        for k in range(n_classes):
            corrected[k] /= total


cdef read_voters(list voters, Voter* into):
    """Write where the class shares of some voters are; the caller holds them."""
    cdef const double[:, ::1] one
    cdef Py_ssize_t v
    for v in range(len(voters)):
        one = voters[v][0]
        into[v].one = &one[0, 0]
        into[v].other = NULL
        if len(voters[v]) > 1:
            one = voters[v][1]
            into[v].other = &one[0, 0]


def weigh(list voters, const double[:, :, ::1] weights, const double[:, ::1] contexts, const double[:, ::1] ratios,
          double at_least):
    """Return the weighted sum of all voters in all ways, float64 (n, n_classes).

    Parameters
    ----------
    voters : list of tuple of float64 (n, n_classes) arrays
        Class shares of one forest or of two.
    weights : float64 (n_voters, n_contexts, n_ways)
        A voter is not asked in a way whose weights are all below at_least.
    contexts : float64 (n_contexts, n)
        How far each record is in each context.
    ratios : float64 (n_ways, n_classes)
        What class shares are multiplied by in each way before they are scaled to a sum of 1.
    """
    cdef Py_ssize_t n = contexts.shape[1], n_classes = ratios.shape[1], n_ways = ratios.shape[0], i, v, w, c, k
    cdef double by_record
    votes_array = np.zeros((n, n_classes))
    if n == 0 or n_classes == 0 or not voters:
        return votes_array
    cdef double[:, ::1] votes = votes_array
    cdef uint8_t[:, ::1] is_asked = np.zeros((len(voters), n_ways), dtype=np.uint8)
    cdef double[:, ::1] scratch = np.empty((2, n_classes))
    cdef double* shares = &scratch[0, 0]
    cdef double* corrected = &scratch[1, 0]
    cdef Py_ssize_t n_voters = len(voters)
    cdef Voter* asked = <Voter*>malloc(n_voters * sizeof(Voter))
    if asked == NULL:
        raise MemoryError
    try:
        read_voters(voters, asked)
        with nogil:
            for v in range(n_voters):
                for w in range(n_ways):
                    for c in range(contexts.shape[0]):
                        is_asked[v, w] |= weights[v, c, w] >= at_least
            for i in range(n):
                for v in range(n_voters):
                    read_shares(&asked[v], i, n_classes, shares)
                    for w in range(n_ways):
                        if is_asked[v, w]:
                            by_record = 0
                            for c in range(contexts.shape[0]):
                                by_record += weights[v, c, w] * contexts[c, i]
                            correct(shares, &ratios[w, 0], n_classes, corrected)
                            for k in range(n_classes):
                                votes[i, k] += by_record * corrected[k]
    finally:
        free(asked)
    return votes_array


def gains(list voters, const double[:, ::1] ratios, const int32_t[::1] y, double floor, double log_gain):
    """Return what each voter gains by each record of a known class in each way, float64 (n_voters, n_ways, n).

    That is 1 for a right answer, which is the first of the classes with the largest probability, and log_gain times the
    logarithm of the probability of the right class, or of floor if that is larger. See `weigh` for voters and ratios.
    """
    cdef Py_ssize_t n = y.shape[0], n_classes = ratios.shape[1], n_ways = ratios.shape[0], i, v, w, k, best
    cdef Py_ssize_t n_voters = len(voters)
    gains_array = np.zeros((n_voters, n_ways, n))
    if gains_array.size == 0:
        return gains_array
    cdef double[:, :, ::1] gain = gains_array
    cdef double[:, ::1] scratch = np.empty((2, n_classes))
    cdef double* shares = &scratch[0, 0]
    cdef double* corrected = &scratch[1, 0]
    cdef Voter* asked = <Voter*>malloc(n_voters * sizeof(Voter))
    if asked == NULL:
        raise MemoryError
    try:
        read_voters(voters, asked)
        with nogil:
            for v in range(n_voters):
                for i in range(n):
                    read_shares(&asked[v], i, n_classes, shares)
                    for w in range(n_ways):
                        correct(shares, &ratios[w, 0], n_classes, corrected)
                        best = 0
                        for k in range(1, n_classes):
                            if corrected[k] > corrected[best]:
                                best = k
                        gain[v, w, i] = (best == y[i]) + log_gain * log(max(corrected[y[i]], floor))
    finally:
        free(asked)
    return gains_array
