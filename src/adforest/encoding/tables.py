"""Tables and sample weights as they arrive: arrays, lists and data frames become names and columns.

Arrays and lists are read here, data frames in `frames`, which narwhals reads for us. Columns are set beside those
learnt: matched by name where both have names, by position otherwise. Integers and the tuples of a pandas MultiIndex are
names as text is; a model that learnt arrays expects the names 0, 1, 2, ... Where one side has text and the other has
not, columns go by position, with scikit-learn's warning.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import check_array

from adforest.encoding.columns import Coded, Column, Moments, object_column, take_rows
from adforest.encoding.frames import ColumnLabel, Names, open_frame
from adforest.exceptions import Advice, InputError, InputTypeError, ParameterError
from adforest.forest.types import BoolArray, Float64Array
from adforest.wording import counted

ESTIMATOR_NAME = "AdaptiveDecisionForestClassifier"
MAX_DENSE_BYTES = 2**30  # of a sparse matrix as float64: what a laptop has to spare
LARGEST_WEIGHT = 1e100  # sums of weights, and of their squares, are finite
SMALLEST_WEIGHT = 1e-100  # so is what they are divided by; a weight below it is none


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """A table as it was given: its columns, or one matrix if all of them are numbers, and its name in errors.

    The names of a data frame's columns are text, integers or tuples (pandas' MultiIndex); arrays have none. The
    library is that of a data frame: "pandas", also for libraries like it, "polars", "pyarrow", ...
    """

    n_samples: int
    n_columns: int
    names: Names | None
    content: Float64Array | Sequence[Column]
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
    """Return the input as a `Table`, or raise an error with the reason why it is none.

    Parameters
    ----------
    X : array-like, data frame or Table
        The samples.
    source : str
        Its name in errors, see `source_of`.
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
    content: Float64Array | Sequence[Column]
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


def _array_columns(array: NDArray[Any], column_label: ColumnLabel) -> Float64Array | list[Column]:
    """Return the content of a 2-d array, each object column for itself."""
    if array.dtype.kind in "biuf":
        return np.asarray(array, dtype=np.float64)
    if array.dtype.kind in "mM":
        return [Moments.of(column) for column in array.T]
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8")
    return [object_column(array[:, position].tolist(), column_label(position)) for position in range(array.shape[1])]


def match_columns(
    table: Table, learnt: Names | None, n_learnt: int, estimator_name: str, changes: str | None, *, adds: bool
) -> tuple[Table, str | None]:
    """Return a table with its columns in the order learnt, and warnings, if any.

    Raises an error if they are not the columns learnt.

    Parameters
    ----------
    table : Table
    learnt : tuple or None
        Names of the columns learnt, if they have any.
    n_learnt : int
        How many they are.
    estimator_name : str
    changes : {"error", "allow"} or None
        Whether columns may be added or dropped: those that the table lacks are missing in its samples.
    adds : bool
        Whether columns not learnt yet then follow behind the others, or are left out.
    """
    expected: Names = tuple(range(n_learnt)) if learnt is None else learnt
    arrived = table.names
    if arrived is None or are_text(arrived) != are_text(learnt):
        _check_number(table, n_learnt, estimator_name)
        return replace(table, names=learnt), _unmatched_names(arrived, expected, estimator_name)
    if arrived == expected:
        return replace(table, names=learnt), None
    _check_same_names(expected, arrived, table.source, changes)
    where = {name: position for position, name in enumerate(arrived)}
    known = set(expected)
    names = (*expected, *(name for name in arrived if adds and name not in known))
    content = _arranged(table, [where.get(name) for name in names])
    return replace(table, names=names, content=content, n_columns=len(names)), None


def _arranged(table: Table, order: Sequence[int | None]) -> Float64Array | list[Column]:
    """Return the content with its columns in another order; None is a column of missing values."""
    missing = np.full(table.n_samples, np.nan)
    if isinstance(table.content, np.ndarray):
        if None not in order:
            return table.content[:, np.array(order, dtype=np.intp)]
        return np.column_stack([missing if position is None else table.content[:, position] for position in order])
    return [missing if position is None else table.content[position] for position in order]


def _unmatched_names(arrived: Names | None, expected: Names, estimator_name: str) -> str | None:
    """Return a warning, in scikit-learn's words, if only one side has names that could be matched with the other's."""
    if are_text(arrived):
        return f"X has feature names, but {estimator_name} was fitted without feature names"
    if expected == tuple(range(len(expected))):
        return None
    return f"X does not have valid feature names, but {estimator_name} was fitted with feature names"


