"""The reports of all batches in a model file: a row each, in the order of the fields of `BatchReport`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from adforest.adaptation import BatchReport
from adforest.storage.errors import ModelFileError
from adforest.storage.fields import PartReader, PartWriter


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**53


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_number(value: Any) -> bool:
    return type(value) is float and math.isfinite(value)


def _is_class(value: Any) -> bool:
    return type(value) in (int, str, bool) or _is_number(value)


def _are(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return a check of mappings whose values pass another check; JSON has only text for keys."""
    return lambda found: type(found) is dict and all(map(check, found.values()))


FIELDS: dict[str, Callable[[Any], bool]] = {
    "batch": _is_count,
    "n_records": _is_count,
    "scenario": _is_text,
    "new_classes": lambda found: type(found) is list and all(map(_is_class, found)),
    "drift": _is_text,
    "perturbed": _are(_is_number),
    "action": _are(_is_text),
    "accuracy": _are(_is_number),
    "n_leaves": _are(_is_count),
    "answering": _is_text,
    "votes": _are(_is_number),
    "seconds": _is_number,
}
ABSENT: dict[str, Any] = {}  # what reports mean that were written before there was a field


def write_history(reports: list[BatchReport], out: PartWriter) -> None:
    """Write reports."""
    out.values["fields"] = list(FIELDS)
    out.values["rows"] = [[getattr(report, name) for name in FIELDS] for report in reports]


def read_history(part: PartReader, n_calls: int) -> list[BatchReport]:
    """Return the reports, one for each batch that was given."""
    names, rows = part.items("fields"), part.items("rows")
    part.finish()
    if names != [name for name in FIELDS if name in names or name not in ABSENT]:
        raise part.wrong("fields", names, ", ".join(FIELDS))
    if len(rows) != n_calls:
        raise ModelFileError(f"the history has {len(rows)} reports of {n_calls} batches")
    return [_report(row, names, number) for number, row in enumerate(rows, start=1)]


def _report(row: Any, names: list[str], number: int) -> BatchReport:
    """Return one report."""
    if type(row) is not list or len(row) != len(names) or row[0] != number:
        raise ModelFileError(f"the report of batch {number} is none")
    for name, value in zip(names, row, strict=True):
        if not FIELDS[name](value):
            raise ModelFileError(f"{name} in the report of batch {number} is {repr(value)[:60]}")
    values = ABSENT | dict(zip(names, row, strict=True))
    return BatchReport(**values | {"new_classes": tuple(values["new_classes"])})
