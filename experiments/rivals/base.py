"""Base classes of rivals that encode batches as ADF does: without sample weights, and some without categories."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NoReturn, Self

from adforest.base import BatchClassifier, EncodedBatch, FittedModel, StateT, lock_of
from adforest.encoding import TableEncoder
from adforest.encoding.tables import column_label
from adforest.exceptions import InputTypeError
from adforest.merging import BatchSource, LocalBatch


class Rival(BatchClassifier[StateT]):
    """A rival: subclasses define how a batch changes the state, and the votes."""

    @abstractmethod
    def _learnt_from(self, before: StateT | None, encoded: EncodedBatch) -> StateT:
        """Return the state after a batch, without changing the one before; None means that nothing was learnt."""

    def fit(self, X: Any, y: Any) -> Self:
        """Fit a new model, with X, y as its first batch."""
        with lock_of(self):
            return self._learn(None, LocalBatch(X, y), None)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn one more batch, which may bring new classes."""
        with lock_of(self):
            return self._learn(getattr(self, "_model", None), LocalBatch(X, y), classes)

    def _learn(self, before: FittedModel[StateT] | None, source: BatchSource, classes: Any) -> Self:
        """Learn a batch, then replace the model with one assignment."""
        batch = self._encode(before, source, classes)
        state = self._learnt_from(None if before is None else before.state, batch)
        self._model = FittedModel.after(before, batch, state)
        return self


class NumericalRival(Rival[StateT]):
    """A rival that learns numbers only."""

    def _encode(self, before: FittedModel[StateT] | None, source: BatchSource, classes: Any) -> EncodedBatch:
        batch = super()._encode(before, source, classes)
        self._check_kinds(batch.encoder, f"batch {batch.number}")
        return batch

    def _check_kinds(self, encoder: TableEncoder, source: str) -> None:
        """Raise if a column is categorical."""
        if encoder.is_categorical.any():
            position = int(encoder.is_categorical.argmax())
            where, shown = column_label(source, encoder.names, position), encoder.category_values(position)[:3]
            raise InputTypeError(
                f"{type(self).__name__} learns numbers only, but {where} is categorical "
                f"({', '.join(map(repr, shown))}). Drop it, or convert it to numbers, for example to one 0/1 column a "
                "category."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = tags.input_tags.string = False
        return tags


class DistanceRival(NumericalRival[StateT]):
    """A rival whose votes are distances, which are no class probabilities."""

    @property
    def predict_proba(self) -> NoReturn:
        """There is none."""
        raise AttributeError(f"{type(self).__name__} has distances to classes, but no class probabilities")

    predict_log_proba = predict_proba
