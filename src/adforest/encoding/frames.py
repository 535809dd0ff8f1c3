"""Data frames in, of any library that narwhals knows; lists and arrays are read without it, in `tables`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

import narwhals.stable.v2 as nw
import numpy as np
from narwhals.dependencies import is_pandas_like_dataframe
from narwhals.exceptions import DuplicateError

from adforest.encoding.columns import (
    Coded,
    Column,
    Moments,
    code_values,
    complex_numbers,
    not_a_number,
    object_column,
    plain_values,
)
from adforest.exceptions import InputError, InputTypeError
from adforest.forest.types import Float64Array

Names: TypeAlias = tuple[Hashable, ...]
ColumnLabel: TypeAlias = Callable[[int], str]

MOMENTS = (nw.Date, nw.Datetime, nw.Duration)
CATEGORIES = (nw.String, nw.Categorical, nw.Enum)
OBJECTS = (nw.Object, nw.Unknown)
COLLECT = {  # what to do about tables that hold no samples yet, by their library
    "polars": "Collect them: pass X.collect()",
    "duckdb": "Fetch them: pass X.df() or X.pl()",
    "dask": "Compute them: pass X.compute(), or learn them where they lie, with adforest.integrations.dask",
    "pyspark": "Fetch them: pass X.toPandas(), or learn them where they lie, with adforest.integrations.spark",
    "ibis": "Fetch them: pass X.to_pandas()",
}
FEW_ROWS, FEW = 10, 1_000  # samples that are read row by row; whose values Python tells apart sooner than a library


class Frame(NamedTuple):
    """A data frame before its columns are read.

    Attributes
    ----------
    names : tuple
        Of the columns: text, integers or, of a pandas MultiIndex, tuples.
    shape : tuple of int
    read : callable
        Given how errors call a column of some position, returns the columns, or one matrix if all are numbers.
    library : str
        That it is of, or is like.
    """

    names: Names
    shape: tuple[int, int]
    read: Callable[[ColumnLabel], Float64Array | list[Column]]
    library: str = "pandas"


def open_frame(X: Any) -> Frame | None:
    """Return a data frame to be read, None for what is none, or raise if it holds no table of samples yet."""
    if is_pandas_like_dataframe(X):
        return Frame(tuple(X.columns.tolist()), X.shape, lambda label: _read_pandas_like(X, label))
    kind = f"{type(X).__module__.split('.')[0].removeprefix('_')}.{type(X).__name__}"
    if kind == "duckdb.DuckDBPyRelation":  # narwhals knows it only once duckdb was imported under that name
        raise _lazy(kind)
    if kind == "pyarrow.RecordBatchReader":
        raise InputTypeError(
            "X is a pyarrow RecordBatchReader, not a table. Pass X.read_all(), or its batches one by one."
        )
    if kind == "pyarrow.RecordBatch":
        X = sys.modules["pyarrow"].Table.from_batches([X])
    try:
        frame = nw.from_native(X, allow_series=True, pass_through=True)
    except DuplicateError:  # checked with the names, with a better message
        names = X.column_names if hasattr(X, "column_names") else X.columns
        return Frame(tuple(names), X.shape, lambda label: [])
    if isinstance(frame, nw.LazyFrame):
        raise _lazy(kind)
    if isinstance(frame, nw.Series):
        raise InputError(
            f"Expected 2D array, got a Series ({kind}) instead. Pass a table: X.to_frame() if it is one column, [X] if "
            "it is one sample."
        )
    if not isinstance(frame, nw.DataFrame):
        return None
    library = str(frame.implementation)
    return Frame(tuple(frame.columns), frame.shape, lambda label: _read(frame, label), library)


def _lazy(kind: str) -> InputTypeError:
    """Return the error for a table whose samples are not here yet."""
    collect = COLLECT.get(kind.partition(".")[0])
    if collect is None:
        collect = "Pass the table it makes: " + ", ".join(COLLECT.values())
    return InputTypeError(f"X is a lazy frame ({kind}), which holds no samples yet. {collect}.")


def _read_pandas_like(X: Any, column_label: ColumnLabel) -> Float64Array | list[Column]:
    """Return the content of a frame of pandas or one like it, NumPy's numbers without a look at each column."""
    if all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in X.dtypes):
        return np.asarray(X.to_numpy(dtype=np.float64))
    return [_pandas_like_column(series, column_label(position)) for position, (_, series) in enumerate(X.items())]


