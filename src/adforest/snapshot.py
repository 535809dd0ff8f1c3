"""Immutable copy of a model, to predict with while the model learns further batches."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NoReturn, cast

from adforest.adaptation import BatchReport, State, votes
from adforest.base import FittedAttributes, FittedModel
from adforest.exceptions import AdforestError
from adforest.explaining import Explanation, explain
from adforest.forest.types import Float64Array
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


class TrackAttributes(FittedAttributes[State]):
    """Attributes of a fitted Adaptive Decision Forest, or of a snapshot of one, about its stream."""

    _model: FittedForests

    @property
    def history_(self) -> list[BatchReport]:
        """One report per batch, of the last 1,000 batches; those before are in `history_blocks_`."""
        return list(self._known("history_").track.history.reports)

    @property
    def history_blocks_(self) -> list[BatchBlock]:
        """Summaries of the batches before those of `history_`: at most 512 blocks of 1, 2, 4, 8 ... batches each."""
        return list(self._known("history_blocks_").track.history.blocks)

    @property
    def prequential_(self) -> PrequentialAnswers:
        """Labels of the last samples, and the probabilities predicted before they were learnt: ``(y_true, y_proba)``.

        At most 2,000 samples, and fewer than that where there are more than 50 classes: 100,000 probabilities. There
        are none after the first batch, and none after a batch with a sustained drift or an abrupt change.
        """
        model = self._known("prequential_")
        return model.track.prequential.named(model.labels)

    def _known(self, attribute: str) -> FittedForests:
        return cast(FittedForests, super()._known(attribute))


@dataclass(frozen=True, eq=False, repr=False)
class Snapshot(TrackAttributes):
    """Immutable copy of a model, as `AdaptiveDecisionForestClassifier.snapshot` returns it; it can only predict.

    It can be pickled and passed to other threads and processes. All its attributes are of the same state. Functions of
    scikit-learn that take a fitted classifier take it too, within `sklearn.frozen.FrozenEstimator` if they copy it.

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

    def fit(self, X: Any, y: Any) -> NoReturn:
        """Raise an error: a snapshot can only predict. scikit-learn takes objects with `fit` for estimators.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        """
        raise AdforestError("a snapshot can only predict; fit the model that it was taken from, or a new one")

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        inputs = InputTags(sparse=True, categorical=True, string=True, allow_nan=True)
        target = TargetTags(required=True)
        return Tags("classifier", target, classifier_tags=ClassifierTags(), input_tags=inputs)

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

    def _model_and_votes(self, X: Any) -> tuple[FittedModel[State], Float64Array]:
        return self._model, self._votes(X)

    def _votes(self, X: Any) -> Float64Array:
        """Return votes with columns in the order of the sorted classes."""
        model = self._model
        matrix = model.encoder.translate(X, self._column_changes)
        return model.in_order(votes(model.state, matrix, len(model.labels.by_arrival)))

    @property
    def has_samples(self) -> bool:
        """Whether it holds the samples in the model's memory."""
        return self._model.has_samples
