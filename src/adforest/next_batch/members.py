"""A member of the vote: a classifier that learns every batch, or is refitted from time to time, and its input.

Its input is samples as they were given, as a data frame, or as numbers, whichever it can take.
"""

from __future__ import annotations

from copy import copy, deepcopy
from dataclasses import dataclass, field, replace
from inspect import signature
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from adforest.base import BatchClassifier
from adforest.encoding import LabelTable, TableEncoder
from adforest.encoding.rebuilding import as_frame, rebuilt_table
from adforest.encoding.tables import Table
from adforest.exceptions import InputError
from adforest.forest.types import AnyArray, BoolArray, Float64Array, Int32Array, Int64Array

TABLE, FRAME, NUMBERS = "table", "frame", "numbers"  # forms of samples
MISSING_CODE = -1  # of a category, for members that cannot take NaN

# Parameters for categorical columns: of a classifier, and of its `fit`.
SCIKIT_LEARN, XGBOOST = "categorical_features", "feature_types"
LIGHTGBM, CATBOOST = "categorical_feature", "cat_features"
ANSWER, LEARN, CLASSES = "answer", "learn", "classes"  # why members are left out: they fail at it, or lack some


class MemberSamples(NamedTuple):
    """Some samples, which can be converted to every form.

    Attributes
    ----------
    matrix : float64 (n, m)
        Numbers, codes of categories, NaN where they are missing.
    encoder : TableEncoder
        Decodes categories.
    library : str or None
        Of the data frames; None for arrays.
    table : Table, float64 (n, m) or None
        As they were given, if they are not from memory.
    """

    matrix: Float64Array
    encoder: TableEncoder
    library: str | None
    table: Table | AnyArray | None = None

    def rows(self, index: slice | Int64Array) -> MemberSamples:
        """Return some of the samples."""
        if isinstance(index, slice):
            return self
        table = self.table.rows(index) if isinstance(self.table, Table) else self.table
        return self._replace(matrix=self.matrix[index], table=table[index] if isinstance(table, np.ndarray) else table)

    def as_before(self, n_codes: Int32Array) -> MemberSamples:
        """Return them with later codes missing, given the number of codes of each column."""
        is_new = (n_codes > 0) & (self.matrix >= n_codes)
        return self._replace(matrix=np.where(is_new, np.nan, self.matrix)) if is_new.any() else self

    def as_given(self) -> Table | AnyArray:
        """Return them as a table that `adforest`'s classifiers read."""
        return rebuilt_table(self.encoder, self.matrix, self.library) if self.table is None else self.table

    def frame(self) -> Any:
        """Return them as a data frame, which is the same whether they are from memory or not."""
        return as_frame(rebuilt_table(self.encoder, self.matrix, self.library))


@dataclass(frozen=True, slots=True, eq=False)
class MemberInput:
    """Conversion of samples for a member.

    Attributes
    ----------
    form : {"table", "frame", "numbers"}
    fill : float64 (m,) or None
        By column, the replacement of missing values; None where the member takes NaN.
    whole : intp or None
        Columns that must be integers among floats, as CatBoost requires for categories.
    """

    form: str
    fill: Float64Array | None = None
    whole: Int64Array | None = None

    @classmethod
    def of(cls, estimator: Any, samples: MemberSamples) -> Self:
        """Return the conversion for an estimator that is about to learn some samples."""
        if isinstance(estimator, BatchClassifier):
            return cls(TABLE)
        inner, parameter = _innermost(estimator), _categories_parameter(estimator)
        tags = _input_tags(inner)
        takes_categories = tags is not None and (tags.categorical or tags.string)
        is_pipeline = hasattr(inner, "steps")  # importing scikit-learn's class would import much else
        if is_pipeline or (takes_categories and parameter is None):
            return cls(FRAME)
        is_categorical = samples.encoder.is_categorical
        fill = None if tags is not None and tags.allow_nan else _fill(samples.matrix, is_categorical)
        return cls(NUMBERS, fill, np.flatnonzero(is_categorical) if parameter == CATBOOST else None)

    def make(self, samples: MemberSamples) -> Any:
        """Return samples as the member takes them."""
        if self.form == TABLE:
            return samples.as_given()
        if self.form == FRAME:
            return samples.frame()
        matrix = samples.matrix
        if self.fill is not None:
            matrix = np.where(np.isnan(matrix), self.fill, matrix)
        if self.whole is not None:
            codes = np.where(np.isnan(matrix[:, self.whole]), MISSING_CODE, matrix[:, self.whole])
            matrix = matrix.astype(object)
            matrix[:, self.whole] = codes.astype(np.int64)
        return matrix


