"""Base class for batch-incremental classifiers: tables in, a fitted model swapped in, predictions out."""

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
from adforest.exceptions import Advice, MissingSamplesError, ParameterError
from adforest.forest import Samples
from adforest.forest.forest import as_proba as as_proba
from adforest.forest.types import AnyArray, Float64Array
from adforest.merging import BatchPlan, BatchRules, BatchSource, plan_batch
from adforest.origins import Origins
from adforest.parallel import spawn_seeds
from adforest.parameters import COMMON, Rules, check_parameters

StateT = TypeVar("StateT")

# Kept beside the models, not in them: a lock can neither be pickled nor copied.
_locks: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
_locks_guard = Lock()


def lock_of(model: Any) -> Any:
    """Return the lock under which a model learns, so that batches given by several threads are learnt one by one."""
    with _locks_guard:
        return _locks.setdefault(model, RLock())


@dataclass(frozen=True, slots=True, eq=False)
class EncodedBatch:
    """One encoded batch, with the encoders to decode it.

    Attributes
    ----------
    plan : BatchPlan
        Encoders and draws, determined by a survey of the whole batch.
    samples : Samples
        The samples drawn; classes by code, categories by code.
    seed : int
        Drawn once per model.
    fixed : dict
        Parameters that cannot change between batches, as they were at the first one.
    """

    plan: BatchPlan
    samples: Samples
    seed: int
    fixed: dict[str, Any]

    @property
    def number(self) -> int:
        """Number of the batch, counted from 1."""
        return self.plan.number

    @property
    def encoder(self) -> TableEncoder:
        """Decodes categories; it includes those of this batch."""
        return self.plan.encoder

    @property
    def labels(self) -> LabelTable:
        """Decodes classes; it includes those of this batch."""
        return self.plan.labels

    def seeds(self, n: int) -> list[int]:
        """Return seeds for n trees, determined by the model's seed and the batch."""
        return spawn_seeds([self.seed, self.number], n)


@dataclass(frozen=True, slots=True, eq=False)
class FittedModel(Generic[StateT]):
    """The fitted model in one object, so that it can be replaced with one assignment.

    Attributes
    ----------
    encoder, labels : TableEncoder, LabelTable
        Translate tables and labels.
    state : StateT
        The state of the classifier.
    n_batches, n_samples : int
        Number of batches, and of their samples.
    seed : int
        Drawn once per model.
    fixed : dict
        Parameters that cannot change between batches, as they were at the first one.
    has_samples : bool
        Whether it has the samples that learning needs; False for a model that was saved without them.
    origins : Origins
        Source of the batches, as noted by programs.
    """

    encoder: TableEncoder
    labels: LabelTable
    state: StateT
    n_batches: int
    n_samples: int
    seed: int
    fixed: dict[str, Any] = field(default_factory=dict)
    has_samples: bool = True
    origins: Origins = field(default_factory=Origins)

    @classmethod
    def after(cls, before: Self | None, batch: EncodedBatch, state: StateT, **more: Any) -> Self:
        """Return the model after one more batch, given the new state."""
        samples, n_before = batch.samples, 0 if before is None else before.n_samples
        return cls(
            encoder=batch.encoder.counted(samples.X, samples.y, samples.n_classes),
            labels=batch.labels,
            state=state,
            n_batches=batch.number,
            n_samples=n_before + batch.plan.n_samples,
            seed=batch.seed,
            fixed=batch.fixed,
            origins=Origins() if before is None else before.origins,
            **more,
        )

    def in_order(self, votes: Float64Array) -> Float64Array:
        """Return votes with columns in the order of the sorted classes instead of codes."""
        return votes if self.labels.is_sorted else votes[:, self.labels.order]

    def most_likely(self, votes: Float64Array) -> AnyArray:
        """Return the class value that has most of the votes, columns in the order of the sorted classes."""
        best: AnyArray = self.labels.classes[votes.argmax(axis=1)]
        return best


def get_fitted(estimator: Any) -> Any:
    """Return the `FittedModel` of a classifier or a `Snapshot`, or raise `NotFittedError`.

    It is immutable. Read it once: another thread may be learning one more batch meanwhile.
    """
    if not hasattr(estimator, "_model"):
        check_is_fitted(estimator)
    return estimator._model


def set_fitted(estimator: Any, fitted: Any) -> None:
    """Set the fitted model of a classifier, from another one of its kind or from a file."""
    estimator._model = fitted


def check_model_parameters(estimator: Any, fixed: dict[str, Any] | None = None) -> None:
    """Raise if a parameter of a classifier has a value that it cannot have, or that cannot change between batches.

    Parameters
    ----------
    estimator : BatchClassifier
    fixed : dict, optional
        Parameters that cannot change, as they were at the first batch; by default those of the fitted model.
    """
    check_parameters(estimator, estimator._rules)
    if fixed is None:
        fixed = estimator._model.fixed if hasattr(estimator, "_model") else {}
    for name, before in fixed.items():
        now = getattr(estimator, name)
        if now is not before and not _is_equal(now, before):
            raise ParameterError(
                f"{name} of {type(estimator).__name__} was {before!r} when the model learnt its first batch and is "
                f"{now!r} now, but it cannot change between batches.",
                Advice("Set it back, or {refit}."),
            )


