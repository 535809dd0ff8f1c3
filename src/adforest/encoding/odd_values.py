"""Columns that are numbers but for a few odd values, such as ?, 1,000 or 10%: never silently text.

A text column of a CSV file is nearly numbers if, of its first 1,000 fields that are not missing, nine in ten are
numbers, or if all are numbers, written numbers (1,000 or 1,5 or 10% or $5), or marks that usually denote a missing
value (nothing but punctuation, or a word such as "none"), and not only such marks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from adforest.exceptions import Advice

N_JUDGED = 1_000  # fields of a column; enough to tell a fraction of nine in ten from one in two, and cheap
NEARLY_ALL = 0.9

MISSING = frozenset({"n.a.", "n/a", "na", "nan", "nil", "none", "null", "missing", "undefined", "unknown"})
UNITS = "$€£¥%"
UNIT = re.compile(rf"([-+]?) ?[{UNITS}]? ?(.*?) ?[{UNITS}]?")
SEPARATORS = ",.' _"


@dataclass(frozen=True)
class NumberFormat:
    """How numbers are written.

    Attributes
    ----------
    decimal : str
        The decimal point.
    thousands : str or None
        Thousands separator.
    """

    decimal: str
    thousands: str | None

    @property
    def grouped(self) -> str:
        """The regular expression of a number whose thousands are parted; at least one separator is there."""
        return _grouped(self.thousands or "", self.decimal)

    @cached_property
    def _plain(self) -> re.Pattern[str]:
        """A number as Arrow reads it, and with the separator of thousands if there is one."""
        point = re.escape(self.decimal)
        plain = rf"[-+]?([0-9]+{point}?[0-9]*|{point}[0-9]+)(e[-+]?[0-9]+)?|[-+]?(inf|infinity|nan)"
        return re.compile(f"{plain}|{self.grouped}" if self.thousands else plain, re.IGNORECASE)

    def is_number(self, value: str) -> bool:
        """Return whether a field is read as a number."""
        return self._plain.fullmatch(value.strip(" \t")) is not None

    def settings_for(self, value: str) -> dict[str, Any]:
        """Return the parameters that make a field a number, none if it is none."""
        value = value.strip()
        for separator in SEPARATORS:
            if separator not in (self.decimal, self.thousands) and _is_grouped(value, separator, self.decimal):
                return {"thousands": separator}
        other = "." if self.decimal == "," else ","
        if NumberFormat(other, None).is_number(value):
            return {"decimal": other}
        return {"decimal": other, "thousands": self.decimal} if _is_grouped(value, self.decimal, other) else {}

    def is_written_number(self, value: str) -> bool:
        """Return whether a field is a number to people, if not as these numbers are written."""
        bare = _without_unit(value)
        return self.is_number(bare) or bool(self.settings_for(bare))


# In the order in which they are tried: of two that read the same values, the first is the more usual.
FORMATS = tuple(
    NumberFormat(decimal, thousands)
    for decimal, thousands in ((".", None), (".", ","), (",", None), (",", "."), (".", " "), (",", " "), (".", "'"))
)


def format_of(values: Sequence[str]) -> NumberFormat:
    """Return how most of some numbers are written, units aside."""
    bare = list(map(_without_unit, values))
    return max(FORMATS, key=lambda numbers: sum(map(numbers.is_number, bare)))


def units_of(values: Sequence[str]) -> list[str]:
    """Return the currency and per cent signs at some numbers."""
    return [unit for unit in UNITS if any(unit in value for value in values)]


def is_missing_mark(value: str) -> bool:
    """Return whether a field usually denotes a missing value."""
    return value.strip().casefold() in MISSING or not any(map(str.isalnum, value))


def are_nearly_numbers(values: Sequence[str], numbers: NumberFormat, *, is_target: bool) -> bool:
    """Return whether fields that are not missing are numbers but for a few; classes are numbers only if plain.

    Parameters
    ----------
    values : sequence of str
        Fields of one column, none of them missing.
    numbers : NumberFormat
        How numbers are written.
    is_target : bool
        Whether they are classes: '10%' is as good a class as any.
    """
    n_others = 0
    has_written = has_words = False
    for value in values:
        if numbers.is_number(value):
            continue
        n_others += 1
        if not has_words and not is_missing_mark(value):
            is_written = not is_target and numbers.is_written_number(value)
            has_written, has_words = has_written or is_written, not is_written
        if has_words and len(values) - n_others < NEARLY_ALL * len(values):
            return False  # most columns of text end here, soon
    return n_others < len(values) or has_written


def advice(
    values: Sequence[str], column: str, numbers: NumberFormat, *, is_target: bool, is_known: bool = False
) -> Advice:
    """Return advice for the error about the odd values of a column, of which it names the first.

    Where the column held numbers in earlier batches, it cannot be read as text.
    """
    first, settings = values[0], {"categorical": [column], "na_values": [values[0][:60]]}
    if is_target:
        return Advice(
            "Correct or remove the record."
            if is_known
            else "Pass {categorical} if it is a class, or correct or remove the record.",
            settings,
        )
    otherwise = "or correct the value." if is_known else "or {categorical} to read the column as text."
    if is_missing_mark(first):
        settings["na_values"] = list(dict.fromkeys(filter(is_missing_mark, values)))[:5]
        return Advice(f"Pass {{na_values}} if that stands for a missing value, {otherwise}", settings)
    if written := numbers.settings_for(first):
        names = " and ".join(f"{{{name}}}" for name in written)
        return Advice(f"Pass {names} if it is a number, {otherwise}", settings | written)
    if numbers.is_written_number(first):
        as_text = "" if is_known else ", or pass {categorical} to read the column as text"
        return Advice(f"Write it as a plain number{as_text}.", settings)
    missing = "pass {na_values} if it stands for a missing one"
    if is_known:
        return Advice(f"Correct the value, or {missing}.", settings)
    return Advice(f"Correct the value, {missing}, or {{categorical}} to read the whole column as text.", settings)


def date_advice(values: Sequence[str], column: str, *, is_known: bool = False) -> Advice:
    """Return advice for the error about the odd values of a column of dates, of which it names the first."""
    as_text = "" if is_known else ", or {categorical} to read the column as text"
    if is_missing_mark(values[0]):
        text = f"Pass {{na_values}} if that stands for a missing value{as_text}."
        return Advice(text, {"categorical": [column], "na_values": [values[0]]})
    return Advice(
        "Write dates as 2024-01-31 or 2024-01-31 12:00:00, all with a time zone or none; pass "
        f"{{na_values}} if it stands for a missing one{as_text}.",
        {"categorical": [column], "na_values": [values[0][:60]]},
    )


def _without_unit(value: str) -> str:
    """Return a number as it is written without a sign of a currency or of per cent."""
    match = UNIT.fullmatch(value.strip())
    return "".join(match.groups()) if match else value


def _grouped(separator: str, decimal: str) -> str:
    """Return the regular expression of a number whose thousands are parted, for re and for Arrow's RE2."""
    return rf"[-+]?[1-9][0-9]{{0,2}}({re.escape(separator)}[0-9]{{3}})+({re.escape(decimal)}[0-9]*)?"


def _is_grouped(value: str, separator: str, decimal: str) -> bool:
    """Return whether a field is a number whose thousands are parted."""
    return re.fullmatch(_grouped(separator, decimal), value) is not None
