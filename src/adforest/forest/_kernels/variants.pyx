"""Variants of voters: class probabilities of a forest, or the mean of two, corrected for class mixes."""
from libc.math cimport log
from libc.stdint cimport int32_t, int64_t, uint8_t

import numpy as np


def class_ratios(const double[:, ::1] recent, const double[::1] seen, double prior):
    """Return how much more frequent each class is among recent samples, and a few of the overall mix, than overall.

    Parameters
    ----------
    recent : float64 (n_mixes, n_classes)
        Samples of each class in several recent mixes.
    seen : float64 (n_classes,)
        Samples of each class over all; the ratio of a class without any is 1.
    prior : float
        Samples of the overall mix that recent ones are counted with.
    """
    cdef Py_ssize_t n_mixes = recent.shape[0], n_classes = recent.shape[1], i, k
    cdef double n_seen = 0, n_recent, overall
    ratio_array = np.ones((n_mixes, n_classes))
    cdef double[:, ::1] ratio = ratio_array
    with nogil:
        for k in range(n_classes):
            n_seen += seen[k]
        for i in range(n_mixes):
            n_recent = 0
            for k in range(n_classes):
                n_recent += recent[i, k]
            for k in range(n_classes):
                overall = seen[k] / n_seen
                if overall > 0:
                    ratio[i, k] = (recent[i, k] + prior * overall) / ((n_recent + prior) * overall)
    return ratio_array


cdef inline double found_classes(const double[:, ::1] proba, Py_ssize_t i, const int64_t[::1] classes,
                                 int steepness) noexcept nogil:
    """Return how far some classes are found in sample i: 1 - (1 - their probability) ** steepness."""
    cdef double rest = 1, power = 1
    cdef Py_ssize_t j
    for j in range(classes.shape[0]):
        rest -= proba[i, classes[j]]
    for j in range(steepness):
        power *= rest
    return 1 - power


def contexts(const double[::1] recency, const double[:, ::1] temporary, const int64_t[::1] new,
             const double[:, ::1] permanent, const int64_t[::1] rare, int steepness):
    """Return how far each sample is in each context, each by itself, float64 (4, n): near, far, new class, rare class.

    Parameters
    ----------
    recency : float64 (n,)
        How recent each sample is, from 0 to 1.
    temporary, permanent : float64 (n, n_classes)
        Class probabilities of the forests that find new classes, and rare ones.
    new, rare : int64
        Those classes.
    steepness : int
        See `found_classes`.
    """
    cdef Py_ssize_t n = recency.shape[0], i
    found_array = np.empty((4, n))
    cdef double[:, ::1] found = found_array
    with nogil:
        for i in range(n):
            found[0, i] = recency[i]
            found[1, i] = 1 - recency[i]
            found[2, i] = recency[i] * found_classes(temporary, i, new, steepness)
            found[3, i] = found_classes(permanent, i, rare, steepness)
    return found_array


def adding_up(const double[:, ::1] contexts):
    """Return contexts that add up to 1: new class comes first, then rare class, then near or far."""
    cdef Py_ssize_t n = contexts.shape[1], i
    found_array = np.empty((4, n))
    cdef double[:, ::1] found = found_array
    with nogil:
        for i in range(n):
            found[0, i] = (contexts[0, i] - contexts[2, i]) * (1 - contexts[3, i])
            found[1, i] = contexts[1, i] * (1 - contexts[3, i])
            found[2, i] = contexts[2, i]
            found[3, i] = (1 - contexts[2, i]) * contexts[3, i]
    return found_array


cdef struct Voter:
    # Class probabilities (n, n_classes) of a forest, and of another one or NULL.
    const double* one
    const double* other


cdef inline void read_proba(const Voter* voter, Py_ssize_t i, Py_ssize_t n_classes, double* proba) noexcept nogil:
    """Write the class probabilities that a voter gives sample i."""
    cdef Py_ssize_t k
    if voter.other == NULL:
        for k in range(n_classes):
            proba[k] = voter.one[i * n_classes + k]
    else:
        for k in range(n_classes):
            proba[k] = (voter.one[i * n_classes + k] + voter.other[i * n_classes + k]) / 2


cdef inline void correct(const double* proba, const double* ratio, Py_ssize_t n_classes,
                         double* corrected) noexcept nogil:
    """Write class probabilities times a ratio for each class, scaled to a sum of 1."""
    cdef Py_ssize_t k
    cdef double total = 0
    for k in range(n_classes):
        corrected[k] = proba[k] * ratio[k]
        total += corrected[k]
    if total > 0:
        for k in range(n_classes):
            corrected[k] /= total


cdef uint8_t[::1] read_voters(list voters):
    """Return the bytes of an array of Voter, with where the class probabilities are; the caller holds these."""
    cdef uint8_t[::1] found = np.empty(len(voters) * sizeof(Voter), dtype=np.uint8)
    cdef Voter* into = <Voter*>&found[0]
    cdef const double[:, ::1] one
    cdef Py_ssize_t v
    for v in range(len(voters)):
        one = voters[v][0]
        into[v].one = &one[0, 0]
        into[v].other = NULL
        if len(voters[v]) > 1:
            one = voters[v][1]
            into[v].other = &one[0, 0]
    return found


