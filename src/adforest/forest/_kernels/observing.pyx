"""Estimate the gain of splits of a growing leaf from its statistics; see observing.pxd."""
from libc.math cimport INFINITY, erfc, sqrt
from libc.stdint cimport int32_t

cdef enum:
    THRESHOLDS = 10             # tried per numerical feature

cdef double MIN_FRACTION = 0.01 # of the weight, that each side of a cut must expect


cdef void fill_shared(const Layout* layout, const double* statistics, Py_ssize_t f, const Sides* sides) noexcept nogil:
    """Fill sides.shared for a feature with the given statistics."""
    cdef Py_ssize_t i, k
    cdef const Gaussian* gaussian
    for k in range(layout.n_classes):
        sides.shared[k] = 0
        if layout.n_categories[f] == 0:
            gaussian = <const Gaussian*>statistics + k
            if gaussian.weight > 1 and gaussian.squares > 0:
                sides.shared[k] = 1 / sqrt(2 * gaussian.squares / (gaussian.weight - 1))
    for i in range(layout.n_categories[f]):
        for k in range(layout.n_classes):
            sides.shared[k] += statistics[i * layout.n_classes + k]


cdef void fill_sides(const Layout* layout, const double* statistics, Py_ssize_t f, double value,
                     const Sides* sides) noexcept nogil:
    """Fill both sides for one cut, where sides.shared is that of the feature."""
    cdef Py_ssize_t k
    cdef const Gaussian* gaussian
    for k in range(layout.n_classes):
        if layout.n_categories[f] > 0:
            sides.left[k] = statistics[<Py_ssize_t>value * layout.n_classes + k]
            sides.right[k] = sides.shared[k] - sides.left[k]
            continue
        gaussian = <const Gaussian*>statistics + k
        if gaussian.weight == 0 or value >= gaussian.highest:
            sides.left[k] = gaussian.weight
        elif value < gaussian.lowest or sides.shared[k] == 0:
            sides.left[k] = 0
        else:
            sides.left[k] = gaussian.weight * 0.5 * erfc((gaussian.mean - value) * sides.shared[k])
        sides.right[k] = gaussian.weight - sides.left[k]


cdef void expect_sides(const Layout* layout, const double* block, Py_ssize_t f, double value,
                       const Sides* sides) noexcept nogil:
    """Fill both sides with the class weights expected if a feature is cut at value, or by the category it names."""
    fill_shared(layout, block + layout.offset[f], f, sides)
    fill_sides(layout, block + layout.offset[f], f, value, sides)


cdef double gain_of(const Layout* layout, double entropy, const Sides* sides) noexcept nogil:
    """Return the gain of a cut in bits a sample; minus infinity where a side expects next to nothing."""
    cdef double left_total, right_total, total
    cdef double after = entropy_of(sides.left, layout.n_classes, &left_total)
    after += entropy_of(sides.right, layout.n_classes, &right_total)
    total = left_total + right_total
    if total <= 0 or left_total <= MIN_FRACTION * total or right_total <= MIN_FRACTION * total:
        return -INFINITY
    return entropy - after / total


cdef Candidate best_candidate(const Layout* layout, const double* block, Py_ssize_t f, double entropy,
                              const Sides* sides) noexcept nogil:
    """Return a feature's best cut: one of ten thresholds between its extremes, or one category against the rest.

    entropy is that of the leaf, in bits a sample.
    """
    cdef Py_ssize_t i, k, n_cuts = THRESHOLDS
    cdef const double* statistics = block + layout.offset[f]
    cdef const Gaussian* gaussian
    cdef double low = INFINITY, high = -INFINITY, value, gain
    cdef bint categorical = layout.n_categories[f] > 0
    cdef Candidate best
    best.gain = -INFINITY
    best.feature = <int32_t>f
    best.value = 0
    fill_shared(layout, statistics, f, sides)
    if categorical:
        n_cuts = layout.n_categories[f]
    else:
        for k in range(layout.n_classes):
            gaussian = <const Gaussian*>statistics + k
            if gaussian.weight > 0:
                low = min(low, gaussian.lowest)
                high = max(high, gaussian.highest)
    for i in range(n_cuts):
        value = <double>i if categorical else low + (high - low) / (THRESHOLDS + 1) * (i + 1)
        if not categorical and not low < value < high:
            continue
        fill_sides(layout, statistics, f, value, sides)
        gain = gain_of(layout, entropy, sides)
        if gain > best.gain:
            best.gain = gain
            best.value = value
    return best
