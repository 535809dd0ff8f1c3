"""Batches from files: a folder of exports, or one large file, becomes a stream that is never in memory as a whole."""

from __future__ import annotations

import codecs
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adforest.streams.paths import FilePath, find_files

if TYPE_CHECKING:
    from adforest.streams.formats import TableFile
    from adforest.streams.layout import Layout


@dataclass(frozen=True, eq=False)
class FileBatch:
    """Records that were read together.

    Attributes
    ----------
    number : int
        Position in the stream, counted from 1.
    X : pyarrow.Table
        The records without the target; ``X.to_pandas()`` makes it a data frame. Every batch has the same columns in
        the same order: numbers and booleans as float64, text as it is, categories that are numbers as categories.
    y : ndarray
        Their class values: integers, floats, booleans, or text as Python strings.
    files : tuple of Path
        The files the records come from.
    """

    number: int
    X: Any
    y: NDArray[Any]
    files: tuple[Path, ...]


def read_batches(
    source: FilePath | Sequence[FilePath],
    *,
    target: str,
    batch_size: int | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    categorical: Sequence[str] = (),
    order: str | None = None,
    delimiter: str | None = None,
    decimal: str = ".",
    encoding: str = "utf-8",
    na_values: Sequence[str] = (),
) -> Iterator[FileBatch]:
    """Read files one after the other, each as a batch, or all together in batches of a given size.

    Formats are told by the suffix: CSV (.csv, .tsv), ARFF (.arff), each also with .gz, .bz2 or .zst behind it; Parquet
    (.parquet); Arrow and Feather (.arrow, .arrows, .feather, .ipc).

    The first file decides which columns are numbers and which are text, and the others must agree; their columns may
    come in any order. A CSV file does not say what its columns hold: all of it is looked at, or its first megabyte if
    `batch_size` is given. A column that is empty there is judged by the beginning of the first file that fills it.
    Dates are refused: drop them, or make them numbers first. Missing values stay missing; a record without a class is
    an error. A file without records gives no batch. Row labels that pandas stored are no columns.

    What is wrong with the arguments or the first file is said at once; what is wrong with a later file when its turn
    comes, after all records before it.

    Parameters
    ----------
    source : path or list of paths
        A folder, a pattern such as ``"exports/*.csv"`` (``**`` matches any folders), one file, or a list of files. A
        folder's files must be of one format; those of unknown formats, and those whose names begin with a dot or an
        underscore, are passed over.
    target : str
        The column that holds the classes.
    batch_size : int, optional
        Records in a batch. The files are then one sequence: large ones are cut, small ones joined, and only the last
        batch may be smaller. No file is in memory as a whole, unless it is an Arrow file written as one record batch.
        By default each file is read whole and is one batch.
    columns : list of str, optional
        The columns to learn from, in this order. By default all but the target.
    drop : list of str, optional
        Columns to leave out.
    categorical : list of str, optional
        Columns to be read as text even if they look like numbers or dates, such as postcodes. The target may be among
        them.
    order : {"name", "time"}, optional
        ``"name"`` sorts files by their paths, numbers in them by value: export-2 comes before export-10. ``"time"``
        sorts by the time of their last change, and by name where that is the same. By default a list stays as it is
        and everything else is sorted by name.
    delimiter : str, optional
        What parts the columns of a CSV file; by default a comma, or a tab in .tsv files.
    decimal : str, default="."
        The decimal point of a CSV file.
    encoding : str, default="utf-8"
        The encoding of CSV and ARFF files.
    na_values : list of str, optional
        What stands for a missing value in a CSV file beside an empty field, NA, N/A, NaN, NULL and the like.

    Returns
    -------
    iterator of FileBatch
        The batches in their order.

    Raises
    ------
    ImportError
        If pyarrow is not installed.
    FileNotFoundError
        If there is nothing to read.
    ValueError, TypeError
        If an argument is not what was expected, or a file cannot be read.

    Examples
    --------
    >>> from adforest import AdaptiveDecisionForestClassifier
    >>> from adforest.streams import read_batches
    >>> model = AdaptiveDecisionForestClassifier()
    >>> for batch in read_batches("exports/*.csv", target="rent"):  # doctest: +SKIP
    ...     model.partial_fit(batch.X, batch.y)
    """
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        message = "reading files needs pyarrow, which is not installed. Run: pip install 'adforest[data]'"
        raise ImportError(message) from error
    from adforest.streams.formats import TextFormat, open_file
    from adforest.streams.layout import Choice, judge

    _check_size(batch_size)
    _check_text(target=target, delimiter=delimiter, decimal=decimal, encoding=encoding)
    choice = Choice(
        target,
        None if columns is None else _names(columns, "columns"),
        _names(drop, "drop"),
        _names(categorical, "categorical"),
    )
    text = TextFormat(delimiter, decimal, encoding, _names(na_values, "na_values"))
    paths = find_files(source, order)
    files = [open_file(path, text, is_judged_whole=not place and not batch_size) for place, path in enumerate(paths)]
    return _number(files, judge(files, choice), batch_size)


