"""What a model remembers of the tables it has learnt: names, kinds and categories of the columns.

Codes are given in order of arrival and never change, so that a tree grown on an early batch reads a later one rightly.
Everything here is immutable: learning a batch returns a new encoder, and a batch that fails leaves the old one as it
was.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adforest.encoding.tables import (
    ESTIMATOR_NAME,
    Coded,
    Column,
    FloatArray,
    NameArray,
    Table,
    code_numbers,
    read_table,
)

MAX_CATEGORIES = 65_534


@dataclass(frozen=True, slots=True, eq=False)
class Categories:
    """The categories of one column, each with its code; the dictionary is never changed once made."""

    codes: dict[str | float, int]

    def learn(self, column: Column, place: str) -> tuple[Categories, FloatArray]:
        """Return these categories with the new ones of a column behind them, and the column's codes."""
        coded = self._same_kind(column, place)
        new = [value for value in coded.values if value not in self.codes]
        if not new:
            return self, self._translate(coded)
        grown = Categories(self.codes | {value: code for code, value in enumerate(new, start=len(self.codes))})
        if len(grown.codes) > MAX_CATEGORIES:
            raise ValueError(
                f"{place} brings the number of its categories to {len(grown.codes):,}; a column may have "
                f"{MAX_CATEGORIES:,}. If it identifies records, drop it; if it is a quantity, pass it as numbers; "
                "otherwise merge rare categories."
            )
        return grown, grown._translate(coded)

    def translate(self, column: Column, place: str) -> FloatArray:
        """Return a column's codes as floats; values never learnt become NaN, as missing ones are."""
        return self._translate(self._same_kind(column, place))

    def _translate(self, coded: Coded) -> FloatArray:
        """Look up each distinct value once."""
        found = [self.codes.get(value, np.nan) for value in coded.values]
        return _take(found, coded)

    def _same_kind(self, column: Column, place: str) -> Coded:
        """Return the column as categories, or raise if it holds text where numbers were learnt or the reverse."""
        coded = column if isinstance(column, Coded) else code_numbers(column)
        if coded.values and self.codes:
            learnt = next(iter(self.codes))
            if coded.holds_text != isinstance(learnt, str):
                kind, other = ("text", "numbers") if coded.holds_text else ("numbers", "text")
                raise TypeError(
                    f"{place} holds {kind} ({coded.values[0]!r}) but the model learnt it as categories that are "
                    f"{other} ({learnt!r}). Convert it to {other}, or start a new model with fit()."
                )
        return coded


