"""Tables as they arrive: NumPy, lists, pandas, polars or pyarrow become names and columns.

A column is one of two things: an array of float64 numbers in which NaN is missing, or `Coded` values. No data-frame
library is imported here: one whose frame has arrived is loaded already, and `sys.modules` knows it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

FloatArray: TypeAlias = NDArray[np.float64]
NameArray: TypeAlias = NDArray[np.object_]

ESTIMATOR_NAME = "AdaptiveDecisionForestClassifier"


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """A column of categories: record i holds ``values[codes[i]]``, or nothing where the code is -1.

    The values are all text or all floats, distinct, in order of first appearance.
    """

    codes: NDArray[np.integer[Any]]
    values: list[str] | list[float]

    @property
    def holds_text(self) -> bool:
        """Whether the values are text; a column without values holds none."""
        return bool(self.values) and isinstance(self.values[0], str)


Column: TypeAlias = FloatArray | Coded
Place: TypeAlias = Callable[[int], str]
FrameReader: TypeAlias = Callable[[Any, Place], FloatArray | list[Column]]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table as it arrived: its columns, or one matrix if all of them are numbers, and what to call it in errors."""

    n_records: int
    n_columns: int
    names: NameArray | None
    content: FloatArray | Sequence[Column]
    source: str

    def column(self, position: int) -> Column:
        """Return one column."""
        return self.content[:, position] if isinstance(self.content, np.ndarray) else self.content[position]

    def place(self, position: int) -> str:
        """Return how an error calls a column."""
        return _place(self.source, self.names, position)


def source_of(batch: int | None) -> str:
    """Return how an error calls what arrived; records to be predicted have no batch number."""
    return "these records" if batch is None else f"batch {batch}"


def read_table(X: Any, batch: int | None, estimator_name: str) -> Table:
    """Return what arrived as a `Table`, or raise an error that says why it is none.

    Parameters
    ----------
    X : array-like, pandas or polars DataFrame, pyarrow Table or RecordBatch
        The records.
    batch : int or None
        Number of the batch, for errors; None for records to be predicted.
    estimator_name : str
        Class name of the estimator, for errors in scikit-learn's words.
    """
    source = source_of(batch)
    read_columns = _frame_reader(X)
    content: FloatArray | Sequence[Column]
    if read_columns is None:
        array = _two_dimensional(X, estimator_name)
        names, (n_records, n_columns) = None, array.shape
        content = _array_columns(array, partial(_place, source, None))
    else:
        n_records, n_columns = X.shape
        if not (n_records and n_columns):  # scikit-learn has the words for empty tables
            check_array(np.empty((n_records, n_columns)), estimator=estimator_name)
        names = _names(list(X.column_names if read_columns is _pyarrow_columns else X.columns), source)
        content = read_columns(X, partial(_place, source, names))
    table = Table(n_records, n_columns, names, content, source)
    _reject_infinity(table)
    return table


def code_values(values: list[Any], place: str) -> Coded:
    """Return Python objects as categories; they must be all text or all numbers, missing ones aside."""
    try:
        distinct = dict.fromkeys(values)
    except TypeError as error:
        raise TypeError(f"{place} mixes text with other objects ({error}). Convert the whole column to text.") from None
    kept = [value for value in distinct if not is_missing(value)]
    lookup = dict.fromkeys(distinct, -1) | {value: code for code, value in enumerate(kept)}
    codes = np.fromiter(map(lookup.__getitem__, values), np.intp, len(values))
    return Coded(codes, plain_values(kept, place))


def code_numbers(numbers: FloatArray) -> Coded:
    """Return a column of numbers as categories, NaN as missing."""
    known = ~np.isnan(numbers)
    values, first, inverse = np.unique(numbers[known], return_index=True, return_inverse=True)
    arrival = np.argsort(first)
    rank = np.empty_like(arrival)
    rank[arrival] = np.arange(len(arrival))
    codes = np.full(len(numbers), -1, dtype=np.intp)
    codes[known] = rank[inverse]
    return Coded(codes, values[arrival].tolist())


