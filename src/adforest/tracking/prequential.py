"""Predictions for the last samples before they were learnt, from which thresholds are chosen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from adforest.adaptation.scoring import Answered, n_kept
from adforest.encoding import LabelTable
from adforest.forest.types import AnyArray, Float32Array, Int32Array


class PrequentialAnswers(NamedTuple):
    """Labels of the last samples, and the probabilities predicted before they were learnt.

    Attributes
    ----------
    y_true : ndarray of shape (n_samples,)
        Class values, oldest first.
    y_proba : ndarray of float32 of shape (n_samples, n_classes)
        What `predict_proba` would have returned, columns in the order of ``classes_``; 0 for a class not known then.
    """

    y_true: AnyArray
    y_proba: Float32Array


@dataclass(frozen=True, slots=True, eq=False)
class Prequential:
    """Classes and probabilities of the last samples, at most `adforest.adaptation.scoring.n_kept` of them.

    Attributes
    ----------
    codes : int32 (n,)
    probabilities : float32 (n, n_classes)
        Columns by class code.
    """

    codes: Int32Array = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    probabilities: Float32Array = field(default_factory=lambda: np.empty((0, 0), dtype=np.float32))

    def after(self, answered: Answered) -> Prequential:
        """Return the predictions after one more batch, which may bring new classes."""
        n_classes = answered.probabilities.shape[1]
        n, before = n_kept(n_classes), self._padded(n_classes)
        first = max(0, len(before) + len(answered.y) - n)
        return Prequential(
            np.concatenate([self.codes[first:], answered.y[-n:]]),
            np.concatenate([before[first:], answered.probabilities[-n:]]),
        )

    def named(self, labels: LabelTable) -> PrequentialAnswers:
        """Return the same by class value, columns in the order of the sorted classes."""
        probabilities = self._padded(len(labels.by_arrival))
        return PrequentialAnswers(labels.by_arrival[self.codes], probabilities[:, labels.order])

    def _padded(self, n_classes: int) -> Float32Array:
        """Return probabilities with columns of zeros for classes that came later."""
        if n_classes == self.probabilities.shape[1]:
            return self.probabilities
        return np.pad(self.probabilities, ((0, 0), (0, n_classes - self.probabilities.shape[1])))
