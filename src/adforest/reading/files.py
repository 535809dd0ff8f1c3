"""Batches from files: a folder of exports, or one large file, as a stream that is never in memory as a whole."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adforest.exceptions import InputError, InputTypeError, ParameterError, warn_caller
from adforest.libraries import require
from adforest.reading.paths import FilePath, find_files
from adforest.wording import counted

if TYPE_CHECKING:
    from adforest.reading.layout import Layout
    from adforest.reading.sources import BadLines, Skipped, TableFile


@dataclass(frozen=True, eq=False, repr=False)
class FileBatch:
    """Samples that were read together.

    Attributes
    ----------
    number : int
        Number in the stream, counted from 1.
    X : pyarrow.Table
        The records without the target; ``X.to_pandas()`` makes it a data frame. Every batch has the same columns in the
        same order and types: numbers and booleans as float64, text as it is, dates as timestamps, categorical columns
        (by the file or the option `categorical`) as dictionaries.
    y : ndarray
        Class values: integers, floats, booleans, or text as Python strings.
    files : tuple of Path
        The files the records come from; a member of a zip archive as if the archive were a folder.
    is_whole : bool
        False where an error, raised for the next batch, truncated this one.
    first_row : int
        Of its records among those of the stream that have a class, counted from 1; among those of its own file where
        each file is one batch.
    """

    number: int
    X: Any
    y: NDArray[Any]
    files: tuple[Path, ...]
    is_whole: bool = True
    first_row: int = 1

    def __repr__(self) -> str:
        more = f" and {len(self.files) - 1} more" if len(self.files) > 1 else ""
        return (
            f"FileBatch {self.number}: {len(self.y)} records, {self.X.num_columns} columns, from {self.files[0]}{more}"
        )


class FileBatches(Iterator[FileBatch]):
    """Iterator over the batches of a stream of files, each read lazily; made by `read_batches`.

    Attributes
    ----------
    n_skipped : int
        Lines with a wrong number of fields that were left out so far; 0 unless on_bad_lines is "skip".
    n_unlabelled : int
        Samples without a class that were left out so far; 0 unless unlabelled is "skip".
    """

    def __init__(self, batches: Iterator[FileBatch], bad_lines: BadLines, unlabelled: Skipped) -> None:
        self._batches = batches
        self._bad_lines = bad_lines
        self._unlabelled = unlabelled

    @property
    def n_skipped(self) -> int:
        """Lines with a wrong number of fields that were left out so far."""
        return self._bad_lines.count

    @property
    def n_unlabelled(self) -> int:
        """Samples without a class that were left out so far."""
        return self._unlabelled.count

    def __next__(self) -> FileBatch:
        """Return the next batch."""
        return next(self._batches)


def read_batches(
    source: FilePath | Sequence[FilePath],
    *,
    target: str,
    batch_size: int | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    types: Mapping[str, Any] | None = None,
    order: str | None = None,
    delimiter: str | None = None,
    decimal: str = ".",
    thousands: str | None = None,
    encoding: str = "utf-8",
    na_values: Sequence[str] = (),
    on_bad_lines: str = "error",
    unlabelled: str = "error",
) -> FileBatches:
    """Read files one after the other, each as a batch, or all together in batches of a given size.

    The format is that of the suffix: CSV (.csv, .tsv), JSON lines (.jsonl, .ndjson), ARFF (.arff), each also with .gz,
    .bz2 or .zst behind it; archives of these (.zip), whose members are files like others, sorted by name; Parquet
    (.parquet); Arrow and Feather (.arrow, .arrows, .feather, .ipc).

    The first file with records decides which columns are numbers and which are text, and the others must agree; their
    columns may come in any order. The types of a CSV file's columns are inferred from all of it, or from its first
    megabyte if `batch_size` is given. The type of a column that is empty there is inferred from the beginning of the
    first file that fills it. Dates and durations are read as such, and learnt as seconds; in CSV and JSON files they
    are dates if they are written as 2024-01-31 or 2024-01-31 12:00:00, with or without a time zone. Row labels that
    pandas stored are ignored; if it wrote them to a CSV file, as a first column without a name, there is a warning.

    A column of a CSV file that is nearly numbers is never silently text. It is nearly numbers if, of its first 1,000
    fields that are not missing, nine in ten are numbers; or if each is a number, a number as people write it (1,000 or
    1,5 or 10% or $5), or a mark of a missing value (punctuation alone such as ? or -, or a word such as none), and not
    all are marks. Its first value that is not a number is an error that names file, line and the option to set. The
    same holds for a column that was numbers in the files before. Of a target, only plain numbers and marks count.

    Missing values stay missing; a record without a class is an error unless `unlabelled` is "skip". An empty field
    is missing in every column; so are NA, N/A, NaN, NULL, null and the like, but in a target that is text these are
    classes. A file without records gives no batch and a warning.

    Errors in the arguments, an archive, or the columns of the first file are raised at once; others when they are
    reached, after all records before them, the last of which may be a smaller batch.

    Parameters
    ----------
    source : path or list of paths
        A folder, a pattern such as ``"exports/*.csv"`` (``**`` matches any folders), one file, or a list of files. A
        folder's files must be of one format; those of unknown formats, and those whose names begin with a dot or an
        underscore, are skipped.
    target : str
        The column of the classes.
    batch_size : int, optional
        Number of samples in a batch. The files are then one sequence: large ones are split, small ones joined, and only
        the last batch may be smaller. No file is in memory as a whole, unless it is an Arrow file written as one record
        batch. By default each file is read whole and is one batch.
    columns : list of str, optional
        The columns to learn from, in this order. By default all but the target.
    drop : list of str, optional
        Columns to leave out.
    categorical : list of str, optional
        Columns to be read as text even if they look like numbers or dates, such as postcodes. The target may be among
        them.
    types : dict of str to pyarrow.DataType, optional
        Types of columns that are known from earlier batches: string for text, float64 for numbers, timestamp for dates,
        a dictionary of float64 for categories that are numbers; of the target also int64, uint64 or bool. They are not
        inferred from the first file.
    order : {"name", "time"}, optional
        ``"name"`` sorts files by their paths, numbers in them by value: export-2 comes before export-10. ``"time"``
        sorts by the time of their last change, and by name where that is the same. By default a list stays as it is
        and everything else is sorted by name.
    delimiter : str, optional
        Delimiter of the columns of a CSV file. By default a tab in .tsv files, and in others whichever of comma,
        semicolon, tab and | makes the target a column.
    decimal : str, default="."
        The decimal point of a CSV file.
    thousands : str, optional
        Thousands separator in the numbers of a CSV file, such as a comma in 1,000. Reading is slower with it.
    encoding : str, default="utf-8"
        The encoding of CSV, JSON and ARFF files. UTF-16 is detected by its first bytes; anything else must be named.
    na_values : list of str, optional
        Missing values in a CSV file, in any column, besides an empty field, NA, N/A, NaN, NULL and the like.
    on_bad_lines : {"error", "skip"}, default="error"
        How to handle a line of a CSV or ARFF file with a wrong number of fields: raise an error after all records
        before it, or leave it out. Lines left out are counted in `n_skipped` of the result, and a warning at the
        end of the stream says how many there were.
    unlabelled : {"error", "skip"}, default="error"
        How to handle a record without a class: raise an error after all records before it, or leave it out. Samples
        left out are counted in `n_unlabelled` of the result, and a warning at the end of the stream says how many
        there were.

    Returns
    -------
    FileBatches
        An iterator of `FileBatch`, in their order.

    Raises
    ------
    ImportError
        If pyarrow is not installed.
    FileNotFoundError
        If there is nothing to read.
    InputError, InputTypeError, ParameterError
        If a file cannot be read, or an argument is invalid.

    Warns
    -----
    UserWarning
        If a file has no records, lines or records were left out, or a first column without a name holds row numbers.

    Examples
    --------
    >>> from adforest import AdaptiveDecisionForestClassifier
    >>> from adforest.reading import read_batches
    >>> model = AdaptiveDecisionForestClassifier()
    >>> for batch in read_batches("exports/*.csv", target="rent"):  # doctest: +SKIP
    ...     model.partial_fit(batch.X, batch.y)
    """
    require("pyarrow", "reading files", "data")
    from adforest.reading.formats import judged_whole
    from adforest.reading.layout import Choice, judge
    from adforest.reading.sources import Skipped

    _check_size(batch_size)
    if unlabelled not in ("error", "skip"):
        raise ParameterError(f"unlabelled is {unlabelled!r}; expected 'error' or 'skip'.")
    if not isinstance(target, str):
        raise InputTypeError(f"target is {target!r}; expected the name of the column that holds the classes, as text.")
    choice = Choice(
        target,
        None if columns is None else _names(columns, "columns"),
        _names(drop, "drop"),
        _names(categorical, "categorical"),
        types,
    )
    files, bad_lines = open_sources(
        source,
        target,
        target,
        frozenset(types or ()),
        order=order,
        delimiter=delimiter,
        decimal=decimal,
        thousands=thousands,
        encoding=encoding,
        na_values=na_values,
        on_bad_lines=on_bad_lines,
    )
    first = _first_with_records(files)
    if not batch_size:
        files[first] = judged_whole(files[first])
    layout = replace(judge(files[first:], choice), unlabelled=Skipped(are_skipped=unlabelled == "skip"))
    return FileBatches(_number(files, layout, batch_size, bad_lines), bad_lines, layout.unlabelled)


def open_sources(
    source: FilePath | Sequence[FilePath],
    target: str | None,
    header: str,
    known: frozenset[str] = frozenset(),
    *,
    order: str | None = None,
    delimiter: str | None = None,
    decimal: str = ".",
    thousands: str | None = None,
    encoding: str = "utf-8",
    na_values: Sequence[str] = (),
    on_bad_lines: str = "error",
) -> tuple[list[TableFile], BadLines]:
    """Return the files of a source, and the handling of their bad lines; for other parameters see `read_batches`.

    Parameters
    ----------
    target : str or None
        The column of the classes, if there is one.
    header : str
        A column that every CSV file has, to detect the delimiter.
    known : frozenset of str
        Columns whose types are known from earlier batches.
    """
    require("pyarrow", "reading files", "data")
    from adforest.encoding.odd_values import NumberFormat
    from adforest.reading.csv_reading import CsvFormat
    from adforest.reading.formats import open_files
    from adforest.reading.sources import BadLines

    _check_text(delimiter=delimiter, decimal=decimal, thousands=thousands, encoding=encoding)
    if on_bad_lines not in ("error", "skip"):
        raise ParameterError(f"on_bad_lines is {on_bad_lines!r}; expected 'error' or 'skip'.")
    numbers = NumberFormat(decimal, thousands)
    written = CsvFormat(target, header, delimiter, numbers, _names(na_values, "na_values"), known)
    bad_lines = BadLines(are_skipped=on_bad_lines == "skip")
    paths = find_files(source, order)
    return [file for path in paths for file in open_files(path, encoding, written, bad_lines)], bad_lines


def _first_with_records(files: Sequence[TableFile]) -> int:
    """Return the index of the first file that is not empty, or raise if there is none."""
    from adforest.reading.formats import is_empty

    for index, file in enumerate(files):
        if not is_empty(file):
            return index
    raise _no_records(files)


class NoRecordsError(InputError):
    """Files hold nothing to learn."""


def _no_records(files: Sequence[TableFile], what: str = "") -> NoRecordsError:
    """Return the error for files that hold nothing to learn."""
    found = f"'{files[0].path}' holds" if len(files) == 1 else f"the {len(files)} files from '{files[0].path}' on hold"
    return NoRecordsError(
        f"{found} no records{what}; expected at least one. Look at what wrote them, or name other files."
    )


def _number(
    files: Sequence[TableFile], layout: Layout, batch_size: int | None, bad_lines: BadLines
) -> Iterator[FileBatch]:
    """Yield the batches of all files with their numbers, or raise if there is no record at all."""
    import pyarrow as pa

    number, first_row = 0, 1
    for number, (pieces, is_whole) in enumerate(_cut(files, layout, batch_size), start=1):
        table = pa.Table.from_batches([block for block, _ in pieces])
        y = np.array(table.column(layout.choice.target).to_numpy())
        paths = tuple(dict.fromkeys(path for _, path in pieces))
        yield FileBatch(number, table.select(layout.features), y, paths, is_whole, first_row)
        first_row += len(y) if batch_size else 0
    if bad_lines.count:
        lines = f"{counted(bad_lines.count, 'line')} with a wrong number of fields"
        warn_caller(f"{lines} left out; the first is {bad_lines.first}. Look at what wrote it.")
    if layout.unlabelled.count:
        records = counted(layout.unlabelled.count, "record")
        warn_caller(f"{records} without a class left out; the first is {layout.unlabelled.first}.")
    if not number:
        raise _no_records(files, " with a class" if layout.unlabelled.count else "")


def _cut(
    files: Iterable[TableFile], layout: Layout, batch_size: int | None
) -> Iterator[tuple[list[tuple[Any, Path]], bool]]:
    """Yield the pieces of each batch, blocks of records and the files they come from, and whether it is whole."""
    from adforest.reading.formats import is_empty

    pieces: list[tuple[Any, Path]] = []
    n_left = batch_size or 0
    try:
        for file in files:
            if is_empty(file):
                _warn_of_empty(file)
                continue
            for block in layout.read(file):
                while batch_size and block.num_rows >= n_left:
                    yield [*pieces, (block.slice(0, n_left), file.path)], True
                    block, pieces, n_left = block.slice(n_left), [], batch_size
                if block.num_rows:
                    pieces.append((block, file.path))
                    n_left -= block.num_rows
            if not batch_size and pieces:
                yield pieces, True
                pieces = []
    except Exception:
        if pieces:  # the records before the error are good, and a batch of their own
            yield pieces, False
        raise
    if pieces:
        yield pieces, True


def _warn_of_empty(file: TableFile) -> None:
    """Warn of a file that has no records."""
    warn_caller(f"'{file.path}' holds no records, and is passed over. Look at what wrote it, or leave it out.")


def _names(names: Any, parameter: str) -> tuple[str, ...]:
    """Return a list of names as a tuple, or raise if it is none."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise InputTypeError(f"{parameter} is {names!r}; expected a list of text, such as ['a', 'b'].")
    return tuple(names)


def _check_size(batch_size: Any) -> None:
    """Raise unless a batch size is a positive integer or None."""
    is_integer = isinstance(batch_size, Integral) and not isinstance(batch_size, bool)
    if batch_size is not None and (not is_integer or batch_size < 1):
        raise ParameterError(f"batch_size is {batch_size!r}; expected an integer of at least 1, or None.")


def _check_text(*, delimiter: Any, decimal: Any, thousands: Any, encoding: Any) -> None:
    """Raise if an argument that is text is invalid."""
    for name, value in (("delimiter", delimiter), ("decimal", decimal), ("thousands", thousands)):
        is_default = value is None and name != "decimal"
        if not is_default and (not isinstance(value, str) or len(value) != 1):
            raise ParameterError(f"{name} is {value!r}; expected one character.")
    if decimal == thousands:
        raise ParameterError(f"decimal and thousands are both {decimal!r}; expected different characters.")
    try:
        codecs.lookup(encoding)
    except (LookupError, TypeError):
        raise ParameterError(
            f"encoding is {encoding!r}, which Python does not know; expected a name such as 'utf-8' or 'latin-1'."
        ) from None
