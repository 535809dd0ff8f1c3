"""Immutable copy of a model, to predict with while the model goes on learning."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from adforest.adaptation import BatchReport, State, votes
from adforest.base import FittedModel, as_log_proba, as_proba
from adforest.explaining import Explanation, explain
from adforest.forest.types import AnyArray, Float64Array
from adforest.tracking import BatchBlock, PrequentialAnswers, Track


@dataclass(frozen=True, slots=True, eq=False)
class FittedForests(FittedModel[State]):
    """The fitted state of an Adaptive Decision Forest.

    Attributes
    ----------
    state : State
        The forests, memory and evidence.
    track : Track
        Statistics of the stream.
    """

    track: Track = field(default_factory=Track)


@dataclass(frozen=True, eq=False, repr=False)
class Snapshot:
    """Immutable copy of a model, as `AdaptiveDecisionForestClassifier.snapshot` returns it; it can only predict.

    It can be pickled and passed to other threads and processes. All its attributes are of the same state.

    Attributes
    ----------
    classes_ : ndarray
        Class values seen or declared, sorted.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only if the columns have names.
    n_batches_, n_samples_seen_ : int
        Number of batches given to the model, and of their samples.
    history_ : list of BatchReport
        One report per batch, of the last 1,000 batches.
    history_blocks_ : list of BatchBlock
        Summaries of the batches before those.
    prequential_ : named tuple of y_true and y_proba
        Labels of the last samples, and the probabilities predicted before they were learnt.
    has_samples : bool
        Whether it holds the samples in the model's memory.
    """

    _model: FittedForests
    _column_changes: str

    def __repr__(self) -> str:
        names = ", ".join(map(str, self.classes_[:5].tolist())) + (", ..." if len(self.classes_) > 5 else "")
        return f"Snapshot after {self.n_batches_} batches, {len(self.classes_)} classes ({names})"

    def predict(self, X: Any) -> AnyArray:
        """Predict the class of each sample.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._model.most_likely(self._votes(X))

    def predict_proba(self, X: Any) -> Float64Array:
        """Predict class probabilities, in the order of ``classes_``.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return as_proba(self._votes(X))

    def predict_log_proba(self, X: Any) -> Float64Array:
        """Predict logarithms of class probabilities; minus infinity where a probability is 0.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return as_log_proba(self.predict_proba(X))

    def explain(self, X: Any) -> Explanation:
        """Explain predictions, see `AdaptiveDecisionForestClassifier.explain`.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        Explanation
        """
        model = self._model
        matrix = model.encoder.translate(X, self._column_changes)
        return explain(model.state, model.encoder, model.labels, matrix)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy on some samples.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
        """
        from sklearn.metrics import accuracy_score  # imports pandas, which predictions do not need

        return float(accuracy_score(y, self.predict(X), sample_weight=sample_weight))

    def _votes(self, X: Any) -> Float64Array:
        """Return votes with columns in the order of the sorted classes."""
        model = self._model
        matrix = model.encoder.translate(X, self._column_changes)
        return model.in_order(votes(model.state, matrix, len(model.labels.by_arrival)))

    @property
    def classes_(self) -> AnyArray:
        """Class values seen or declared, sorted."""
        return self._model.labels.classes

    @property
    def n_features_in_(self) -> int:
        """Number of columns."""
        return self._model.encoder.n_features

    @property
    def feature_names_in_(self) -> AnyArray:
        """Names of the columns, where they have any."""
        names = self._model.encoder.feature_names
        if names is None:
            raise AttributeError("the columns learnt have no names, so there is no feature_names_in_")
        return names

    @property
    def n_batches_(self) -> int:
        """Number of batches learnt."""
        return self._model.n_batches

    @property
    def n_samples_seen_(self) -> int:
        """Number of samples learnt, those of weight 0 left out."""
        return self._model.n_samples

    @property
    def has_samples(self) -> bool:
        """Whether it holds the samples in the model's memory."""
        return self._model.has_samples

    @property
    def history_(self) -> list[BatchReport]:
        """One report per batch, of the last 1,000 batches; those before are in `history_blocks_`."""
        return list(self._model.track.history.reports)

    @property
    def history_blocks_(self) -> list[BatchBlock]:
        """Summaries of the batches before those of `history_`: at most 512 blocks of 1, 2, 4, 8 ... batches each."""
        return list(self._model.track.history.blocks)

    @property
    def prequential_(self) -> PrequentialAnswers:
        """Predictions for the last samples before they were learnt, see `AdaptiveDecisionForestClassifier`."""
        return self._model.track.prequential.named(self._model.labels)
