"""Decoding: a matrix becomes a table again, numbers and names become text."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from adforest.encoding.columns import CATEGORIES, DURATIONS, NUMBERS, UNDECIDED, ZONED_DATES, Coded, Column, Moments
from adforest.encoding.encoder import TableEncoder
from adforest.encoding.tables import Table, source_of
from adforest.forest.types import Float64Array

DIGITS = 4  # significant digits of a number, if they tell it apart
FULL_DIGITS = 17  # tell any two floats apart
WHOLE = 1e15  # integers below are written without an exponent


def rebuilt_table(encoder: TableEncoder, matrix: Float64Array, library: str | None) -> Table:
    """Return the table that a matrix was made of, as far as the encoder knows it; the library is that of its frame."""
    content: Float64Array | list[Column] = np.ascontiguousarray(matrix[:, : encoder.n_features])
    if not set(encoder.kinds) <= {NUMBERS, UNDECIDED}:
        content = [_column(encoder, position, matrix[:, position]) for position in range(encoder.n_features)]
    return Table(len(matrix), encoder.n_features, encoder.names, content, source_of(None), library)


def _column(encoder: TableEncoder, position: int, numbers: Float64Array) -> Column:
    """Return a column of a table."""
    kind = encoder.kinds[position]
    if kind == CATEGORIES:
        codes = np.where(np.isnan(numbers), -1, numbers).astype(np.intp)
        values: Any = [value for value in encoder.category_values(position) if value is not None]
        return Coded(codes, values)
    return numbers if kind in (NUMBERS, UNDECIDED) else Moments(numbers, kind, kind)


def as_frame(table: Table) -> Any:
    """Return a table as a data frame: of polars if it was one, else of pandas. Tables without names are arrays."""
    if table.names is None:
        if isinstance(table.content, np.ndarray):
            return table.content
        return np.column_stack([_values(column).astype(object) for column in table.content])
    # What scikit-learn selects columns from is of pandas or of polars.
    library: Any = "pandas" if table.library != "polars" and find_spec("pandas") else table.library
    columns: dict[Any, Any] = {name: _series(table.column(j), library) for j, name in enumerate(table.names)}
    return nw.from_dict(columns, backend=library).to_native()


def _series(column: Column, library: Any) -> Any:
    """Return a column as a Series of a library."""
    values = _values(column)
    series = nw.new_series("", values.tolist() if values.dtype == object else values, backend=library)
    is_zoned = isinstance(column, Moments) and column.kind == ZONED_DATES
    return (series.dt.replace_time_zone("UTC") if is_zoned else series).to_native()


def _values(column: Column) -> Any:
    """Return the values of a column as an array: floats, objects, or dates and durations in microseconds."""
    if isinstance(column, Coded):
        return np.array([*column.values, None], dtype=object)[column.codes]  # the last is for code -1
    if isinstance(column, np.ndarray):
        return column
    unit = "m8[us]" if column.kind == DURATIONS else "M8[us]"
    known = np.isfinite(column.seconds)
    whole = np.rint(np.where(known, column.seconds, 0.0) * 1e6).astype(np.int64)
    return np.where(known, whole.view(unit), np.array("NaT", dtype=unit))


def write_number(value: float, low: float = -np.inf, high: float = np.inf) -> str:
    """Return the shortest way to write a number, from four significant digits on, that is in [low, high)."""
    if value.is_integer() and abs(value) < WHOLE:
        return str(int(value))
    whole_digits = len(str(int(abs(value)))) if abs(value) < WHOLE else 0
    for digits in range(max(DIGITS, whole_digits), FULL_DIGITS):
        text = f"{value:.{digits}g}"
        if low <= float(text) < high:
            return text
    return repr(value)


def write_value(value: object) -> str:
    """Return a name, category, class value or weight in full: integers without a point, text in one line."""
    if isinstance(value, float):
        return write_number(value, value, float(np.nextafter(value, np.inf)))
    return " ".join(str(value).splitlines())


def write_column(names: Sequence[object] | NDArray[Any] | None, position: int) -> str:
    """Return the name of a column, by position where it has none."""
    return f"x[{position}]" if names is None else write_value(names[position])
