"""What the endless generators share: counts that are checked at once, and batches made of fresh draws."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from adforest.streams.batch import Batch

Drawn = tuple[NDArray[np.float64], NDArray[np.int64]]  # records and their class values


def check_count(name: str, value: object, least: int = 1) -> None:
    """Raise an error unless the value is a whole number and large enough."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise TypeError(f"{name} is {value!r}; expected a whole number of {least} or more.")
    if value < least:
        raise ValueError(f"{name} is {value}; expected {least} or more.")


def draw_batch(number: int, scenario: str, size: int, draw: Callable[[int], Drawn]) -> Batch:
    """Return a batch that trains on fresh draws, tests on half as many and holds a tenth as many back."""
    return Batch(number, scenario, *draw(size), *draw(max(1, size // 2)), *draw(max(1, size // 10)))
