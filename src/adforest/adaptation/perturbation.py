"""When a leaf counts as perturbed by a batch: three readings of the paper's Eq. 14.

A leaf's confidence is the share of its most frequent class. It is *perturbed* if its confidence before the batch
exceeds its confidence after it by more than the error tolerance [ε]. What 'after' means is the reading.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from adforest.forest.types import Floats, Ints, Mask


class LeafStatistics(NamedTuple):
    """What leaves held and what a batch brought, one entry a leaf that the batch reached."""

    leaf: Ints
    held: Floats
    held_top: Floats
    brought: Floats
    brought_top: Floats
    both_top: Floats
    brought_predicted: Floats
    n_classes: Floats

    @property
    def confidence(self) -> Floats:
        """Confidence before the batch; a leaf that held nothing had none to lose."""
        confidence: Floats = self.held_top / np.maximum(self.held, 1)  # what a leaf holds are whole numbers
        return confidence


def merged_confidence(leaves: LeafStatistics) -> Floats:
    """After = what the leaf held and what came, together (the author's program)."""
    return leaves.both_top / (leaves.held + leaves.brought)


def batch_confidence(leaves: LeafStatistics) -> Floats:
    """After = what came, alone (the paper's text)."""
    return leaves.brought_top / leaves.brought


def predicted_confidence(leaves: LeafStatistics) -> Floats:
    """After = the share of what came that is of the class the leaf predicts.

    Closes a hole in the other two: a leaf that said A with 0.9 and now gets B with 0.9 has lost its meaning, yet not
    its confidence.
    """
    return leaves.brought_predicted / leaves.brought


READINGS: dict[str, Callable[[LeafStatistics], Floats]] = {
    "batch": batch_confidence,
    "merged": merged_confidence,
    "predicted": predicted_confidence,
}


def perturbed_share(perturbed: Sequence[Mask], n_leaves: int) -> float:
    """Return how much of a forest a batch perturbs [ϑ], from the perturbed leaves of each of its trees."""
    return sum(int(mask.sum()) for mask in perturbed) / n_leaves


def is_perturbed(leaves: LeafStatistics, reading: str, tolerance: float) -> Mask:
    """Return which leaves a batch perturbed."""
    return leaves.confidence > READINGS[reading](leaves) + tolerance
