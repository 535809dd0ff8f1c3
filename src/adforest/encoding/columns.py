"""One column of any library, and its type: numbers, dates or categories, by its first values.

Numbers are an array of float64 in which NaN is missing, `Moments` the seconds of dates and durations, `Coded` the
categories of text and the like. A column of another type than was learnt is an error.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from adforest.encoding.odd_values import N_JUDGED
from adforest.encoding.text_columns import PLAIN, shown
from adforest.exceptions import Advice, InputError, InputTypeError
from adforest.forest.types import Float64Array

NUMBERS, DATES, ZONED_DATES, DURATIONS = "numbers", "dates", "dates with a time zone", "durations"
CATEGORIES, UNDECIDED = "categories", "undecided"
CONVERSIONS = {
    NUMBERS: " with pd.to_numeric(..., errors='coerce'), which makes other text missing",
    DATES: " with pd.to_datetime(..., errors='coerce')",
    ZONED_DATES: " with pd.to_datetime(..., utc=True, errors='coerce')",
}


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """A column of categories: sample i holds ``values[codes[i]]``, or nothing where the code is -1.

    The values are all text or all floats, distinct, in order of first appearance. Columns of a categorical type are
    categories because the user listed them; others because they hold text.
    """

    codes: NDArray[np.integer[Any]]
    values: list[str] | list[float]
    is_categorical_type: bool = False

    @property
    def holds_text(self) -> bool:
        """Whether the values are text; a column without values holds none."""
        return bool(self.values) and isinstance(self.values[0], str)


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """A column of dates, as seconds since 1970, or of durations in seconds; NaN is missing.

    Attributes
    ----------
    seconds : float64 (n,)
    kind : {"dates", "dates with a time zone", "durations"}
        They do not mix: the same date may be another hour in another zone.
    dtype : str
        Type of the input, for errors.
    """

    seconds: Float64Array
    kind: str
    dtype: str

    @classmethod
    def of(cls, values: NDArray[Any], *, has_zone: bool = False) -> Moments:
        """Return datetime64 or timedelta64 values as moments; those with a time zone must be in UTC already."""
        if values.dtype.kind == "m":
            return cls(values / np.timedelta64(1, "s"), DURATIONS, str(values.dtype))
        unit = "D" if np.datetime_data(values.dtype)[0] in ("Y", "M", "W") else np.datetime_data(values.dtype)[0]
        seconds = (values.astype(f"M8[{unit}]") - np.datetime64(0, "s")) / np.timedelta64(1, "s")
        return cls(seconds, ZONED_DATES if has_zone else DATES, str(values.dtype))


Column: TypeAlias = Float64Array | Coded | Moments


def is_empty(column: Column) -> bool:
    """Return whether all values of a column are missing."""
    if isinstance(column, Coded):
        return not column.values
    numbers = column.seconds if isinstance(column, Moments) else column
    return bool(np.isnan(numbers[0]) and np.isnan(numbers).all())


def take_rows(column: Column, index: NDArray[Any]) -> Column:
    """Return some rows of a column, given by index or mask."""
    if isinstance(column, Coded):
        return replace(column, codes=column.codes[index])
    if isinstance(column, Moments):
        return replace(column, seconds=column.seconds[index])
    taken: Float64Array = column[index]
    return taken


def code_values(values: list[Any], where: str) -> Coded:
    """Return Python objects as categories; they must be all text or all numbers, missing ones aside."""
    try:
        distinct = dict.fromkeys(values)
    except TypeError as error:
        raise InputTypeError(
            f"{where} mixes text with other objects ({error}). Convert the whole column to text."
        ) from None
    kept = [value for value in distinct if not is_missing(value)]
    lookup = dict.fromkeys(distinct, -1) | {value: code for code, value in enumerate(kept)}
    codes = np.fromiter(map(lookup.__getitem__, values), np.intp, len(values))
    return Coded(codes, plain_values(kept, where))


def code_numbers(numbers: Float64Array) -> Coded:
    """Return a column of numbers as categories, NaN as missing."""
    known = ~np.isnan(numbers)
    values, first, inverse = np.unique(numbers[known], return_index=True, return_inverse=True)
    arrival = np.argsort(first)
    rank = np.empty_like(arrival)
    rank[arrival] = np.arange(len(arrival))
    codes = np.full(len(numbers), -1, dtype=np.intp)
    codes[known] = rank[inverse]
    return Coded(codes, values[arrival].tolist())


def plain_values(values: list[Any], where: str) -> list[str] | list[float]:
    """Return distinct values as text or as floats, whichever they all are."""
    texts = [value for value in values if isinstance(value, str)]
    if len(texts) == len(values):
        return [str(text) for text in texts]
    strangers = [value for value in values if not isinstance(value, str)]
    if not texts and all(isinstance(value, (Real, np.bool_)) for value in values):
        return [float(value) for value in values]
    if texts and all(isinstance(value, (Real, np.bool_)) for value in strangers):
        raise _mixed(texts, strangers, where)
    found = f"text ({texts[0]!r}) and " if texts else ""
    raise InputTypeError(
        f"{where} holds {found}values of type {type(strangers[0]).__name__} ({strangers[0]!r}); categories are either "
        "all text or all numbers. Convert the whole column to text."
    )


def _mixed(texts: list[str], numbers: list[Any], where: str) -> InputTypeError:
    """Return the error for a column of numbers and text, which is most often one of numbers with odd values."""
    number = numbers[0].item() if isinstance(numbers[0], np.generic) else numbers[0]
    return InputTypeError(
        f"{where} holds numbers ({number!r}) and text ({shown(texts)}); expected all numbers or all text. If they are "
        "numbers, convert the column with pd.to_numeric(..., errors='coerce'), which makes the text missing; if they "
        "are categories, convert the whole column to text."
    )


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, NaT or pandas.NA."""
    return value is None or type(value).__name__ == "NAType" or (not isinstance(value, str) and bool(value != value))


