"""Tables as they arrive: arrays, lists and data frames become names and columns.

Arrays and lists are read here, data frames in `frames`, which narwhals reads for us.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array

from adforest.encoding.columns import Coded, Column, FloatArray, Moments, object_column, take_rows
from adforest.encoding.frames import ColumnLabel, Names, open_frame
from adforest.exceptions import InputError, InputTypeError

ESTIMATOR_NAME = "AdaptiveDecisionForestClassifier"
MAX_DENSE_BYTES = 2**30  # of a sparse matrix as float64: what a laptop has to spare


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table as it arrived: its columns, or one matrix if all of them are numbers, and what to call it in errors.

    The names of a data frame's columns are text, integers or tuples (pandas' MultiIndex); arrays have none. The
    library is that of a data frame: "pandas" for what is like it, "polars", "pyarrow", ...
    """

    n_samples: int
    n_columns: int
    names: Names | None
    content: FloatArray | Sequence[Column]
    source: str
    library: str | None = None

    def column(self, position: int) -> Column:
        """Return one column."""
        return self.content[:, position] if isinstance(self.content, np.ndarray) else self.content[position]

    def column_label(self, position: int) -> str:
        """Return how an error calls a column."""
        return column_label(self.source, self.names, position)

    def rows(self, index: NDArray[Any]) -> Table:
        """Return some rows, given by index or mask."""
        n_samples = int(np.count_nonzero(index)) if index.dtype == bool else len(index)
        if isinstance(self.content, np.ndarray):
            return replace(self, n_samples=n_samples, content=self.content[index])
        return replace(self, n_samples=n_samples, content=[take_rows(column, index) for column in self.content])


def source_of(batch: int | None, part: int | None = None) -> str:
    """Return how errors call a table; samples to be predicted have no batch number, a whole batch no part."""
    source = "these samples" if batch is None else f"batch {batch}"
    return source if part is None else f"partition {part} of {source}"


def read_table(X: Any, source: str, estimator_name: str) -> Table:
    """Return the input as a `Table`, or raise an error that says why it is none.

    Parameters
    ----------
    X : array-like, data frame or Table
        The samples.
    source : str
        What errors call it, see `source_of`.
    estimator_name : str
        Class name of the estimator, for errors in scikit-learn's words.
    """
    if isinstance(X, Table):
        table = replace(X, source=source)
        _reject_infinity(table)
        return table
    frame = None if isinstance(X, (np.ndarray, list, tuple)) else open_frame(X)
    names: Names | None = None
    library: str | None = None
    content: FloatArray | Sequence[Column]
    if frame is None:
        array = _two_dimensional(X, estimator_name)
        n_samples, n_columns = array.shape
        content = _array_columns(array, partial(column_label, source, None))
    else:
        names, (n_samples, n_columns), library = frame.names, frame.shape, frame.library
        if not (n_samples and n_columns):  # scikit-learn has the words for empty tables
            check_array(np.empty((n_samples, n_columns)), estimator=estimator_name)
        _check_names(names, source)
        content = frame.read(partial(column_label, source, names))
    table = Table(n_samples, n_columns, names, content, source, library)
    _reject_infinity(table)
    return table


def are_text(names: Names | None) -> bool:
    """Return whether columns have names that are text, which scikit-learn calls feature names."""
    return names is not None and isinstance(names[0], str)


def column_label(source: str, names: Names | None, position: int) -> str:
    """Return "column 'age' of batch 7", or the position where columns have no names."""
    return f"column {position if names is None else repr(names[position])} of {source}"


def _check_names(names: Names, source: str) -> None:
    """Raise if a name occurs twice, or if some are text and others are not, as scikit-learn does."""
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise InputError(
            f"column name {repeated!r} occurs {names.count(repeated)} times in {source}; columns are matched by name, "
            "so every name must occur once. Rename or drop the others."
        )
    if len({isinstance(name, str) for name in names}) > 1:
        kinds = sorted({type(name).__qualname__ for name in names})
        raise InputTypeError(
            "Feature names are only supported if all input features have string names, but your input has "
            f"{kinds} as feature name / column name types. Rename the columns of {source}, for example with "
            "X.columns = X.columns.astype(str)."
        )


def _reject_infinity(table: Table) -> None:
    """Raise if a number is infinite; NaN means missing."""
    if isinstance(table.content, np.ndarray) and not np.isinf(table.content).any():
        return
    for position in range(table.n_columns):
        column = table.column(position)
        if isinstance(column, Moments):
            continue
        if isinstance(column, Coded):
            is_infinite = not column.holds_text and np.isinf(column.values).any()
        else:
            is_infinite = np.isinf(column).any()
        if is_infinite:
            raise InputError(
                "Input X contains infinity or a value too large for dtype('float64'): see "
                f"{table.column_label(position)}. Replace it with a finite number, or with NaN if the value is "
                "not known."
            )


def _two_dimensional(X: Any, estimator_name: str) -> NDArray[Any]:
    """Return anything that is not a data frame as a 2-d array, with scikit-learn's own errors where it is none."""
    if type(X) is dict or (isinstance(X, (list, tuple)) and len(X) and isinstance(X[0], dict)):
        kind = "a dict" if type(X) is dict else f"a {type(X).__name__} of dicts"
        raise InputTypeError(f"X is {kind}, not a table. Pass pandas.DataFrame(X) or polars.DataFrame(X).")
    if isinstance(X, (list, tuple)):
        # NumPy would turn the number in [1.0, "a"] into text; as objects both stay what they are.
        array = np.asarray(X)
        X = np.array(X, dtype=object) if array.dtype.kind in "USmM" else array
    elif issparse(X):
        X = _dense(X)
    elif isinstance(X, np.ma.MaskedArray):
        X = np.ma.filled(*((X.astype(np.float64), np.nan) if X.dtype.kind in "biuf" else (X.astype(object), None)))
    array = check_array(X, dtype=None, ensure_all_finite=False, estimator=estimator_name, input_name="X")
    return np.asarray(array)


def _dense(X: Any) -> NDArray[Any]:
    """Return a sparse matrix or array as a dense one, or raise if that takes too much memory."""
    n_bytes = 8 * math.prod(X.shape)
    if n_bytes > MAX_DENSE_BYTES:
        raise InputError(
            f"X is a sparse matrix of {' x '.join(f'{n:,}' for n in X.shape)} numbers, which would take "
            f"{n_bytes / 2**30:,.1f} GiB as the dense table that is learnt from; expected at most "
            f"{MAX_DENSE_BYTES / 2**30:,.0f} GiB. Make it fewer columns, with scikit-learn's SelectKBest or "
            "TruncatedSVD, or pass fewer samples at a time, with partial_fit or predict."
        )
    return np.asarray(X.toarray())


def _array_columns(array: NDArray[Any], column_label: ColumnLabel) -> FloatArray | list[Column]:
    """Return the content of a 2-d array, each object column for itself."""
    if array.dtype.kind in "biuf":
        return np.asarray(array, dtype=np.float64)
    if array.dtype.kind in "mM":
        return [Moments.of(column) for column in array.T]
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8")
    return [object_column(array[:, position].tolist(), column_label(position)) for position in range(array.shape[1])]