@dataclass(frozen=True, slots=True, eq=False)
class TableEncoder:
    """Translates tables to float64 matrices, the same way for every batch of a model.

    Make one with `learn`. Numerical columns keep their numbers, categorical ones hold codes in order of arrival;
    NaN is missing.

    Attributes
    ----------
    feature_names : ndarray of object or None
        The column names of the first batch, if all were text.
    categories : tuple of Categories or None
        One entry a column; None for a numerical one.
    estimator_name : str
        What errors and warnings call the model.

    Examples
    --------
    >>> from adforest.encoding import TableEncoder
    >>> encoder, matrix = TableEncoder.learn([[1.5, "red"], [2.0, "blue"]])
    >>> matrix.tolist()
    [[1.5, 0.0], [2.0, 1.0]]
    >>> encoder, matrix = encoder.extend([[None, "green"]], batch=2)
    >>> matrix.tolist()
    [[nan, 2.0]]
    >>> encoder.n_categories
    array([0, 3], dtype=int32)
    """

    feature_names: NameArray | None
    categories: tuple[Categories | None, ...]
    estimator_name: str = ESTIMATOR_NAME

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.categories)

    @property
    def is_categorical(self) -> NDArray[np.bool_]:
        """Which columns are categorical, also those whose values have all been missing so far."""
        return np.array([known is not None for known in self.categories])

    @property
    def n_categories(self) -> NDArray[np.int32]:
        """Number of categories of every column, 0 for numerical ones."""
        return np.array([0 if known is None else len(known.codes) for known in self.categories], dtype=np.int32)

    def category_values(self, position: int) -> list[str | float]:
        """Return the categories of one column in order of their codes; none for a numerical column."""
        known = self.categories[position]
        return [] if known is None else list(known.codes)

    @classmethod
    def learn(
        cls, X: Any, categorical_features: Any = "from_dtype", *, batch: int = 1, estimator_name: str = ESTIMATOR_NAME
    ) -> tuple[TableEncoder, FloatArray]:
        """Learn the columns of a first batch.

        Parameters
        ----------
        X : array-like, pandas or polars DataFrame, pyarrow Table or RecordBatch of shape (n_records, n_features)
            The records.
        categorical_features : "from_dtype", None, or array-like of bool, int or str
            Which columns are categorical: those that hold text or have a categorical dtype, none, or the ones listed
            by mask, position or name.
        batch : int, default=1
            Number of the batch, for errors.
        estimator_name : str
            What errors and warnings call the model.

        Returns
        -------
        encoder : TableEncoder
            The encoder, to be kept for later batches.
        matrix : ndarray of float64 of shape (n_records, n_features), C-contiguous
            The records translated. It may share memory with `X`.
        """
        table = read_table(X, batch, estimator_name)
        is_categorical = _which_are_categorical(categorical_features, table)
        _check_text_is_listed(table, is_categorical)
        empty = cls(table.names, tuple(Categories({}) if yes else None for yes in is_categorical), estimator_name)
        return empty._learn(table)

    def extend(self, X: Any, batch: int) -> tuple[TableEncoder, FloatArray]:
        """Learn a later batch, which may bring new categories; return the encoder that knows them and the matrix.

        Parameters
        ----------
        X : array-like, pandas or polars DataFrame, pyarrow Table or RecordBatch of shape (n_records, n_features)
            The records. Columns are matched by name, in any order, where both sides have names.
        batch : int
            Number of the batch, for errors.

        Returns
        -------
        encoder : TableEncoder
            A new encoder, or this one if the batch brought no new category.
        matrix : ndarray of float64 of shape (n_records, n_features), C-contiguous
            The records translated. It may share memory with `X`.
        """
        if (matrix := self._pass_through(X)) is not None:
            return self, matrix
        return self._learn(self._matched(read_table(X, batch, self.estimator_name)))

    def translate(self, X: Any) -> FloatArray:
        """Return records to be predicted as a matrix; categories never learnt become NaN.

        Parameters
        ----------
        X : array-like, pandas or polars DataFrame, pyarrow Table or RecordBatch of shape (n_records, n_features)
            The records. Columns are matched by name, in any order, where both sides have names.

        Returns
        -------
        matrix : ndarray of float64 of shape (n_records, n_features), C-contiguous
            The records translated. It may share memory with `X`.
        """
        if (matrix := self._pass_through(X)) is not None:
            return matrix
        table = self._matched(read_table(X, None, self.estimator_name))
        codes: dict[int, FloatArray] = {}
        for position, known in enumerate(self.categories):
            if known is not None:
                codes[position] = known.translate(table.column(position), table.place(position))
        return _assemble(table, codes)

    def _pass_through(self, X: Any) -> FloatArray | None:
        """Return an array of finite numbers as it is if nothing needs translating: one record costs microseconds."""
        if type(X) is not np.ndarray or X.ndim != 2 or X.dtype.kind not in "fiub" or self.feature_names is not None:
            return None
        if not len(X) or X.shape[1] != len(self.categories) or any(self.categories):
            return None
        matrix = np.ascontiguousarray(X, dtype=np.float64)
        return None if np.isinf(matrix).any() else matrix

    def _learn(self, table: Table) -> tuple[TableEncoder, FloatArray]:
        """Return the encoder that also knows a matched table's categories, and the table's matrix."""
        categories, codes = list(self.categories), {}
        for position, known in enumerate(self.categories):
            if known is not None:
                place = table.place(position)
                categories[position], codes[position] = known.learn(table.column(position), place)
        matrix = _assemble(table, codes)
        is_new = any(new is not old for new, old in zip(categories, self.categories, strict=True))
        return (replace(self, categories=tuple(categories)) if is_new else self), matrix

    def _matched(self, table: Table) -> Table:
        """Return the table with its columns in the order learnt, or raise if they are not the columns learnt."""
        learnt, arrived = self.feature_names, table.names
        if learnt is not None and arrived is not None:
            if np.array_equal(learnt, arrived):
                return table
            _check_same_names(learnt.tolist(), arrived.tolist(), table.source)
            where = {name: position for position, name in enumerate(arrived)}
            order = [where[name] for name in learnt]
            content = table.content
            ordered = content[:, order] if isinstance(content, np.ndarray) else [content[place] for place in order]
            return replace(table, names=learnt, content=ordered)
        if learnt is not None:
            message = f"X does not have valid feature names, but {self.estimator_name} was fitted with feature names"
            warnings.warn(message, UserWarning, stacklevel=4)
        if arrived is not None:
            message = f"X has feature names, but {self.estimator_name} was fitted without feature names"
            warnings.warn(message, UserWarning, stacklevel=4)
        if table.n_columns != self.n_features:
            raise ValueError(
                f"X has {table.n_columns} features, but {self.estimator_name} is expecting {self.n_features} features "
                f"as input. Give {table.source} the columns the model learnt, in the same order, or start a new model "
                "with fit()."
            )
        return replace(table, names=learnt)


