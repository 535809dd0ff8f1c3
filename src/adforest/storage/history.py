"""The history in a model file: one row each, in the order of the fields of `BatchReport` and `BatchBlock`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from adforest.adaptation import BatchReport
from adforest.adaptation.report import METRICS
from adforest.exceptions import ModelFileError
from adforest.origins import MAX_SOURCES
from adforest.storage.fields import PartReader, PartWriter, file_name
from adforest.tracking import BatchBlock, History
from adforest.tracking.history import MAX_BLOCKS, MAX_REPORTS

MAX_MOMENT = 1e11  # seconds since 1970, some three thousand years


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 2**53


def _is_text(value: Any) -> bool:
    return type(value) is str


def _is_number(value: Any) -> bool:
    return type(value) is float and math.isfinite(value)


def _is_number_or_none(value: Any) -> bool:
    return value is None or _is_number(value)


def _is_moment(value: Any) -> bool:
    return value is None or (_is_number(value) and abs(value) < MAX_MOMENT)


def _is_class(value: Any) -> bool:
    return type(value) in (int, str, bool) or _is_number(value)


def _are(check: Callable[[Any], bool]) -> Callable[[Any], bool]:
    """Return a check of mappings whose values pass another check; JSON has only text for keys."""
    return lambda found: type(found) is dict and all(map(check, found.values()))


FIELDS: dict[str, Callable[[Any], bool]] = {
    "batch": _is_count,
    "n_samples": _is_count,
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
    "confidence": _is_number_or_none,
    "n_tested": _is_number,
    "weighted_accuracy": _are(_is_number),
    **dict.fromkeys(METRICS, _is_number_or_none),
    "learnt_at": _is_moment,
    "source": lambda found: type(found) is list and len(found) <= MAX_SOURCES and all(map(_is_text, found)),
    "rows": lambda found: found is None or (type(found) is list and len(found) == 2 and all(map(_is_count, found))),
}
BLOCK_FIELDS: dict[str, Callable[[Any], bool]] = {
    "first": _is_count,
    "last": _is_count,
    "n_samples": _is_count,
    "n_tested": _is_number,
    "accuracy": _are(_is_number),
    "lowest": _are(_is_number),
    "highest": _are(_is_number),
    "n_temporary": _is_count,
    "n_sustained": _is_count,
    "n_new_classes": _is_count,
    "confidence": _is_number_or_none,
    "votes": _are(_is_number),
    "answering": _is_text,
    "n_leaves": _are(_is_count),
    "seconds": _is_number,
    "weighted_accuracy": _are(_is_number),
    **dict.fromkeys(METRICS, _is_number_or_none),
    "first_at": _is_moment,
    "last_at": _is_moment,
}
# Values of fields in reports and blocks that were written before the fields existed.
ABSENT: dict[str, Any] = {
    "weighted_accuracy": {},
    **dict.fromkeys((*METRICS, "learnt_at", "rows", "first_at", "last_at")),
    "source": (),
}


def write_history(history: History, out: PartWriter) -> None:
    """Write reports and blocks."""
    out.values["fields"] = list(map(file_name, FIELDS))
    out.values["rows"] = [[getattr(report, name) for name in FIELDS] for report in history.reports]
    out.values["block_fields"] = list(map(file_name, BLOCK_FIELDS))
    out.values["blocks"] = [[getattr(block, name) for name in BLOCK_FIELDS] for block in history.blocks]
    out.values["sustained"] = list(history.sustained)


def read_history(part: PartReader, n_calls: int) -> History:
    """Return the history of the batches that were given."""
    rows = _read_rows(part, "fields", "rows", FIELDS)
    blocks = tuple(BatchBlock(**row) for row in _read_rows(part, "block_fields", "blocks", BLOCK_FIELDS))
    sustained = part.items("sustained")
    part.finish()
    reports = tuple(BatchReport(**row | _tuples(row)) for row in rows)
    n_before = n_calls - len(reports)
    if [report.batch for report in reports] != list(range(n_before + 1, n_calls + 1)):
        raise ModelFileError(f"the history has {len(reports)} reports of {n_calls} batches, or in another order")
    if len(reports) != min(n_calls, MAX_REPORTS) or not _are_in_a_row(blocks, n_before):
        raise ModelFileError(f"the history has no blocks of the {n_before} batches before its reports")
    is_number = all(_is_count(number) and 0 < number <= n_calls for number in sustained)
    if not is_number or sorted(set(sustained)) != sustained or len(sustained) > MAX_BLOCKS:
        raise part.wrong("sustained", sustained, "numbers of batches in ascending order")
    return History(reports, blocks, tuple(sustained))


def _tuples(row: dict[str, Any]) -> dict[str, Any]:
    """Return those fields of a report that are tuples, which are lists in JSON."""
    lists = {name: tuple(row[name]) for name in ("new_classes", "source")}
    return lists | {"rows": None if row["rows"] is None else tuple(row["rows"])}


def _read_rows(
    part: PartReader, fields: str, rows: str, checks: dict[str, Callable[[Any], bool]]
) -> list[dict[str, Any]]:
    """Return the values of rows by field, checked."""
    in_file, found = part.items(fields), part.items(rows)
    names = [name for name in checks if file_name(name) in in_file or name not in ABSENT]
    if in_file != list(map(file_name, names)):
        raise part.wrong(fields, in_file, ", ".join(map(file_name, checks)))
    for number, row in enumerate(found, start=1):
        if type(row) is not list or len(row) != len(names):
            raise ModelFileError(f"{part.where(rows)} {number} is none")
        for name, value in zip(names, row, strict=True):
            if not checks[name](value):
                raise ModelFileError(f"{file_name(name)} in {part.where(rows)} {number} is {repr(value)[:60]}")
    absent = {name: value for name, value in ABSENT.items() if name in checks}
    return [absent | dict(zip(names, row, strict=True)) for row in found]


def _are_in_a_row(blocks: tuple[BatchBlock, ...], n_batches: int) -> bool:
    """Return whether blocks are those of some batches: of the same length, a power of 2, except the last one."""
    length = len(blocks[0]) if blocks and blocks[0].last >= blocks[0].first else 1
    expected = [
        (first, min(first + length - 1, n_batches)) for first in range(1, n_batches + 1, length)[: MAX_BLOCKS + 1]
    ]
    is_power = length & (length - 1) == 0
    return is_power and len(expected) <= MAX_BLOCKS and [(block.first, block.last) for block in blocks] == expected
