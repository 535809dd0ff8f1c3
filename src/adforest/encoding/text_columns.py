"""Text columns that read as numbers, booleans or dates: never silently categories.

Numbers are recognised as in CSV files, see `odd_values`. Of a column, 1,000 distinct
values are looked at, once: when its kind is decided.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from adforest.encoding.odd_values import (
    N_JUDGED,
    NEARLY_ALL,
    NumberFormat,
    are_nearly_numbers,
    format_of,
    is_missing_mark,
    units_of,
)
from adforest.exceptions import Advice, InputWarning

PLAIN = NumberFormat(".", None)
BOOLEANS = frozenset(("true", "false"))
ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d+)?)?( ?(?P<zone>Z|[-+]\d\d(:?\d\d)?))?)?")
LOCAL_DATE = re.compile(r"(?P<first>\d{1,2})(?P<mark>[./-])\d{1,2}(?P=mark)\d{4}( \d\d?:\d\d(:\d\d)?)?")
N_SHOWN, LONGEST_SHOWN = 3, 30


class Reading(NamedTuple):
    """Type that the values of a text column can be read as, and the pandas expression that converts them."""

    kind: str
    cure: str


def read_as(values: Sequence[str], column: str) -> Reading | None:
    """Return the type that a text column can be read as, None if its values are only names.

    Parameters
    ----------
    values : sequence of str
        Its distinct values.
    column : str
        How a line of Python calls it: "X['price']".

    Examples
    --------
    >>> read_as(["1,234.50", "17.25", "n/a"], "X['price']")
    Reading(kind='numbers', cure="pd.to_numeric(X['price'].str.replace(',', ''), errors='coerce')")
    >>> read_as(["2024-01-31", "2024-02-29"], "X['day']")
    Reading(kind='dates', cure="pd.to_datetime(X['day'], errors='coerce')")
    >>> read_as(["low", "high"], "X['rent']")
    """
    judged = values[:N_JUDGED]
    known = [value.strip() for value in judged if not is_missing_mark(value)]
    if not known:
        return None
    if BOOLEANS.issuperset(map(str.casefold, known)):
        return Reading("booleans", f"{column}.str.lower().map({{'true': True, 'false': False}})")
    if are_nearly_numbers(judged, PLAIN, is_target=False):
        return Reading("numbers", f"pd.to_numeric({column}{_plainly_written(known)}, errors='coerce')")
    for pattern in (ISO_DATE, LOCAL_DATE):
        found = [match for match in map(pattern.fullmatch, known) if match is not None]
        if len(found) >= NEARLY_ALL * len(known):
            return Reading("dates", f"pd.to_datetime({column}{_date_options(found)}, errors='coerce')")
    return None


def text_warning(
    values: Sequence[str], where: str, names: Sequence[object] | None, position: int
) -> InputWarning | None:
    """Return the warning about a text column that is learnt as categories, None if there is none.

    Parameters
    ----------
    values : sequence of str
        Its distinct values.
    where : str
        How messages call it: "column 'price' of batch 1".
    names : sequence or None
        Names of the columns.
    position : int
        Index of the column.
    """
    column = expression_of(names, position)
    reading = read_as(values, column)
    if reading is None:
        return None
    known = list(islice((value for value in values if not is_missing_mark(value)), N_SHOWN))
    return InputWarning(
        f"{where} holds text that reads as {reading.kind} ({shown(known)}), and is learnt as categories.",
        Advice(
            "If they are {kind}, convert them in every batch: {cure}; if they are names, make the column a category, "
            "{column}.astype('category'), or list it in categorical_features.",
            {} if names is None else {"categorical": [names[position]]},
            {"kind": reading.kind, "cure": reading.cure, "column": column},
            "If they are {kind}, write them as such in the files; if they are names, pass {categorical}.",
        ),
    )


def shown(values: Sequence[str]) -> str:
    """Return the first values for a message."""
    cut = (value if len(value) <= LONGEST_SHOWN else f"{value[:LONGEST_SHOWN]}…" for value in values[:N_SHOWN])
    return ", ".join(map(repr, cut))


def expression_of(names: Sequence[object] | None, position: int) -> str:
    """Return how a line of Python calls a column."""
    return f"pd.Series(X[:, {position}])" if names is None else f"X[{names[position]!r}]"


def _plainly_written(values: Sequence[str]) -> str:
    """Return the calls that turn numbers as people write them into numbers as Python reads them."""
    written = format_of(values)
    removed = [*units_of(values), *([written.thousands] if written.thousands else ())]
    calls = [f".str.replace({mark!r}, '')" for mark in removed]
    return "".join([*calls, *([] if written.decimal == "." else [f".str.replace({written.decimal!r}, '.')"])])


def _date_options(found: Sequence[re.Match[str]]) -> str:
    """Return the arguments that pandas needs to read dates as they are written."""
    groups = [match.groupdict() for match in found]
    if any(one.get("zone") for one in groups):
        return ", utc=True"
    is_day_first = any(one.get("mark") == "." or int(one.get("first") or 0) > 12 for one in groups)
    return ", dayfirst=True" if is_day_first else ""