def _number(files: Sequence[TableFile], layout: Layout, batch_size: int | None) -> Iterator[FileBatch]:
    """Yield the batches of all files with their numbers, or raise if there is no record at all."""
    import pyarrow as pa

    number = 0
    for number, pieces in enumerate(_cut(files, layout, batch_size), start=1):
        table = pa.Table.from_batches([block for block, _ in pieces])
        y = np.array(table.column(layout.choice.target).to_numpy())
        yield FileBatch(number, table.select(layout.features), y, tuple(dict.fromkeys(path for _, path in pieces)))
    if not number:
        held = (
            f"'{files[0].path}' holds" if len(files) == 1 else f"the {len(files)} files from '{files[0].path}' on hold"
        )
        raise ValueError(f"{held} no records; expected at least one. Look at what wrote them, or name other files.")


def _cut(files: Iterable[TableFile], layout: Layout, batch_size: int | None) -> Iterator[list[tuple[Any, Path]]]:
    """Yield the pieces of each batch: blocks of records, and the files they come from."""
    pieces: list[tuple[Any, Path]] = []
    n_left = batch_size or 0
    try:
        for file in files:
            for block in layout.read(file):
                while batch_size and block.num_rows >= n_left:
                    yield [*pieces, (block.slice(0, n_left), file.path)]
                    block, pieces, n_left = block.slice(n_left), [], batch_size
                if block.num_rows:
                    pieces.append((block, file.path))
                    n_left -= block.num_rows
            if not batch_size and pieces:
                yield pieces
                pieces = []
    except Exception:
        if batch_size and pieces:  # the records before the error are good, and a batch of their own
            yield pieces
        raise
    if pieces:
        yield pieces


def _names(names: Any, parameter: str) -> tuple[str, ...]:
    """Return a list of names as a tuple, or raise if it is none."""
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"{parameter} is {names!r}; expected a list of text, such as ['a', 'b'].")
    return tuple(names)


def _check_size(batch_size: Any) -> None:
    """Raise unless a batch size is a positive whole number or None."""
    is_whole = isinstance(batch_size, Integral) and not isinstance(batch_size, bool)
    if batch_size is not None and (not is_whole or batch_size < 1):
        raise ValueError(f"batch_size is {batch_size!r}; expected a whole number of at least 1, or None.")


def _check_text(*, target: Any, delimiter: Any, decimal: Any, encoding: Any) -> None:
    """Raise unless the arguments that are text are what they should be."""
    if not isinstance(target, str):
        raise TypeError(f"target is {target!r}; expected the name of the column that holds the classes, as text.")
    for name, value in (("delimiter", "," if delimiter is None else delimiter), ("decimal", decimal)):
        if not isinstance(value, str) or len(value) != 1:
            raise ValueError(f"{name} is {value!r}; expected one character.")
    try:
        codecs.lookup(encoding)
    except (LookupError, TypeError):
        raise ValueError(
            f"encoding is {encoding!r}, which Python does not know; expected a name such as 'utf-8' or 'latin-1'."
        ) from None
