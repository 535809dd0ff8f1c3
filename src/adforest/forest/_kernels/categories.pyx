"""Order a node's categories, and compute the penalty of a split along that order."""
from libc.math cimport log2, pow
from libc.stdint cimport int32_t, uint32_t, uint64_t

from .binning cimport Pair, sort_pairs
from .splitmix cimport as_unit, next_random
from .splitting cimport MAX_WEIGHT, Cut, Scratch, class_of


cdef uint64_t draw_salt(CategoryOrder* order) noexcept nogil:
    """Return the salt of the scores of classes at a node: a random number, or for C4.5 the most frequent class."""
    return order.top_class if order.by_top_class else next_random(order.random)


cdef inline double score_of(const CategoryOrder* order, uint64_t salt, uint64_t k) noexcept nogil:
    """Return the score of class k: for C4.5 0 or 1, else a random number in [0, 1) fixed by the salt and the class."""
    cdef uint64_t state
    if order.by_top_class:
        return <double>(k == salt)
    state = salt + k * <uint64_t>0xd1342543de82ef95
    return as_unit(next_random(&state))


cdef Py_ssize_t rank_keys(CategoryOrder* order, const uint64_t* keys, Py_ssize_t n, Py_ssize_t n_known) noexcept nogil:
    """Write a node's sorted keys to order.keys, with ranks for codes and sorted by them; return how many ranks.

    The first n_known of the n keys are of known values; missing values get the rank after the last.
    """
    cdef Py_ssize_t i, j, present = 0, at = 0
    cdef uint64_t salt = 0, code
    cdef double score, weight
    cdef Pair* pairs = order.space.pairs
    i = 0
    while i < n_known:      # until they are ranked, pairs[j].item is where the run of the j-th category begins
        pairs[present].item = <uint32_t>i
        code = keys[i] >> 32
        while i < n_known and keys[i] >> 32 == code:
            i += 1
        present += 1
    if present > 2:
        salt = draw_salt(order)
        for j in range(present):
            score = weight = 0
            for i in range(pairs[j].item, pairs[j + 1].item if j + 1 < present else n_known):
                weight += keys[i] & MAX_WEIGHT
                score += (keys[i] & MAX_WEIGHT) * score_of(order, salt, class_of(keys[i]))
            pairs[j].value = score / weight
        sort_pairs(pairs, order.space.spare, present)
    for j in range(present):
        i = pairs[j].item
        code = keys[i] >> 32
        pairs[j].item = <uint32_t>code
        while i < n_known and keys[i] >> 32 == code:
            order.keys[at] = (<uint64_t>j << 32) | <uint32_t>keys[i]
            i += 1
            at += 1
    for i in range(n_known, n):
        order.keys[i] = (<uint64_t>present << 32) | <uint32_t>keys[i]
    return present


cdef void rank_histogram(CategoryOrder* order, const Scratch* scratch, Py_ssize_t present) noexcept nogil:
    """Put the list of codes along which the histogram is scanned, scratch.order, into the order of the categories."""
    cdef Py_ssize_t i, k
    cdef uint64_t salt = draw_salt(order) if present > 2 else 0, cell
    cdef double score, weight
    cdef Pair* pairs = order.space.pairs
    for i in range(present):
        pairs[i].item = <uint32_t>scratch.order[i]
        if present <= 2:
            continue
        score = weight = 0
        for k in range(scratch.n_classes):
            cell = scratch.histogram[scratch.order[i] * scratch.n_classes + k]
            if cell > 0:
                weight += <int32_t>cell
                score += <int32_t>cell * score_of(order, salt, k)
        pairs[i].value = score / weight
    if present > 2:
        sort_pairs(pairs, order.space.spare, present)
    for i in range(present):
        scratch.order[i] = <int32_t>pairs[i].item


cpdef double price_of_subset(Py_ssize_t present, Py_ssize_t n) noexcept nogil:
    """Return the gain that a split by categories must exceed, in bits.

    Of k categories there are 2^(k-1) - 1 ways to make two sides, where k values in order have k - 1. The bits that it
    takes to say which one are what chance gains by the choice, and up to twice as many where most of the n samples have
    a category of their own, since samples are drawn repeatedly. So a column of names that say nothing is left alone.
    """
    cdef double k = <double>(present - 1)
    if present <= 2:
        return 0
    return (1 + <double>present / n) * ((k if k > 50 else log2(pow(2, k) - 1)) - log2(k))


cdef double begin_trial(Py_ssize_t present, Py_ssize_t n, double bit_worth, double no_gain, const Cut* best,
                        Cut* trial) noexcept nogil:
    """Prepare a trial that must beat the best cut so far and a cut that gains nothing; return the price.

    The price, in bits times what a bit is worth, is added to the score to beat, and taken off again by end_trial.
    """
    cdef double price = price_of_subset(present, n) * bit_worth
    trial[0] = best[0]
    if price > 0:
        trial.score = max(best.score, no_gain) + price
    return price


cdef void end_trial(CategoryOrder* order, Py_ssize_t present, double before, double price, const Cut* trial,
                    Cut* best) noexcept nogil:
    """Take the cut that was found as the best, less its price, if its score is above what it was before."""
    cdef Py_ssize_t i
    if trial.score > before:
        best[0] = trial[0]
        best.score -= price
        for i in range(present):
            order.left[order.space.pairs[i].item] = i <= best.low
