"""Tables in time order, cut into consecutive batches; each batch is the test of what was learnt before it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from adforest.adaptation.report import scenario_of
from adforest.simulation.batch import Batch, check_count
from nextbatch.batches import batch_starts


def cut_in_order(X: NDArray[np.float64], y: NDArray[np.generic], batch_size: int) -> list[Batch]:
    """Cut records into consecutive batches.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_columns)
        Samples in the order in which they came.
    y : ndarray of shape (n_samples,)
        Their class values.
    batch_size : int
        Samples in a batch. What is left at the end is a batch if it has at least half as many, and dropped otherwise.

    Returns
    -------
    list of Batch
        Without test and held records: the next batch is the test. ``scenario`` is the paper's name of the batch's
        classes against those known before it.

    Examples
    --------
    >>> import numpy as np
    >>> from experiments.streams.order import cut_in_order
    >>> batches = cut_in_order(np.zeros((9, 1)), np.array(list("aaabbbabc")), 4)
    >>> [(len(batch.y_train), batch.scenario) for batch in batches]
    [(4, 'MUC'), (4, 'MKC')]
    """
    check_count("batch_size", batch_size)
    known: set[object] = set()
    batches = []
    for number, start in enumerate(batch_starts(len(y), batch_size), start=1):
        records, classes = X[start : start + batch_size], y[start : start + batch_size]
        found = np.unique(classes).tolist()
        none = (X[:0], y[:0])
        batches.append(Batch(number, scenario_of(found, known), records, classes, *none, *none))
        known.update(found)
    return batches
