"""Correct predictions for the samples of a partition, counted for any engine."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from adforest.base import get_fitted
from adforest.encoding.labels import distinct_labels
from adforest.encoding.tables import read_weights, source_of
from adforest.merging.sums import exact_sums
from adforest.snapshot import Snapshot


def count_right(model: Snapshot, X: Any, y: Any, weight: Any, place: int) -> tuple[int, int]:
    """Return the weighted number of correct predictions for the samples of a partition, and their total weight.

    Both are exact sums, so that scores do not depend on partitions. Labels of another kind than those learnt are an
    error that names the partition.
    """
    if not len(y):
        return 0, 0
    source = source_of(None, place)
    classes, codes = distinct_labels(y, source)
    get_fitted(model).labels.with_values(classes, source)
    right = model.predict(X) == classes[codes]
    weights = read_weights(weight, len(right), source)
    wrong_sum, right_sum = exact_sums(right.astype(np.intp), np.ones(len(right)) if weights is None else weights, 2)
    return right_sum, right_sum + wrong_sum


def add_counts(counts: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Return the sums of the results of `count_right` for several partitions."""
    right_sum = total_sum = 0
    for right, total in counts:
        right_sum, total_sum = right_sum + right, total_sum + total
    return right_sum, total_sum


def accuracy(counts: Iterable[tuple[int, int]]) -> float:
    """Return the accuracy over all partitions, or raise if no sample has weight."""
    right, total = add_counts(counts)
    if not total:
        raise ValueError("there are no samples to score, or none that has a weight. Pass some.")
    return right / total
