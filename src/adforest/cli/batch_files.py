"""Files of a command, how they are read, the known types of their columns, and digests of batches."""

from __future__ import annotations

import hashlib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from adforest.cli.stopping import keep_signals
from adforest.exceptions import AdforestError

STANDARD_INPUT = "-"
SPOOL_PREFIX = "adforest-stdin-"  # of the temporary folder in which standard input becomes a file
START_BYTES = 1 << 18  # of a text, from which the length of its lines is estimated


@contextmanager
def found_files(sources: Sequence[str], order: str | None) -> Iterator[list[Path]]:
    """Find the files of folders, patterns, names, and standard input, which is a file until the block ends.

    Parameters
    ----------
    sources : sequence of str
        In their order; the files of each are sorted by `order`, by name if that is None.
    order : {"name", "time"} or None
    """
    from adforest.reading.paths import find_files
    from adforest.reading.sources import spool

    keep_signals()
    with TemporaryDirectory(prefix=SPOOL_PREFIX) as folder:
        files = []
        for source in sources:
            if source == STANDARD_INPUT:
                files.append(spool(sys.stdin.buffer, Path(folder)))
            else:
                files += find_files(source, order)
        try:
            yield list(dict.fromkeys(files))
        except ValueError as error:
            spooled = re.compile(rf"'{re.escape(folder)}/input\.[^']*'")
            if folder in str(error):
                error.args = (spooled.sub("standard input", str(error)),)
            if isinstance(error, AdforestError):
                error.problem = spooled.sub("standard input", error.problem)
            raise


def with_noted(reading: Mapping[str, Any], origins: Any) -> dict[str, Any]:
    """Return the options for reading files: those of the model's first batch, updated by those given now.

    Lists that are given, such as columns to drop, are added to the noted ones; only `columns` replaces them.
    """
    found: dict[str, Any] = {name: value if isinstance(value, str) else list(value) for name, value in origins.reading}
    for name, value in reading.items():
        is_list = not isinstance(value, str) and name != "columns"
        found[name] = [*dict.fromkeys([*found.get(name, ()), *value])] if is_list else value
    found.pop("order", None)
    return found


