"""How much each sample counts: the weight it was given, times that of its class, on a scale that suits trees.

Trees draw integers by weights. Where weights are small a tree would draw next to nothing, and where all are large
every sample would be in every bag. So all are multiplied by a number that brings their mean to between 1 and 4; a mean
that is there already stays, and then a sample of weight 2 counts as the sample twice.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from adforest.adaptation.tuning import TUNING, Tuning
from adforest.forest import Samples
from adforest.forest.types import AnyArray, Float64Array, Int32Array, Int64Array

ClassWeight: TypeAlias = tuple[float, ...] | str | None


@dataclass(frozen=True, slots=True, eq=False)
class SampleWeights:
    """What weights are multiplied by.

    Attributes
    ----------
    by_class : float64 (n_classes,) or None
        By class: its weight times what brings the mean to where it should be. None where all classes are 1 and no
        weight was ever given, so that every sample counts once.
    """

    by_class: Float64Array | None

    @classmethod
    def of(
        cls,
        class_weight: ClassWeight,
        seen: Int64Array,
        given: Float64Array,
        n_classes: int,
        tuning: Tuning = TUNING,
    ) -> SampleWeights:
        """Return the sample weights after some samples.

        Parameters
        ----------
        class_weight : tuple of float, "balanced" or None
            By class code; "balanced" makes all classes seen so far count the same.
        seen : int64
            Samples ever seen, by class.
        given : float64
            Sum of the weights that these were given, by class.
        n_classes : int
            Classes known, of some of which no sample may have been seen.
        """
        if class_weight is None and np.array_equal(seen, given):
            return cls(None)
        by_class = np.ones(n_classes)
        if class_weight == "balanced":
            known = seen > 0
            by_class[: len(seen)][known] = seen.sum() / (np.count_nonzero(known) * seen[known])
        elif class_weight is not None:
            by_class[: len(class_weight)] = class_weight
        total = float(by_class[: len(given)] @ given)
        return cls(by_class * _factor(total / seen.sum(), tuning) if total > 0 else by_class)

    def of_samples(self, y: Int32Array, given: Float64Array | None) -> Float64Array | None:
        """Return how much samples count, given their classes and the weights they came with; None: all count once."""
        if self.by_class is None:
            return given
        by_sample: Float64Array = self.by_class[y]
        return by_sample if given is None else by_sample * given

    def applied_to(self, samples: Samples) -> Samples:
        """Return samples with what each counts for its weight."""
        return samples if self.by_class is None else replace(samples, weight=self.of_samples(samples.y, samples.weight))

    def totals(self, y: Int32Array, given: Float64Array | None, n_classes: int) -> AnyArray:
        """Return how much the samples of each class count together."""
        return np.bincount(y, self.of_samples(y, given), minlength=n_classes)


def rescaled(samples: Samples, tuning: Tuning = TUNING) -> Samples:
    """Return samples that are to be grown from alone, with the mean of their weights where it should be."""
    if samples.weight is None or not len(samples):
        return samples
    return replace(samples, weight=samples.weight * _factor(float(samples.weight.mean()), tuning))


def _factor(mean: float, tuning: Tuning) -> float:
    """Return what to multiply weights of some mean by."""
    return min(max(mean, tuning.min_mean_weight), tuning.max_mean_weight) / mean
