"""The scikit-learn face of whatever learns batches: tables in, learnt on the side and swapped in, answers out."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from threading import Lock, RLock
from typing import Any, ClassVar, Generic, Self, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from adforest.encoding import EncodingRules, LabelTable, TableEncoder
from adforest.forest import Samples
from adforest.forest.types import AnyArray, Float64Array
from adforest.merging import BatchPlan, BatchRules, BatchSource, LocalBatch, plan_batch
from adforest.origins import Origins
from adforest.parallel import spawn_seeds
from adforest.parameters import COMMON, Rules, check_parameters

State = TypeVar("State")

# Kept beside the models, not in them: a lock can neither be pickled nor copied.
_locks: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
_locks_guard = Lock()


def lock_of(model: Any) -> Any:
    """Return the lock under which a model learns, so that batches given by several threads are learnt one by one."""
    with _locks_guard:
        return _locks.setdefault(model, RLock())


@dataclass(frozen=True, slots=True, eq=False)
class EncodedBatch:
    """One batch, encoded, and what must be known to read it.

    Attributes
    ----------
    number : int
        Position of the batch, counted from 1.
    samples : Samples
        The batch; classes by code, categories by code.
    encoder, labels : TableEncoder, LabelTable
        Lead from codes back to names and values; they know this batch already.
    seed : int
        Drawn once per model.
    source : BatchSource
        Where it came from.
    """

    number: int
    samples: Samples
    encoder: TableEncoder
    labels: LabelTable
    seed: int
    source: BatchSource

    def seeds(self, n: int) -> list[int]:
        """Return seeds for n trees, fixed by the model's seed and the batch."""
        return spawn_seeds([self.seed, self.number], n)


@dataclass(frozen=True, slots=True, eq=False)
class Model(Generic[State]):
    """All that is learnt, in one object, so that it can be swapped in with one assignment.

    Attributes
    ----------
    learnt : State
        What the classifier made of the batches.
    fixed : dict
        Parameters that cannot change between batches, as they were at the first one.
    has_samples : bool
        Whether the samples are there that learning needs; not in a model that was saved without them.
    origins : Origins
        What programs noted of where the batches come from.
    """

    encoder: TableEncoder
    labels: LabelTable
    learnt: State
    n_batches: int
    n_samples: int
    seed: int
    fixed: dict[str, Any] = field(default_factory=dict)
    has_samples: bool = True
    origins: Origins = field(default_factory=Origins)

    def in_order(self, votes: Float64Array) -> Float64Array:
        """Return votes with columns in the order of the sorted classes instead of codes."""
        return votes if self.labels.is_sorted else votes[:, self.labels.order]

    def most_likely(self, votes: Float64Array) -> AnyArray:
        """Return the class value that has most of the votes, columns in the order of the sorted classes."""
        best: AnyArray = self.labels.classes[votes.argmax(axis=1)]
        return best


def as_shares(votes: Float64Array) -> Float64Array:
    """Return votes scaled to a sum of 1; where nothing speaks for any class, all are alike."""
    votes[~votes.any(axis=1)] = 1.0
    shares: Float64Array = votes / votes.sum(axis=1, keepdims=True)
    return shares


def as_logs(shares: Float64Array) -> Float64Array:
    """Return the logarithms of shares, minus infinity for those that are 0."""
    with np.errstate(divide="ignore"):
        logs: Float64Array = np.log(shares)
    return logs


