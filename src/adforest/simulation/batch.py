"""One batch of a stream, with training and test samples, and functions that the generators share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adforest.exceptions import InputTypeError, ParameterError

Drawn = tuple[NDArray[np.float64], NDArray[np.int64]]  # samples and their class values


@dataclass(frozen=True, eq=False, repr=False)
class Batch:
    """Training samples that arrive together, and the test samples for the model after it has learnt them.

    Attributes
    ----------
    number : int
        Number in the stream, counted from 1.
    scenario : str
        The paper's name of the batch's classes, such as ``"MKC-1"`` or ``"SUC"``.
    X_train, y_train : table and array
        Training samples and their class values. Tables are of the kind the simulator was given.
    X_test, y_test : table and array
        Samples of this batch and of the two before it; no batch ever trains on them.
    X_held, y_held : table and array
        Held-out samples of this batch alone, for measuring retention later. The tests of the two following batches draw
        from them; the test of this batch does not.
    large_leaf_share : float or None
        In the paper's simulation: the fraction of the batch from the two largest leaves of a half's tree, where its
        stage requires one (MKC and MUC).
    """

    number: int
    scenario: str
    X_train: Any
    y_train: NDArray[np.generic]
    X_test: Any
    y_test: NDArray[np.generic]
    X_held: Any
    y_held: NDArray[np.generic]
    large_leaf_share: float | None = None

    def __repr__(self) -> str:
        return (
            f"Batch {self.number} ({self.scenario}): {len(self.y_train)} samples to learn, {len(self.y_test)} to test, "
            f"{len(self.y_held)} held out"
        )


def check_count(name: str, value: object, least: int = 1) -> None:
    """Raise an error unless the value is an integer and large enough."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise InputTypeError(f"{name} is {value!r}; expected an integer of {least} or more.")
    if value < least:
        raise ParameterError(f"{name} is {value}; expected {least} or more.")


def draw_batch(number: int, scenario: str, size: int, draw: Callable[[int], Drawn]) -> Batch:
    """Return a batch of new draws: training samples, half as many test samples and a tenth as many held-out ones."""
    return Batch(number, scenario, *draw(size), *draw(max(1, size // 2)), *draw(max(1, size // 10)))