def weigh(list voters, const double[:, :, ::1] weights, const double[:, ::1] contexts, const double[:, ::1] ratios,
          double at_least):
    """Return the weighted sum of all voters in all variants, float64 (n, n_classes).

    Parameters
    ----------
    voters : list of tuple of float64 (n, n_classes) arrays
        Class probabilities of one forest or of two.
    weights : float64 (n_voters, n_contexts, n_variants)
        A voter is not asked in a variant whose weights are all below at_least.
    contexts : float64 (n_contexts, n)
        How far each sample is in each context.
    ratios : float64 (n_variants, n_classes)
        What class probabilities are multiplied by in each variant before they are scaled to a sum of 1.
    """
    cdef Py_ssize_t n = contexts.shape[1], n_classes = ratios.shape[1], n_variants = ratios.shape[0], i, v, w, c, k
    cdef double by_sample
    votes_array = np.zeros((n, n_classes))
    if n == 0 or n_classes == 0 or not voters:
        return votes_array
    cdef double[:, ::1] votes = votes_array
    cdef uint8_t[:, ::1] is_asked = np.zeros((len(voters), n_variants), dtype=np.uint8)
    cdef double[:, ::1] scratch = np.empty((2, n_classes))
    cdef double* proba = &scratch[0, 0]
    cdef double* corrected = &scratch[1, 0]
    cdef Py_ssize_t n_voters = len(voters)
    cdef uint8_t[::1] found = read_voters(voters)
    cdef Voter* asked = <Voter*>&found[0]
    with nogil:
        for v in range(n_voters):
            for w in range(n_variants):
                for c in range(contexts.shape[0]):
                    is_asked[v, w] |= weights[v, c, w] >= at_least
        for i in range(n):
            for v in range(n_voters):
                read_proba(&asked[v], i, n_classes, proba)
                for w in range(n_variants):
                    if is_asked[v, w]:
                        by_sample = 0
                        for c in range(contexts.shape[0]):
                            by_sample += weights[v, c, w] * contexts[c, i]
                        correct(proba, &ratios[w, 0], n_classes, corrected)
                        for k in range(n_classes):
                            votes[i, k] += by_sample * corrected[k]
    return votes_array


def calibrate(const double[:, ::1] votes, const double[::1] weights, const double[::1] seen):
    """Return votes as probabilities that are sharpened, as they are and alike, mixed; votes that are all 0 stay so.

    Parameters
    ----------
    votes : float64 (n, n_classes)
    weights : float64 (3,)
        Of p³ scaled to a sum of 1, of the probabilities p that the votes add up to, and of all classes alike.
    seen : float64 (at most n_classes,)
        Samples of each class so far: those of which there were none are not among all classes.
    """
    cdef Py_ssize_t n = votes.shape[0], n_classes = votes.shape[1], n_first = seen.shape[0], i, k
    cdef Py_ssize_t n_seen = 0
    cdef double total, cubes, p, alike
    found_array = np.zeros((n, n_classes))
    if found_array.size == 0:
        return found_array
    cdef double[:, ::1] found = found_array
    with nogil:
        for k in range(n_first):
            n_seen += seen[k] > 0
        alike = weights[2] / n_seen if n_seen else 0
        for i in range(n):
            total = cubes = 0
            for k in range(n_classes):
                total += votes[i, k]
            if total <= 0:
                continue
            for k in range(n_classes):
                p = votes[i, k] / total
                cubes += p * p * p
            for k in range(n_classes):
                p = votes[i, k] / total
                found[i, k] = weights[0] * (p * p * p / cubes) + weights[1] * p
                if k < n_first and seen[k] > 0:
                    found[i, k] += alike
    return found_array


def gains(list voters, const double[:, ::1] ratios, const int32_t[::1] y, double floor, double log_gain):
    """Return the gain of each voter and variant by sample of a known class, float64 (n_voters, n_variants, n).

    That is 1 for a correct prediction, which is the first of the classes with the largest probability, plus log_gain times
    the logarithm of the probability of the true class, or of floor if that is larger. See `weigh` for voters and ratios.
    """
    cdef Py_ssize_t n = y.shape[0], n_classes = ratios.shape[1], n_variants = ratios.shape[0], i, v, w, k, best
    cdef Py_ssize_t n_voters = len(voters)
    gains_array = np.zeros((n_voters, n_variants, n))
    if gains_array.size == 0:
        return gains_array
    cdef double[:, :, ::1] gain = gains_array
    cdef double[:, ::1] scratch = np.empty((2, n_classes))
    cdef double* proba = &scratch[0, 0]
    cdef double* corrected = &scratch[1, 0]
    cdef uint8_t[::1] found = read_voters(voters)
    cdef Voter* asked = <Voter*>&found[0]
    with nogil:
        for v in range(n_voters):
            for i in range(n):
                read_proba(&asked[v], i, n_classes, proba)
                for w in range(n_variants):
                    correct(proba, &ratios[w, 0], n_classes, corrected)
                    best = 0
                    for k in range(1, n_classes):
                        if corrected[k] > corrected[best]:
                            best = k
                    gain[v, w, i] = (best == y[i]) + log_gain * log(max(corrected[y[i]], floor))
    return gains_array
