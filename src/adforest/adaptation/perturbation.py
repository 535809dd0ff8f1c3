"""When a leaf counts as perturbed by a batch: three readings of the paper's Eq. 14.

A leaf's confidence is the share of its most frequent class. It is *perturbed* if its confidence before the batch
exceeds its confidence after it by more than the error tolerance [ε]. What 'after' means is the reading.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from adforest.forest.types import BoolArray, Float64Array, Int32Array


class LeafStatistics(NamedTuple):
    """What leaves held and what a batch brought, one entry a leaf that the batch reached."""

    leaf: Int32Array
    held: Float64Array
    max_before: Float64Array
    brought: Float64Array
    max_batch: Float64Array
    max_merged: Float64Array
    brought_predicted: Float64Array
    n_classes: Float64Array

    @property
    def confidence(self) -> Float64Array:
        """Confidence before the batch; a leaf that held nothing had none to lose."""
        confidence: Float64Array = self.max_before / np.maximum(self.held, 1)  # what a leaf holds are whole numbers
        return confidence


def merged_confidence(leaves: LeafStatistics) -> Float64Array:
    """After = what the leaf held and what came, together (the author's program)."""
    return leaves.max_merged / (leaves.held + leaves.brought)


def batch_confidence(leaves: LeafStatistics) -> Float64Array:
    """After = what came, alone (the paper's text)."""
    return leaves.max_batch / leaves.brought


def predicted_confidence(leaves: LeafStatistics) -> Float64Array:
    """After = the share of what came that is of the class the leaf predicts.

    Closes a hole in the other two: a leaf that said A with 0.9 and now gets B with 0.9 has lost its meaning, yet not
    its confidence.
    """
    return leaves.brought_predicted / leaves.brought


READINGS: dict[str, Callable[[LeafStatistics], Float64Array]] = {
    "batch": batch_confidence,
    "merged": merged_confidence,
    "predicted": predicted_confidence,
}


def perturbed_share(perturbed: Sequence[BoolArray], n_leaves: int) -> float:
    """Return how much of a forest a batch perturbs [ϑ], from the perturbed leaves of each of its trees."""
    return sum(int(mask.sum()) for mask in perturbed) / n_leaves


def is_perturbed(leaves: LeafStatistics, reading: str, tolerance: float) -> BoolArray:
    """Return which leaves a batch perturbed."""
    return leaves.confidence > READINGS[reading](leaves) + tolerance
