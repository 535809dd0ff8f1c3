from libc.stdint cimport int32_t

cdef struct Sums:
    # What sum_rows returned.
    const int32_t* parent
    const double* total
    const int32_t* first
    const int32_t* stop
    const int32_t* klass
    const float* weight

cdef double keep(double above, const double* strengths, const double* mix, Py_ssize_t n_strengths) noexcept nogil
