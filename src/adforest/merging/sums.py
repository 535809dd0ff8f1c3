"""Sums of floats that are exact, so that they do not depend on the order or the groups in which they are added up."""

from collections.abc import Sequence

import numpy as np

from adforest.forest.types import AnyArray, Float64Array

UNIT = 400  # sums are whole multiples of 2 ** -UNIT, as all floats are that are 0 or at least 1e-100
HALF_BITS = 27  # of the 53 bits of a float: halves of 67 million of them add up exactly in a float


def exact_sums(groups: AnyArray, values: Float64Array, n_groups: int) -> tuple[int, ...]:
    """Return the sum of the values of each group, in units of 2 ** -400; sums of several blocks may be added.

    Parameters
    ----------
    groups : int (n,)
        Group of each value, from 0 to n_groups - 1.
    values : float64 (n,)
        0, or from 1e-100 on, as the weights of samples are.
    n_groups : int
    """
    fraction, exponent = np.frexp(values)
    whole = np.ldexp(fraction, 53).astype(np.int64)
    distinct, row_index = np.unique(exponent, return_inverse=True)
    cell, shape = row_index * n_groups + groups, (len(distinct), n_groups)
    low, high = (
        np.bincount(cell, half, minlength=shape[0] * shape[1]).reshape(shape).astype(np.int64).tolist()
        for half in (whole & (2**HALF_BITS - 1), whole >> HALF_BITS)
    )
    sums = [0] * n_groups
    for row, power in enumerate((distinct - 53 + UNIT).tolist()):
        for group in range(n_groups):
            sums[group] += (low[row][group] + (high[row][group] << HALF_BITS)) << power
    return tuple(sums)


def as_floats(sums: Sequence[int]) -> Float64Array:
    """Return exact sums as the floats that are nearest to them."""
    return np.array([one / (1 << UNIT) for one in sums], dtype=np.float64)