def plain_values(values: list[Any], place: str) -> list[str] | list[float]:
    """Return distinct values as text or as floats, whichever they all are."""
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) == len(values):
        return [str(text) for text in texts]
    strangers = [value for value in values if not isinstance(value, str)]
    if not texts and all(isinstance(value, (Real, np.bool_)) for value in values):
        return [float(value) for value in values]
    found = f"text ({texts[0]!r}) and " if texts else ""
    raise TypeError(
        f"{place} holds {found}values of type {type(strangers[0]).__name__} ({strangers[0]!r}); categories are either "
        "all text or all numbers. Convert the whole column to text."
    )


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, NaT or pandas.NA."""
    return value is None or type(value).__name__ == "NAType" or (not isinstance(value, str) and bool(value != value))


def _frame_reader(X: Any) -> FrameReader | None:
    """Return what reads the columns of a data frame, or None for anything else."""
    if isinstance(X, (np.ndarray, list)):
        return None
    for package, kinds, reader in _FRAMES:
        module: Any = sys.modules.get(package)
        if module is not None and isinstance(X, tuple(getattr(module, kind) for kind in kinds)):
            return reader
    return None


def _place(source: str, names: NameArray | None, position: int) -> str:
    """Return "column 'age' of batch 7", or the position where columns have no names."""
    return f"column {position if names is None else repr(names[position])} of {source}"


def _names(labels: list[Any], source: str) -> NameArray | None:
    """Return the column names if all are text, None if none is; scikit-learn refuses a mixture, and so do we."""
    are_text = [isinstance(label, str) for label in labels]
    if any(are_text) and not all(are_text):
        kinds = sorted({type(label).__qualname__ for label in labels})
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{kinds} as feature name / column name types. Rename the columns of {source}, for example with "
            "X.columns = X.columns.astype(str)."
        )
    if not any(are_text):
        return None
    if len(set(labels)) < len(labels):
        repeated = next(label for label in labels if labels.count(label) > 1)
        raise ValueError(
            f"column name {repeated!r} occurs {labels.count(repeated)} times in {source}; columns are matched by name, "
            "so every name must occur once. Rename or drop the others."
        )
    return np.array(labels, dtype=object)


def _reject_infinity(table: Table) -> None:
    """Raise if a number is infinite; NaN is welcome, it means missing."""
    if isinstance(table.content, np.ndarray) and not np.isinf(table.content).any():
        return
    for position in range(table.n_columns):
        column = table.column(position)
        if isinstance(column, Coded):
            is_infinite = not column.holds_text and np.isinf(column.values).any()
        else:
            is_infinite = np.isinf(column).any()
        if is_infinite:
            raise ValueError(
                "Input X contains infinity or a value too large for dtype('float64'): see "
                f"{table.place(position)}. Replace it with a finite number, or with NaN if the value is not known."
            )


def _two_dimensional(X: Any, estimator_name: str) -> NDArray[Any]:
    """Return anything that is not a data frame as a 2-d array, with scikit-learn's own errors where it is none."""
    if isinstance(X, (list, tuple)):
        # NumPy would turn the number in [1.0, "a"] into text; as objects both stay what they are.
        array = np.asarray(X)
        X = np.array(X, dtype=object) if array.dtype.kind in "US" else array
    elif isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(*((X.astype(np.float64), np.nan) if X.dtype.kind in "biuf" else (X.astype(object), None)))
    array = check_array(X, dtype=None, ensure_all_finite=False, estimator=estimator_name, input_name="X")
    return np.asarray(array)


def _array_columns(array: NDArray[Any], place: Place) -> FloatArray | list[Column]:
    """Return the content of a 2-d array, each object column for itself."""
    if array.dtype.kind in "biuf":
        return np.asarray(array, dtype=np.float64)
    if array.dtype.kind in "mM":
        raise _not_a_number(place(0), str(array.dtype))
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8")
    return [_object_column(array[:, position].tolist(), place(position)) for position in range(array.shape[1])]


def _object_column(values: list[Any], place: str) -> Column:
    """Return Python objects as categories if any is text, as numbers otherwise."""
    types = set(map(type, values))
    if any(issubclass(kind, (str, bytes)) for kind in types):
        return code_values(values, place)
    if any(kind.__name__ in ("NAType", "NaTType") for kind in types):
        values = [None if is_missing(value) else value for value in values]
    try:
        return np.fromiter(values, np.float64, len(values))
    except (TypeError, ValueError) as error:
        stranger = next(kind for kind in types if not issubclass(kind, (Real, type(None))))
        raise _not_a_number(place, stranger.__name__, f" ({error})") from error


