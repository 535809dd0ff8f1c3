"""Read CSV: by Arrow in blocks, as values or as text, and line by line to locate an error."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, TypeAlias

import pyarrow as pa
from pyarrow import compute
from pyarrow import csv as arrow_csv

from adforest.encoding.odd_values import NumberFormat
from adforest.reading.paths import suffix_of
from adforest.reading.sources import Source

HEAD_BYTES = 1 << 20  # what a file is judged by
BLOCK_BYTES = 1 << 18  # a record must fit in, and pyarrow reads 32 of them ahead

DELIMITERS = (",", ";", "\t", "|")
NULLS = tuple(arrow_csv.ConvertOptions().null_values)
NUMBERS = (pa.float64(), pa.int64())
CONVERSION_ERROR = re.compile(
    r"column #(\d+): Row #(\d+): CSV conversion error to (\w+)(?:\[[^]]*\])?: (?:invalid|expected)"
)

Types: TypeAlias = Mapping[str, Any]
Row: TypeAlias = tuple[int, list[str]]


@dataclass(frozen=True)
class CsvFormat:
    """Format of CSV files.

    Attributes
    ----------
    target : str or None
        The column of the classes, if there is one.
    header : str
        The name of an existing column, by which the delimiter is found.
    delimiter : str or None
        The delimiter, None to detect it.
    numbers : NumberFormat
        Format of numbers.
    na_values : tuple of str
        Missing values in addition to the usual ones.
    known : frozenset of str
        Columns whose types are known from earlier batches: they cannot be read as text any more.
    """

    target: str | None
    header: str
    delimiter: str | None
    numbers: NumberFormat
    na_values: tuple[str, ...]
    known: frozenset[str] = frozenset()


@dataclass(frozen=True)
class OddValue:
    """A field that cannot be converted.

    Attributes
    ----------
    record : int
        Its record within the block, counted from 0.
    column : str
        Its column.
    kind : str
        Arrow's name of the expected type.
    values : tuple of str
        Its text, and that of the following fields of the column in the block; empty if they cannot be decoded.
    """

    record: int
    column: str
    kind: str
    values: tuple[str, ...]


def skip(row: Any) -> None:
    """Take no notice of a line with a wrong number of fields."""


@dataclass(frozen=True)
class CsvReader:
    """Reads one CSV file in several ways; those by Arrow leave bad lines out and hand them to a function."""

    source: Source
    format: CsvFormat

    @cached_property
    def delimiter(self) -> str:
        """The delimiter: given, that of the suffix, or the one with which the existing column is found."""
        if self.format.delimiter or suffix_of(self.source.path) == ".tsv":
            return self.format.delimiter or "\t"
        n_names = {}
        for delimiter in DELIMITERS:
            names = self._names(delimiter)
            if self.format.header in names:
                return delimiter
            n_names[delimiter] = len(names)
        return max(n_names, key=n_names.__getitem__)

    @cached_property
    def is_blank(self) -> bool:
        """Whether there is not even a line of names."""
        return not self._names(self.delimiter)

    @cached_property
    def begins_with_text(self) -> bool:
        """Whether the first megabyte can be decoded."""
        with self.source.open() as stream:
            start = stream.read(HEAD_BYTES)
        try:
            codecs.getincrementaldecoder(self.source.encoding)().decode(start)
        except UnicodeDecodeError:
            return False
        return True

    @property
    def header_line(self) -> int:
        """The line of the names."""
        with self._rows(self.delimiter) as rows:
            return next(rows, (1, list[str]()))[0]

    def table(self, on_bad: Callable[[Any], None]) -> Any:
        """Return the whole file as a table in types that Arrow guesses."""
        with self.source.open() as stream:
            return arrow_csv.read_csv(stream, **self._options(on_bad))

    def head(self, on_bad: Callable[[Any], None]) -> Any:
        """Return the first megabyte as a table in types that Arrow guesses."""
        with self.source.open() as stream:
            # What is beyond the first block keeps a record cut short from being its last; UTF-16 may take twice that.
            n_bytes = (HEAD_BYTES + BLOCK_BYTES) * (1 if self.source.encoding == "utf-8" else 2)
            start = pa.BufferReader(stream.read(n_bytes))
            with arrow_csv.open_csv(start, **self._options(on_bad, HEAD_BYTES)) as reader:
                first = next(iter(reader), None)
                return reader.schema.empty_table() if first is None else pa.Table.from_batches([first])

    def blocks(self, types: Types, on_bad: Callable[[Any], None], **convert: Any) -> Iterator[Any]:
        """Yield columns in given types. Blocks are cut by bytes: those of two readers hold the same records."""
        options = self._options(on_bad, column_types=dict(types), include_columns=list(types), **convert)
        with self.source.open() as stream, arrow_csv.open_csv(stream, **options) as reader:
            yield from reader

    def text_blocks(self, types: Types, on_bad: Callable[[Any], None] = skip) -> Iterator[Any]:
        """Yield columns as the text they are written in; only empty fields and na_values are missing."""
        missing = ["", *self.format.na_values]
        return self.blocks(dict.fromkeys(types, pa.string()), on_bad, null_values=missing, check_utf8=False)

    def converted(self, block: Any, types: Types) -> tuple[Any, OddValue | None]:
        """Return a block of text in other types, up to the first field that cannot be converted, and that field.

        Arrow has no function that converts as its CSV reader does, so the text becomes CSV once more.
        """
        text, odd = self._without_groups(block, types), None
        while text.num_rows:
            copy = pa.BufferOutputStream()
            arrow_csv.write_csv(text, copy)
            options = self._options(skip, copy.tell() + 1, column_types=dict(types))
            options["parse_options"].delimiter = ","
            options["parse_options"].ignore_empty_lines = False  # a missing value of an only column
            options["read_options"].encoding = "utf-8"
            try:
                (found,) = arrow_csv.read_csv(pa.BufferReader(copy.getvalue()), **options).combine_chunks().to_batches()
            except pa.ArrowInvalid as error:
                odd = _odd_value(error, text)
                text = text.slice(0, odd.record)
            else:
                return self._with_classes_of(text, found), odd
        return text, odd

    def row(self, number: int, n_fields: int | None = None) -> Row | None:
        """Return the line and the fields of a row, counted from 0 after the names, of those with so many fields."""
        with self._rows(self.delimiter) as rows:
            try:
                next(rows, None)
                return next(islice((row for row in rows if n_fields in (None, len(row[1]))), number, None), None)
            except csv.Error:  # a field longer than Python takes
                return None

    def _names(self, delimiter: str) -> list[str]:
        """Return the names of the columns if this parts them, none of a file without text."""
        with self._rows(delimiter) as rows:
            try:
                return next(rows, (0, list[str]()))[1]
            except csv.Error:  # a field longer than Python takes
                return [""]

    @contextmanager
    def _rows(self, delimiter: str) -> Iterator[Iterator[Row]]:
        """Open the file for its rows with the lines they begin in, as Python reads them; empty lines are no rows."""
        with self.source.open_text(errors="replace", newline="") as lines:
            yield _numbered(csv.reader(lines, delimiter=delimiter))

    def _without_groups(self, block: Any, types: Types) -> Any:
        """Return a block of text whose numbers are written without a separator of thousands."""
        thousands = self.format.numbers.thousands
        for index, (name, kind) in enumerate(types.items()) if thousands else ():
            if kind in NUMBERS:
                column = block.column(index)
                is_grouped = compute.match_substring_regex(column, rf"^\s*{self.format.numbers.grouped}\s*$")
                plain = compute.replace_substring(column, thousands, "")
                block = block.set_column(index, name, compute.if_else(is_grouped, plain, column))
        return block

    def _with_classes_of(self, text: Any, block: Any) -> Any:
        """Return a block with the classes as they are written, if they are text: one may be called NA."""
        index = -1 if self.format.target is None else block.schema.get_field_index(self.format.target)
        if index < 0 or block.column(index).type != pa.string():
            return block
        return block.set_column(index, self.format.target, text.column(index))

    def _options(self, on_bad: Callable[[Any], None], block_size: int = 0, **convert: Any) -> dict[str, Any]:
        """Return options of Arrow; on one thread it numbers rows."""

        def pass_on(row: Any) -> str:
            on_bad(row)
            return "skip"

        missing = [*NULLS, *self.format.na_values]
        convert = {"null_values": missing, "decimal_point": self.format.numbers.decimal} | convert
        return {
            "read_options": arrow_csv.ReadOptions(
                use_threads=False, block_size=block_size or BLOCK_BYTES, encoding=self.source.encoding
            ),
            "parse_options": arrow_csv.ParseOptions(
                delimiter=self.delimiter,
                newlines_in_values=True,
                # Arrow decodes lines for it, and prints a trace where it cannot.
                invalid_row_handler=pass_on if self.begins_with_text else None,
            ),
            "convert_options": arrow_csv.ConvertOptions(strings_can_be_null=True, **convert),
        }


def _odd_value(error: pa.ArrowInvalid, text: Any) -> OddValue:
    """Return the field that Arrow could not convert, or raise its error if that is about something else."""
    match = CONVERSION_ERROR.search(str(error))
    if match is None:
        raise error
    index, record = int(match[1]), int(match[2]) - 2
    try:
        values = [value for value in text.column(index).slice(record).to_pylist() if value not in (None, *NULLS)]
    except UnicodeDecodeError:
        values = []
    return OddValue(record, text.schema.names[index], match[3], tuple(values))


def _numbered(reader: Any) -> Iterator[Row]:
    """Yield rows with the lines they begin in."""
    line = 1
    for row in reader:
        if row:
            yield line, row
        line = reader.line_num + 1
