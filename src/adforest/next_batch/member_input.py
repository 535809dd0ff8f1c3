"""Input of members: samples as they came, as a data frame, or as numbers, whichever they can take."""

from __future__ import annotations

from dataclasses import dataclass
from inspect import signature
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils import get_tags

from adforest.base import BatchClassifier
from adforest.encoding import TableEncoder
from adforest.encoding.rebuilding import as_frame, rebuilt_table
from adforest.encoding.tables import Table
from adforest.forest.types import AnyArray, BoolArray, Float64Array, Int32Array, Int64Array

TABLE, FRAME, NUMBERS = "table", "frame", "numbers"  # forms of samples
MISSING_CODE = -1  # of a category, for members that cannot take NaN

# Parameters for categorical columns: of a classifier, and of its `fit`.
SCIKIT_LEARN, XGBOOST = "categorical_features", "feature_types"
LIGHTGBM, CATBOOST = "categorical_feature", "cat_features"


class Samples(NamedTuple):
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
        As they came, if they are not from memory.
    """

    matrix: Float64Array
    encoder: TableEncoder
    library: str | None
    table: Table | AnyArray | None = None

    def rows(self, index: slice | Int64Array) -> Samples:
        """Return some of the samples."""
        if isinstance(index, slice):
            return self
        table = self.table.rows(index) if isinstance(self.table, Table) else self.table
        return self._replace(matrix=self.matrix[index], table=table[index] if isinstance(table, np.ndarray) else table)

    def as_before(self, n_codes: Int32Array) -> Samples:
        """Return them with later codes missing, given the number of codes of each column."""
        is_new = (n_codes > 0) & (self.matrix >= n_codes)
        return self._replace(matrix=np.where(is_new, np.nan, self.matrix)) if is_new.any() else self

    def as_they_came(self) -> Table | AnyArray:
        """Return them as a table that `adforest`'s classifiers read."""
        return rebuilt_table(self.encoder, self.matrix, self.library) if self.table is None else self.table

    def frame(self) -> Any:
        """Return them as a data frame, which is the same whether they come from memory or not."""
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
    def of(cls, estimator: Any, samples: Samples) -> Self:
        """Return the conversion for an estimator that is about to learn some samples."""
        if isinstance(estimator, BatchClassifier):
            return cls(TABLE)
        inner, told_by = _innermost(estimator), _told_by(estimator)
        tags = _input_tags(inner)
        takes_categories = tags is not None and (tags.categorical or tags.string)
        is_pipeline = hasattr(inner, "steps")  # importing scikit-learn's class would import much else
        if is_pipeline or (takes_categories and told_by is None):
            return cls(FRAME)
        is_categorical = samples.encoder.is_categorical
        fill = None if tags is not None and tags.allow_nan else _fill(samples.matrix, is_categorical)
        return cls(NUMBERS, fill, np.flatnonzero(is_categorical) if told_by == CATBOOST else None)

    def make(self, samples: Samples) -> Any:
        """Return samples as the member takes them."""
        if self.form == TABLE:
            return samples.as_they_came()
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
    columns, told_by, X = np.flatnonzero(is_categorical), _told_by(estimator), _with_some_values(X)
    if told_by is None or not len(columns):
        return X, {}
    if told_by == SCIKIT_LEARN:
        estimator.set_params(categorical_features=columns)
        return _with_frequent(X, columns, estimator.max_bins), {}
    if told_by == XGBOOST:
        estimator.set_params(feature_types=np.where(is_categorical, "c", "q").tolist(), enable_categorical=True)
        return X, {}
    return X, {told_by: columns.tolist()}


def _told_by(estimator: Any) -> str | None:
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
