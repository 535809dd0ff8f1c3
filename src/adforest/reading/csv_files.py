"""CSV files: column types are inferred, and an error about a value that does not fit names its line."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from adforest.encoding.odd_values import N_JUDGED, advice, are_nearly_numbers, date_advice
from adforest.exceptions import InputError
from adforest.reading.csv_reading import BLOCK_BYTES, CONVERSION_ERROR, CsvReader, OddValue, Types
from adforest.reading.sources import BadLines, TableFile

DATE = "timestamp"
WORDS = {"double": "a number", "int64": "an integer", "bool": "true or false", DATE: "a date or time"}


@dataclass(frozen=True)
class Head:
    """Properties of a file that are known before it is read.

    Attributes
    ----------
    schema : pyarrow.Schema
        Names and inferred types of the columns.
    suspects : frozenset of str
        Columns inferred to be numbers although some of their fields are not, or text that cannot be decoded.
    is_empty : bool
        Whether there is no line beside the names.
    """

    schema: Any
    suspects: frozenset[str]
    is_empty: bool


@dataclass(frozen=True)
class CsvFile(TableFile):
    """A CSV file; column types are inferred from the values."""

    reader: CsvReader
    bad_lines: BadLines
    is_judged_whole: bool = False
    keeps_types = False

    @property
    def path(self) -> Path:
        """Where it lies."""
        return self.reader.source.path

    @property
    def header_label(self) -> str:
        """The line of the column names, for errors."""
        return f"line {self.reader.header_line} of '{self.path}'"

    @property
    def schema(self) -> Any:
        """Names and guessed types of the columns."""
        return self._head.schema

    @property
    def is_empty(self) -> bool:
        """Whether there is no line beside the names."""
        return self._head.is_empty

    def blocks(self, wanted: Mapping[str, Any], n_samples: int) -> Iterator[Any]:
        """Yield the wanted columns in the types the stream has for them; blocks are bytes here, n_samples is unused.

        Samples before an invalid line or value are yielded before the error.
        """
        types = {name: self._parsed_as(name, kind) for name, kind in wanted.items()}
        bad: deque[Any] = deque()  # Arrow reads ahead: some belong to blocks still to come
        n_rows = n_good = 0
        for block, odd in self._blocks(types, bad):
            while bad and (position := bad[0].number - 2 - n_rows) <= block.num_rows:
                if position and not self.bad_lines.are_skipped:
                    yield block.slice(0, position)
                self._meet(bad.popleft())
                n_rows += 1
            if block.num_rows:
                yield block
            n_rows, n_good = n_rows + block.num_rows, n_good + block.num_rows
            if odd is not None:
                raise self._refused(odd, n_good)
        for row in bad:
            self._meet(row)

    def check(self, wanted: Mapping[str, Any]) -> None:
        """Raise if a value does not fit the inferred type of its column."""
        suspects = {name: kind for name, kind in wanted.items() if name in self._head.suspects}
        n_samples = 0
        for block, odd in self._blocks(suspects, deque()) if suspects else ():
            n_samples += block.num_rows
            if odd is not None:
                raise self._refused(odd, n_samples)

    def locate(self, record: int, column: str) -> tuple[str, str]:
        """Return the location of a record for errors, counted from 0 without bad lines, and the text of a field."""
        names = self.schema.names
        found = self.reader.row(record, n_fields=len(names))
        if found is None:
            return f"record {record + 1} of '{self.path}'", ""
        return f"line {found[0]} of '{self.path}'", found[1][names.index(column)]

    @cached_property
    def _head(self) -> Head:
        """Names and types, inferred from the first megabyte, or from all of the file."""
        if self.reader.is_blank:
            return Head(pa.schema([]), frozenset(), is_empty=True)
        bad: list[Any] = []
        with self._explaining():
            table = self.reader.table(bad.append) if self.is_judged_whole else self.reader.head(bad.append)
            return self._judged(table, is_empty=not table.num_rows and not bad)

    def _judged(self, table: Any, *, is_empty: bool) -> Head:
        """Return the types of the columns of a table, and the columns with values that may not fit."""
        schema, suspects = table.schema, []
        for index, name in enumerate(self._names(schema)):
            kind = self._suspected(name, table.column(index))
            if kind is not None:
                suspects.append(name)
                schema = schema.set(index, pa.field(name, kind))
        return Head(schema, frozenset(suspects), is_empty)

    def _names(self, schema: Any) -> list[str]:
        """Return the names of the columns, or raise if they cannot be decoded."""
        try:
            return list(schema.names)
        except UnicodeDecodeError:
            raise self.reader.source.undecodable() from None

    def _suspected(self, name: str, column: Any) -> Any:
        """Return the intended type of a column where Arrow infers another one, None if Arrow is right."""
        if pa.types.is_binary(column.type):
            return pa.string()
        numbers, is_target = self.reader.format.numbers, name == self.reader.format.target
        if not pa.types.is_string(column.type):
            return None
        values = _first_values(column)
        if not are_nearly_numbers(values, numbers, is_target=is_target):
            return None
        plain = [value.strip().lstrip("+-") for value in values if numbers.is_number(value)]
        return pa.int64() if all(map(str.isdigit, plain)) else pa.float64()

    def _parsed_as(self, name: str, kind: Any) -> Any:
        """Return the type to read a column in; numbers may be written as true and false."""
        plain = kind.value_type if pa.types.is_dictionary(kind) else kind
        is_boolean = self.schema.field(name).type == pa.bool_()
        return pa.bool_() if is_boolean and plain == pa.float64() else plain

    def _blocks(self, types: Types, bad: deque[Any]) -> Iterator[tuple[Any, OddValue | None]]:
        """Yield blocks; one that holds an odd value is the last, ends before it, and is yielded with it."""
        if self.reader.format.numbers.thousands is not None:
            with self._explaining():
                for block in self.reader.text_blocks(types, bad.append):
                    yield self.reader.converted(block, types)
            return
        n_blocks = 0
        with self._explaining():
            try:
                for block in self._with_named_classes(self.reader.blocks(types, bad.append), types):
                    yield block, None
                    n_blocks += 1
            except pa.ArrowInvalid as error:
                if CONVERSION_ERROR.search(str(error)) is None:
                    raise
                (block,) = islice(self.reader.text_blocks(types), n_blocks, n_blocks + 1)
                yield self.reader.converted(block, types)

    def _with_named_classes(self, blocks: Iterator[Any], types: Types) -> Iterator[Any]:
        """Yield blocks in which a class called NA, null or the like is that text and not missing."""
        target = self.reader.format.target
        if target is None or types.get(target) != pa.string():
            yield from blocks
            return
        column, named = list(types).index(target), None
        for index, block in enumerate(blocks):
            if named is None and block.column(column).null_count:
                named = islice(self.reader.text_blocks({target: pa.string()}), index, None)
            yield block if named is None else block.set_column(column, target, next(named).column(0))

    def _meet(self, row: Any) -> None:
        """Count a line with a wrong number of fields, or raise an error about it."""

        def locate() -> str:
            found = self.reader.row(row.number - 2)
            return f"line {found[0]} of '{self.path}'" if found else f"record {row.number - 1} of '{self.path}'"

        self.bad_lines.meet(locate, row.actual_columns, row.expected_columns)

    def _refused(self, odd: OddValue, record: int) -> InputError:
        """Return the error for a value that a column does not accept."""
        if not odd.values:
            return self.reader.source.undecodable()
        numbers = self.reader.format.numbers
        value, *others = odd.values
        values = [value, *(other for other in others if not numbers.is_number(other))]
        is_target = odd.column == self.reader.format.target
        where, _ = self.locate(record, odd.column)
        expected = f"{WORDS.get(odd.kind, odd.kind)}, as in other records"
        is_known = odd.column in self.reader.format.known
        if odd.kind == DATE:
            remedy = date_advice(values, odd.column, is_known=is_known)
        else:
            remedy = advice(values, odd.column, numbers, is_target=is_target, is_known=is_known)
        return InputError(f"{where} holds {value[:60]!r} in column {odd.column!r}; expected {expected}.", remedy)

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        """Turn errors of Arrow into errors that name the file and give advice."""
        try:
            yield
        except pa.ArrowInvalid as error:
            if not self.reader.begins_with_text:
                raise self.reader.source.undecodable() from error
            if "straddl" in str(error) or "cannot infer number of columns" in str(error):
                message = f"has a record longer than {BLOCK_BYTES:,} bytes. Look for a quote that is not closed."
            else:
                message = f"cannot be read as CSV ({error}). Correct the file, or leave it out."
            raise InputError(f"'{self.path}' {message}") from error


def _first_values(column: Any) -> list[str]:
    """Return the first fields of a text column that are not missing."""
    values: list[str] = []
    for chunk in column.chunks:
        values += chunk.drop_null().slice(0, N_JUDGED - len(values)).to_pylist()
        if len(values) == N_JUDGED:
            break
    return values