def _which_are_categorical(listed: Any, table: Table) -> NDArray[np.bool_]:
    """Return a mask of the categorical columns: by what they hold, or as the user listed them."""
    columns = np.arange(table.n_columns)
    if isinstance(listed, str) and listed == "from_dtype":
        return np.array([isinstance(table.column(position), Coded) for position in range(table.n_columns)])
    chosen = np.asarray([] if listed is None else listed)
    if chosen.size == 0:
        return np.zeros(table.n_columns, dtype=bool)
    if chosen.dtype.kind == "b" and chosen.shape == columns.shape:
        return chosen
    if chosen.dtype.kind in "iu" and chosen.ndim == 1 and chosen.min() >= 0 and chosen.max() < table.n_columns:
        return np.isin(columns, chosen)
    if chosen.dtype.kind in "UO" and chosen.ndim == 1 and table.names is not None:
        unknown = [name for name in chosen.tolist() if name not in table.names]
        if not unknown:
            return np.isin(table.names, chosen.astype(object))
        raise ValueError(
            f"categorical_features names {unknown[0]!r}, which is no column of {table.source}. Correct or drop it."
        )
    raise ValueError(
        f"categorical_features is {listed!r}; expected 'from_dtype', None, a boolean mask of shape "
        f"({table.n_columns},), positions from 0 to {table.n_columns - 1}, or, where the columns have names, names."
    )


def _check_text_is_listed(table: Table, is_categorical: NDArray[np.bool_]) -> None:
    """Raise if a column that is to be numerical holds text."""
    for position in np.flatnonzero(~is_categorical).tolist():
        column = table.column(position)
        if isinstance(column, Coded) and column.holds_text:
            raise TypeError(
                f"{table.place(position)} holds text ({column.values[0]!r}) but is not among categorical_features. Add "
                "it there, drop it, or convert it to numbers."
            )


def _check_same_names(learnt: list[str], arrived: list[str], source: str) -> None:
    """Raise if columns are missing or in excess; their order does not matter."""
    extra = [name for name in arrived if name not in set(learnt)]
    missing = [name for name in learnt if name not in set(arrived)]
    if not extra and not missing:
        return
    parts, advice = [], []
    for names, one, remedy in ((extra, "extra", "Drop"), (missing, "missing", "Add")):
        if names:
            shown = ", ".join(map(repr, names[:5])) + (", …" if len(names) > 5 else "")
            parts.append(f"the {one} one is {shown}" if len(names) == 1 else f"the {one} ones are {shown}")
            advice.append(f"{remedy} {'it' if len(names) == 1 else 'them'}")
    has = "have" if source == "these records" else "has"
    if extra and missing:
        advice = ["Rename the columns"]
    raise ValueError(
        "The feature names should match those that were passed during fit.\n"
        f"{source} {has} {len(arrived)} columns but the model learnt {len(learnt)}; {' and '.join(parts)}. "
        f"{advice[0]}, or start a new model with fit()."
    )


def _assemble(table: Table, codes: dict[int, FloatArray]) -> FloatArray:
    """Return a matched table as one C-contiguous matrix, with codes in the categorical columns."""
    if isinstance(table.content, np.ndarray) and not codes:
        return np.ascontiguousarray(table.content)
    matrix = np.empty((table.n_records, table.n_columns))
    if isinstance(table.content, np.ndarray):
        matrix[:] = table.content
    for position in range(table.n_columns):
        if position in codes:
            matrix[:, position] = codes[position]
        elif not isinstance(table.content, np.ndarray):
            matrix[:, position] = _numbers(table.content[position], table.place(position))
    return matrix


def _numbers(column: Column, place: str) -> FloatArray:
    """Return a numerical column, or raise if it holds text."""
    if isinstance(column, np.ndarray):
        return column
    if column.holds_text:
        raise TypeError(
            f"{place} holds text ({column.values[0]!r}) but the model learnt it as numbers. Convert it to numbers, or "
            "start a new model with fit()."
        )
    return _take([float(value) for value in column.values], column)


def _take(numbers: list[float], coded: Coded) -> FloatArray:
    """Return a number for every record, given one for every value; code -1 (missing) reads the NaN put at the end."""
    taken: FloatArray = np.array([*numbers, np.nan], dtype=np.float64)[coded.codes]
    return taken
