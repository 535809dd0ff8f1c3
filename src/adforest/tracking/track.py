"""All statistics of a model's stream; here those of classes and the last predictions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from adforest.adaptation import BatchReport
from adforest.adaptation.scoring import LastPredictions, n_kept
from adforest.encoding import LabelTable
from adforest.forest import Samples
from adforest.forest.types import AnyArray, BoolArray, Float32Array, Float64Array, Int32Array, Int64Array
from adforest.tracking.column_sketches import ColumnSketches
from adforest.tracking.history import History

MISSED = 7.0  # expected samples of a class without any: by chance once in a thousand times
MAX_RETURNS = 512  # that are kept, the last ones


@dataclass(frozen=True, slots=True, eq=False)
class ClassLives:
    """Statistics by class code.

    A class is gone once `MISSED` samples of it would have been expected since it was last seen, given its frequency
    until then.

    Attributes
    ----------
    n_total : int
        Samples learnt.
    n_samples : int64 (n_classes,)
        Samples learnt of the class.
    first_batch, last_batch : int32 (n_classes,)
        Numbers of the batches, as given, with which it was first and last learnt; 0 if never.
    last_total : int64 (n_classes,)
        Samples learnt when it was last seen, itself included.
    n_returns : int32 (n_classes,)
        Number of returns after it was gone.
    returns : int32 (n, 3)
        The last returns: class code, last batch before it was gone, batch of its return.
    """

    n_total: int
    n_samples: Int64Array
    first_batch: Int32Array
    last_batch: Int32Array
    last_total: Int64Array
    n_returns: Int32Array
    returns: Int32Array

    @classmethod
    def none(cls) -> ClassLives:
        """Return the statistics before the first batch."""
        ints, longs = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.int64)
        return cls(0, longs, ints, ints, longs, ints, np.empty((0, 3), dtype=np.int32))

    def after(self, counts: Int64Array, batch: int) -> ClassLives:
        """Return the statistics after a batch with some number of samples of each class."""
        more = (0, len(counts) - len(self.n_samples))
        n_samples, last_total = np.pad(self.n_samples, more), np.pad(self.last_total, more)
        first, last = np.pad(self.first_batch, more), np.pad(self.last_batch, more)
        n_returns = np.pad(self.n_returns, more)
        seen = np.flatnonzero(counts)
        back = seen[_missed(n_samples, last_total, self.n_total)[seen] >= MISSED]
        returns = np.column_stack([back, last[back], np.full(len(back), batch)]).astype(np.int32)
        n_returns[back] += 1
        first[seen] = np.where(first[seen] == 0, np.int32(batch), first[seen])
        last[seen] = batch
        n_total = self.n_total + int(counts.sum())
        last_total[seen] = n_total
        return ClassLives(
            n_total,
            n_samples + counts,
            first,
            last,
            last_total,
            n_returns,
            np.concatenate([self.returns, returns])[-MAX_RETURNS:],
        )

    @property
    def is_gone(self) -> BoolArray:
        """By class: whether it is gone."""
        return _missed(self.n_samples, self.last_total, self.n_total) >= MISSED


def _missed(n_samples: Int64Array, last_total: Int64Array, n_total: int) -> Float64Array:
    """Return the expected number of samples of each class since it was last seen."""
    missed: Float64Array = (n_total - last_total) * (n_samples / np.maximum(last_total, 1))
    return missed


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

    def after(self, answered: LastPredictions) -> Prequential:
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
        """Return probabilities with columns of zeros for later classes."""
        if n_classes == self.probabilities.shape[1]:
            return self.probabilities
        return np.pad(self.probabilities, ((0, 0), (0, n_classes - self.probabilities.shape[1])))


@dataclass(frozen=True, slots=True, eq=False)
class Track:
    """Immutable statistics of batches, classes and columns, and the last predictions.

    Attributes
    ----------
    history : History
    classes : ClassLives
    columns : ColumnSketches
    prequential : Prequential
    """

    history: History = field(default_factory=History)
    classes: ClassLives = field(default_factory=ClassLives.none)
    columns: ColumnSketches = field(default_factory=lambda: ColumnSketches.none(0))
    prequential: Prequential = field(default_factory=Prequential)

    def after(
        self,
        report: BatchReport,
        learnt: Samples | None,
        recycled_codes: Mapping[int, Int32Array],
        answered: LastPredictions,
        *,
        is_new_regime: bool,
    ) -> Track:
        """Return the track after one more batch.

        Parameters
        ----------
        report : BatchReport
        learnt : Samples or None
            Samples learnt now: pending ones of earlier batches and those of this one, or a subsample of them with
            totals of all, see `adforest.tracking.column_sketches.sampled`; None if this batch is pending itself.
        recycled_codes : dict of int to int32 arrays
            By column: codes that encoded other categories until now.
        answered : LastPredictions
            Predictions for the last samples of the batch before it was learnt.
        is_new_regime : bool
            Whether the batch showed an abrupt change or a sustained drift. Predictions until then, those for this
            batch included, followed the old rules, and are dropped.
        """
        history = self.history.after(report)
        prequential = Prequential() if is_new_regime else self.prequential.after(answered)
        if learnt is None:
            return replace(self, history=history, prequential=prequential)
        classes = self.classes.after(learnt.batch_totals.by_class, report.batch)
        return Track(history, classes, self.columns.after(learnt, report.batch, recycled_codes), prequential)

    def without_samples(self) -> Track:
        """Return the track without samples collected for bounds."""
        return replace(self, columns=self.columns.without_samples())