def for_prediction(reading: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options about the format of files, without those about learning."""
    of_learning = ("drop", "columns", "categorical", "order", "unlabelled")
    return {name: value for name, value in reading.items() if name not in of_learning}


def reading_for_prediction(model: Any, reading: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options for files to be predicted: those stored in the model, updated by those given now."""
    from adforest.origins import origins_of

    return for_prediction(with_noted(reading, origins_of(model)))


def records_of(
    model: Any, paths: Sequence[Path], reading: Mapping[str, Any], keep: Sequence[str] = ()
) -> Iterator[tuple[Any, Any]]:
    """Yield the columns that a model learnt of the records of files, and those to be kept, as `read_records` does."""
    import pyarrow as pa

    from adforest.reading.records import read_records

    types = dict.fromkeys(learnt_columns(model), pa.float64()) | known_types(model)
    may_lack = model.column_changes == "allow"
    return read_records(paths, types, keep=keep, may_lack=may_lack, **reading_for_prediction(model, reading))


def column_names(path: Path, reading: Mapping[str, Any]) -> list[str]:
    """Return the names of a file's columns; a CSV file is cut at the delimiter that gives most of them."""
    from adforest.reading.files import open_sources
    from adforest.reading.formats import read_schema

    files, _ = open_sources([path], None, "", **for_prediction(reading))
    names: list[str] = read_schema(files[0]).names
    return names


def shown(path: Path) -> str:
    """Return the name of a file in output."""
    return "standard input" if path.parent.name.startswith(SPOOL_PREFIX) else path.name


def learnt_columns(model: Any) -> list[str]:
    """Return the names of the columns that a model learnt, or raise if they have none."""
    from adforest.base import get_fitted

    names = get_fitted(model).encoder.names
    if names is None or not all(isinstance(name, str) for name in names):
        raise ValueError(
            "the columns that this model learnt have no names, so they are not found in files; expected a model that "
            "learnt tables. Learn one with 'adforest learn', or use this one in Python."
        )
    return list(names)


def known_types(model: Any) -> dict[str, Any]:
    """Return the types of a model's columns for `read_batches`, except of those whose values were all missing."""
    import pyarrow as pa

    from adforest.base import get_fitted
    from adforest.encoding.columns import CATEGORIES, DATES, DURATIONS, NUMBERS, ZONED_DATES
    from adforest.reading import layout

    types = {
        NUMBERS: layout.NUMBERS,
        DATES: layout.DATES,
        ZONED_DATES: layout.ZONED_DATES,
        DURATIONS: layout.DURATIONS,
    }
    encoder = get_fitted(model).encoder
    found = {}
    for position, (name, kind) in enumerate(zip(learnt_columns(model), encoder.kinds, strict=True)):
        if kind == CATEGORIES:
            has_text = all(isinstance(value, str) for value in encoder.category_values(position) if value is not None)
            found[name] = pa.string() if has_text else pa.dictionary(pa.int32(), pa.float64())
        elif kind in types:
            found[name] = types[kind]
    return found


def class_type(model: Any) -> Any:
    """Return the Arrow type of a model's class values."""
    import pyarrow as pa

    types = {"i": pa.int64(), "u": pa.uint64(), "f": pa.float64(), "b": pa.bool_()}
    return types.get(model.classes_.dtype.kind, pa.string())


def about_records(paths: Sequence[Path]) -> float | None:
    """Return about how many records files hold, for a progress bar; None where reading would be needed."""
    found = [_about_records(path) for path in paths]
    return None if None in found else sum(one for one in found if one is not None)


def _about_records(path: Path) -> float | None:
    """Return the number of a Parquet file; of text, an estimate from the length of the first lines."""
    from pyarrow import ArrowException, parquet

    from adforest.reading.paths import TEXT_SUFFIXES

    suffix = path.suffix.lower()
    try:
        if suffix == ".parquet":
            with parquet.ParquetFile(path) as file:
                return float(file.metadata.num_rows)
        if suffix in TEXT_SUFFIXES:
            with open(path, "rb") as text:
                start = text.read(START_BYTES)
            return path.stat().st_size * start.count(b"\n") / max(len(start), 1)
    except (ArrowException, OSError):  # what is wrong with it is said when it is read
        pass
    return None


def content_digest(batch: Any, before: bytes) -> bytes:
    """Return a digest of a batch that is a piece of one or several files, and of all pieces before it.

    Parameters
    ----------
    batch : FileBatch
    before : bytes
        Digest of the previous piece, empty for the first: two pieces of the same records are two batches.
    """
    from adforest.origins import DIGEST_BYTES
    from adforest.reading.layout import NAMED

    found = hashlib.blake2b(before, digest_size=DIGEST_BYTES)
    columns = [column.cast("string") if column.type == NAMED else column for column in batch.X.columns]
    for name, column in [*zip(batch.X.column_names, columns, strict=True), ("", batch.y)]:
        values = column.to_numpy() if hasattr(column, "to_numpy") else column
        found.update(f"{name}\0{values.dtype}\0".encode())
        found.update(repr(values.tolist()).encode() if values.dtype == object else values.tobytes())
    return found.digest()


def part_of(batch: Any, start: int, stop: int | None = None) -> Any:
    """Return some of the records of a batch."""
    if not start and stop is None:
        return batch
    length = (len(batch.y) if stop is None else stop) - start
    X, y = batch.X.slice(start, length), batch.y[start : start + length]
    return replace(batch, X=X, y=y, first_row=batch.first_row + start)


def with_last(batches: Iterable[Any]) -> Iterator[tuple[Any, bool]]:
    """Yield each item and whether it is the last; an error is raised after the items before it."""
    waiting: list[tuple[Any, bool]] = []
    try:
        for following in batches:
            yield from waiting
            waiting = [(following, False)]
    except Exception:
        yield from waiting
        raise
    yield from ((one, True) for one, _ in waiting)
