"""Encoder of the tables of a fitted model: names, types and categories of the columns.

Codes are given in order of arrival and keep their meaning, so that a tree grown on an early batch reads a later one
rightly. Everything here is immutable: learning a batch returns a new encoder, and a batch that fails leaves the old one
as it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adforest.encoding.categories import Categories, EncodingRules, Value
from adforest.encoding.columns import CATEGORIES, NUMBERS, UNDECIDED, as_numbers, kind_of
from adforest.encoding.frames import Names
from adforest.encoding.rates import CategoryRates
from adforest.encoding.surveys import ColumnSurvey, TableSurvey
from adforest.encoding.tables import (
    ESTIMATOR_NAME,
    Table,
    are_text,
    column_label,
    listed_columns,
    match_columns,
    read_table,
    source_of,
)
from adforest.encoding.text_columns import text_warning
from adforest.exceptions import warn_caller
from adforest.forest.types import BoolArray, Float64Array, Int32Array, Int64Array


@dataclass(frozen=True, slots=True, eq=False)
class TableEncoder:
    """Translates tables to float64 matrices, the same way for every batch of a model.

    Numerical columns keep their numbers, dates and durations are seconds, categorical columns hold codes in order of
    arrival; NaN is missing. A column whose values have all been missing is undecided: its first values determine its
    type. Behind them all are the class rates of categories, where these are counted and of use.

    Attributes
    ----------
    names : tuple or None
        Names of the columns: text, integers, or tuples of a pandas MultiIndex; None where arrays were learnt.
    kinds : tuple of str
        One a column: "numbers", "dates", "dates with a time zone", "durations", "categories" or "undecided".
    categories : tuple of Categories or None
        One per column; None for columns that are not categorical.
    takes_text : bool
        Whether undecided and added columns may turn out to be categorical: not where the user listed which ones are.
    estimator_name : str
        Name of the model in errors and warnings.
    recycled_codes : dict of int to int32 arrays
        By column: codes that the last batch took from values not seen for long. The state must forget their former
        categories.
    warned_of : frozenset of int
        Columns that a warning was about, as identifying samples or holding text that is something else.
    rates : dict of int to CategoryRates
        By categorical column: counts of the batches so far.
    rate_columns : tuple of (int, int)
        The last columns of the matrix, in the order in which they were added: a column, and which of its rates.
    n_added : int
        Columns of tables that the last batch added.

    Examples
    --------
    >>> from adforest.encoding import EncodingRules, TableEncoder
    >>> start, table = TableEncoder.open([[1.5, "red"], [2.0, "blue"]], "from_dtype", "batch 1", "MyClassifier")
    >>> table, survey = start.survey(table, "batch 1")
    >>> encoder = start.grown(survey, 1, EncodingRules())
    >>> encoder.matrix_of(table).tolist()
    [[1.5, 0.0], [2.0, 1.0]]
    >>> encoder.translate([[None, "blue"], [3.0, "green"]]).tolist()
    [[nan, 1.0], [3.0, nan]]
    >>> encoder.n_categories
    array([0, 2], dtype=int32)
    """

    names: Names | None
    kinds: tuple[str, ...]
    categories: tuple[Categories | None, ...]
    takes_text: bool = True
    estimator_name: str = ESTIMATOR_NAME
    recycled_codes: dict[int, Int32Array] = field(default_factory=dict)
    warned_of: frozenset[int] = frozenset()
    is_plain: bool = field(init=False, repr=False)  # whether arrays of numbers need no translation
    rates: dict[int, CategoryRates] = field(default_factory=dict)
    rate_columns: tuple[tuple[int, int], ...] = ()
    n_added: int = 0

    def __post_init__(self) -> None:
        has_names = self.names is not None and self.names != tuple(range(len(self.kinds)))
        object.__setattr__(self, "is_plain", not has_names and set(self.kinds) <= {NUMBERS, UNDECIDED})

    @property
    def n_features(self) -> int:
        """Number of columns of tables."""
        return len(self.kinds)

    @property
    def n_columns(self) -> int:
        """Number of columns of matrices: those of tables, and behind them class rates of categories."""
        return len(self.kinds) + len(self.rate_columns)

    @property
    def feature_names(self) -> NDArray[np.object_] | None:
        """The column names, if they are text."""
        return np.array(self.names, dtype=object) if are_text(self.names) else None

    @property
    def is_categorical(self) -> BoolArray:
        """Which columns are categorical, also those listed as such whose values have all been missing so far."""
        return np.array([known is not None for known in self.categories])

    @property
    def n_categories(self) -> Int32Array:
        """Number of codes of every column of matrices, 0 for numerical ones."""
        codes = [0 if known is None else known.n_codes for known in self.categories]
        return np.array([*codes, *[0] * len(self.rate_columns)], dtype=np.int32)

    def category_values(self, position: int) -> list[Value | None]:
        """Return the categories of one column in order of their codes; none for a numerical column.

        None is a free code.
        """
        known = self.categories[position]
        return [] if known is None else known.by_code()

    @classmethod
    def open(cls, X: Any, categorical_features: Any, source: str, estimator_name: str) -> tuple[TableEncoder, Table]:
        """Return an encoder that knows the names and the listed columns of a first table, and the table.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The samples.
        categorical_features : "from_dtype", None, or array-like of bool, int or str
            Which columns are categorical: those that hold text or have a categorical dtype, none, or the ones listed
            by mask, position or name.
        source : str
            Name of the samples in errors: "batch 1".
        estimator_name : str
            Name of the model in errors and warnings.
        """
        table = read_table(X, source, estimator_name)
        listed = listed_columns(categorical_features, table)
        kinds = tuple(CATEGORIES if is_listed else UNDECIDED for is_listed in listed)
        categories = tuple(Categories.none() if is_listed else None for is_listed in listed)
        takes_text = isinstance(categorical_features, str)  # "from_dtype", or it would have been refused
        return cls(table.names, kinds, categories, takes_text, estimator_name), table

    def translate(self, X: Any, column_changes: str | None = None) -> Float64Array:
        """Return samples to be predicted as a matrix; categories never learnt become NaN or, if grouped, infrequent.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            The samples. Columns are matched by name, in any order, where both sides have names.
        column_changes : {"error", "allow"} or None
            Whether the samples may lack columns; columns never learnt are left out then.

        Returns
        -------
        matrix : ndarray of float64 of shape (n_samples, n_columns), C-contiguous
            The samples translated. It may share memory with `X`.
        """
        if (matrix := self._pass_through(X)) is not None:
            return matrix
        table, warning = self._matched(X, source_of(None), column_changes, adds=False)
        if warning is not None:
            warn_caller(warning)
        return self.matrix_of(table)

    def matrix_of(self, table: Table) -> Float64Array:
        """Return a table whose columns are those learnt as a matrix, C-contiguous; it may share memory with it."""
        if isinstance(table.content, np.ndarray) and set(self.kinds) <= {NUMBERS, UNDECIDED}:
            return np.ascontiguousarray(table.content)
        matrix = np.empty((table.n_samples, self.n_columns))
        for position, (kind, known) in enumerate(zip(self.kinds, self.categories, strict=True)):
            column, where = table.column(position), table.column_label(position)
            if kind == UNDECIDED:
                matrix[:, position] = np.nan
            elif known is not None:
                matrix[:, position] = known.translate(column, where)
            else:
                matrix[:, position] = as_numbers(column, kind, where)
        return self._with_rates_filled(matrix)

    def with_rates(self, matrix: Float64Array) -> Float64Array:
        """Return a matrix of the columns of tables with the class rates of categories, as they are now, behind them."""
        if not self.rate_columns:
            return matrix
        wide = np.empty((len(matrix), self.n_columns))
        wide[:, : self.n_features] = matrix
        return self._with_rates_filled(wide)

    def _with_rates_filled(self, matrix: Float64Array) -> Float64Array:
        """Return a matrix after its last columns were filled in."""
        found = {position: self.rates[position].look_up(matrix[:, position]) for position, _ in self.rate_columns}
        for column, (position, rate) in enumerate(self.rate_columns, start=self.n_features):
            matrix[:, column] = found[position][:, rate]
        return matrix

    def index_after_added(self, n_before: int) -> Int64Array:
        """Return the index that each of the n_before columns of earlier matrices has, behind new columns of tables."""
        index = np.arange(n_before)
        index[self.n_features - self.n_added :] += self.n_added
        return index

    def by_feature(self, added: Float64Array, axis: int = 0) -> Float64Array:
        """Return sums over columns of matrices by column of tables: rates count for their column."""
        if not self.rate_columns:
            return added
        moved = np.moveaxis(added, axis, 0)
        total = moved[: self.n_features].copy()
        for column, (position, _) in enumerate(self.rate_columns, start=self.n_features):
            total[position] += moved[column]
        return np.moveaxis(total, 0, axis)

    def counted(self, X: Float64Array, y: Int32Array, n_classes: int) -> TableEncoder:
        """Return the encoder that has counted the classes of a batch, which it has encoded, by category.

        Parameters
        ----------
        X : float64 (n, n_columns)
        y : int32 (n,)
            Classes by code.
        n_classes : int
            Classes known.
        """
        if not self.rates:
            return self
        rates = {position: known.after(X[:, position], y, n_classes) for position, known in self.rates.items()}
        return replace(self, rates=rates)

    def _pass_through(self, X: Any) -> Float64Array | None:
        """Return an array of finite numbers as it is if nothing needs translating: one sample costs microseconds."""
        if not self.is_plain or type(X) is not np.ndarray or X.ndim != 2 or X.dtype.kind not in "fiub":
            return None
        if not len(X) or X.shape[1] != len(self.kinds):
            return None
        matrix = np.ascontiguousarray(X, dtype=np.float64)
        return None if np.isinf(matrix).any() else matrix

    def _matched(self, X: Any, source: str, column_changes: str | None, *, adds: bool) -> tuple[Table, str | None]:
        """Return a table with its columns in the order learnt, added ones behind them, and warnings."""
        table = read_table(X, source, self.estimator_name)
        return match_columns(table, self.names, self.n_features, self.estimator_name, column_changes, adds=adds)

    def read(self, X: Any, source: str, column_changes: str | None) -> tuple[Table | Float64Array, str | None]:
        """Return a later batch, or a part of one, and warnings.

        An array that holds nothing to be learnt is returned as the matrix that it is.
        """
        if UNDECIDED not in self.kinds and (matrix := self._pass_through(X)) is not None:
            return matrix, None
        return self._matched(X, source, column_changes, adds=True)

    def survey(self, table: Table | Float64Array, source: str) -> tuple[Table | Float64Array, TableSurvey]:
        """Return the survey of a table that was matched, and the table with its coded columns.

        Raises an error if a column holds another kind than was learnt.
        """
        if isinstance(table, np.ndarray):
            return table, TableSurvey(source, len(table), self.names, (None,) * self.n_features)
        is_matrix, coded = isinstance(table.content, np.ndarray), {}
        columns: list[ColumnSurvey | None] = []
        for position in range(table.n_columns):
            kind = self.kinds[position] if position < self.n_features else UNDECIDED
            if is_matrix and kind == NUMBERS:
                columns.append(None)
                continue
            column, where = table.column(position), table.column_label(position)
            if kind == UNDECIDED:
                decided = kind_of(column, where, takes_text=self.takes_text)
                is_number = decided == NUMBERS  # maybe categories that are numbers, where these are not asked for
                columns.append(ColumnSurvey(NUMBERS, "", source) if is_number else ColumnSurvey.of(column, source))
            elif (known := self.categories[position]) is not None:
                coded[position] = known.coded(column, where)
                columns.append(ColumnSurvey.of(coded[position], source))
            else:
                as_numbers(column, kind, where)
                columns.append(None)
        if coded:
            table = replace(table, content=[coded.get(j, table.column(j)) for j in range(table.n_columns)])
        return table, TableSurvey(source, table.n_samples, table.names, tuple(columns))

    def grown(self, survey: TableSurvey, batch: int, rules: EncodingRules) -> TableEncoder:
        """Return the encoder after the survey of a whole batch, or this one if there is nothing new.

        Warns of text that reads as numbers, booleans or dates, and of columns that identify samples.
        """
        if survey.warning is not None:
            warn_caller(survey.warning)
        n_added = len(survey.columns) - self.n_features
        kinds, categories = [*self.kinds, *[UNDECIDED] * n_added], [*self.categories, *[None] * n_added]
        recycled_codes, texts = {}, {}
        for position, column in enumerate(survey.columns):
            if column is None:
                continue
            if kinds[position] == UNDECIDED:
                kinds[position] = column.kind
                categories[position] = Categories.none() if column.kind == CATEGORIES else None
                texts[position] = column.texts
            if (known := categories[position]) is not None:
                learnt = known.learn(column.values, column.counts, survey.n_samples, batch, rules)
                categories[position], codes = learnt
                if len(codes):
                    recycled_codes[position] = codes
        if not any(categories) and (tuple(kinds), survey.names) == (self.kinds, self.names):
            return self
        source = source_of(batch)
        warned_of = self.warned_of | _warn_of_texts(texts, survey.names, source)
        grown = replace(
            self,
            names=survey.names,
            kinds=tuple(kinds),
            categories=tuple(categories),
            recycled_codes=recycled_codes,
            n_added=n_added,
            warned_of=warned_of | _warn_of_ids(categories, survey.names, source, warned_of),
        )
        return grown._with_rate_columns() if rules.adds_rates else grown

    def regrouped_since(self, before: TableEncoder, survey: TableSurvey) -> dict[int, Categories]:
        """Return by column the categories before a batch, where they translate some of its values otherwise.

        That is so where the batch made a value frequent or infrequent, see `EncodingRules`.
        """
        columns = zip(before.categories, self.categories, survey.columns, strict=False)  # added ones come last
        return {
            position: old
            for position, (old, new, column) in enumerate(columns)
            if old is not None and new is not None and column is not None and new.regroups(old, column.values)
        }

    @property
    def for_surveys(self) -> TableEncoder:
        """Input of surveys: names and types, and of categories whether they are text."""
        first = [None if known is None else dict.fromkeys(list(known.index_of)[:1], 0) for known in self.categories]
        categories = tuple(None if one is None else replace(Categories.none(), index_of=one) for one in first)
        return replace(self, categories=categories, recycled_codes={}, rates={}, rate_columns=())

    def _with_rate_columns(self) -> TableEncoder:
        """Return the encoder that can count all its categories, with columns for rates that have proved right."""
        rates, columns = {}, [*self.rate_columns]
        for position, known in enumerate(self.categories):
            if known is None:
                continue
            before = self.rates.get(position) or CategoryRates.none()
            counted = before.with_codes(known.n_codes, self.recycled_codes.get(position))
            rates[position] = counted.with_columns(len(known.index_of))
            first, stop = len(before.classes), len(rates[position].classes)
            columns += [(position, rate) for rate in range(first, stop)]
        return replace(self, rates=rates, rate_columns=tuple(columns))


def _warn_of_texts(texts: Mapping[int, Sequence[str]], names: Names | None, source: str) -> set[int]:
    """Warn of new text columns that read as something else, and return which."""
    found = {
        position: text_warning(values, column_label(source, names, position), names, position)
        for position, values in texts.items()
    }
    for warning in filter(None, found.values()):
        warn_caller(warning)
    return {position for position, warning in found.items() if warning}


def _warn_of_ids(
    categories: Sequence[Categories | None], names: Names | None, source: str, warned_of: frozenset[int]
) -> set[int]:
    """Warn of text columns that identify samples, but those that were warned of before, and return which."""
    found = {
        position: known
        for position, known in enumerate(categories)
        if known and known.identifies_samples and position not in warned_of
    }
    for position, known in found.items():
        warn_caller(
            f"{column_label(source, names, position)} brings the number of its values to {known.n_distinct:,} in "
            f"{known.n_known:,} samples. Values that are hardly ever repeated do not help to predict later samples: if "
            "they identify samples, drop the column."
        )
    return set(found)
