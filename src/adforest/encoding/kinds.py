"""What kind a column is: as the user listed it, or as its first values say; what holds another kind is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adforest.encoding.columns import DATES, NUMBERS, ZONED_DATES, Coded, Column, FloatArray, Moments, is_empty
from adforest.encoding.odd_values import N_JUDGED
from adforest.encoding.tables import Table
from adforest.encoding.text_columns import PLAIN, shown
from adforest.exceptions import InputTypeError, ParameterError

CATEGORIES, UNDECIDED = "categories", "undecided"
CONVERSIONS = {
    NUMBERS: " with pd.to_numeric(..., errors='coerce'), which makes other text missing",
    DATES: " with pd.to_datetime(..., errors='coerce')",
    ZONED_DATES: " with pd.to_datetime(..., utc=True, errors='coerce')",
}


def kind_of(column: Column, where: str, *, takes_text: bool) -> str:
    """Return what kind a column is by its values, "undecided" if all are missing.

    Where the user listed the categorical columns and this is not among them, text is refused and categories that are
    numbers count as numbers.
    """
    if is_empty(column):
        return UNDECIDED
    if isinstance(column, Moments):
        return column.kind
    if isinstance(column, np.ndarray):
        return NUMBERS
    if takes_text:
        return CATEGORIES
    if column.holds_text:
        raise InputTypeError(
            f"{where} holds text ({_texts_of(column)}) but is not among categorical_features. Add it there, drop it, "
            "or convert it to numbers, for example with pd.to_numeric(..., errors='coerce')."
        )
    return NUMBERS


def as_numbers(column: Column, kind: str, where: str) -> FloatArray:
    """Return a column of numbers, dates or durations as floats, or raise if it holds something else."""
    numbers: FloatArray | Moments
    if not isinstance(column, Coded):
        numbers = column
    elif not column.holds_text:
        numbers = np.array([*column.values, np.nan], dtype=np.float64)[column.codes]  # the last is for code -1
    else:
        raise InputTypeError(
            f"{where} holds text ({_texts_of(column)}) but the model learnt it as {kind}. Convert it to {kind}"
            f"{CONVERSIONS.get(kind, '')}, or list it in categorical_features and start a new model with fit()."
        )
    found = numbers.kind if isinstance(numbers, Moments) else NUMBERS
    if found != kind and not is_empty(numbers):
        raise InputTypeError(
            f"{where} holds {found} ({numbers.dtype}) but the model learnt it as {kind}. Convert it to {kind}, or "
            "start a new model with fit()."
        )
    return numbers.seconds if isinstance(numbers, Moments) else numbers


def _texts_of(column: Coded) -> str:
    """Return some of the texts of a column for an error, those first that do not read as numbers."""
    texts = [str(value) for value in column.values[:N_JUDGED]]
    return shown(sorted(texts, key=PLAIN.is_number))


def listed_columns(listed: Any, table: Table) -> NDArray[np.bool_]:
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
