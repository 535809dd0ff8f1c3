"""Statistics of a model's stream in a model file: reports of batches, classes, columns, and the last predictions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, get_type_hints

import numpy as np

from adforest.adaptation import BatchReport
from adforest.adaptation.report import METRICS
from adforest.adaptation.scoring import n_kept
from adforest.exceptions import ModelFileError
from adforest.forest.types import Int32Array
from adforest.origins import MAX_SOURCES
from adforest.storage.fields import (
    Array,
    IntegerField,
    PartReader,
    PartWriter,
    Sizes,
    check_codes,
    file_name,
    read_fields,
    write_fields,
)
from adforest.tracking import BatchBlock, ClassLives, ColumnSketches, History, Prequential, Track
from adforest.tracking.cells import N_BOUNDS, N_CELLS
from adforest.tracking.column_sketches import MAX_LAST
from adforest.tracking.history import MAX_BLOCKS, MAX_COLUMN_BLOCKS, MAX_REPORTS, FiguresOverTime
from adforest.tracking.track import MAX_RETURNS

MAX_MOMENT = 1e11  # seconds since 1970, some three thousand years
MAX_SUM = 1e15  # of samples


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


# By type of a field, and by name where the type does not say all.
CHECKS: dict[Any, Callable[[Any], bool]] = {
    int: _is_count,
    float: _is_number,
    str: _is_text,
    float | None: _is_number_or_none,
    dict[str, int]: _are(_is_count),
    dict[str, float]: _are(_is_number),
    dict[str, str]: _are(_is_text),
    "new_classes": lambda found: type(found) is list and all(map(_is_class, found)),
    **dict.fromkeys(("learnt_at", "first_at", "last_at"), _is_moment),
    "source": lambda found: type(found) is list and len(found) <= MAX_SOURCES and all(map(_is_text, found)),
    "rows": lambda found: found is None or (type(found) is list and len(found) == 2 and all(map(_is_count, found))),
}
FIELDS, BLOCK_FIELDS = (
    {name: CHECKS.get(name) or CHECKS[kind] for name, kind in get_type_hints(row).items()}
    for row in (BatchReport, BatchBlock)
)
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


LIVES = (
    IntegerField("n_total", below="n_samples_and_1"),
    Array("n_samples", np.int64, ("n_lives",), low=0, below="n_samples_and_1"),
    Array("first_batch", np.int32, ("n_lives",), low=0, below="next_call"),
    Array("last_batch", np.int32, ("n_lives",), low=0, below="next_call"),
    Array("last_total", np.int64, ("n_lives",), low=0, below="n_samples_and_1"),
    Array("n_returns", np.int32, ("n_lives",), low=0, below="next_call"),
    Array("returns", np.int32, ("n_returned", 3), low=0),
)
SKETCHES = (
    Array("bounds", np.float64, ("n_sketched", N_BOUNDS), takes_infinity=True),
    Array("past", np.float64, ("n_sketched", N_CELLS), low=0, below=MAX_SUM),
    Array("past_squares", np.float64, ("n_sketched",), low=0, below=MAX_SUM),
    Array("past_unseen", np.float64, ("n_sketched",), low=0, below=MAX_SUM),
    Array("past_batches", np.int32, (2,), low=0, below="next_call"),
    Array("last", np.float64, ("n_steps", "n_sketched", N_CELLS), low=0, below=MAX_SUM),
    Array("last_unseen", np.float64, ("n_steps", "n_sketched"), low=0, below=MAX_SUM),
    Array("last_batches", np.int32, ("n_steps", 2), low=1, below="next_call"),
    Array("n_codes", np.int32, ("n_sketched",), low=0, below=2**16),
    Array("early", np.float64, ("n_early", "n_sketched"), takes_nan=True),
)
OVER_TIME = (
    Array("batches", np.int32, ("n_blocks", 3), low=1, below="next_call"),
    Array("n_samples", np.float64, ("n_blocks",), low=1, below=MAX_SUM),
    Array("missing", np.float32, ("n_blocks", "n_sketched"), low=0, below=1.001, takes_nan=True),
    Array("unseen", np.float32, ("n_blocks", "n_sketched"), low=0, below=1.001, takes_nan=True),
    Array("distance", np.float32, ("n_blocks", "n_sketched"), low=0, below=1.001, takes_nan=True),
)
PREQUENTIAL = (
    Array("codes", np.int32, ("n_answered",), low=0, below="n_classes"),
    Array("probabilities", np.float32, ("n_answered", "n_answer_classes"), low=0, below=1.001),
)


def write_track(track: Track, out: PartWriter) -> None:
    """Write the statistics of a stream, except the history."""
    write_fields(LIVES, track.classes, out.part("classes"))
    columns = out.part("columns")
    write_fields(SKETCHES, track.columns, columns)
    write_fields(OVER_TIME, track.columns.over_time, columns.part("over_time"))
    write_fields(PREQUENTIAL, track.prequential, out.part("prequential"))


def read_track(part: PartReader, sizes: Sizes, n_codes: Int32Array, history: History) -> Track:
    """Return the statistics of a stream.

    Parameters
    ----------
    sizes : dict
        n_features, n_classes, n_samples, n_samples_and_1 and next_call are known.
    n_codes : int32 (n_features,)
        See `codes_by_column`.
    """
    classes = _read_classes(part.part("classes"), sizes)
    columns = _read_columns(part.part("columns"), sizes, n_codes)
    prequential = _read_prequential(part.part("prequential"), sizes) if "prequential" in part else Prequential()
    part.finish()
    return Track(history, classes, columns, prequential)


def _read_classes(part: PartReader, sizes: Sizes) -> ClassLives:
    """Return the statistics of classes."""
    lives = ClassLives(**read_fields(LIVES, part, own := dict(sizes)))
    part.finish()
    if own["n_lives"] > sizes["n_classes"] or own["n_returned"] > MAX_RETURNS:
        raise ModelFileError(f"{part.where('n_samples')} or {part.where('returns')} are of more classes than there are")
    code, gone, back = lives.returns.T
    if (code >= own["n_lives"]).any() or (gone > back).any() or (back >= sizes["next_call"]).any():
        raise ModelFileError(f"{part.where('returns')} are those of no class")
    is_seen = lives.n_samples > 0
    if (lives.first_batch > lives.last_batch).any() or ((lives.first_batch > 0) != is_seen).any():
        raise ModelFileError(f"{part.where('first_batch')} is after {part.where('last_batch')}")
    if (lives.last_total > lives.n_total).any() or (lives.n_samples > lives.last_total).any():
        raise ModelFileError(f"{part.where('n_samples')} are more than there were")
    return lives


def _read_columns(part: PartReader, sizes: Sizes, n_codes: Int32Array) -> ColumnSketches:
    """Return the sketches of columns."""
    own = dict(sizes)
    found = read_fields(SKETCHES, part, own)
    if own["n_sketched"] > sizes["n_features"] or own["n_steps"] > MAX_LAST:
        raise ModelFileError(f"{part.where('last')} has the shape {found['last'].shape}, more than there may be")
    inner = part.part("over_time")
    over_time = FiguresOverTime(**read_fields(OVER_TIME, inner, own))
    inner.finish()
    part.finish()
    sketches = ColumnSketches(**found, over_time=over_time)
    _check_cells(sketches, n_codes[: own["n_sketched"]], part)
    past, steps = sketches.past_batches, sketches.last_batches
    expected = [past, *steps] if past.any() else list(steps)
    _check_runs(np.array(expected).reshape(-1, 2), part.where("last_batches"))
    _check_runs(over_time.batches[:, :2], part.where("over_time.batches"))
    counts = over_time.batches[:, 2]
    is_even = len(counts) < 2 or ((counts[:-1] == counts[0]).all() and counts[-1] <= counts[0])
    if len(counts) > MAX_COLUMN_BLOCKS or not is_even:
        raise ModelFileError(f"{part.where('over_time.batches')} are no blocks of equally many batches")
    if len(sketches.early) and (len(steps) or not len(counts)):
        raise ModelFileError(f"{part.where('early')} are samples without bounds, although there are bounds")
    return sketches


def _read_prequential(part: PartReader, sizes: Sizes) -> Prequential:
    """Return the predictions for the last samples."""
    prequential = Prequential(**read_fields(PREQUENTIAL, part, own := dict(sizes)))
    part.finish()
    if own["n_answer_classes"] > sizes["n_classes"] or own["n_answered"] > n_kept(max(1, own["n_answer_classes"])):
        raise ModelFileError(f"{part.where('probabilities')} are of more samples or classes than there may be")
    return prequential


def _check_cells(sketches: ColumnSketches, n_codes: Int32Array, part: PartReader) -> None:
    """Raise if bounds are not in order, or cells are of categories that do not exist."""
    bounds = sketches.bounds
    rises = (bounds[:, 1:] > bounds[:, :-1]) | np.isinf(bounds[:, 1:])
    if (bounds == -np.inf).any() or not rises.all():
        raise ModelFileError(f"{part.where('bounds')} are not in ascending order")
    check_codes(np.where(np.isinf(bounds), np.nan, bounds).T, n_codes, part.where("bounds"))
    check_codes(sketches.early, n_codes, part.where("early"))


def _check_runs(batches: Int32Array, what: str) -> None:
    """Raise if some pairs of a first and a last batch do not follow each other from batch 1 on."""
    if not len(batches):
        return
    first, last = batches[:, 0], batches[:, 1]
    if first[0] != 1 or (first > last).any() or (first[1:] != last[:-1] + 1).any():
        raise ModelFileError(f"{what} do not follow each other")