def _check_number(table: Table, n_learnt: int, estimator_name: str) -> None:
    """Raise if columns that go by position are too many or too few."""
    if table.n_columns != n_learnt:
        raise InputError(
            f"X has {table.n_columns} features, but {estimator_name} is expecting {n_learnt} features as input.",
            Advice(
                "Give {source} the columns the model learnt, in the same order, or {refit}.",
                words={"source": table.source},
            ),
        )


def _check_same_names(learnt: Names, arrived: Names, source: str, changes: str | None) -> None:
    """Raise if columns are missing or in excess and may not be; their order does not matter."""
    extra = [name for name in arrived if name not in set(learnt)]
    missing = [name for name in learnt if name not in set(arrived)]
    if not extra and not missing:
        return
    if changes == "allow" and len(missing) < len(learnt):
        return
    parts, advice = [], []
    for names, one, remedy in ((extra, "extra", "Drop"), (missing, "missing", "Add")):
        if names:
            shown = ", ".join(map(repr, names[:5])) + (", …" if len(names) > 5 else "")
            parts.append(f"the {one} one is {shown}" if len(names) == 1 else f"the {one} ones are {shown}")
            advice.append(f"{remedy} {'it' if len(names) == 1 else 'them'}")
    has = "have" if source == "these samples" else "has"
    if extra and missing:
        advice = ["Rename the columns"]
    allow = "set {column_changes}, " if changes == "error" else ""
    raise InputError(
        "The feature names should match those that were passed during fit.\n"
        f"{source} {has} {counted(len(arrived), 'column')} but the model learnt {len(learnt)}; {' and '.join(parts)}.",
        Advice(f"{advice[0]}, {allow}or {{refit}}.", {"column_changes": "allow"}),
    )


def read_weights(given: Any, n_samples: int, source: str) -> Float64Array | None:
    """Return the weights of some samples, None where all are 1.

    Parameters
    ----------
    given : array-like, float or None
        One weight a sample, or one for all.
    n_samples : int
        How many samples arrived.
    source : str
        Name of the samples in errors: "batch 7".

    Raises
    ------
    ValueError
        If they are not as many as samples, negative or not finite.
    """
    if given is None:
        return None
    try:
        weights = np.full(n_samples, given) if isinstance(given, Real) else np.asarray(given)
        weights = weights.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(f"sample_weight of {source} is not numbers. Pass one number a sample.") from None
    if weights.ndim != 1:
        raise InputError(f"Sample weights must be 1D array or scalar, but {source} has shape {weights.shape}.")
    if len(weights) != n_samples:
        raise InputError(
            f"sample_weight.shape == {weights.shape}, expected {(n_samples,)}! Pass one weight for each "
            f"sample of {source}."
        )
    is_bad = ~((weights >= 0) & (weights <= LARGEST_WEIGHT))
    if is_bad.any():
        index = int(is_bad.argmax())
        raise InputError(
            f"sample_weight of {source} is {weights[index]} for sample {index}; expected numbers from 0 to "
            f"{LARGEST_WEIGHT:g}. Mend or drop that sample."
        )
    weights[weights < SMALLEST_WEIGHT] = 0.0
    return None if (weights == 1).all() else weights


def check_any_weight(n_weighed: int, source: str) -> None:
    """Raise if no sample of a batch has a weight above 0."""
    if not n_weighed:
        raise InputError(f"sample_weight of {source} is zero for all samples. Give at least one of them a weight.")


def listed_columns(listed: Any, table: Table) -> BoolArray:
    """Return a mask of the columns that the user listed as categorical; none with "from_dtype"."""
    columns = np.arange(table.n_columns)
    is_default = isinstance(listed, str) and listed == "from_dtype"
    chosen = np.asarray([] if listed is None or is_default else listed)
    if chosen.size == 0:
        return np.zeros(table.n_columns, dtype=bool)
    if chosen.dtype.kind == "b" and chosen.shape == columns.shape:
        return chosen
    if chosen.dtype.kind in "iu" and chosen.ndim == 1 and chosen.min() >= 0 and chosen.max() < table.n_columns:
        return np.isin(columns, chosen)
    if chosen.dtype.kind in "UO" and chosen.ndim == 1 and table.names is not None:
        unknown = [name for name in chosen.tolist() if name not in table.names]
        if not unknown:
            return np.array([name in set(chosen.tolist()) for name in table.names])
        raise ParameterError(
            f"categorical_features names {unknown[0]!r}, which is no column of {table.source}. Correct or drop it."
        )
    raise ParameterError(
        f"categorical_features is {listed!r}; expected 'from_dtype', None, a boolean mask of shape "
        f"({table.n_columns},), positions from 0 to {table.n_columns - 1}, or, where the columns have names, names."
    )