def tell_categories(estimator: Any, X: Any, is_categorical: BoolArray) -> tuple[Any, dict[str, Any]]:
    """Set the categorical columns of an estimator that has a parameter for them.

    Returns the matrix to be learnt, in which the rarest categories are missing where the estimator limits their number,
    and parameters for its `fit`.
    """
    columns, parameter, X = np.flatnonzero(is_categorical), _categories_parameter(estimator), _with_some_values(X)
    if parameter is None or not len(columns):
        return X, {}
    if parameter == SCIKIT_LEARN:
        estimator.set_params(categorical_features=columns)
        return _with_frequent(X, columns, estimator.max_bins), {}
    if parameter == XGBOOST:
        estimator.set_params(feature_types=np.where(is_categorical, "c", "q").tolist(), enable_categorical=True)
        return X, {}
    return X, {parameter: columns.tolist()}


def _categories_parameter(estimator: Any) -> str | None:
    """Return the parameter of an estimator for categorical columns; None if that is not known here."""
    parameters = estimator.get_params(deep=False)
    listed = parameters.get(SCIKIT_LEARN)
    if isinstance(listed, str) and listed == "from_dtype" and "max_bins" in parameters:
        return SCIKIT_LEARN
    if XGBOOST in parameters and parameters[XGBOOST] is None:
        return XGBOOST
    return next((name for name in (LIGHTGBM, CATBOOST) if _takes(estimator.fit, name)), None)


def takes_weights(method: Any) -> bool:
    """Return whether a method of an estimator takes `sample_weight`."""
    return _takes(method, "sample_weight")


def _takes(method: Any, name: str) -> bool:
    """Return whether a method has a parameter of some name."""
    return name in signature(method).parameters


def _innermost(estimator: Any) -> Any:
    """Return the estimator within a search, a calibration or another meta-estimator."""
    while hasattr(inner := getattr(estimator, "estimator", None), "get_params"):
        estimator = inner
    return estimator


def _input_tags(estimator: Any) -> Any:
    """Return scikit-learn's input tags of an estimator, None if it has none."""
    try:
        return get_tags(estimator).input_tags
    except (AttributeError, TypeError):
        return None


def _fill(matrix: Float64Array, is_categorical: BoolArray) -> Float64Array:
    """Return the replacements of missing values: medians, 0 where all are missing, a code of their own."""
    fill = np.zeros(matrix.shape[1])
    there = ~np.isnan(matrix).all(axis=0)
    fill[there] = np.nanmedian(matrix[:, there], axis=0)
    fill[is_categorical] = MISSING_CODE
    return fill


def _with_some_values(X: Any) -> Any:
    """Return a matrix in which columns without any value are 0: scikit-learn 1.9 cannot boost columns of NaN alone."""
    if X.dtype == object or not (is_empty := np.isnan(X).all(axis=0)).any():
        return X
    return np.where(is_empty, 0.0, X)


def _with_frequent(X: Float64Array, columns: Int64Array, most: int) -> Float64Array:
    """Return a matrix with a maximum number of categories in each of some columns, the others missing."""
    X = X.copy()
    for j in columns:
        column = X[:, j]
        codes, counts = np.unique(column[~np.isnan(column)], return_counts=True)
        if len(codes) > most:
            rare = codes[np.argsort(-counts, kind="stable")[most:]]
            column[np.isin(column, rare)] = np.nan
    return X


class LabelledSamples(NamedTuple):
    """Samples with their classes by code; weights None are all 1."""

    samples: MemberSamples
    y: Int32Array
    weight: Float64Array | None
    labels: LabelTable


