"""Weights of samples as they arrive."""

from numbers import Real
from typing import Any

import numpy as np

from adforest.exceptions import InputError
from adforest.forest.types import Float64Array

LARGEST = 1e100  # sums of weights, and of their squares, are finite
SMALLEST = 1e-100  # so is what they are divided by; a weight below it is none


def read_weights(given: Any, n_samples: int, source: str) -> Float64Array | None:
    """Return the weights of some samples, None where all are 1.

    Parameters
    ----------
    given : array-like, float or None
        One weight a sample, or one for all.
    n_samples : int
        How many samples arrived.
    source : str
        What errors call the samples: "batch 7".

    Raises
    ------
    ValueError
        If they are not as many as samples, negative or not finite.
    """
    if given is None:
        return None
    try:
        weights = np.full(n_samples, given) if isinstance(given, Real) else np.asarray(given)
        weights = weights.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(f"sample_weight of {source} is not numbers. Pass one number a sample.") from None
    if weights.ndim != 1:
        raise InputError(f"Sample weights must be 1D array or scalar, but {source} has shape {weights.shape}.")
    if len(weights) != n_samples:
        raise InputError(
            f"sample_weight.shape == {weights.shape}, expected {(n_samples,)}! Pass one weight for each "
            f"sample of {source}."
        )
    is_bad = ~((weights >= 0) & (weights <= LARGEST))
    if is_bad.any():
        index = int(is_bad.argmax())
        raise InputError(
            f"sample_weight of {source} is {weights[index]} for sample {index}; expected numbers from 0 to "
            f"{LARGEST:g}. Mend or drop that sample."
        )
    weights[weights < SMALLEST] = 0.0
    return None if (weights == 1).all() else weights


def check_any_weight(n_weighed: int, source: str) -> None:
    """Raise if no sample of a batch has a weight above 0."""
    if not n_weighed:
        raise InputError(f"sample_weight of {source} is zero for all samples. Give at least one of them a weight.")