def object_column(values: list[Any], where: str) -> Column:
    """Return Python objects as categories if any is text, as moments if they are dates, as numbers otherwise."""
    types = set(map(type, values))
    if any(issubclass(kind, (str, bytes)) for kind in types):
        return code_values(values, where)
    if any(issubclass(kind, complex) for kind in types):
        raise complex_numbers(where)
    if any(kind.__name__ in ("NAType", "NaTType") for kind in types):
        values = [None if is_missing(value) else value for value in values]
        types = set(map(type, values))
    if any(issubclass(kind, (date, timedelta, np.datetime64, np.timedelta64)) for kind in types):
        return _moments_of(values, where)
    try:
        return np.fromiter(values, np.float64, len(values))
    except (TypeError, ValueError) as error:
        stranger = next(kind for kind in types if not issubclass(kind, (Real, type(None))))
        raise not_a_number(where, stranger.__name__, f" ({error})") from error


def _moments_of(values: list[Any], where: str) -> Moments:
    """Return objects that are all dates or all durations as moments."""
    known = [value for value in values if not is_missing(value)]
    zones = {isinstance(value, datetime) and value.tzinfo is not None for value in known}
    kinds = {isinstance(value, (timedelta, np.timedelta64)) for value in known}
    are_moments = all(isinstance(value, (date, timedelta, np.datetime64, np.timedelta64)) for value in known)
    if not are_moments or len(kinds) > 1 or len(zones) > 1:
        shown = " and ".join(sorted({type(value).__name__ for value in known}))
        raise InputTypeError(
            f"{where} mixes values of type {shown}; a column is all dates, all dates with a time zone, or all "
            "durations. Convert it to one of these, or to numbers."
        )
    has_zone = True in zones
    plain = [None if is_missing(value) else value for value in values]
    if has_zone:
        plain = [value if value is None else value.astimezone(UTC).replace(tzinfo=None) for value in plain]
    return Moments.of(np.array(plain, dtype="m8[us]" if True in kinds else "M8[us]"), has_zone=has_zone)


def complex_numbers(where: str) -> InputError:
    """Return the error for complex numbers."""
    return InputError(f"Complex data not supported: {where}. Pass its real and imaginary parts as two columns.")


def not_a_number(where: str, kind: str, cause: str = "") -> InputTypeError:
    """Return the error for columns that are neither numbers nor categories."""
    advice = "Convert it to numbers, or to text if its values are categories."
    return InputTypeError(f"{where} holds values of type {kind}, which are neither numbers nor text{cause}. {advice}")


def kind_of(column: Column, where: str, *, takes_text: bool) -> str:
    """Return the type of a column by its values, "undecided" if all are missing.

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
            f"{where} holds text ({_texts_of(column)}) but is not among categorical_features.",
            Advice(
                "Add it there, drop it, or convert it to numbers, for example with pd.to_numeric(..., "
                "errors='coerce').",
                shell="Drop it, or convert it to numbers.",
            ),
        )
    return NUMBERS


def as_numbers(column: Column, kind: str, where: str) -> Float64Array:
    """Return a column of numbers, dates or durations as floats, or raise if it holds something else."""
    numbers: Float64Array | Moments
    if not isinstance(column, Coded):
        numbers = column
    elif not column.holds_text:
        numbers = np.array([*column.values, np.nan], dtype=np.float64)[column.codes]  # the last is for code -1
    else:
        raise InputTypeError(
            f"{where} holds text ({_texts_of(column)}) but the model learnt it as {kind}.",
            Advice(
                f"Convert it to {kind}{CONVERSIONS.get(kind, '')}, or list it in categorical_features and {{refit}}.",
                shell=f"Convert it to {kind}, or {{refit}}.",
            ),
        )
    found = numbers.kind if isinstance(numbers, Moments) else NUMBERS
    if found != kind and not is_empty(numbers):
        raise InputTypeError(
            f"{where} holds {found} ({numbers.dtype}) but the model learnt it as {kind}.",
            Advice(f"Convert it to {kind}, or {{refit}}."),
        )
    return numbers.seconds if isinstance(numbers, Moments) else numbers


def _texts_of(column: Coded) -> str:
    """Return some of the texts of a column for an error, those first that do not read as numbers."""
    texts = [str(value) for value in column.values[:N_JUDGED]]
    return shown(sorted(texts, key=PLAIN.is_number))
