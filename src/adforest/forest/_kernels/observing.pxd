# What a growing leaf of a Hoeffding tree has observed, and what a cut of it would gain.
#
# Each growing leaf keeps its statistics in one block of doubles:
#
#     | weight of each class, -1 where never seen | numerical feature: a Gaussian for each class | ...
#     | categorical feature: weight by (category, class) | ...
#
# where a Gaussian is a struct of doubles, see below.
from libc.math cimport log2
from libc.stdint cimport int32_t

cdef struct Gaussian:
    # Summary of one class's values of a numerical feature (Welford's algorithm).
    double weight
    double mean
    double squares              # weighted sum of squared deviations from the mean
    double lowest
    double highest


cdef struct Layout:
    Py_ssize_t n_features
    Py_ssize_t n_classes
    const int32_t* n_categories # by feature; 0 for numerical ones
    Py_ssize_t* offset          # by feature: where its statistics begin in a block
    Py_ssize_t size             # doubles in a block


cdef struct Sides:
    # Class weights that a split lets expect, and what all cuts of one feature share.
    double* left
    double* right
    double* shared              # by class: its weight (categorical), or 1 / (sqrt(2) standard deviations)


cdef struct Candidate:
    # The best cut of a feature.
    double gain                 # in bits a sample; minus infinity for no cut
    int32_t feature
    double value                # the largest value that goes left, or the one category that does


cdef inline void observe(const Layout* layout, double* block, const double* sample, int32_t klass,
                         double weight) noexcept nogil:
    """Add a sample to a leaf's class weights and to the statistics of all features that it has a value of."""
    cdef Py_ssize_t f
    cdef Gaussian* gaussian
    cdef double value, delta
    block[klass] = max(block[klass], 0) + weight
    for f in range(layout.n_features):
        value = sample[f]
        if value != value:
            continue
        if layout.n_categories[f] > 0:
            block[layout.offset[f] + <Py_ssize_t>value * layout.n_classes + klass] += weight
            continue
        gaussian = <Gaussian*>(block + layout.offset[f]) + klass
        if gaussian.weight == 0:
            gaussian.lowest = value
            gaussian.highest = value
        gaussian.weight += weight
        delta = value - gaussian.mean
        gaussian.mean += delta * weight / gaussian.weight
        gaussian.squares += weight * delta * (value - gaussian.mean)
        gaussian.lowest = min(gaussian.lowest, value)
        gaussian.highest = max(gaussian.highest, value)


cdef inline double entropy_of(const double* weights, Py_ssize_t n_classes, double* total) noexcept nogil:
    """Return the entropy of class weights in bits, times their total, which is written to total."""
    cdef Py_ssize_t k
    cdef double weight = 0, entropy = 0
    for k in range(n_classes):
        if weights[k] > 0:
            entropy -= weights[k] * log2(weights[k])
            weight += weights[k]
    total[0] = weight
    return entropy + weight * log2(weight) if weight > 0 else 0


cdef void expect_sides(const Layout* layout, const double* block, Py_ssize_t f, double value,
                       const Sides* sides) noexcept nogil
cdef Candidate best_candidate(const Layout* layout, const double* block, Py_ssize_t f, double entropy,
                              const Sides* sides) noexcept nogil