def _pandas_like_column(series: Any, where: str) -> Column:
    """Return one column; distinct text and categories are found by their own library, which is faster."""
    dtype = series.dtype
    if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
        return np.asarray(series.to_numpy(dtype=np.float64))
    if dtype.name == "object":  # narwhals would judge by the first hundred values
        return object_column(series.tolist(), where)
    if dtype.name == "category" or dtype.type is str:
        codes, uniques = series.factorize()
        # pandas.cut makes intervals: known by what they are called
        values = [value if isinstance(value, (str, int, float)) else str(value) for value in uniques.tolist()]
        return Coded(np.asarray(codes), plain_values(values, where), dtype.name == "category")
    return _column(nw.from_native(series, series_only=True), where)


def _read(frame: nw.DataFrame[Any], column_label: ColumnLabel) -> Float64Array | list[Column]:
    """Return the content of a frame, in one go where all columns are numbers."""
    dtypes = list(frame.schema.values())
    if all(dtype.is_numeric() and not dtype.is_decimal() for dtype in dtypes):
        return np.asarray(frame.to_numpy(), dtype=np.float64)
    is_text = [isinstance(dtype, nw.String) for dtype in dtypes]
    are_plain = all(
        text or dtype.is_numeric() or dtype == nw.Boolean for text, dtype in zip(is_text, dtypes, strict=True)
    )
    if are_plain and len(frame) < FEW_ROWS:
        columns = enumerate(zip(is_text, zip(*frame.rows(), strict=True), strict=True))
        return [
            code_values(list(x), column_label(j)) if text else np.array(x, dtype=np.float64) for j, (text, x) in columns
        ]
    return [_column(series, column_label(position)) for position, series in enumerate(frame.iter_columns())]


def _column(series: Any, where: str) -> Column:
    """Return one column."""
    dtype = series.dtype
    if dtype.is_decimal() or dtype == nw.Boolean:
        series = series.cast(nw.Float64)
    if series.dtype.is_numeric():
        return np.asarray(series.to_numpy(), dtype=np.float64)
    if isinstance(dtype, CATEGORIES):
        return _coded(series, where)
    if isinstance(dtype, MOMENTS):
        return _moments(series, where)
    if isinstance(dtype, OBJECTS):
        return _unknown_column(series, where)
    raise not_a_number(where, str(dtype))


def _coded(series: nw.Series[Any], where: str) -> Coded:
    """Return a column of text or of categorical type; the library finds the distinct values itself, and faster."""
    is_categorical_type = not isinstance(series.dtype, nw.String)
    if len(series) < FEW:
        return replace(code_values(series.to_list(), where), is_categorical_type=is_categorical_type)
    values = series.drop_nulls().unique(maintain_order=True).to_list()
    if not values:
        return Coded(np.full(len(series), -1), [])
    try:
        found = series.replace_strict(values, range(len(values)), default=None, return_dtype=nw.Int64)
    except NotImplementedError:  # pyarrow's dictionaries of text views, which polars writes
        return replace(code_values(series.to_list(), where), is_categorical_type=is_categorical_type)
    return Coded(found.fill_null(-1).to_numpy(), plain_values(values, where), is_categorical_type)


def _moments(series: nw.Series[Any], where: str) -> Column:
    """Return dates or durations; narwhals gives those with a time zone in UTC."""
    values = series.to_numpy()
    if values.dtype == object:  # dates of pandas on Arrow
        return object_column(values.tolist(), where)
    has_zone = isinstance(series.dtype, nw.Datetime) and series.dtype.time_zone is not None
    return Moments.of(values, has_zone=has_zone)


def _unknown_column(series: nw.Series[Any], where: str) -> Column:
    """Return a column of a type that narwhals has no name for: null, sparse and the like, by the objects it holds."""
    shown = str(getattr(series.to_native(), "dtype", series.dtype))
    if shown.startswith("complex"):
        raise complex_numbers(where)
    return object_column(series.to_list(), where)