class FittedAttributes(Generic[StateT]):
    """Predictions and attributes of a fitted model, of a classifier or of a snapshot of one."""

    _model: FittedModel[StateT]

    @abstractmethod
    def _model_and_votes(self, X: Any) -> tuple[FittedModel[StateT], Float64Array]:
        """Return the model and its votes, columns in the order of the sorted classes."""

    def predict(self, X: Any) -> AnyArray:
        """Predict the class of each sample.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        model, votes = self._model_and_votes(X)
        return model.most_likely(votes)

    def predict_proba(self, X: Any) -> Float64Array:
        """Predict class probabilities, in the order of ``classes_``.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return as_proba(self._model_and_votes(X)[1])

    def predict_log_proba(self, X: Any) -> Float64Array:
        """Predict logarithms of class probabilities, see `predict_proba`; minus infinity where one is 0."""
        with np.errstate(divide="ignore"):
            logs: Float64Array = np.log(self.predict_proba(X))
        return logs

    @property
    def classes_(self) -> AnyArray:
        """Class values seen or declared so far, sorted."""
        return self._known("classes_").labels.classes

    @property
    def n_batches_(self) -> int:
        """Number of batches learnt."""
        return self._known("n_batches_").n_batches

    @property
    def n_samples_seen_(self) -> int:
        """Number of samples learnt, those of weight 0 left out."""
        return self._known("n_samples_seen_").n_samples

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

    def _known(self, attribute: str) -> FittedModel[StateT]:
        """Return the model, or raise AttributeError, as hasattr expects."""
        if not hasattr(self, "_model"):
            raise AttributeError(f"{attribute} is there after fit() or partial_fit()")
        return self._model


class BatchClassifier(FittedAttributes[StateT], ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base class for batch-incremental classifiers: encodes batches, and what is to be predicted.

    Subclasses learn a batch under the lock of the model and replace the fitted model with one assignment: other threads
    that predict meanwhile see the model before or after the batch, and an exception leaves it as it was.
    """

    _rules: ClassVar[Rules] = COMMON
    _fixed: ClassVar[tuple[str, ...]] = ("categorical_features", "random_state")
    _reuses_codes: bool = False
    _adds_rates: bool = False

    @abstractmethod
    def _votes(self, model: FittedModel[StateT], X: Float64Array) -> Float64Array:
        """Return votes for each class (columns by code) for each sample."""

    def _encode(self, before: FittedModel[StateT] | None, source: BatchSource, classes: Any) -> EncodedBatch:
        """Return a batch encoded, or raise if the model cannot learn it."""
        check_model_parameters(self, {} if before is None else before.fixed)
        name = type(self).__name__
        if before is not None and not before.has_samples:
            raise MissingSamplesError(
                f"this {name} was saved with samples=False: it predicts, but cannot learn more batches, since the "
                "samples that trees are grown from are not in the file.",
                Advice("Load a file saved with samples=True, or {refit}.", shell="Name a file that has them."),
            )
        encoding = EncodingRules(
            column_changes=getattr(self, "column_changes", None),
            max_categories=getattr(self, "max_categories", None),
            min_frequency=getattr(self, "min_frequency", None),
            reuses_codes=self._reuses_codes,
            adds_rates=self._adds_rates,
        )
        number, encoder = (1, None) if before is None else (before.n_batches + 1, before.encoder)
        rules = BatchRules(number, encoder, getattr(self, "categorical_features", "from_dtype"), name, encoding)
        labels, n_before = (None, 0) if before is None else (before.labels, before.n_samples)
        max_samples = getattr(self, "max_samples", None)
        plan = plan_batch(rules, source.survey(rules), labels, n_before, classes, max_samples)
        samples = source.draw(plan)
        if before is not None:
            return EncodedBatch(plan, samples, before.seed, before.fixed)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        fixed = {name: getattr(self, name) for name in self._fixed if hasattr(self, name)}
        return EncodedBatch(plan, samples, seed, fixed)

    def _model_and_votes(self, X: Any) -> tuple[FittedModel[StateT], Float64Array]:
        model = self._checked()
        matrix = model.encoder.translate(X, getattr(self, "column_changes", None))
        return model, model.in_order(self._votes(model, matrix))

    def _checked(self) -> FittedModel[StateT]:
        """Return the model, or raise `NotFittedError`."""
        model: FittedModel[StateT] = get_fitted(self)
        return model

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_model")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.sparse = True
        tags.input_tags.categorical = tags.input_tags.string = True
        return tags


def _is_equal(one: Any, other: Any) -> bool:
    """Return whether two values of a parameter are the same, arrays and lists included."""
    try:
        return type(one) is type(other) and bool(np.array_equal(one, other))
    except (TypeError, ValueError):
        return False