class BatchClassifier(ClassifierMixin, BaseEstimator, Generic[State]):  # type: ignore[misc]
    """The face of every classifier here. One says how a batch changes its state, and what the state answers.

    A batch is learnt on the side and swapped in at once: other threads that predict meanwhile see the old model or
    the new one, and an exception leaves the old one.
    """

    _rules: ClassVar[Rules] = COMMON
    _fixed: ClassVar[tuple[str, ...]] = ("categorical_features", "random_state")
    _takes_categories: bool = True
    _takes_missing: bool = True
    _reuses_codes: bool = False
    _adds_rates: bool = False

    @abstractmethod
    def _learnt_from(self, before: State | None, encoded: EncodedBatch) -> State:
        """Return the state after a batch, without changing the one before; None means that nothing was learnt."""

    @abstractmethod
    def _votes(self, model: Model[State], X: Float64Array) -> Float64Array:
        """Return how much speaks for each class (columns by code) for each sample."""

    def fit(self, X: Any, y: Any) -> Self:
        """Forget everything and learn X, y as the first batch.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        with lock_of(self):
            return self._learn(None, X, y)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn one more batch; class values not seen before are welcome.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The same columns as before; data frames in any order.
        y : array-like of shape (n_samples,)
        classes : array-like, optional
            Class values to expect. They appear in ``classes_`` before their first sample.

        Returns
        -------
        self
        """
        with lock_of(self):
            return self._learn(getattr(self, "_model", None), X, y, classes)

    def _learn(
        self, before: Model[State] | None, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn a batch that is here."""
        if y is None:
            check_parameters(self, self._rules)
            name = type(self).__name__
            raise ValueError(f"{name} requires y to be passed, but the target y is None. Pass the labels.")
        return self._learn_from(before, LocalBatch(X, y, sample_weight), classes)

    def _learn_from(self, before: Model[State] | None, source: BatchSource, classes: Any = None) -> Self:
        """Learn a batch on the side, wherever its samples lie, then swap the model in with one assignment."""
        rules = self._batch_rules(before)
        survey, n_before = source.survey(rules), 0 if before is None else before.n_samples
        labels, max_samples = None if before is None else before.labels, getattr(self, "max_samples", None)
        plan = plan_batch(rules, survey, labels, n_before, classes, max_samples)
        samples = source.draw(plan)
        self._check_values(plan.encoder, samples.X, f"batch {plan.number}")
        if before is None:
            seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
            parameters = self.get_params(deep=False)
            fixed = {key: parameters[key] for key in self._fixed if key in parameters}
        else:
            seed, fixed = before.seed, before.fixed
        encoded = EncodedBatch(plan.number, samples, plan.encoder, plan.labels, seed, source)
        learnt = self._learnt_from(None if before is None else before.learnt, encoded)
        if samples.totals is not None:
            learnt = self._with_rest(learnt, source, plan)
        n_samples = n_before + plan.n_samples
        origins = Origins() if before is None else before.origins
        encoder = plan.encoder.counted(samples.X, samples.y, samples.n_classes)
        self._model = Model(encoder, plan.labels, learnt, plan.number, n_samples, seed, fixed, origins=origins)
        self._after_batch()
        return self

    def _with_rest(self, learnt: State, source: BatchSource, plan: BatchPlan) -> State:
        """Return the state that also knows the samples of the last batch that were not drawn, by counting them."""
        raise NotImplementedError(f"{type(self).__name__} draws no samples")

    def _batch_rules(self, before: Model[State] | None) -> BatchRules:
        """Return what must be known to survey the next batch, or raise if the model cannot learn it."""
        check_parameters(self, self._rules)
        name, listed = type(self).__name__, getattr(self, "categorical_features", "from_dtype")
        if before is None:
            return BatchRules(1, None, listed, name, self._encoding_rules())
        self._check_fixed(before.fixed)
        if not before.has_samples:
            raise ValueError(
                f"this {name} was saved with samples=False: it answers, but cannot learn more batches, since the "
                "samples that trees are grown from are not in the file. Load a file saved with samples=True, or "
                "start anew with fit()."
            )
        return BatchRules(before.n_batches + 1, before.encoder, listed, name, self._encoding_rules())

    def _check_fixed(self, fixed: dict[str, Any]) -> None:
        """Raise if a parameter has changed that cannot change between batches."""
        for name, before in fixed.items():
            now = getattr(self, name)
            if now is not before and not _is_equal(now, before):
                raise ValueError(
                    f"{name} of {type(self).__name__} was {before!r} when the model learnt its first batch and is "
                    f"{now!r} now, but it cannot change between batches. Set it back, or start anew with fit()."
                )

    def _encoding_rules(self) -> EncodingRules:
        """Return what the encoder may do, by the parameters as they are now, of those that the classifier has."""
        return EncodingRules(
            column_changes=getattr(self, "column_changes", None),
            max_categories=getattr(self, "max_categories", None),
            min_frequency=getattr(self, "min_frequency", None),
            reuses_codes=self._reuses_codes,
            adds_rates=self._adds_rates,
        )

    def _after_batch(self) -> None:
        """Called once a batch is learnt; what is raised here does not lose it."""

    def _check_values(self, encoder: TableEncoder, matrix: Float64Array, source: str) -> None:
        """Raise if a table holds categories or gaps that this classifier cannot learn."""
        name = type(self).__name__
        if not self._takes_categories and encoder.is_categorical.any():
            position = int(encoder.is_categorical.argmax())
            shown = ", ".join(map(repr, encoder.category_values(position)[:3]))
            raise TypeError(
                f"{name} learns numbers only, but {_column(encoder, position)} of {source} is categorical ({shown}). "
                "Drop it, or convert it to numbers, for example to one 0/1 column a category."
            )
        if not self._takes_missing and np.isnan(matrix).any():
            position = int(np.isnan(matrix).any(axis=0).argmax())
            raise ValueError(
                f"Input X contains NaN: {name} cannot learn missing values, but {_column(encoder, position)} of "
                f"{source} lacks some. Drop those samples, or fill them in, for example with SimpleImputer."
            )

    def predict(self, X: Any) -> AnyArray:
        """Predict the class of each sample.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        model, votes = self._answers(X)
        return model.most_likely(votes)

    def _answers(self, X: Any) -> tuple[Model[State], Float64Array]:
        """Return the model that answers, and its votes, columns in the order of the sorted classes."""
        model = self._checked()
        matrix = model.encoder.translate(X, getattr(self, "column_changes", None))
        self._check_values(model.encoder, matrix, "these samples")
        return model, model.in_order(self._votes(model, matrix))

    def _checked(self) -> Model[State]:
        """Return the model, or say that nothing was learnt yet."""
        check_is_fitted(self)
        model: Model[State] = self._model
        return model

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan, tags.input_tags.sparse = self._takes_missing, True
        tags.input_tags.categorical = tags.input_tags.string = self._takes_categories
        return tags

    @property
    def classes_(self) -> AnyArray:
        """Class values seen or declared so far, sorted."""
        return self._known("classes_").labels.classes

    @property
    def n_features_in_(self) -> int:
        """Number of columns."""
        return self._known("n_features_in_").encoder.n_features

    @property
    def feature_names_in_(self) -> AnyArray:
        """Names of the columns, where they have any."""
        names = self._known("feature_names_in_").encoder.feature_names
        if names is None:
            raise AttributeError("the columns learnt have no names, so there is no feature_names_in_")
        return names

    def _known(self, attribute: str) -> Model[State]:
        """Return the model, or say that an attribute is not there yet, as hasattr expects."""
        if not hasattr(self, "_model"):
            raise AttributeError(f"{attribute} is there after fit() or partial_fit()")
        model: Model[State] = self._model
        return model


class VotingBatchClassifier(BatchClassifier[State]):
    """A classifier whose votes can be read as shares."""

    def predict_proba(self, X: Any) -> Float64Array:
        """Predict class probabilities, in the order of ``classes_``.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return as_shares(self._answers(X)[1])

    def predict_log_proba(self, X: Any) -> Float64Array:
        """Predict logarithms of class probabilities; minus infinity where a probability is 0.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return as_logs(self.predict_proba(X))


def _column(encoder: TableEncoder, position: int) -> str:
    """Return how an error calls a column."""
    return f"column {position if encoder.feature_names is None else repr(encoder.feature_names[position])}"


def _is_equal(one: Any, other: Any) -> bool:
    """Return whether two values of a parameter are the same, arrays and lists included."""
    try:
        return type(one) is type(other) and bool(np.array_equal(one, other))
    except (TypeError, ValueError):
        return False
