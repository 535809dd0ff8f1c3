# The random numbers of all kernels: splitmix64 (Steele, Lea & Flood 2014). Its sequence from a seed is
#
#     hash64(seed + GAMMA), hash64(seed + 2 * GAMMA), ...        modulo 2^64
#
# so that its state is one number, and any member can be computed without those before it.
from libc.stdint cimport uint64_t

cdef extern from *:
    """
    #define SPLITMIX_GAMMA UINT64_C(0x9e3779b97f4a7c15)
    """
    const uint64_t GAMMA "SPLITMIX_GAMMA"


cdef inline uint64_t hash64(uint64_t z) noexcept nogil:
    """Return 64 bits that all depend on all bits of z."""
    z = (z ^ (z >> 30)) * <uint64_t>0xbf58476d1ce4e5b9
    z = (z ^ (z >> 27)) * <uint64_t>0x94d049bb133111eb
    return z ^ (z >> 31)


cdef inline uint64_t next_random(uint64_t* state) noexcept nogil:
    """Advance the state; return 64 random bits."""
    state[0] += GAMMA
    return hash64(state[0])


cdef inline Py_ssize_t random_below(uint64_t* state, Py_ssize_t n) noexcept nogil:
    """Advance the state; return a random integer from 0 to n - 1, for n below 2^32."""
    return <Py_ssize_t>(((next_random(state) >> 32) * <uint64_t>n) >> 32)


cdef inline double as_unit(uint64_t bits) noexcept nogil:
    """Return the upper 53 bits as a multiple of 2^-53 in [0, 1)."""
    return <double>(bits >> 11) * (1.0 / 9007199254740992.0)
