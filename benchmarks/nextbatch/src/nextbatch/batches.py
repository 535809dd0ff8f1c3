"""A table cut into batches, in its order."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

CLASS = "class"  # the column of every table that holds the label
QUICK_BATCHES, QUICK_SIZE = 12, 200  # batches and samples of a generated stream in a quick run

Batch = tuple[pd.DataFrame, NDArray[np.object_]]


def cut_table(
    table: pd.DataFrame, batch_size: int, thin: int = 1, *, quick: bool = False, max_batches: int | None = None
) -> list[Batch]:
    """Return a table's first batches in order: features as a data frame, labels as an array of str.

    Parameters
    ----------
    table : data frame
    batch_size : int
        After thinning. A remainder of less than half a batch is left out.
    thin : int
        Every how many-th sample is kept.
    quick : bool
        Fewer and smaller batches.
    max_batches : int or None
        None for all.
    """
    table = table.iloc[::thin]
    if quick:
        batch_size = min(batch_size, QUICK_SIZE)
        table = table.iloc[: QUICK_BATCHES * batch_size]
    return list(_slices(table, batch_size))[:max_batches]


def _slices(table: pd.DataFrame, size: int) -> Iterator[Batch]:
    """Yield the batches of a table."""
    X = table.drop(columns=CLASS)
    y = table[CLASS].to_numpy(dtype=object)
    for start in batch_starts(len(y), size):
        yield X.iloc[start : start + size].reset_index(drop=True), y[start : start + size]


def batch_starts(n_samples: int, size: int) -> list[int]:
    """Return where batches begin; a remainder is a batch if it has at least half as many samples.

    Examples
    --------
    >>> batch_starts(11, 4), batch_starts(9, 4)
    ([0, 4, 8], [0, 4])
    """
    return [start for start in range(0, n_samples, size) if 2 * (n_samples - start) >= size]
