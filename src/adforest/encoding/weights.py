"""Weights of records as they arrive."""

from numbers import Real
from typing import Any

import numpy as np

from adforest.forest.types import Floats

LARGEST = 1e100  # sums of weights, and of their squares, are finite
SMALLEST = 1e-100  # so is what they are divided by; a weight below it is none


def read_weights(given: Any, n_records: int, batch: int) -> Floats | None:
    """Return the weights of a batch's records, None where all are 1.

    Parameters
    ----------
    given : array-like, float or None
        One weight a record, or one for all.
    n_records : int
        How many records arrived.
    batch : int
        Number of the batch, for the error.

    Raises
    ------
    ValueError
        If they are not as many as records, negative, not finite, or all 0.
    """
    if given is None:
        return None
    try:
        weights = np.full(n_records, given) if isinstance(given, Real) else np.asarray(given)
        weights = weights.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"sample_weight of batch {batch} is not numbers. Pass one number a record.") from None
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, but batch {batch} has shape {weights.shape}.")
    if len(weights) != n_records:
        raise ValueError(
            f"sample_weight.shape == {weights.shape}, expected {(n_records,)}! Pass one weight for each "
            f"record of batch {batch}."
        )
    is_bad = ~((weights >= 0) & (weights <= LARGEST))
    if is_bad.any():
        place = int(is_bad.argmax())
        raise ValueError(
            f"sample_weight of batch {batch} is {weights[place]} for record {place}; expected numbers from 0 to "
            f"{LARGEST:g}. Mend or drop that record."
        )
    weights[weights < SMALLEST] = 0.0
    if not weights.any():
        raise ValueError(f"sample_weight of batch {batch} is zero for all records. Give at least one of them a weight.")
    return None if (weights == 1).all() else weights