class LeftOut(NamedTuple):
    """Why a member does not vote."""

    kind: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Member:
    """A classifier in the vote.

    Attributes
    ----------
    name : str
    is_refitted : bool
        Whether it is refitted on a sample of the stream, since it has no `partial_fit`.
    estimator : object or None
        The last fit, None if that failed.
    classes : intp
        Codes of its classes, in the order of its probabilities.
    input : MemberInput
        Conversion of samples for it.
    fitted_after : int
        Number of samples of the stream when it was last fitted.
    is_judged : bool
        Whether it, or an earlier fit of it, has predicted a batch.
    left_out : LeftOut or None
        Why it does not vote; None if it does.
    warned_of : frozenset of str
        Kinds of reasons that were warned about.
    """

    name: str
    is_refitted: bool
    estimator: Any = None
    classes: Int64Array = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    input: MemberInput = field(default_factory=lambda: MemberInput(TABLE))
    fitted_after: int = 0
    is_judged: bool = False
    left_out: LeftOut | None = None
    warned_of: frozenset[str] = frozenset()

    @property
    def may_answer(self) -> bool:
        """Whether it votes, or would if it had predicted the last batch."""
        return self.left_out is None or self.left_out.kind == ANSWER

    def proba(self, samples: MemberSamples, n_classes: int) -> Float64Array:
        """Return the class probabilities of samples, columns by class code; raises whatever the classifier raises."""
        proba = np.zeros((len(samples.matrix), n_classes))
        if len(self.classes) == 1:  # some return two probabilities for one class
            proba[:, self.classes] = 1.0
            return proba
        X = self.input.make(samples)
        if hasattr(self.estimator, "predict_proba"):
            given = np.asarray(self.estimator.predict_proba(X), dtype=np.float64)
        else:  # without probabilities, as with LinearSVC, the predicted class has 1
            given = (np.asarray(self.estimator.predict(X))[:, np.newaxis] == self.estimator.classes_).astype(np.float64)
        expected = len(samples.matrix), len(self.classes)
        if given.shape != expected or not np.isfinite(given).all():
            raise InputError(f"its probabilities are of shape {given.shape}; expected finite ones of shape {expected}")
        proba[:, self.classes] = given
        return proba

    def after_fit(self, template: Any, seed: int, labelled: LabelledSamples) -> Member:
        """Return the refitted member; raises whatever the classifier raises.

        As in scikit-learn's VotingClassifier it learns classes 0, 1, 2 ..., since some classifiers take no others.
        """
        samples, y, weight, labels = labelled
        present = labels.order[np.isin(labels.order, y)]
        numbers = np.empty(len(labels.order), dtype=np.int64)
        numbers[present] = np.arange(len(present))
        estimator = _prepared(template, seed, labels.by_arrival[present].tolist())
        member_input = MemberInput.of(estimator, samples)
        X = member_input.make(samples)
        options: dict[str, Any] = {}
        if member_input.form == NUMBERS:
            X, options = tell_categories(estimator, X, samples.encoder.is_categorical)
        if weight is not None and takes_weights(estimator.fit):
            options["sample_weight"] = weight
        estimator.fit(X, numbers[y], **options)
        return replace(self, estimator=estimator, classes=present, input=member_input, left_out=self._still_left_out)

    def after_partial_fit(self, template: Any, seed: int, labelled: LabelledSamples) -> Member:
        """Return the member after it learnt more samples; this one does not change. Raises as its classifier."""
        samples, y, weight, labels = labelled
        if self.estimator is None:
            estimator = _prepared(template, seed)
            member_input = MemberInput.of(estimator, samples)
        else:
            # The fitted state of our own classifiers is immutable, so that a shallow copy is enough.
            is_ours = isinstance(self.estimator, BatchClassifier)
            estimator, member_input = copy(self.estimator) if is_ours else deepcopy(self.estimator), self.input
        options: dict[str, Any] = {"classes": labels.classes}
        if weight is not None and takes_weights(estimator.partial_fit):
            options["sample_weight"] = weight
        estimator.partial_fit(member_input.make(samples), labels.by_arrival[y], **options)
        classes = labels.codes_of(estimator.classes_).astype(np.int64)
        return replace(self, estimator=estimator, classes=classes, input=member_input, left_out=self._still_left_out)

    @property
    def _still_left_out(self) -> LeftOut | None:
        """Why it is left out after it learnt: whether it can predict again is known with the next batch."""
        return self.left_out if self.left_out is not None and self.left_out.kind == ANSWER else None


def _prepared(template: Any, seed: int, numbered: list[Any] | None = None) -> Any:
    """Return an unfitted copy of a classifier, with seeds where it has none.

    If it learns encoded classes, their class values are given, and dicts of class weights are translated.
    """
    estimator = clone(template)
    changes: dict[str, Any] = {}
    for name, value in estimator.get_params(deep=True).items():
        last = name.rpartition("__")[2]
        if last == "random_state" and value is None:
            changes[name] = seed
        elif last == "class_weight" and isinstance(value, dict) and numbered is not None:
            changes[name] = {number: value[klass] for number, klass in enumerate(numbered) if klass in value}
    return estimator.set_params(**changes) if changes else estimator
