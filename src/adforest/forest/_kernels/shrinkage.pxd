cdef struct Mixture:
    # Strengths of shrinkage and the share of each.
    const double* strengths
    const double* mix
    Py_ssize_t n


cdef inline double keep(const Mixture* mixture, double n) noexcept nogil:
    """Return how much is kept of the steps below a node of weight n."""
    cdef Py_ssize_t k
    cdef double kept = 0
    for k in range(mixture.n):
        kept += mixture.mix[k] * n / (n + mixture.strengths[k])
    return 1.0 if kept > 0.99 else kept     # once so much weight is given, this node gets the rest