def _not_a_number(place: str, kind: str, cause: str = "") -> TypeError:
    """Return the error for columns that are neither numbers nor categories."""
    advice = "Convert it to numbers, for example days since a fixed date, or to text if its values are categories."
    return TypeError(f"{place} holds values of type {kind}, which are neither numbers nor text{cause}. {advice}")


def _pandas_columns(frame: Any, place: Place) -> FloatArray | list[Column]:
    """Return the content of a pandas DataFrame, in one go where all columns are numbers."""
    if all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in frame.dtypes):
        return np.asarray(frame.to_numpy(dtype=np.float64))
    return [_pandas_column(series, place(position)) for position, (_, series) in enumerate(frame.items())]


def _pandas_column(series: Any, place: str) -> Column:
    """Return one pandas Series; pandas finds the distinct values itself, and faster."""
    dtype = series.dtype
    if dtype.kind in "biuf":
        missing = {} if isinstance(dtype, np.dtype) else {"na_value": np.nan}
        return np.asarray(series.to_numpy(dtype=np.float64, **missing))
    if dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {place}. Pass its real and imaginary parts as two columns.")
    if dtype.kind in "mM":
        raise _not_a_number(place, str(dtype))
    is_categorical = dtype.name == "category"
    is_text = dtype.kind == "O" and dtype.name != "object" and sys.modules["pandas"].api.types.is_string_dtype(dtype)
    if not is_categorical and not is_text:
        return _object_column(series.tolist(), place)
    codes, uniques = series.factorize()
    values = uniques.tolist()
    if is_categorical:  # pandas.cut makes intervals: known by what they are called
        values = [value if isinstance(value, (str, Real)) else str(value) for value in values]
    return Coded(codes, plain_values(values, place))


def _polars_columns(frame: Any, place: Place) -> FloatArray | list[Column]:
    """Return the content of a polars DataFrame, in one go where all columns are numbers."""
    polars = sys.modules["polars"]

    def is_number(dtype: Any) -> bool:
        return bool(dtype.is_numeric() or dtype in (polars.Boolean, polars.Null))

    def read(series: Any, place: str) -> Column:
        if is_number(series.dtype):
            return np.asarray(series.cast(polars.Float64).to_numpy())
        if series.dtype in (polars.String, polars.Categorical, polars.Enum):
            return code_values(series.to_list(), place)
        if series.dtype == polars.Object:
            return _object_column(series.to_list(), place)
        raise _not_a_number(place, str(series.dtype))

    if all(map(is_number, frame.dtypes)):
        return np.asarray(frame.cast(polars.Float64).to_numpy())
    return [read(series, place(position)) for position, series in enumerate(frame.get_columns())]


def _decoded(column: Any) -> Any:
    """Return the values of a pyarrow dictionary column; pyarrow cannot decode text views, which polars writes."""
    pyarrow = sys.modules["pyarrow"]
    kind = column.type.value_type
    kind = pyarrow.large_string() if pyarrow.types.is_string_view(kind) else kind
    chunks = [chunk.dictionary.cast(kind).take(chunk.indices) for chunk in column.chunks]
    return pyarrow.chunked_array(chunks, type=kind)


def _pyarrow_columns(table: Any, place: Place) -> list[Column]:
    """Return the content of a pyarrow Table or RecordBatch."""
    pyarrow = sys.modules["pyarrow"]
    types = pyarrow.types

    def read(column: Any, place: str) -> Column:
        is_dictionary = types.is_dictionary(column.type)
        if is_dictionary:
            column = _decoded(column)
        kind = column.type
        is_text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
        is_number = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
        if is_text:
            coded = column.dictionary_encode().combine_chunks()
            codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False)
            return Coded(codes, plain_values(coded.dictionary.to_pylist(), place))
        if is_number or types.is_boolean(kind) or types.is_null(kind):
            numbers = np.asarray(column.cast("float64", safe=False).to_numpy())
            return code_numbers(numbers) if is_dictionary else numbers
        raise _not_a_number(place, str(kind))

    if isinstance(table, pyarrow.RecordBatch):
        table = pyarrow.Table.from_batches([table])
    return [read(column, place(position)) for position, column in enumerate(table.columns)]


_FRAMES: tuple[tuple[str, tuple[str, ...], FrameReader], ...] = (
    ("pandas", ("DataFrame",), _pandas_columns),
    ("polars", ("DataFrame",), _polars_columns),
    ("pyarrow", ("Table", "RecordBatch"), _pyarrow_columns),
)
