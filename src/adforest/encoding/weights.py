"""Weights of records as they arrive."""

from numbers import Real
from typing import Any

import numpy as np

from adforest.forest.types import Floats

LARGEST = 1e100  # sums of weights, and of their squares, are finite
SMALLEST = 1e-100  # so is what they are divided by; a weight below it is none


def read_weights(given: Any, n_records: int, source: str) -> Floats | None:
    """Return the weights of some records, None where all are 1.

    Parameters
    ----------
    given : array-like, float or None
        One weight a record, or one for all.
    n_records : int
        How many records arrived.
    source : str
        What errors call the records: "batch 7".

    Raises
    ------
    ValueError
        If they are not as many as records, negative or not finite.
    """
    if given is None:
        return None
    try:
        weights = np.full(n_records, given) if isinstance(given, Real) else np.asarray(given)
        weights = weights.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"sample_weight of {source} is not numbers. Pass one number a record.") from None
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, but {source} has shape {weights.shape}.")
    if len(weights) != n_records:
        raise ValueError(
            f"sample_weight.shape == {weights.shape}, expected {(n_records,)}! Pass one weight for each "
            f"record of {source}."
        )
    is_bad = ~((weights >= 0) & (weights <= LARGEST))
    if is_bad.any():
        place = int(is_bad.argmax())
        raise ValueError(
            f"sample_weight of {source} is {weights[place]} for record {place}; expected numbers from 0 to "
            f"{LARGEST:g}. Mend or drop that record."
        )
    weights[weights < SMALLEST] = 0.0
    return None if (weights == 1).all() else weights


def check_any_weight(n_weighed: int, source: str) -> None:
    """Raise if no record of a batch has a weight above 0."""
    if not n_weighed:
        raise ValueError(f"sample_weight of {source} is zero for all records. Give at least one of them a weight.")
