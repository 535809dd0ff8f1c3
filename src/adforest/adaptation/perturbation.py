"""When a leaf counts as perturbed by a batch: three readings of the paper's Eq. 14.

A leaf's confidence is the fraction of its most frequent class. It is *perturbed* if its confidence before the batch
exceeds its confidence after it by more than the error tolerance [ε]. What 'after' means is the reading.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from adforest.forest.types import BoolArray, Float64Array, Int32Array


class LeafStatistics(NamedTuple):
    """Class weights of leaves before a batch and of the batch, one entry a leaf that the batch reached."""

    leaf: Int32Array
    n_before: Float64Array
    max_before: Float64Array
    n_batch: Float64Array
    max_batch: Float64Array
    max_merged: Float64Array
    n_batch_predicted: Float64Array
    n_classes: Float64Array

    @property
    def confidence(self) -> Float64Array:
        """Confidence before the batch; a leaf without samples had none to lose."""
        confidence: Float64Array = self.max_before / np.maximum(self.n_before, 1)  # counts are integers
        return confidence


def merged_confidence(leaves: LeafStatistics) -> Float64Array:
    """After = the previous samples of the leaf and those of the batch, together (the author's program)."""
    return leaves.max_merged / (leaves.n_before + leaves.n_batch)


def batch_confidence(leaves: LeafStatistics) -> Float64Array:
    """After = those of the batch alone (the paper's text)."""
    return leaves.max_batch / leaves.n_batch


def predicted_confidence(leaves: LeafStatistics) -> Float64Array:
    """After = the fraction of those of the batch that is of the class the leaf predicts.

    Closes a hole in the other two: a leaf that said A with 0.9 and now gets B with 0.9 has lost its meaning, yet not
    its confidence.
    """
    return leaves.n_batch_predicted / leaves.n_batch


READINGS: dict[str, Callable[[LeafStatistics], Float64Array]] = {
    "batch": batch_confidence,
    "merged": merged_confidence,
    "predicted": predicted_confidence,
}


def perturbed_fraction(perturbed: Sequence[BoolArray], n_leaves: int) -> float:
    """Return how much of a forest a batch perturbs [ϑ], from the perturbed leaves of each of its trees."""
    return sum(int(mask.sum()) for mask in perturbed) / n_leaves


def is_perturbed(leaves: LeafStatistics, reading: str, tolerance: float) -> BoolArray:
    """Return which leaves a batch perturbed."""
    return leaves.confidence > READINGS[reading](leaves) + tolerance
